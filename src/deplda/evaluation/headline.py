"""How good a model is in six lines, for people who index: per cent, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deplda.data.wording import counted
from deplda.errors import InputError
from deplda.evaluation.estimate import Estimate, Ratio, bootstrap
from deplda.evaluation.evaluation import Evaluation
from deplda.evaluation.frames import percent
from deplda.evaluation.frequency import frequency_bins
from deplda.evaluation.matrices import Ints, Sparse
from deplda.evaluation.suggestions import SuggestionMetrics


@dataclass(frozen=True, slots=True)
class RareLabels:
    """The rarest fifth of the labels that test documents have and the model can give."""

    low: int
    """Training documents that each has, at least and at most."""
    high: int
    n_labels: int
    found: Ratio
    """How many of them, counted with their documents, were given."""

    @property
    def n_true(self) -> int:
        """How often documents have one of them."""
        return int(self.found.denominator.sum())

    def __str__(self) -> str:
        span = f"{self.low:,} to {self.high:,}" if self.low < self.high else f"{self.high:,}"
        documents = "document" if self.low == self.high == 1 else "documents"
        return f"{counted(self.n_labels, 'label')} with {span} training {documents}"


@dataclass(frozen=True, slots=True)
class Headline:
    """What matters most: fractions from 0 to 1, with intervals of 95 %."""

    asked: str
    """What was asked for, as `deplda predict` takes it."""
    n_documents: int
    n_given: int
    n_true: int
    n_unknown: int
    """True labels that the model does not know; they are among those that it did not find."""
    n_by_name: int
    """Labels of the documents that the model knows, but no training document has."""
    n_ranked: int
    """Documents with a label that the model knows: the average precision is theirs."""
    best: int
    """How many labels the best few are."""
    rare: RareLabels
    estimates: dict[str, Estimate]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return {
            "asked": self.asked,
            "documents": self.n_documents,
            "documents_ranked": self.n_ranked,
            "labels_given": self.n_given,
            "labels_true": self.n_true,
            "labels_unknown": self.n_unknown,
            "labels_by_name": self.n_by_name,
            "rare_labels": {
                "low": self.rare.low, "high": self.rare.high, "n_labels": self.rare.n_labels,
            },
            **{name: estimate._asdict() for name, estimate in self.estimates.items()},
        }  # fmt: skip

    def __str__(self) -> str:
        """Return a heading and six lines of at most 80 characters."""
        told = {name: _told(estimate) for name, estimate in self.estimates.items()}
        few = f"{told['best_right']} right, {told['best_found']} found, F1 {told['best_f1']}"
        ndcg = f"nDCG@{self.best} {told['best_ndcg']}"
        n, ranked = self.n_documents, "average precision"
        unknown = "0: the model knows all labels of the documents"
        if self.n_by_name:
            unknown += f", {self.n_by_name:,} by name alone"
        if self.n_unknown:
            ranked, rest = "AP of known labels", self.n_true - self.n_unknown
            unknown = (
                f"{percent(self.n_unknown / self.n_true)} of the true labels ({self.n_unknown:,}); "
                f"AP is of the other {rest:,}, in {counted(self.n_ranked, 'document')}"
            )
        lines = {
            "given": f"{self.n_given / n:.1f} labels per document: {told['right']} of them right",
            "found": f"{told['found']} of {counted(self.n_true, 'true label')}; "
            f"micro-F1 {told['f1']}",
            f"best {self.best}": few,
            "ranking": f"{ranked} {told['average_precision']}, {ndcg}",
            "rarest": f"{told['rare_found']} of {self.rare.n_true:,} found: {self.rare}",
            "unknown": unknown,
        }
        heading = f"{self.asked} on {counted(n, 'document')}: per cent, with 95 % intervals"
        return "\n".join([heading, *(f"{name:9} {line}" for name, line in lines.items())])


def headline(
    found: Evaluation,
    given: SuggestionMetrics,
    best: SuggestionMetrics,
    rare: RareLabels,
    *,
    n_unknown: int,
    n_by_name: int = 0,
    asked: str,
) -> Headline:
    """Return what matters most of an evaluation: the labels `given`, and the `best` few.

    The best few are measured with a limit, which is one of their `ks`.
    """
    k = best.limit
    if k is None:
        raise InputError("the best few have no limit; measure them with suggestion_metrics(limit=)")
    ratios = {
        "right": given.by_document["micro_precision"],
        "found": given.by_document["micro_recall"],
        "f1": given.by_document["micro_f1"],
        "best_right": best.by_document["document_precision"],
        "best_found": best.by_document["document_recall"],
        "best_f1": best.by_document["document_f1"],
        "average_precision": found.document.ranking["average_precision"],
        "best_ndcg": best.by_document[f"given_ndcg@{k}"],
        "rare_found": rare.found,
    }
    return Headline(
        asked, given.n_documents, given.n_given, given.n_true, n_unknown, n_by_name,
        int(np.count_nonzero(found.document.positives)), k, rare,
        bootstrap(ratios),
    )  # fmt: skip


def rare_labels(given: Sparse, truth: Sparse, training_documents: Ints) -> RareLabels:
    """Return how many of the rarest labels were found.

    `given` and `truth` are documents × labels; `training_documents` of a label that the model does
    not know are −1.
    """
    is_tested = (truth.sum(axis=0) > 0) & (training_documents >= 0)
    _, limit = frequency_bins(training_documents[is_tested])[0]
    rarest = np.flatnonzero(is_tested & (training_documents <= limit))
    counts = training_documents[rarest]
    own = truth[:, rarest].astype(bool)
    hits = (given[:, rarest] > 0).multiply(own).sum(axis=1, dtype=np.float64)
    found = Ratio(np.asarray(hits), np.asarray(own.sum(axis=1, dtype=np.float64)))
    return RareLabels(int(counts.min()), int(counts.max()), len(rarest), found)


def _told(estimate: Estimate) -> str:
    value, low, high = map(percent, estimate)
    return f"{value} [{low}, {high}]"
