"""One value for everything that a score matrix says against the truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.table import Table
from scipy.sparse import issparse

from deplda.data import checks
from deplda.data.corpus import Corpus
from deplda.data.wording import counted
from deplda.errors import InputError
from deplda.evaluation import cutoffs
from deplda.evaluation.binary import binary_ratios
from deplda.evaluation.estimate import Estimate, Ratio, bootstrap, mean_of
from deplda.evaluation.frames import data_frame, shown
from deplda.evaluation.frequency import FrequencyTable, frequency_table
from deplda.evaluation.matrices import (
    Floats,
    Ints,
    Scores,
    Sparse,
    read_scores,
    read_truth,
    same_shape,
)
from deplda.evaluation.ranking import (
    PIVOTS,
    check_ks,
    hits_in_top,
    inverse_propensities,
    metrics_of,
    propensity_gain,
)
from deplda.evaluation.ties import TieGroups, tie_groups

if TYPE_CHECKING:
    from pandas import DataFrame


class UnknownMetricError(InputError, KeyError):
    """A metric that an evaluation does not have; a `KeyError`, as of every mapping."""

    __str__ = InputError.__str__


@dataclass(frozen=True, slots=True, eq=False)
class Metrics(Mapping[str, float]):
    """All metrics of one pivot by name, and the values of every document, or of every label."""

    pivot: str
    indices: Ints
    """Rows of the evaluated documents, or columns of the evaluated labels, in the truth."""
    names: tuple[str, ...]
    """Their names, or their numbers where no names were given."""
    positives: Ints
    """Positives of each; an item without any is left out of every mean."""
    training_documents: Ints
    """Training documents of each label; empty for documents."""
    ranking: Mapping[str, Ratio]
    binary: Mapping[str, Ratio]

    def __getitem__(self, name: str) -> float:
        """Return a metric, for instance ``"average_precision"`` or ``"micro_f1@calibrated"``."""
        return self._ratio(name).value

    def __iter__(self) -> Iterator[str]:
        return iter(self._every)

    def __len__(self) -> int:
        return len(self._every)

    def __repr__(self) -> str:
        size = counted(int(np.count_nonzero(self.positives)), self.pivot)
        return f"Metrics({size}, average_precision={self['average_precision']:.3f})"

    def item_values(self, name: str) -> Floats:
        """Return a metric's value for each item, NaN where it is not defined."""
        return self._ratio(name).items

    def interval(
        self, name: str, *, level: float = 0.95, resamples: int = 1000, seed: int = 0
    ) -> Estimate:
        """Return a metric and its bootstrap interval, the items being resampled."""
        chosen = {name: self._ratio(name)}
        return bootstrap(chosen, level=level, resamples=resamples, seed=seed)[name]

    def intervals(
        self, *, level: float = 0.95, resamples: int = 1000, seed: int = 0
    ) -> dict[str, Estimate]:
        """Return every metric with its bootstrap interval, the items being resampled together."""
        return bootstrap(self._every, level=level, resamples=resamples, seed=seed)

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics by task and name, and over how many items."""
        return {
            "n_items": int(np.count_nonzero(self.positives)),
            "n_without_positives": int(np.count_nonzero(self.positives == 0)),
            "ranking": {name: ratio.value for name, ratio in self.ranking.items()},
            "binary": {name: ratio.value for name, ratio in self.binary.items()},
        }

    def to_frame(self) -> DataFrame:
        """Return a pandas frame with one row for each item and one column for each value."""
        columns: dict[str, Any] = {self.pivot: self.names, "positives": self.positives}
        if len(self.training_documents):
            columns["training_documents"] = self.training_documents
        for name, ratio in self._every.items():
            if not name.startswith("micro_"):
                columns[name.removeprefix("macro_")] = ratio.items
        return data_frame(columns, index=self.indices)

    @property
    def _every(self) -> dict[str, Ratio]:
        return {**self.ranking, **self.binary}

    def _ratio(self, name: str) -> Ratio:
        try:
            return self._every[name]
        except KeyError:
            raise UnknownMetricError(
                f"there is no metric {name!r}; there are {', '.join(self)}"
            ) from None


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What `evaluate` found: the metrics of both pivots, with the values of every item.

    Examples
    --------
    >>> import deplda
    >>> truth, train_labels = [[1, 0], [1, 0]], [[1, 0], [0, 1]]
    >>> found = deplda.evaluate([[0.9, 0.2], [0.4, 0.7]], truth, train_labels)
    >>> found.document["one_error"]
    50.0
    >>> found.document.item_values("average_precision").tolist()
    [1.0, 0.5]
    """

    document: Metrics
    """Labels ranked for each document."""
    label: Metrics
    """Documents ranked for each label."""
    n_unseen: int
    """Labels of test documents that no training document has, counted with their documents; they
    can not be predicted, and are in no metric."""

    def __repr__(self) -> str:
        return f"Evaluation(document={self.document}, label={self.label}, n_unseen={self.n_unseen})"

    def interval(
        self, pivot: str, name: str, *, level: float = 0.95, resamples: int = 1000, seed: int = 0
    ) -> Estimate:
        """Return a metric of a pivot and its bootstrap interval."""
        checks.choice("pivot", pivot, PIVOTS)
        metrics = self.document if pivot == "document" else self.label
        return metrics.interval(name, level=level, resamples=resamples, seed=seed)

    def by_frequency(
        self, bins: int | Sequence[int] = 5, *, metric: str = "average_precision", seed: int = 0
    ) -> FrequencyTable:
        """Return a label-pivoted metric by the labels' training frequency.

        `bins` is a number of bins of about equally many labels, or the lowest frequency of each.
        """
        values = {metric: self.label.item_values(metric)}
        return frequency_table(self.label.training_documents, values, bins, metric, seed=seed)

    def to_dict(self) -> dict[str, Any]:
        """Return every metric by pivot, task and name."""
        return {
            "document": self.document.to_dict(),
            "label": self.label.to_dict(),
            "n_unseen": self.n_unseen,
        }

    def to_frame(self) -> DataFrame:
        """Return a pandas frame with one row for each metric; `label.to_frame()` has the labels."""
        rows = [
            (metrics.pivot, task, name, ratio.value)
            for metrics in (self.document, self.label)
            for task, of_task in (("ranking", metrics.ranking), ("binary", metrics.binary))
            for name, ratio in of_task.items()
        ]
        return data_frame(rows, columns=["pivot", "task", "metric", "value"])

    def __rich__(self) -> Table:
        """Return the metrics of both pivots as a table for ``rich.print``."""
        table = Table("metric", show_edge=False)
        for part in (self.document, self.label):
            size = np.count_nonzero(part.positives)
            table.add_column(f"{part.pivot}-pivoted\n({size:,} {part.pivot}s)", justify="right")
        for task in ("ranking", "binary"):
            table.add_section()
            ours, theirs = getattr(self.document, task), getattr(self.label, task)
            for name in dict.fromkeys([*ours, *theirs]):
                cells = (
                    shown(part[name].value) if name in part else "–" for part in (ours, theirs)
                )
                table.add_row(name, *cells)
        return table


def evaluate(
    scores: Any,
    truth: Any,
    train_labels: Any,
    *,
    predicted: Any = None,
    labels: str = "train",
    ks: Iterable[int] = (1, 3, 5),
    ties: str = "expected",
    label_names: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
) -> Evaluation:
    """Return every metric of the scores, by document and by label.

    Parameters
    ----------
    scores : (documents, labels) array, sparse matrix or pair of arrays
        Higher is more likely. The top k only: a sparse matrix of the scores that are known, or the
        pair (labels, scores), each documents × k. Labels not in it tie below those in it.
    truth : Corpus, or (documents, labels) sparse or dense
        1 or True where a test document carries a label.
    train_labels : Corpus, or (training documents, labels) sparse or dense
        The same of the training documents: which labels can be predicted, and how often each is.
    predicted : (documents, labels) sparse or dense, optional
        A model's own yes-or-no predictions, for the metrics ``…@predicted``.
    labels : "train", "test" or "all"
        What is ranked for a document: the labels of any training document, only those that some
        test document has too, or all columns, for a model that suggests labels without
        training documents. Documents are ranked for the labels that some test document has.
    ks : whole numbers
        The k of precision@k, recall@k, r_precision@k, ndcg@k and propensity_precision@k.
    ties : "expected" or "order"
        The expected value over the orders of equal scores, or the value in the one order that keeps
        equals as they stand.
    label_names, ids : sequences of strings, optional
        Names of the labels and of the documents, for `to_frame`; by default those of the corpus.

    Examples
    --------
    >>> import deplda
    >>> truth, train_labels = [[1, 0, 0], [0, 1, 1]], [[1, 1, 0], [0, 0, 1]]
    >>> scores = [[0.9, 0.2, 0.1], [0.8, 0.7, 0.1]]
    >>> found = deplda.evaluate(scores, truth, train_labels)
    >>> round(found.document["average_precision"], 3)
    0.792
    """
    if isinstance(truth, Corpus):
        _check_same_names(truth, train_labels)
        label_names = truth.label_names if label_names is None else label_names
        ids = truth.ids if ids is None else ids
    truth, trained = read_truth(truth), read_truth(train_labels, "train_labels")
    scores, ks = read_scores(scores, truth.shape), check_ks(ks)
    if predicted is not None:
        predicted = read_truth(predicted, "predicted")
        same_shape(predicted.shape, truth.shape, "predicted")
    if trained.shape[1] != truth.shape[1]:
        raise InputError(
            f"train_labels have {trained.shape[1]:,} labels but the truth has {truth.shape[1]:,}; "
            "align the test part to the training part first"
        )
    checks.choice("labels", labels, ("train", "test", "all"))
    counts = np.bincount(trained.indices, minlength=trained.shape[1]).astype(np.int64)
    is_known = counts >= (0 if labels == "all" else 1)
    known, tested = np.flatnonzero(is_known), np.flatnonzero(is_known & (truth.sum(axis=0) > 0))
    if not len(tested):
        raise InputError(
            f"no document has one of the {len(known):,} labels that are ranked; there is nothing "
            "to evaluate. See whether both parts have the same columns, or files the right labels "
            "(--labels-field, --separator)"
        )
    ranked = tested if labels == "test" else known
    given = _Given(scores, truth, trained, predicted, ks, ties, counts)
    document_names = _names(ids, truth.shape[0], "ids")
    names = _names(label_names, truth.shape[1], "label_names")
    return Evaluation(
        _by_document(given, ranked, document_names),
        _by_label(given, tested, tuple([names[label] for label in tested.tolist()])),
        int(truth.nnz - truth[:, known].nnz),
    )


class _Given(NamedTuple):
    """What `evaluate` was given, checked, and how often each label is in training."""

    scores: Scores
    truth: Sparse
    train_labels: Sparse
    predicted: Sparse | None
    ks: tuple[int, ...]
    ties: str
    train_counts: Ints


def _by_document(given: _Given, ranked: Ints, names: tuple[str, ...]) -> Metrics:
    """Return the metrics of every document, for which the `ranked` labels are ranked."""
    n_documents, n_labels = given.truth.shape
    truth = given.truth[:, ranked]
    columns = None if len(ranked) == n_labels else ranked
    groups = tie_groups(given.scores, truth, columns=columns, ties=given.ties)
    ranking = {name: mean_of(values) for name, values in metrics_of(groups, given.ks).items()}
    weights = inverse_propensities(given.train_counts[ranked], given.train_labels.shape[0])
    for k in given.ks:
        ranking[f"propensity_precision@{k}"] = Ratio(*propensity_gain(groups, weights, k))
    cut = np.full(n_documents, cutoffs.proportional_for_documents(given.train_labels))
    predicted = None if given.predicted is None else given.predicted[:, ranked]
    return Metrics(
        "document",
        np.arange(n_documents),
        names,
        groups.positives,
        np.empty(0, dtype=np.int64),
        ranking,
        _binary(groups, cut, truth, predicted),
    )


def _by_label(given: _Given, tested: Ints, names: tuple[str, ...]) -> Metrics:
    """Return the metrics of the `tested` labels, for which all documents are ranked."""
    truth = given.truth[:, tested].T.tocsr()
    scores = given.scores.T.tocsr() if issparse(given.scores) else given.scores.T
    groups = tie_groups(scores, truth, rows=tested, ties=given.ties)
    counts = given.train_counts[tested]
    n_train, n_test = given.train_labels.shape[0], given.truth.shape[0]
    cut = cutoffs.proportional_for_labels(counts, n_train, n_test)
    predicted = None if given.predicted is None else given.predicted[:, tested].T.tocsr()
    return Metrics(
        "label",
        tested,
        names,
        groups.positives,
        counts,
        {name: mean_of(values) for name, values in metrics_of(groups, given.ks).items()},
        _binary(groups, cut, truth, predicted),
    )


def _binary(
    groups: TieGroups, proportional: Ints, truth: Sparse, predicted: Sparse | None
) -> dict[str, Ratio]:
    """Return F1, precision and recall at every cut-off, and of the predictions if there are any."""
    cuts = {
        "proportional": proportional,
        "calibrated": groups.positives,
        "break_even": cutoffs.break_even(groups),
    }
    parts = {name: (hits_in_top(groups, cut), cut) for name, cut in cuts.items()}
    if predicted is not None:
        hits = predicted.multiply(truth).sum(axis=1, dtype=np.float64)
        parts["predicted"] = (hits, predicted.sum(axis=1, dtype=np.int64))
    return {
        f"{metric}@{name}": ratio
        for name, (hits, cut) in parts.items()
        for metric, ratio in binary_ratios(hits, cut, groups.positives).items()
    }


def _check_same_names(test: Corpus, train: Any) -> None:
    """Raise if the columns of two corpora are different labels."""
    if isinstance(train, Corpus) and train.label_names != test.label_names:
        raise InputError(
            f"the test corpus has {test.n_labels:,} labels and the training corpus "
            f"{train.n_labels:,}, and their names or order differ; use test.align(train)"
        )


def _names(names: Sequence[str] | None, n: int, what: str) -> tuple[str, ...]:
    if names is None:
        return tuple([str(number) for number in range(n)])
    if len(names) != n:
        raise InputError(f"{what} has {len(names):,} names for {n:,}; give one for each")
    return tuple(names)
