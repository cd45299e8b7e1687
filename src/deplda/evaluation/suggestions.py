"""What documents are given against what they have, measured as users of Annif know it.

Definitions are those of Annif 1.4's `eval`. They differ from those of `evaluate` in what is counted
for nothing: here every document and every label is in the mean, one without labels too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from rich.console import Group
from rich.table import Table
from scipy.sparse import issparse

from deplda.data import checks
from deplda.data.wording import counted
from deplda.errors import InputError
from deplda.evaluation.binary import agreement
from deplda.evaluation.estimate import Estimate, Ratio, bootstrap
from deplda.evaluation.frames import shown
from deplda.evaluation.matrices import Floats, Ints, Scores, Sparse, read_scores, read_truth
from deplda.evaluation.ranking import check_ks
from deplda.evaluation.ties import BLOCK, sums

SUBJECT_COLUMNS = (
    "URI", "Label", "Support", "True_positives", "False_positives", "False_negatives",
    "Precision", "Recall", "F1_score",
)  # fmt: skip


class Ranked(NamedTuple):
    """The labels suggested for each document, the best first: all of them in one row.

    Whatever the limit and the threshold, a document is given the first n of its own.
    """

    starts: Ints
    """Where those of each document begin, and where the last ends."""
    labels: Ints
    scores: Floats
    hits: Ints
    """How many before each place are right."""
    positives: Ints
    """How many labels each document has."""

    def given(self, limit: int | None, threshold: float) -> Ints:
        """Return how many labels each document is given."""
        enough = np.concatenate([[0], np.cumsum(self.scores >= threshold)])
        found = enough[self.starts[1:]] - enough[self.starts[:-1]]
        return found if limit is None else np.minimum(found, limit)

    def hits_in(self, given: Ints) -> Ints:
        """Return how many of the first labels of each document are right, `given` being its n."""
        first = self.starts[:-1]
        return self.hits[first + given] - self.hits[first]

    @property
    def documents(self) -> Ints:
        """The document of each place."""
        return np.repeat(np.arange(len(self.positives)), np.diff(self.starts))

    @property
    def ranks(self) -> Ints:
        """The rank of each place in its document, from 0."""
        return np.arange(len(self.labels)) - self.starts[:-1][self.documents]


class LabelCounts(NamedTuple):
    """How often each label was given and true, by its column."""

    support: Ints
    """Documents that have it."""
    true_positives: Ints
    false_positives: Ints
    false_negatives: Ints

    @property
    def agreement(self) -> dict[str, Ratio]:
        """F1, precision and recall."""
        return agreement(
            self.true_positives, self.true_positives + self.false_positives, self.support
        )


@dataclass(frozen=True, slots=True, eq=False)
class SuggestionMetrics:
    """How good the labels are that documents were given."""

    n_documents: int
    limit: int | None
    threshold: float
    n_given: int
    """Labels given to documents, counted with their documents, as are the true ones."""
    n_true: int
    by_document: Mapping[str, Ratio]
    """Averages over documents, and those of all suggestions together."""
    by_label: Mapping[str, Ratio]
    """Averages over labels."""
    labels: LabelCounts

    def __getitem__(self, name: str) -> float:
        """Return a measure, for instance ``"document_f1"`` or ``"given_ndcg@5"``.

        It is 0 where nothing was given, or nothing is true.
        """
        value = self._ratio(name).value
        return value if value == value else 0.0

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> KeysView[str]:
        """Return the names of the measures."""
        return {**self.by_document, **self.by_label}.keys()

    def interval(
        self, name: str, *, level: float = 0.95, resamples: int = 1000, seed: int = 0
    ) -> Estimate:
        """Return a measure and its bootstrap interval; documents, or labels, are resampled."""
        chosen = {name: self._ratio(name)}
        return bootstrap(chosen, level=level, resamples=resamples, seed=seed)[name]

    def to_dict(self) -> dict[str, Any]:
        """Return every measure by name, how many labels were right and wrong, and the cut."""
        tp, fp, fn = (int(part.sum()) for part in self.labels[1:])
        return {
            "documents": self.n_documents,
            "labels": len(self.labels.support),
            "limit": self.limit,
            "threshold": self.threshold,
            **{name: self[name] for name in self},
            "true_positives": tp,
            "false_positives": fp,
            "false_negatives": fn,
        }

    def __rich__(self) -> Group:
        """Return the averages, and the measures of the first labels, as two tables."""
        means = Table("labels given, 0 to 1", show_edge=False)
        for column in ("by document", "together", "by label", "weighted"):
            means.add_column(column, justify="right")
        for name in ("precision", "recall", "f1"):
            found = (self[f"{of}_{name}"] for of in ("document", "micro", "label", "weighted"))
            means.add_row(name, *map(shown, found))
        first = Table("the first k of them, 0 to 1", show_edge=False)
        ends = [name.removeprefix("given_f1") for name in self if name.startswith("given_f1@")]
        for end in ends:
            first.add_column(f"k = {end[1:]}", justify="right")
        for name in ("precision", "recall", "f1", "ndcg"):
            first.add_row(name, *(shown(self[f"given_{name}{end}"]) for end in ends))
        tp, fp, fn = (int(part.sum()) for part in self.labels[1:])
        counts = f"{counted(tp, 'label')} right, {fp:,} wrong, {fn:,} not found; nDCG of all given "
        return Group(means, "", first, "", counts + shown(self["given_ndcg"]))

    def _ratio(self, name: str) -> Ratio:
        return {**self.by_document, **self.by_label}[name]


def suggestion_metrics(
    scores: Any,
    truth: Any,
    *,
    limit: int | None = None,
    threshold: float = 0.0,
    ks: Iterable[int] = (1, 3, 5, 10),
) -> SuggestionMetrics:
    """Return how good suggestions are: the likeliest labels of each document, cut off.

    Parameters
    ----------
    scores : (documents, labels) array, sparse matrix or pair of arrays
        As in `evaluate`, but 0 is no suggestion. `models.suggesting.suggested` gives those of a
        model.
    truth : Corpus, or (documents, labels) sparse or dense
        1 or True where a document carries a label. Every label is in the averages over labels, also
        one that is never given and never true: take the columns of the whole vocabulary.
    limit, threshold
        So many labels of a document at most (None: all), of so high a score at least. Equals are
        taken in the order of their columns.
    ks : whole numbers
        The k of the measures of the first k labels given.
    """
    truth = read_truth(truth)
    check_cut(limit, threshold)
    ranks, ks = ranked(scores, truth, limit), check_ks(ks)
    n = ranks.given(limit, threshold)
    hits = ranks.hits_in(n)
    together = agreement(hits, n, ranks.positives)
    by_document = {f"document_{name}": mean_of_all(part) for name, part in together.items()}
    by_document |= {f"micro_{name}": part for name, part in together.items()}
    for k in ks:
        first = np.minimum(n, k)
        of_first = agreement(ranks.hits_in(first), first, ranks.positives)
        by_document |= {f"given_{name}@{k}": mean_of_all(p) for name, p in of_first.items()}
        by_document[f"given_ndcg@{k}"] = mean_of_all(ndcg(ranks, first, k))
    by_document["given_ndcg"] = mean_of_all(ndcg(ranks, n))
    counts = label_counts(ranks, n, truth)
    of_labels = counts.agreement
    by_label = {f"label_{name}": mean_of_all(part) for name, part in of_labels.items()}
    by_label |= {f"weighted_{name}": _weighted(p, counts.support) for name, p in of_labels.items()}
    return SuggestionMetrics(
        len(n), limit, float(threshold), int(n.sum()), int(ranks.positives.sum()), by_document,
        by_label, counts,
    )  # fmt: skip


def check_cut(limit: int | None, threshold: float) -> None:
    """Raise if suggestions cannot be cut off so."""
    if limit is not None:
        checks.at_least_one(limit=limit)
    checks.number("threshold", threshold, above=False)


def ranked(scores: Any, truth: Sparse, limit: int | None = None) -> Ranked:
    """Return the labels suggested for each document, so many at most, beside what is true."""
    known = read_scores(scores, truth.shape)
    stored = known.data if issparse(known) else known
    if stored.size and stored.min() < 0:
        raise InputError(
            f"a score is {stored.min():g}; suggestions have scores from 0, which is none, such as "
            "probabilities: make these of others, or 1/rank"
        )
    rows, labels, values = (
        np.concatenate(parts) for parts in zip(*_sorted_blocks(known, limit), strict=True)
    )
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=truth.shape[0]))])
    n_labels = np.int64(truth.shape[1])
    true_rows = np.repeat(np.arange(truth.shape[0]), np.diff(truth.indptr))
    is_true = np.isin(rows * n_labels + labels, true_rows * n_labels + truth.indices)
    hits = np.concatenate([[0], np.cumsum(is_true)])
    positives = np.diff(truth.indptr).astype(np.int64)
    return Ranked(starts.astype(np.int64), labels, values, hits.astype(np.int64), positives)


def _sorted_blocks(scores: Scores, limit: int | None) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield documents, labels and scores above 0, the best of a document first."""
    n, n_labels = scores.shape
    step = max(1, BLOCK // n_labels)
    for start in range(0, n, step):
        block = scores[start : start + step]
        rows, labels = block.nonzero()
        values = block.data[block.data != 0] if issparse(block) else block[rows, labels]
        order = np.lexsort((labels, -values.astype(np.float64), rows))
        rows, labels, values = rows[order], labels[order], values[order]
        if limit is not None:
            first = np.searchsorted(rows, rows)
            kept = np.arange(len(rows)) - first < limit
            rows, labels, values = rows[kept], labels[kept], values[kept]
        yield rows + np.int64(start), labels.astype(np.int64), values.astype(np.float64)


def mean_of_all(part: Ratio) -> Ratio:
    """Return the mean over all items, one of which nothing can be said counting 0."""
    return Ratio(np.nan_to_num(part.items), np.ones(len(part.numerator)))


def _weighted(part: Ratio, support: Ints) -> Ratio:
    """Return the mean over labels, each counted as often as it is true."""
    weights = support.astype(np.float64)
    return Ratio(np.nan_to_num(part.items) * weights, weights)


def ndcg(ranks: Ranked, given: Ints, k: int | None = None) -> Ratio:
    """Return Σ 1/log₂(rank + 1) of what is right among the labels given, and the best possible.

    The best are as many as a document has, k at most. A document without labels counts 1.
    """
    positives = ranks.positives if k is None else np.minimum(ranks.positives, k)
    longest = int(max(given.max(initial=0), positives.max(initial=0)))
    discounts = 1 / np.log2(np.arange(2, longest + 2))
    best = np.concatenate([[0.0], np.cumsum(discounts)])[positives]
    rows, places = ranks.documents, ranks.ranks
    right = (np.diff(ranks.hits) > 0) & (places < given[rows])
    gained = sums(rows[right], discounts[places[right]], len(given))
    has_none = positives == 0
    return Ratio(np.where(has_none, 1.0, gained), np.where(has_none, 1.0, best))


def label_counts(ranks: Ranked, given: Ints, truth: Sparse) -> LabelCounts:
    """Return how often each label was given and true, documents being given their first labels."""
    n_labels = truth.shape[1]
    kept = ranks.ranks < given[ranks.documents]
    right = kept & (np.diff(ranks.hits) > 0)
    support = np.bincount(truth.indices, minlength=n_labels)
    chosen, hits = (np.bincount(ranks.labels[which], minlength=n_labels) for which in (kept, right))
    return LabelCounts(support, hits, chosen - hits, support - hits)


def subject_lines(counts: LabelCounts, uris: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """Yield the lines of Annif's table by subject: a heading, and each label in its order."""
    yield "\t".join(SUBJECT_COLUMNS)
    parts = {name: np.nan_to_num(ratio.items) for name, ratio in counts.agreement.items()}
    numbers = [*counts, *(parts[name] for name in ("precision", "recall", "f1"))]
    columns = [column.tolist() for column in numbers]
    for uri, name, *own in zip(uris, names, *columns, strict=True):
        # What would part a cell or a line is a blank in a name.
        yield "\t".join([*(" ".join(text.split()) for text in (uri, name)), *map(str, own)])
