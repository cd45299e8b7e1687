"""What training and prediction cost past one machine: in closed form, and as steps to simulate.

Constants are those of runs on one worker (`benchmarks.scale`): of each stage its seconds on workers
and of the driver alone, and its bytes, as a sum of what is proportional to documents, to labels, to
shards, to shards · labels, and to nothing, with the non-negative constants that fit the runs best.
So nothing is extrapolated by a curve: what grows with documents grows in proportion to them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from benchmarks.scale_run import Run
from benchmarks.simulation import Cluster, Step, arrival

Floats = npt.NDArray[np.float64]
PRICE = 0.04
"""Dollars for a core and hour, with 4 GB, as large clouds ask of those who commit to a year."""

RUN, DOCUMENT, LABEL, SHARD, SHARD_AND_LABEL = range(5)
"""What a constant is of; the values of `Size.basis` are in this order."""
NO_SHARDS = (RUN, DOCUMENT, LABEL)


class Size(NamedTuple):
    """How large a corpus is."""

    documents: float
    labels: float
    shards: float

    @property
    def basis(self) -> Floats:
        """What quantities are proportional to."""
        documents, labels, shards = self
        return np.array([1.0, documents, labels, shards, shards * labels])


_ALL = (RUN, DOCUMENT, LABEL, SHARD, SHARD_AND_LABEL)
_PLAIN = (RUN, DOCUMENT, LABEL, SHARD)
QUANTITIES = {
    "tasks": _PLAIN, "seconds": _PLAIN, "driver": _PLAIN, "shared": NO_SHARDS, "sent": _ALL,
    "returned": _ALL, "moved": _ALL,
}  # fmt: skip
"""Of a stage, and what each may be proportional to.

What a shard has of every label is known by its bytes, which are counted. In seconds it would be
noise, that of a few shards and labels, times millions.
"""


class StageModel(NamedTuple):
    """The constants of a stage, of each of `QUANTITIES`."""

    name: str
    steps: int
    constants: dict[str, Floats]

    def at(self, size: Size) -> dict[str, float]:
        """Return the quantities of the whole stage at a size."""
        return {name: float(found @ size.basis) for name, found in self.constants.items()}

    def steps_at(self, size: Size) -> list[Step]:
        """Return the steps of the stage, all alike."""
        whole = self.at(size)
        n = max(1, round(whole["tasks"] / self.steps)) if whole["tasks"] else 0
        share = 1 / (self.steps * n) if n else 0.0
        step = Step(
            n, whole["seconds"] * share, whole["driver"] / self.steps, whole["shared"],
            whole["sent"] * share, whole["returned"] * share, whole["moved"] * share,
        )  # fmt: skip
        return [step] * self.steps


def fitted(sizes: Sequence[Size], values: Sequence[float], terms: Sequence[int] = _ALL) -> Floats:
    """Return the non-negative constants that fit values best, by their relative errors.

    `terms` are those that may be other than 0.
    """
    rows = np.array([size.basis for size in sizes])[:, terms]
    known, constants = np.array(values, dtype=float), np.zeros(len(_ALL))
    if not known.any():
        return constants
    weights = 1 / np.maximum(known, known.max() * 1e-3)
    columns = rows.max(axis=0)  # of like size, which nnls needs
    found, _ = nnls(rows * weights[:, None] / columns, known * weights)
    found[found < 1e-9 * known.max()] = 0.0
    constants[list(terms)] = found / columns
    return constants


def stage_models(runs: Sequence[Run], part: str) -> list[StageModel]:
    """Return the constants of each stage of runs on one worker; `part` is "fit" or "predict"."""
    sizes = [size_of(run, part) for run in runs]
    names = dict.fromkeys(stage.name for run in runs for stage in getattr(run, part))
    return [_stage_model(name, runs, sizes, part) for name in names]


def size_of(run: Run, part: str) -> Size:
    """Return the size of the corpus that a run learned from, or predicted."""
    if part == "fit":
        return Size(run.documents, run.labels, run.shards)
    tasks = max(step.tasks for stage in run.predict for step in stage.steps)
    return Size(run.predicted, run.labels, tasks)


def _stage_model(name: str, runs: Sequence[Run], sizes: Sequence[Size], part: str) -> StageModel:
    rows: list[dict[str, float]] = []
    n_steps = []
    for run in runs:
        found = [stage for stage in getattr(run, part) if stage.name == name]
        steps = [step for stage in found for step in stage.steps]
        busy = sum(step.task_seconds for step in steps)
        n_steps.append(len(steps))
        rows.append({
            "tasks": sum(step.tasks for step in steps),
            "seconds": busy,
            "driver": max(0.0, sum(stage.seconds for stage in found) - busy),
            "shared": sum(step.shared for step in steps) / max(1, len(steps)),
            "sent": sum(step.sent for step in steps),
            "returned": sum(step.returned for step in steps),
            "moved": sum(step.moved for step in steps),
        })  # fmt: skip
    constants = {
        each: fitted(sizes, [row[each] for row in rows], terms)
        for each, terms in QUANTITIES.items()
    }
    return StageModel(name, max(1, round(float(np.median(n_steps)))), constants)


# In closed form -----------------------------------------------------------------------------------


class Cost(NamedTuple):
    """What a step, or several, take, and by what."""

    seconds: float
    compute: float
    driver: float
    network: float
    scheduler: float
    store: float

    def __add__(self, other: object) -> Cost:
        if not isinstance(other, Cost):
            return NotImplemented
        return Cost(*(a + b for a, b in zip(self, other, strict=True)))


NOTHING = Cost(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def cost_of(step: Step, cluster: Cluster) -> Cost:
    """Return what a step takes: the slowest of what is done side by side, and what is done alone.

    Tasks take as many rounds as there are tasks a worker, or the mean of a task with its slowdown;
    of those that run last, the slowest is waited for. A worker that fails at the rate λ makes
    p seconds (exp(λ p) − 1)(1/λ + restart).
    """
    if not step.tasks:
        return Cost(step.driver, 0.0, step.driver, 0.0, 0.0, 0.0)
    workers = min(cluster.workers, step.tasks)
    own = step.seconds + step.moved / cluster.worker_rate
    rate, mean = cluster.failures, own + step.seconds * (_mean_slowdown(cluster) - 1)
    again = math.expm1(rate * mean) * (1 / rate + cluster.restart) / mean if rate and mean else 1.0
    begins = np.array([arrival(step.shared, worker, cluster) for worker in range(workers)])
    rounds = begins[0] + math.ceil(step.tasks / workers) * own * again
    last = float(cluster.slowdowns(np.array([1 / workers]))[0]) - 1
    compute = max(rounds, _filled(begins, step.tasks * mean * again)) + step.seconds * last
    network = step.tasks * (step.sent + step.returned) / cluster.driver_rate
    scheduler, store = step.tasks * cluster.overhead, step.tasks * step.moved / cluster.store_rate
    seconds = step.driver + max(compute, network, scheduler, store)
    waited = float(begins.mean())
    return Cost(seconds, compute - waited, step.driver, network + waited, scheduler, store)


def _filled(begins: Floats, work: float) -> float:
    """Return when work is done by workers that begin one after the other, as each is there."""
    n = np.arange(1, len(begins) + 1)
    ends = (work + np.cumsum(begins)) / n  # if only the first n took part
    return float(ends[np.append(begins[1:] >= ends[:-1], True).argmax()])


def _mean_slowdown(cluster: Cluster) -> float:
    """Return the mean of the slowdown: 1, or of a few tasks Pareto's, cut off."""
    shape, most = cluster.slow_shape, cluster.slow_most
    log = math.isclose(shape, 1.0)
    tail = math.log(most) if log else (1 - most ** (1 - shape)) / (shape - 1)
    return 1 + cluster.slow_share * tail


def total(steps: Iterable[Step], cluster: Cluster) -> Cost:
    """Return what steps take one after the other."""
    return sum((cost_of(step, cluster) for step in steps), NOTHING)


def dollars(seconds: float, workers: int) -> float:
    """Return the price of the workers and the driver."""
    return (workers + 1) * seconds / 3600 * PRICE
