"""What the benchmarks share: a row of the table, and the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, NamedTuple


class Row(NamedTuple):
    """One figure of ours beside the same of another program, measured in the same run."""

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


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU time that a call takes, all threads together."""
    begin = time.process_time()
    work()
    return time.process_time() - begin
