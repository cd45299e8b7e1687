"""A cluster at work, simulated event by event: steps of tasks, each of which waits for the last.

Workers take tasks from a scheduler that needs its time for each. What a step shares reaches one
worker from the driver, and the others from those that have it. What tasks are sent and return
passes the driver's network one after the other, what they read and write passes that of the file
system. Some tasks are slow by a heavy-tailed factor, and workers fail: their task is begun anew.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Cluster(NamedTuple):
    """Workers, and what lies between them. The defaults are assumptions, not measurements."""

    workers: int
    overhead: float = 0.001
    """Seconds of the scheduler for a task; Dask's manual says about 1 ms."""
    driver_rate: float = 1.25e9
    """Bytes a second that driver and scheduler can send or take in: 10 Gbit/s."""
    worker_rate: float = 1.25e9
    """Bytes a second that a worker can send, take in, or exchange with the file system."""
    store_rate: float = 1e10
    """Bytes a second of the file system that all workers share."""
    slow_share: float = 0.02
    """Of tasks, that are slow."""
    slow_shape: float = 2.0
    """Of the Pareto distribution, from 1, of how many times slower these are …"""
    slow_most: float = 8.0
    """… and where it is cut off."""
    failures: float = 1 / (30 * 24 * 3600)
    """Of a worker, a second: once a month."""
    restart: float = 60.0
    """Seconds until a worker that failed is back."""

    def slowdowns(self, uniform: Floats) -> Floats:
        """Return the factors at these quantiles from above: 0 is the slowest task."""
        with np.errstate(divide="ignore"):
            slow = (uniform / max(self.slow_share, 1e-300)) ** (-1 / self.slow_shape)
        return np.where(uniform < self.slow_share, np.minimum(slow, self.slow_most), 1.0)


IDEAL: dict[str, Any] = {
    "overhead": 0.0, "driver_rate": math.inf, "worker_rate": math.inf, "store_rate": math.inf,
    "slow_share": 0.0, "failures": 0.0,
}  # fmt: skip
"""A cluster that costs nothing but the tasks themselves."""


class Step(NamedTuple):
    """Tasks that the next step waits for; bytes and seconds are those of one task."""

    tasks: int
    seconds: float
    driver: float = 0.0
    """Seconds of the driver alone, before the tasks."""
    shared: float = 0.0
    """Bytes that every worker needs once."""
    sent: float = 0.0
    returned: float = 0.0
    moved: float = 0.0
    """Bytes read from files and written to them."""


class Outcome(NamedTuple):
    """What a simulation came to."""

    seconds: float
    busy: float
    """Seconds in which workers were at a task, all together."""
    lost: int
    """Tasks that were begun anew, since their worker failed."""


class _Line:
    """What is served one after the other."""

    def __init__(self, rate: float) -> None:
        self._rate, self._free = rate, 0.0

    def pass_(self, now: float, amount: float) -> float:
        """Return when an amount that comes now is through."""
        if not amount:
            return now
        self._free = max(now, self._free) + amount / self._rate
        return self._free


_IDLE, _DONE, _FAILED = range(3)


class _Simulation:
    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.cluster, self.now, self.busy, self.lost = cluster, 0.0, 0.0, 0
        self._rng = np.random.default_rng(seed)
        self._driver, self._store = _Line(cluster.driver_rate), _Line(cluster.store_rate)
        self._scheduler = _Line(1.0)

    def run(self, step: Step) -> None:
        """Go on until all tasks of a step are done."""
        begin = self.now + step.driver
        self._waiting, self._idle = deque(range(step.tasks)), list[int]()
        self._events: list[tuple[float, int, int, int]] = []
        self.now = end = begin
        for worker in range(min(self.cluster.workers, step.tasks)):
            self._push(begin + arrival(step.shared, worker, self.cluster), _IDLE, worker)
        left = step.tasks
        while left:
            time, kind, worker, task = heapq.heappop(self._events)
            if kind == _DONE:
                left -= 1
                end = max(end, self._driver.pass_(time, step.returned))
            if kind == _FAILED:
                self.lost += 1
                self._waiting.append(task)
                back = time + self.cluster.restart + arrival(step.shared, 0, self.cluster)
                self._push(back, _IDLE, worker)
                worker = self._idle.pop() if self._idle else -1
            if worker >= 0 and self._waiting:
                self._begin(step, time, worker)
            elif worker >= 0:
                self._idle.append(worker)
        self.now = end

    def _begin(self, step: Step, time: float, worker: int) -> None:
        """Have a worker begin the next task."""
        cluster, task = self.cluster, self._waiting.popleft()
        begin = self._driver.pass_(self._scheduler.pass_(time, cluster.overhead), step.sent)
        takes = step.seconds * float(cluster.slowdowns(self._rng.random(1))[0])
        takes += step.moved / cluster.worker_rate
        fails = self._rng.exponential(1 / cluster.failures) if cluster.failures else math.inf
        if fails < takes:
            self.busy += fails
            self._push(begin + fails, _FAILED, worker, task)
            return
        end = max(begin + takes, self._store.pass_(begin, step.moved))
        self.busy += end - begin
        self._push(end, _DONE, worker, task)

    def _push(self, time: float, kind: int, worker: int, task: int = -1) -> None:
        heapq.heappush(self._events, (time, kind, worker, task))


def arrival(shared: float, worker: int, cluster: Cluster) -> float:
    """Return how long what is shared takes to a worker: those that have it hand it on."""
    hops = worker.bit_length()  # after n of them, 2ⁿ workers have it
    return shared / cluster.driver_rate + hops * shared / cluster.worker_rate


def simulate(steps: Iterable[Step], cluster: Cluster, seed: int = 0) -> Outcome:
    """Return what a cluster takes for steps, one after the other; the same seed, the same bits."""
    simulation = _Simulation(cluster, seed)
    for step in steps:
        simulation.run(step)
    return Outcome(simulation.now, simulation.busy, simulation.lost)
