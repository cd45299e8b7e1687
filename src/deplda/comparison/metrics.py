"""The metrics that a comparison reports, and how their values are written."""

from __future__ import annotations

from typing import NamedTuple

from deplda.comparison.phrases import rate
from deplda.evaluation.ranking import LOWER_IS_BETTER

_TITLES = {
    "average_precision": "Avg-Prec",
    "one_error": "One-Err",
    "micro_f1@calibrated": "Calibrated micro-F1",
}


class Metric(NamedTuple):
    """The path to a metric of an evaluation."""

    pivot: str
    task: str
    name: str

    @property
    def title(self) -> str:
        """Its name in tables, and what it is an average over."""
        return f"{_TITLES[self.name]} by {self.pivot}"

    @property
    def lower_is_better(self) -> bool:
        """Whether 0 is best."""
        return self.name in LOWER_IS_BETTER

    def shown(self, value: float) -> str:
        """Return the value as tables show it: an error is a percentage."""
        return f"{value:.1f}" if self.name == "one_error" and value == value else rate(value)


BY_DOCUMENT = Metric("document", "ranking", "average_precision")
BY_LABEL = Metric("label", "ranking", "average_precision")
ONE_ERROR = Metric("document", "ranking", "one_error")
MICRO_F1 = Metric("document", "binary", "micro_f1@calibrated")
