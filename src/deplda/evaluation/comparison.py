"""Several models on the same test documents: side by side, by frequency, and who is best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Group
from rich.markup import escape
from rich.table import Table

from deplda.errors import InputError
from deplda.evaluation.evaluation import Evaluation
from deplda.evaluation.frames import data_frame, shown
from deplda.evaluation.frequency import FrequencyTable, frequency_table
from deplda.evaluation.ranking import LOWER_IS_BETTER, PIVOTS
from deplda.evaluation.scorecard import Scorecard, scorecard

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """What `compare` found."""

    metrics: Mapping[str, Mapping[tuple[str, str, str], float]]
    """Model → (pivot, task, metric) → its mean over the splits."""
    scorecard: Scorecard
    by_frequency: FrequencyTable

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics by model, the scorecard and the table by frequency."""
        return {
            "metrics": {model: _nested(row) for model, row in self.metrics.items()},
            "scorecard": self.scorecard.to_dict(),
            "by_frequency": self.by_frequency.to_dict(),
        }

    def to_frame(self) -> DataFrame:
        """Return a pandas frame with one row for each metric and one column for each model."""
        keys = next(iter(self.metrics.values()))
        rows = [(*key, *(row[key] for row in self.metrics.values())) for key in keys]
        return data_frame(rows, columns=["pivot", "task", "metric", *self.metrics])

    def __rich__(self) -> Group:
        """Return the tables for ``rich.print``, the best of each row in bold."""
        tables = []
        for pivot in PIVOTS:
            table = Table("metric", title=f"{pivot}-pivoted", show_edge=False)
            for model in self.metrics:
                table.add_column(escape(model), justify="right")
            for key in next(iter(self.metrics.values())):
                if key[0] == pivot:
                    values = [row[key] for row in self.metrics.values()]
                    table.add_row(key[2], *_marked(values, key[2]))
            tables.append(table)
        return Group(*tables, self.by_frequency.__rich__(), self.scorecard.__rich__())


def compare(
    models: Mapping[str, Evaluation | Sequence[Evaluation]],
    *,
    bins: int | Sequence[int] = 5,
    metric: str = "average_precision",
    digits: int | None = 3,
    seed: int = 0,
) -> Comparison:
    """Return the models' metrics, a scorecard, and the metric by label frequency with its tests.

    Parameters
    ----------
    models : model → evaluation, or one evaluation of each split
        All on the same test documents, in the same order of splits. With several splits, metrics
        are means over them, and each pair (label, split) counts as one label of the bins and tests,
        with its training frequency in that split, as in the paper.
    bins, metric, seed
        Of the table by frequency; see `Evaluation.by_frequency`.
    digits : whole number or None
        Values that agree to so many significant digits share a win; see `scorecard`.

    Examples
    --------
    >>> import deplda
    >>> truth, train_labels = [[1, 0, 0], [0, 1, 1]], [[1, 1, 1]]
    >>> good = deplda.evaluate([[3, 2, 1], [1, 2, 3]], truth, train_labels)
    >>> bad = deplda.evaluate([[1, 2, 3], [3, 2, 1]], truth, train_labels)
    >>> both = deplda.compare({"good": good, "bad": bad})
    >>> [part.n_labels for part in both.by_frequency.bins]
    [3]
    """
    splits = {
        name: [given] if isinstance(given, Evaluation) else list(given)
        for name, given in models.items()
    }
    _check_same_labels(splits)
    every = {name: _means(parts) for name, parts in splits.items()}
    shared = set.intersection(*map(set, every.values()))
    metrics = {name: {k: row[k] for k in row if k in shared} for name, row in every.items()}
    first = next(iter(splits.values()))
    counts = np.concatenate([part.label.training_documents for part in first])
    values = {
        name: np.concatenate([part.label.item_values(metric) for part in parts])
        for name, parts in splits.items()
    }
    return Comparison(
        metrics,
        scorecard({"all": {m: _nested(row) for m, row in metrics.items()}}, digits=digits),
        frequency_table(counts, values, bins, metric, seed=seed),
    )


def _check_same_labels(splits: Mapping[str, list[Evaluation]]) -> None:
    """Raise if the labels of two models differ: their values would be paired wrongly."""
    (leader, first), *others = splits.items()
    for name, parts in others:
        if len(parts) != len(first) or not all(map(_have_same_labels, first, parts)):
            raise InputError(
                f"models {leader!r} and {name!r} were evaluated on different splits, labels or "
                "documents; give both the same truth and train_labels"
            )


def _have_same_labels(one: Evaluation, other: Evaluation) -> bool:
    return all(
        np.array_equal(getattr(one.label, name), getattr(other.label, name))
        for name in ("indices", "positives", "training_documents")
    )


def _means(parts: list[Evaluation]) -> dict[tuple[str, str, str], float]:
    tables = [part.to_dict() for part in parts]
    return {
        (pivot, task, name): float(np.mean([table[pivot][task][name] for table in tables]))
        for pivot in PIVOTS
        for task in ("ranking", "binary")
        for name in tables[0][pivot][task]
    }


def _nested(row: Mapping[tuple[str, str, str], float]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for (pivot, task, name), value in row.items():
        table.setdefault(pivot, {}).setdefault(task, {})[name] = value
    return table


def _marked(values: list[float], metric: str) -> list[str]:
    best = shown((min if metric in LOWER_IS_BETTER else max)(values))
    return [f"[bold]{text}[/]" if text == best else text for text in map(shown, values)]
