"""SVMs of all labels on a CUDA GPU: tiles of as many labels as fit, all solved at once.

The steps and the rules are those of the CPU (`solver`, `tuning`), label by label: a label's bits do
not depend on those beside it. Labels that are done are left behind when they are half of a tile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from deplda.engine.execution import Execution
from deplda.engine.progress import compiling, counted
from deplda.kernels.cuda.device import Gpu, within_memory
from deplda.kernels.cuda.linear import (
    LANES,
    Bools,
    Documents,
    Machines,
    Scratch,
    hold_out,
    padded,
)
from deplda.models.devices import on_gpu
from deplda.models.linear import solver, tuning
from deplda.models.linear.solver import Floats, Numbers, Problem, Solved

Result = TypeVar("Result")

_OUT = 512  # labels whose weights are made sparse at a time

Done = Callable[[int], None]
Judge = Callable[[Machines, Numbers, Bools], tuple[Bools, Bools]]
"""Of machines just looked at, their numbers and which are left: which are finished with, and which
take a step. Those that are neither are looked at again, with other costs."""


class _Start(NamedTuple):
    """Where labels start: w and the scores of all documents, one column each, on the GPU."""

    w: Any
    scores: Any


class Tiles:
    """Solves the SVMs of labels on a GPU; each result comes with the labels that it is of."""

    def __init__(self, gpu: Gpu, problem: Problem, execution: Execution) -> None:
        self._gpu, self._problem, self._execution = gpu, problem, execution
        features = problem.features
        matrix = csr_array(
            (features.values, features.words, features.starts),
            shape=(len(features), features.n_words),
        )
        self._documents = Documents(gpu, matrix, features.lengths, features.weights)
        self._documents.labels_that_fit()  # raises where none does
        with compiling(execution.progress):
            gpu.function("linear", "look")

    def learned(
        self, labels: Numbers, cost: float, costs: Floats, least: float, folds: Sequence[Numbers]
    ) -> Iterator[tuple[list[int], Solved]]:
        """Yield what is learned for C of documents without and with each label; see `Blocks`."""
        work = partial(self._learn, costs, least, folds)
        return self._tiles("training SVMs of", labels, len(folds) + 1, cost, work)

    def tuned(
        self, labels: Numbers, cost: float, which: tuning.Weighted
    ) -> Iterator[tuple[list[int], list[float]]]:
        """Yield the weights that are chosen by documents held out; see `Blocks`."""
        return self._tiles("tuning SVMs of", labels, 1, cost, partial(self._tune, cost, which))

    def paths(
        self, labels: Numbers, costs: Sequence[float], folds: Sequence[Numbers]
    ) -> Iterator[tuple[list[int], npt.NDArray[np.float32]]]:
        """Yield scores of held-out documents for each C: costs × documents × labels."""
        n_stages, work = len(folds) * len(costs), partial(self._follow, costs, folds)
        return self._tiles("choosing C by", labels, n_stages, costs[0], work)

    def _tiles(
        self, what: str, labels: Numbers, n_stages: int, cost: float, work: Callable[..., Result]
    ) -> Iterator[tuple[list[int], Result]]:
        """Yield some labels and work(start, labels, signs, done), tile after tile.

        `done` is told of each label `n_stages` times.
        """
        what, first = f"{what} {len(labels):,} labels", 0
        with within_memory():
            start = self._never(cost)
        with counted(what, n_stages * len(labels), self._execution.progress) as done:
            while first < len(labels):
                with within_memory():
                    own = labels[first : first + self._documents.labels_that_fit()]
                    result = work(start, own, self._signs(own), done)
                first += len(own)
                yield own.tolist(), result

    def _learn(
        self, every_cost: Floats, least: float, folds: Sequence[Numbers],
        start: _Start, labels: Numbers, signs: Any, done: Done,
    ) -> Solved:  # fmt: skip
        costs = every_cost[:, labels]
        scratch, held_out = Scratch(self._documents, signs.shape[1]), []
        machines = None
        for fold in folds:
            machines = None  # whose memory goes to the next
            machines = self._machines(start, self._without(signs, fold), costs, scratch=scratch)
            _solve(machines, tuning.HELD_OUT_TOLERANCE, done)
            held_out.append(self._scores(machines, fold))
        if machines is None:
            machines = self._machines(start, signs, costs, scratch=scratch)
        else:
            machines.start_again(signs)
        _solve(machines, self._problem.tolerance, done)
        return Solved(
            self._sparse(machines, least),
            self._gpu.get(machines.weights[-1])[: machines.n].tolist(),
            int((machines.errors > self._problem.tolerance).sum()),
            held_out,
        )

    def _tune(
        self, cost: float, which: tuning.Weighted,
        start: _Start, labels: Numbers, signs: Any, done: Done,
    ) -> list[float]:  # fmt: skip
        problem, gpu = self._problem, self._gpu
        n_positive = np.diff(problem.starts)[labels].astype(np.int64)
        totals = np.stack([len(problem.features) - n_positive, n_positive])
        most = np.vectorize(tuning.n_held_out, otypes=[np.int64])(totals)
        order = gpu.put(problem.order.astype(np.int32))
        held = hold_out(gpu, signs, order, totals, most)
        weights = problem.features.weights
        choices = [
            tuning.Choice(tuning.candidates(problem.signs(label), weights), n_held)
            for label, n_held in zip(labels.tolist(), most.sum(axis=0).tolist(), strict=True)
        ]
        costs = tuning.weighted_costs(cost, [choice.weight for choice in choices], which)
        machines = self._machines(start, signs, costs, held=held)
        judge = partial(_choose, choices, cost, which, problem.tolerance)
        _step_until(machines, judge, np.arange(len(labels)), done)
        return [choice.chosen for choice in choices]

    def _follow(
        self, costs: Sequence[float], folds: Sequence[Numbers],
        start: _Start, labels: Numbers, signs: Any, done: Done,
    ) -> npt.NDArray[np.float32]:  # fmt: skip
        scratch, found = Scratch(self._documents, signs.shape[1]), []
        for fold in folds:
            same = np.full((2, len(labels)), costs[0])
            machines = self._machines(start, self._without(signs, fold), same, scratch=scratch)
            every = []
            for cost in costs:
                machines.set_costs(np.arange(len(labels)), np.full_like(same, cost))
                _solve(machines, tuning.CHOICE_TOLERANCE, done)
                every.append(self._scores(machines, fold))
            found.append(np.stack(every))
        return np.concatenate(found, axis=1)

    def _never(self, cost: float) -> _Start:
        """Return the solution for a label that no document has, from which all labels start."""
        xp, documents = self._gpu.xp, self._documents
        zero = _Start(xp.zeros((documents.n_columns, 1)), xp.zeros((documents.n, 1)))
        signs = xp.zeros((documents.n, LANES), np.int8)
        signs[:, 0] = -1
        machines = self._machines(zero, signs, np.full((2, 1), cost))
        _solve(machines, self._problem.tolerance, lambda _: None)
        return _Start(machines.w[:, :1].copy(), machines.scores[:, :1].copy())

    def _signs(self, labels: Numbers) -> Any:
        """Return 1 for documents that have a label and −1 for others, 0 in columns of no label."""
        problem, gpu = self._problem, self._gpu
        signs = gpu.xp.zeros((len(problem.features), padded(len(labels))), np.int8)
        signs[:, : len(labels)] = -1
        documents = [problem.documents[problem.starts[c] : problem.starts[c + 1]] for c in labels]
        columns = np.repeat(np.arange(len(labels)), [len(own) for own in documents])
        signs[gpu.put(np.concatenate(documents).astype(np.int64)), gpu.put(columns)] = 1
        return signs

    def _without(self, signs: Any, fold: Numbers) -> Any:
        left = signs.copy()
        left[self._gpu.put(fold)] = 0
        return left

    def _machines(
        self, start: _Start, signs: Any, costs: Floats, held: Any = None,
        scratch: Scratch | None = None,
    ) -> Machines:  # fmt: skip
        xp, width = self._gpu.xp, signs.shape[1]
        w, scores = (xp.repeat(each, width, axis=1) for each in start)
        return Machines(self._documents, signs, costs, w, scores, solver.EASE, held, scratch)

    def _scores(self, machines: Machines, fold: Numbers) -> npt.NDArray[np.float32]:
        """Return the scores of some documents, documents × labels."""
        there = machines.scores[self._gpu.put(fold)].astype(np.float32)
        found: npt.NDArray[np.float32] = self._gpu.get(there)[:, : machines.n]
        return found

    def _sparse(
        self, machines: Machines, least: float
    ) -> list[tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]]:
        """Return each label's words whose weights are more than `least`, and the weights."""
        xp, get = self._gpu.xp, self._gpu.get
        found: list[Any] = []
        for first in range(0, machines.n, _OUT):
            last = min(first + _OUT, machines.n)
            weights = xp.ascontiguousarray(machines.weights[:-1, first:last].T)
            is_kept = xp.abs(weights) > least
            words = get(xp.nonzero(is_kept)[1].astype(np.int32))
            values = get(weights[is_kept].astype(np.float32))
            ends = np.cumsum(get(is_kept.sum(axis=1)))[:-1]
            found += zip(np.split(words, ends), np.split(values, ends), strict=True)
        return found


def tiles_for(problem: Problem, execution: Execution) -> Tiles | None:
    """Return the GPU to solve on, with the documents put on it, or None for the CPU."""
    return on_gpu(execution, lambda gpu: Tiles(gpu, problem, execution))


def _step_until(machines: Machines, judge: Judge, numbers: Numbers, done: Done) -> None:
    """Let machines take steps until each is finished with; `numbers` are theirs for the judge."""
    is_left = np.ones(machines.n, bool)
    while is_left.any():
        machines.look(is_left)
        is_finished, is_moving = judge(machines, numbers, is_left)
        done(int(is_finished.sum()))
        is_left &= ~is_finished
        if is_moving.any():
            machines.step(is_moving, solver.MOST_INNER_STEPS, solver.MOST_LINE_STEPS)
        left = np.flatnonzero(is_left)
        if len(left) and padded(len(left)) <= machines.width // 2:
            part = machines.part(left)
            _step_until(part, judge, numbers[left], done)
            machines.put_back(left, part)
            return


def _is_done(machines: Machines, tolerance: float) -> Bools:
    """Return which are solved, or have taken as many steps as they may."""
    done: Bools = (machines.errors <= tolerance) | (machines.n_steps >= solver.MOST_STEPS)
    return done


def _solve(machines: Machines, tolerance: float, done: Done) -> None:
    """Solve machines to within the tolerance in w."""

    def judge(machines: Machines, numbers: Numbers, is_left: Bools) -> tuple[Bools, Bools]:
        is_finished = is_left & _is_done(machines, tolerance)
        return is_finished, is_left & ~is_finished

    _step_until(machines, judge, np.arange(machines.n), done)


def _choose(
    choices: Sequence[tuning.Choice], cost: float, which: tuning.Weighted, tolerance: float,
    machines: Machines, numbers: Numbers, is_left: Bools,
) -> tuple[Bools, Bools]:  # fmt: skip
    """Judge the weights that labels are at, and have those go on that are judged."""
    is_finished, is_moving = np.zeros(machines.n, bool), is_left.copy()
    counts, is_done = machines.judged(is_left).T.tolist(), _is_done(machines, tolerance).tolist()
    changed, weights = [], []
    for k in np.flatnonzero(is_left).tolist():
        choice = choices[numbers[k]]
        if not choice.is_judged(*counts[k], is_done[k]):
            continue
        is_moving[k] = False
        if choice.goes_on():
            changed.append(k)
            weights.append(choice.weight)
        else:
            is_finished[k] = True
    if changed:
        machines.set_costs(np.array(changed), tuning.weighted_costs(cost, weights, which))
    return is_finished, is_moving
