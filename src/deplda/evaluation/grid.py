"""Which limit and threshold suggestions are best cut off at: all pairs of both, tried at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table

from deplda.data.wording import counted
from deplda.evaluation.binary import agreement
from deplda.evaluation.frames import percent
from deplda.evaluation.matrices import Floats, Ints, read_truth
from deplda.evaluation.suggestions import check_cut, mean_of_all, ndcg, ranked

LIMITS = tuple(range(1, 16))
THRESHOLDS = tuple(round(step / 20, 2) for step in range(20))
_ROWS, _COLUMNS = 15, 10


class Cut(NamedTuple):
    """A limit and a threshold, and what is reached with them."""

    limit: int
    threshold: float
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class CutGrid:
    """The measures of suggestions cut off at each limit × threshold, means over documents."""

    n_documents: int
    limits: tuple[int, ...]
    thresholds: tuple[float, ...]
    precision: Floats
    recall: Floats
    f1: Floats
    ndcg: Floats

    def best(self, measure: str = "f1") -> Cut:
        """Return the best pair; of equals the one with the highest limit, then threshold."""
        values: Floats = getattr(self, measure)
        limit, threshold = np.argwhere(values == values.max())[-1].tolist()
        return Cut(self.limits[limit], self.thresholds[threshold], float(values.max()))

    def to_dict(self) -> dict[str, Any]:
        """Return the best pair by each measure, and all values: limits × thresholds, 0 to 1."""
        measures = ("f1", "precision", "recall", "ndcg")
        return {
            "documents": self.n_documents,
            "limits": list(self.limits),
            "thresholds": list(self.thresholds),
            "best": {measure: self.best(measure)._asdict() for measure in measures},
            **{measure: getattr(self, measure).tolist() for measure in measures},
        }

    def __rich__(self) -> Table:
        """Return F1 in per cent, some limits and thresholds of many, the best in bold."""
        best = self.best()
        row, column = self.limits.index(best.limit), self.thresholds.index(best.threshold)
        columns = _some(len(self.thresholds), column, _COLUMNS)
        title = f"F1 in %, mean of {counted(self.n_documents, 'document')}, by limit and threshold"
        table = Table("limit", title=title, show_edge=False, padding=(0, 1, 0, 0))
        for place in columns:
            table.add_column(f"{self.thresholds[place]:.2f}", justify="right")
        for own in _some(len(self.limits), row, _ROWS):
            cells = [percent(self.f1[own, place]) for place in columns]
            if own == row:
                cells[columns.index(column)] = f"[bold reverse]{percent(best.value)}[/]"
            table.add_row(str(self.limits[own]), *cells)
        return table


def _some(n: int, best: int, most: int) -> range:
    """Return so many of n places at most, at equal distances, the best among them."""
    step = -(-n // most)
    return range(best % step, n, step)


def tune_cut(
    scores: Any,
    truth: Any,
    *,
    limits: Iterable[int] = LIMITS,
    thresholds: Iterable[float] = THRESHOLDS,
) -> CutGrid:
    """Return how good suggestions are at each limit × threshold; see `suggestion_metrics`.

    Use documents that the model has not learned from, and others again to say how good the best is.
    """
    limits, thresholds = tuple(sorted({*limits})), tuple(sorted({*thresholds}))
    for limit in limits:
        check_cut(limit, thresholds[0])
    check_cut(None, thresholds[-1])
    truth = read_truth(truth)
    ranks = ranked(scores, truth, limits[-1])
    found = np.empty((4, len(limits), len(thresholds)))
    for column, threshold in enumerate(thresholds):
        enough = ranks.given(None, threshold)
        for row, limit in enumerate(limits):
            n: Ints = np.minimum(enough, limit)
            parts = agreement(ranks.hits_in(n), n, ranks.positives)
            parts["ndcg"] = ndcg(ranks, n)
            for place, name in enumerate(("precision", "recall", "f1", "ndcg")):
                found[place, row, column] = mean_of_all(parts[name]).value
    return CutGrid(truth.shape[0], limits, thresholds, *found)
