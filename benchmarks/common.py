"""What the benchmarks share: a row of the table, the clocks, and average precision."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from deplda import Corpus
from deplda.data.atomic import write_whole
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


def write_between(page: Path, begin: str, end: str, text: str) -> None:
    """Put the text between two markers of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    with write_whole(page) as file:
        file.write(f"{before}{begin}\n{text}\n{end}{after}".encode())
