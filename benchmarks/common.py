"""What the benchmarks share: a row of the table, the clocks, and average precision."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from deplda import Corpus
from deplda.evaluation import rank_metrics


class Row(NamedTuple):
    """One measurement of ours beside the same of another program, measured in the same run."""

    what: str
    ours: float
    peer: str
    theirs: float
    unit: str
    better: Literal["more", "less"]

    @property
    def ratio(self) -> float:
        """How many times better ours is."""
        return self.ours / self.theirs if self.better == "more" else self.theirs / self.ours


def seconds(work: Callable[[], object]) -> float:
    """Return the time by the clock that a call takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU time that a call takes, all threads together."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def average_precision(scores: Any, test: Corpus) -> float:
    """Return the mean over the documents that have labels."""
    return float(np.nanmean(rank_metrics(scores, test.labels)["average_precision"]))
