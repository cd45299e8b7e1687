"""SVMs of all labels on the CPU: blocks of some labels each, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from deplda.engine.execution import Execution, Shown
from deplda.engine.pool import Stop
from deplda.engine.progress import compiling
from deplda.models.linear import tuning
from deplda.models.linear.solver import (
    Features,
    Floats,
    Machine,
    Numbers,
    Problem,
    Signs,
    Solved,
    never,
    solve,
)

Result = TypeVar("Result")

_BLOCK_LABELS, _BLOCK_CELLS = 32, 1 << 22


class Blocks:
    """Solves the SVMs of labels on the CPU; each result comes with the labels that it is of."""

    def __init__(self, problem: Problem, execution: Execution) -> None:
        self._problem, self._execution = problem, execution
        with compiling(execution.progress):
            never(Features.of(csr_array((1, 1))), 1.0, 1.0)

    def learned(
        self, labels: Numbers, cost: float, costs: Floats, least: float, folds: Sequence[Numbers]
    ) -> Iterator[tuple[list[int], Solved]]:
        """Yield what is learned for costs, C of documents without and with each label.

        All start from the solution for `cost` of a label that no document has. Weights of no more
        than `least` are left out, and documents of each fold scored by machines that have not seen
        them.
        """
        given = (self._start(cost), costs, least, folds)
        return self._blocks("training SVMs of", labels, _learned, given)

    def tuned(
        self, labels: Numbers, cost: float, which: tuning.Weighted
    ) -> Iterator[tuple[list[int], list[float]]]:
        """Yield the weights that are chosen by documents held out."""
        return self._blocks("tuning SVMs of", labels, _tuned, (self._start(cost), which))

    def paths(
        self, labels: Numbers, costs: Sequence[float], folds: Sequence[Numbers]
    ) -> Iterator[tuple[list[int], npt.NDArray[np.float32]]]:
        """Yield the scores of held-out documents for each C: costs × documents × labels."""
        given = (self._start(costs[0]), costs, folds)
        return self._blocks("choosing C by", labels, _path, given)

    def _start(self, cost: float) -> Machine:
        return never(self._problem.features, cost, self._problem.tolerance)

    def _blocks(
        self, what: str, labels: Numbers, work: Callable[..., Result], given: tuple[Any, ...]
    ) -> Iterator[tuple[list[int], Result]]:
        """Yield some of the labels and work(problem, *given, some, stop), block after block."""
        size = min(_BLOCK_LABELS, max(1, _BLOCK_CELLS // max(1, len(self._problem.features))))
        blocks = [labels[k : k + size].tolist() for k in range(0, len(labels), size)]
        shown = Shown(f"{what} {len(labels):,} labels", len(labels), len)
        results = self._execution.map(work, blocks, self._problem, *given, shown=shown)
        return zip(blocks, results, strict=True)


# What workers do, for some labels -----------------------------------------------------------------


def _learned(
    problem: Problem, start: Machine, costs: Floats, least: float,
    folds: Sequence[Numbers], labels: Sequence[int], stop: Stop,
) -> Solved:  # fmt: skip
    """Solve labels, those without the documents of each fold first, which is scored by them.

    A fold's machines start where no document of the fold has been seen: what is left of the start
    when they stop would else be the fold's own labels. The last fold's are where the solution for
    all documents starts.
    """
    all_signs = [problem.signs(label) for label in labels]
    pairs = [(float(costs[0, label]), float(costs[1, label])) for label in labels]

    def machines(left_out: Numbers, starts: Sequence[Machine]) -> list[Machine]:
        return [
            Machine(problem.features, _without(signs, left_out), both, begin)
            for signs, both, begin in zip(all_signs, pairs, starts, strict=True)
        ]

    nothing, solved, held_out = np.zeros(0, np.int64), [start] * len(labels), []
    for fold in folds:
        solved = machines(fold, [start] * len(labels))
        solve(solved, tuning.HELD_OUT_TOLERANCE, stop)
        held_out.append(np.stack([m.scores[fold] for m in solved], axis=1).astype(np.float32))
    solved = machines(nothing, solved)
    solve(solved, problem.tolerance, stop)
    return Solved(
        [_sparse(machine.weights[:-1], least) for machine in solved],
        [machine.weights[-1] for machine in solved],
        sum(machine.error > problem.tolerance for machine in solved),
        held_out,
    )


def _tuned(
    problem: Problem, start: Machine, which: tuning.Weighted, labels: Sequence[int], stop: Stop
) -> list[float]:
    searches = [
        tuning.Search(problem.features, problem.signs(label), problem.order, which, start)
        for label in labels
    ]
    return tuning.search_weights(searches, problem.tolerance, stop)


def _path(
    problem: Problem, start: Machine, costs: Sequence[float], folds: Sequence[Numbers],
    labels: Sequence[int], stop: Stop,
) -> npt.NDArray[np.float32]:  # fmt: skip
    """Return scores of held-out documents for each C: costs × documents × labels."""
    found = []
    for fold in folds:
        machines = [
            Machine(problem.features, _without(problem.signs(label), fold), start.costs, start)
            for label in labels
        ]
        found.append(tuning.path_scores(machines, fold, costs, stop))
    return np.concatenate(found, axis=1)


def _without(signs: Signs, fold: Numbers) -> Signs:
    left = signs.copy()
    left[fold] = 0
    return left


def _sparse(w: Floats, least: float) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    words = np.flatnonzero(np.abs(w) > least)
    return words.astype(np.int32), w[words].astype(np.float32)
