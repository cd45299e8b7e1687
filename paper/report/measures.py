"""The metrics of the paper's tables, their names, and the tolerance of differences."""

from __future__ import annotations

from collections.abc import Mapping

from deplda.comparison import metrics
from deplda.comparison.phrases import rate

_TITLES = {
    "auc_pr": "AUC-PR",
    "auc_roc": "AUC-ROC",
    "average_precision": "Avg-Prec",
    "ranking_loss": "Rank-Loss",
    "one_error": "One-Err",
    "is_error": "Is-Err",
    "margin": "Margin",
}
_CUTS = {"proportional": "Proportional", "calibrated": "Calibrated", "break_even": "Break-even"}
_FIRST = {"r_precision": "RP", "ndcg": "nDCG"}
"""Metrics of the first k labels, for comparison with other publications."""
_ERRORS = {"ranking_loss": 2, "one_error": 1, "is_error": 1}
"""Errors on [0, 100], and their decimals."""


class Metric(metrics.Metric):
    """One metric of an evaluation."""

    @property
    def short_title(self) -> str:
        """The name in the paper, or in another publication."""
        if self.name in _TITLES:
            return _TITLES[self.name]
        of, _, at = self.name.partition("@")
        if of in _FIRST:
            return f"{_FIRST[of]}@{at}"
        return f"{_CUTS.get(at, at.capitalize())} {of.removesuffix('_f1')}-F1"

    @property
    def title(self) -> str:
        """The name, and what the metric is an average over."""
        return f"{self.short_title} by {self.pivot}"

    @property
    def is_error(self) -> bool:
        """Whether it is a percentage of mistakes."""
        return self.name in _ERRORS

    @property
    def tolerance(self) -> float | None:
        """How far from the paper's value is near; None for the margin, a count of ranks."""
        if self.name == "margin":
            return None
        return 1.5 if self.is_error else 0.01

    @property
    def decimals(self) -> int:
        """The decimals of differences."""
        return 2 if self.name == "margin" else _ERRORS.get(self.name, 3)

    def shown(self, value: float) -> str:
        """Return the value as the tables write it."""
        if value != value:
            return "–"
        if self.name == "margin":
            return f"{value:,.{2 if abs(value) < 10 else 1 if abs(value) < 100 else 0}f}"
        return f"{value:.{self.decimals}f}" if self.is_error else rate(value)


TABLES = {
    (pivot, task): tuple(Metric(pivot, task, name) for name in names)
    for pivot in ("document", "label")
    for task, names in (
        ("ranking", tuple(_TITLES)),
        ("binary", tuple(f"{mean}_f1@{cut}" for cut in _CUTS for mean in ("macro", "micro"))),
    )
}
"""Pivot and task → the metrics of that table."""
METRICS = tuple(metric for table in TABLES.values() for metric in table)

BY_DOCUMENT, BY_LABEL, ONE_ERROR, MICRO_F1 = (
    Metric(*metric)
    for metric in (metrics.BY_DOCUMENT, metrics.BY_LABEL, metrics.ONE_ERROR, metrics.MICRO_F1)
)


def nested(values: Mapping[Metric, float]) -> dict[str, dict[str, dict[str, float]]]:
    """Return pivot → task → name → value, as `scorecard` takes it."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for metric, value in values.items():
        found.setdefault(metric.pivot, {}).setdefault(metric.task, {})[metric.name] = value
    return found
