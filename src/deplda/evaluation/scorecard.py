"""Who is best at how many metrics: the paper's summary of all its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from deplda.errors import InputError
from deplda.evaluation.evaluation import Evaluation
from deplda.evaluation.frames import data_frame
from deplda.evaluation.ranking import LOWER_IS_BETTER, PIVOTS

if TYPE_CHECKING:
    from pandas import DataFrame

SCORED = {
    # The ranking loss is the AUC-ROC once more, and does not count twice.
    "ranking": ("auc_roc", "auc_pr", "average_precision", "one_error", "is_error", "margin"),
    "binary": tuple(
        f"{mean}_f1@{cut}"
        for cut in ("proportional", "calibrated", "break_even")
        for mean in ("macro", "micro")
    ),
}


@dataclass(frozen=True, slots=True, eq=False)
class Scorecard:
    """On how many metrics each model is best, by data set, pivot and task."""

    models: tuple[str, ...]
    counts: Mapping[tuple[str, str, str], Mapping[str, int]]
    """(data set, pivot, task) → model → metrics on which it is best, alone or with others."""
    n_metrics: Mapping[tuple[str, str, str], int]
    """How many metrics that was."""

    def total(self, data: str) -> dict[str, int]:
        """Return on how many metrics of a data set each model is best."""
        mine = [count for (name, _, _), count in self.counts.items() if name == data]
        return {model: sum(count[model] for count in mine) for model in self.models}

    def to_dict(self) -> dict[str, Any]:
        """Return the counts by data set, pivot, task and model."""
        card: dict[str, Any] = {}
        for (data, pivot, task), count in self.counts.items():
            card.setdefault(data, {}).setdefault(pivot, {})[task] = dict(count)
        return card

    def to_frame(self) -> DataFrame:
        """Return a pandas frame with one row for each data set, pivot and task."""
        rows = [(*key, self.n_metrics[key], *n.values()) for key, n in self.counts.items()]
        return data_frame(rows, columns=["data", "pivot", "task", "metrics", *self.models])

    def __rich__(self) -> Table:
        """Return the counts as a table for ``rich.print``."""
        table = Table("data", "pivot", "task", title="best on how many metrics", show_edge=False)
        for column in ("of", *self.models):
            table.add_column(escape(column), justify="right")
        for key, count in self.counts.items():
            best = max(count.values())
            cells = [f"[bold]{n}[/]" if n == best else str(n) for n in count.values()]
            table.add_row(*map(escape, key), str(self.n_metrics[key]), *cells)
        return table


def scorecard(
    results: Mapping[str, Mapping[str, Evaluation | Mapping[str, Any]]], *, digits: int | None = 3
) -> Scorecard:
    """Return on how many metrics each model is best, for each data set, pivot and task.

    Parameters
    ----------
    results : data set → model → `Evaluation`, or what its `to_dict` gave
        The models are the same for every data set.
    digits : whole number or None
        Values that agree to so many significant digits are tied, and all tied for the best are
        counted as best; None asks for equality.

    Examples
    --------
    >>> import deplda
    >>> truth, train_labels = [[1, 0, 0], [0, 1, 1]], [[1, 1, 1]]
    >>> good = deplda.evaluate([[3, 2, 1], [1, 2, 3]], truth, train_labels)
    >>> bad = deplda.evaluate([[1, 2, 3], [3, 2, 1]], truth, train_labels)
    >>> wins = deplda.scorecard({"toy": {"good": good, "bad": bad}}).total("toy")
    >>> wins["good"] > wins["bad"]
    True
    """
    models = tuple(next(iter(results.values()), {}))
    counts, sizes = {}, {}
    for data, by_model in results.items():
        if set(by_model) != set(models):
            raise InputError(
                f"data set {data!r} has the models {', '.join(by_model)}, the first has "
                f"{', '.join(models)}; all need the same ones"
            )
        tables = {m: t if isinstance(t, Mapping) else t.to_dict() for m, t in by_model.items()}
        for pivot in PIVOTS:
            for task, names in SCORED.items():
                parts = {m: tables[m].get(pivot, {}).get(task, {}) for m in models}
                scored = [name for name in names if all(name in part for part in parts.values())]
                wins = [_winners({m: parts[m][n] for m in models}, n, digits) for n in scored]
                counts[data, pivot, task] = {m: sum(m in best for best in wins) for m in models}
                sizes[data, pivot, task] = len(scored)
    return Scorecard(models, counts, sizes)


def _winners(values: Mapping[str, float], name: str, digits: int | None) -> set[str]:
    """Return the models with the best value of a metric; NaN is never best."""
    shown = {
        model: value if digits is None else float(f"{value:.{digits}g}")
        for model, value in values.items()
        if value == value
    }
    if not shown:
        return set()
    best = min(shown.values()) if name in LOWER_IS_BETTER else max(shown.values())
    return {model for model, value in shown.items() if value == best}
