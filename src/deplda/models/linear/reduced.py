"""SVMs that learn from shortlists: a label's own documents, and those it is confused with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from deplda.data.corpus import compact_rows
from deplda.data.targets import Indicator
from deplda.engine.execution import Execution, Shown
from deplda.engine.pool import Stop, check_stop
from deplda.errors import warn
from deplda.kernels import shortlists
from deplda.models.candidates import Labels, Sparse, kernel_arrays

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

_TOLERANCE = 0.3  # ten times less changes no ranking by more than noise (docs/explanation/hybrid)
_MOST_SWEEPS = 200
_LEAST = 0.02
"""Weights below this share of a label's largest are left out: half of all, and worth nothing."""
_LEAST_WEIGHT, _MOST_LEAST_WEIGHT = 0.05, 0.1
"""Weights smaller than .05 · C, at most .1, are not worth storing. On held-out training documents
of eurlex20k, average precision by document is .728 and by label .660 with the 38 % that are left
for C = 1 (.659 with all), and .720 and .647 for C = 3 (.719 and .646 with all)."""
_LARGEST_HALF = float(np.finfo(np.float16).max)
_BLOCK_PAIRS = 40_000


class Problem(NamedTuple):
    """Documents, and for each label those it learns from; sent to every worker, once.

    Words are numbered by how many documents have them, so that the weights of those that are met
    most lie together in the cache.
    """

    features: tuple[Numbers, Labels, npt.NDArray[np.float32]]
    squares: Floats
    words: Numbers
    """The words by these numbers: that of most documents first."""
    starts: Numbers
    rows: Numbers
    signs: npt.NDArray[np.int8]
    """The documents of label c are rows[starts[c] : starts[c + 1]]; 1 where they have it."""
    before: Sparse
    """The weights to stay near to, labels × words (as numbered here)."""
    start: Floats
    """α of each of the rows, from which a solution starts."""
    weights: Floats
    """What C of each document is multiplied by."""

    @property
    def sizes(self) -> Numbers:
        """How many documents each label learns from."""
        return np.diff(self.starts)

    def learn(self, costs: Sequence[float], numbers: Numbers, execution: Execution) -> list[Solved]:
        """Return the solution for each C (`learn`)."""
        return learn(self, costs, numbers, execution)


class Solved(NamedTuple):
    """Weights of the labels that were asked for, labels × words, and α of each row."""

    weights: Sparse
    alpha: Floats


def problem_of(
    features: Sparse,
    labels: Indicator,
    lists: Labels,
    before: Sparse | None = None,
    weights: Floats | None = None,
) -> Problem:
    """Return what is to be learned from documents, their labels and their shortlists.

    `weights` say how many documents each counts as, one where nothing is said.
    """
    n, n_labels = labels.shape
    pair_up: Any = shortlists.pair_up
    own = labels.indptr.astype(np.int64), labels.indices.astype(np.int32)
    listed, rows, signs = pair_up(*own, np.ascontiguousarray(lists, np.int32), n_labels)
    squares = np.asarray(features.multiply(features).sum(axis=1), np.float64).ravel()
    starts, words, values = kernel_arrays(features)
    by_frequency = np.argsort(-np.bincount(words, minlength=features.shape[1]), kind="stable")
    number_of = np.argsort(by_frequency).astype(np.int32)
    return Problem(
        (starts, number_of[words], values),
        squares,
        by_frequency,
        listed,
        rows,
        signs,
        _renumbered(before, number_of, (n_labels, features.shape[1])),
        np.zeros(len(rows)),
        np.ones(n) if weights is None else weights,
    )


def _renumbered(before: Sparse | None, number_of: Labels, shape: tuple[int, int]) -> Sparse:
    """Return the weights with their words numbered anew; none where there were none before."""
    if before is None:
        none = _NO_VALUES, _NO_WORDS, np.zeros(shape[0] + 1, np.int64)
        return csr_array(none, shape=shape)
    return csr_array((before.data, number_of[before.indices], before.indptr), shape=shape)


def started(problem: Problem, part: Problem, alpha: Floats, documents: Numbers) -> Problem:
    """Return the problem to be solved from the solution of a part of it.

    The part's documents are `documents` of this one, in their order. What a label learns from here
    alone, or there alone, has no α to start from.
    """
    start, carry_over = np.zeros(len(problem.rows)), cast("Any", shortlists.carry_over)
    carry_over(
        problem.starts, problem.rows, part.starts, part.rows, documents.astype(np.int64), alpha,
        start,
    )  # fmt: skip
    return problem._replace(start=start)


def learn(
    problem: Problem, costs: Sequence[float], numbers: Numbers, execution: Execution
) -> list[Solved]:
    """Return the solution for each C; rows of labels not in `numbers` are empty.

    The C come in rising order, and each is solved from the solution of the one before.
    """
    # Those with many documents take longest: they come first, so that all cores end together.
    order = numbers[np.argsort(-problem.sizes[numbers], kind="stable")]
    solved, unsolved = _solved(problem, costs, order, execution)
    warn_of_unsolved(unsolved)
    return solved


def warn_of_unsolved(n: int) -> None:
    """Warn of SVMs that are not solved, if there are any."""
    if n:
        warn(
            f"{n:,} SVMs have not come down to their tolerance in {_MOST_SWEEPS} sweeps; a "
            "smaller C helps",
            ConvergenceWarning,
        )


def _solved(
    problem: Problem, costs: Sequence[float], order: Numbers, execution: Execution
) -> tuple[list[Solved], int]:
    """Return the solution for each C, block by block, and how many labels are not solved."""
    upto = np.cumsum(problem.sizes[order])
    cuts = np.flatnonzero(np.diff(upto // _BLOCK_PAIRS)) + 1
    blocks = [block for block in np.split(order, cuts) if len(block)]
    # By pairs: labels of many documents take longer than others.
    shown = Shown(
        f"training SVMs of {len(order):,} labels", int(upto[-1]) if len(upto) else 0,
        lambda block: int(problem.sizes[block].sum()),
    )  # fmt: skip
    n_labels = len(problem.starts) - 1
    columns: list[list[Any]] = [[(_NO_WORDS, _NO_VALUES)] * n_labels for _ in costs]
    alphas = [problem.start.copy() for _ in costs]
    unsolved = 0
    solved = execution.map(_solve, blocks, problem, tuple(costs), shown=shown)
    for block, found in zip(blocks, solved, strict=True):
        rows = _rows_of(problem, block)
        for number, (ends, words, values, n, alpha) in enumerate(found):
            unsolved += n
            alphas[number][rows] = alpha
            for place, c in enumerate(block.tolist()):
                own = slice(ends[place], ends[place + 1])
                columns[number][c] = words[own], values[own]
    every = [
        Solved(_assembled(of_cost, problem.words), alpha)
        for of_cost, alpha in zip(columns, alphas, strict=True)
    ]
    return every, unsolved


def margins(weights: Sparse, features: Sparse, candidates: Labels) -> Floats:
    """Return w·x − 1 of each document's candidates."""
    found = np.empty(candidates.shape)
    score: Any = shortlists.margins
    score(*kernel_arrays(features), candidates, *kernel_arrays(weights), features.shape[1], found)
    return found


_NO_WORDS, _NO_VALUES = np.zeros(0, np.int32), np.zeros(0, np.float32)


def _solve(
    problem: Problem, costs: tuple[float, ...], numbers: Numbers, stop: Stop
) -> list[tuple[Numbers, Labels, npt.NDArray[np.float32], int, Floats]]:
    """Return for each C where the weights of each label begin, their words and values, and α."""
    starts = np.concatenate([[0], np.cumsum(problem.sizes[numbers])])
    places = _rows_of(problem, numbers)
    rows, signs, alpha = problem.rows[places], problem.signs[places], problem.start[places]
    before, found = problem.before[numbers], []
    for cost in costs:
        solved = solve_rows(
            problem.features, problem.squares, starts, rows, signs, numbers, len(problem.words),
            cost * problem.weights, alpha, stop, before,
        )  # fmt: skip
        found.append((*solved, alpha.copy()))
    return found


def solve_rows(
    features: tuple[Numbers, Labels, npt.NDArray[np.float32]], squares: Floats, starts: Numbers,
    rows: Numbers, signs: npt.NDArray[np.int8], numbers: Numbers, n_words: int, costs: Any,
    alpha: Floats, stop: Stop, before: Sparse | None = None,
) -> tuple[Numbers, Labels, npt.NDArray[np.float32], int]:  # fmt: skip
    """Solve the SVMs of some labels from α, which is left at the solution.

    Documents of label numbers[k] are rows[starts[k] : starts[k + 1]]; `costs` is C, of each row of
    the features or of all. Returns where the weights of each label begin, their words and values,
    and how many are not solved.
    """
    check_stop(stop)
    if before is None:
        before = _renumbered(None, _NO_WORDS, (len(numbers), n_words))
    solve: Any = shortlists.solve_labels
    found: tuple[Numbers, Labels, npt.NDArray[np.float32], int] = solve(
        *features, squares, starts, rows, signs, numbers, *kernel_arrays(before), n_words,
        np.broadcast_to(costs, len(squares)).astype(np.float64), _TOLERANCE, _MOST_SWEEPS, _LEAST,
        alpha,
    )  # fmt: skip
    return found


def _rows_of(problem: Problem, numbers: Numbers) -> Numbers:
    """Return the places of the rows of some labels, one label after the other."""
    sizes = problem.sizes[numbers]
    first = problem.starts[numbers] - np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.repeat(first, sizes) + np.arange(sizes.sum())


def _assembled(rows: Sequence[Any], columns: Numbers) -> Sparse:
    """Return a sparse matrix of rows, each its numbers of columns and values."""
    starts = np.concatenate([[0], np.cumsum([len(words) for words, _ in rows])]).astype(np.int64)
    numbers, values = (np.concatenate(part) for part in zip(*rows, strict=True))
    shape = len(rows), len(columns)
    matrix = compact_rows(values, columns.astype(np.int32)[numbers], starts, shape)
    matrix.sort_indices()
    return matrix


def as_saved(weights: Sparse, cost: float) -> Sparse:
    """Return the weights in half precision, without those that are too small to matter."""
    kept = weights.copy()
    kept.data[np.abs(kept.data) < min(_LEAST_WEIGHT * cost, _MOST_LEAST_WEIGHT)] = 0
    kept.eliminate_zeros()
    kept.data[:] = np.clip(kept.data, -_LARGEST_HALF, _LARGEST_HALF).astype(np.float16)
    return kept
