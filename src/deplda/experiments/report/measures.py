"""The figures of the tables: the paper's 26, how each is written, and what counts as near."""

from __future__ import annotations

from typing import NamedTuple

from deplda.evaluation.ranking import LOWER_IS_BETTER

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
_ERRORS = {"ranking_loss": 2, "one_error": 1, "is_error": 1}
"""Errors on [0, 100], and the decimals they are written with."""


class Metric(NamedTuple):
    """One figure of an evaluation."""

    pivot: str
    task: str
    name: str

    @property
    def title(self) -> str:
        """What the paper calls it."""
        if self.name in _TITLES:
            return _TITLES[self.name]
        mean, cut = self.name.split("_f1@")
        return f"{_CUTS[cut]} {mean}-F1"

    @property
    def lower_is_better(self) -> bool:
        """Whether 0 is best."""
        return self.name in LOWER_IS_BETTER

    @property
    def is_error(self) -> bool:
        """Whether it is a percentage of mistakes."""
        return self.name in _ERRORS

    @property
    def tolerance(self) -> float | None:
        """How far from the paper's figure is still near; None for the margin, a count of ranks."""
        if self.name == "margin":
            return None
        return 1.5 if self.is_error else 0.01

    @property
    def decimals(self) -> int:
        """The decimals that its differences are written with."""
        return 2 if self.name == "margin" else _ERRORS.get(self.name, 3)

    def shown(self, value: float) -> str:
        """Return the value as the tables write it."""
        if value != value:
            return "–"
        if self.name == "margin":
            return f"{value:,.{2 if abs(value) < 10 else 1 if abs(value) < 100 else 0}f}"
        if self.name in _ERRORS:
            return f"{value:.{_ERRORS[self.name]}f}"
        return rate(value)


def rate(value: float) -> str:
    """Return a figure between 0 and 1 with three decimals and no leading zero, as in the paper."""
    return "–" if value != value else f"{value:.3f}".removeprefix("0")


def signed(value: float, decimals: int = 3) -> str:
    """Return a difference with its sign, if it is not 0, as the paper would write the number."""
    value = round(value, decimals)
    text = f"{abs(value):.{decimals}f}"
    text = text.removeprefix("0") if decimals else text
    return f"{'−' if value < 0 else '+' if value > 0 else ''}{text}"


RANKING = tuple(_TITLES)
BINARY = tuple(f"{mean}_f1@{cut}" for cut in _CUTS for mean in ("macro", "micro"))
TABLES = {
    (pivot, task): tuple(Metric(pivot, task, name) for name in names)
    for pivot in ("document", "label")
    for task, names in (("ranking", RANKING), ("binary", BINARY))
}
"""Pivot and task → the figures of that table."""
FIGURES = tuple(metric for table in TABLES.values() for metric in table)

BY_DOCUMENT = Metric("document", "ranking", "average_precision")
BY_LABEL = Metric("label", "ranking", "average_precision")
ONE_ERROR = Metric("document", "ranking", "one_error")
