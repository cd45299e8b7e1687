"""One SVM for each label, on all cores or a GPU; the documents are shared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csr_array
from sklearn.exceptions import ConvergenceWarning

from deplda.data.targets import Indicator
from deplda.engine.execution import Execution
from deplda.errors import warn
from deplda.models.linear import tuning
from deplda.models.linear.blocks import Blocks
from deplda.models.linear.solver import Features, Floats, Numbers, Problem, Solved

CONSTANT = 2.0
"""Score of a label that all training documents have; less than 0 of one that none has."""

_MOST_HELD_OUT = 2_000
_MOST_LABELS_TO_CHOOSE_BY = 2_048


class Weights(NamedTuple):
    """What is learned: the weights, words × labels, and one intercept for each label."""

    weights: csr_array[Any, tuple[int, int]]
    intercepts: Floats


class HeldOut:
    """Documents to be scored by machines that have not seen them, some folds of all documents."""

    def __init__(self, folds: Sequence[Numbers], n_labels: int) -> None:
        self.folds = folds
        self.scores = [np.full((len(fold), n_labels), -CONSTANT, np.float32) for fold in folds]
        """Of each fold documents × labels; a label of no document scores as one that none has."""


class Solver(Protocol):
    """What solves SVMs, the CPU or a GPU; each result comes with the labels that it is of."""

    def learned(
        self, labels: Numbers, cost: float, costs: Floats, least: float, folds: Sequence[Numbers]
    ) -> Iterator[tuple[list[int], Solved]]:
        """Yield what is learned for costs, C of documents without and with each label.

        All start from the solution for `cost` of a label that no document has. Weights of no more
        than `least` are left out, and documents of each fold scored by machines that have not seen
        them.
        """

    def tuned(
        self, labels: Numbers, cost: float, which: tuning.Weighted
    ) -> Iterator[tuple[list[int], list[float]]]:
        """Yield the weights that are chosen by documents held out."""

    def paths(
        self, labels: Numbers, costs: Sequence[float], folds: Sequence[Numbers]
    ) -> Iterator[tuple[list[int], npt.NDArray[np.float32]]]:
        """Yield the scores of held-out documents for each C: costs × documents × labels."""


class OneVsRest:
    """Training documents and their labels, for which machines are solved some labels at a time."""

    def __init__(
        self, matrix: csr_array[Any, tuple[int, int]], labels: Indicator, tolerance: float,
        seed: int, execution: Execution, weights: Floats | None = None,
    ) -> None:  # fmt: skip
        self._labels, columns = labels, csc_array(labels)
        n_positive, n = np.diff(columns.indptr), labels.shape[0]
        taught = np.flatnonzero((n_positive > 0) & (n_positive < n))
        # The frequent ones take longest: they come first, so that all cores end together.
        self._taught = taught[np.argsort(-n_positive[taught], kind="stable")]
        self._constants = np.where(n_positive > 0, CONSTANT, -CONSTANT)
        self._problem = Problem(
            Features.of(matrix, weights), columns.indptr, columns.indices,
            tuning.shuffled(n, seed), tolerance,
        )  # fmt: skip
        self._solver = _solver_for(self._problem, execution)

    def learn(
        self,
        cost: float,
        least: float,
        costs: Floats | None = None,
        held_out: HeldOut | None = None,
    ) -> Weights:
        """Return the solution for C; weights of no more than `least` are left out.

        `costs` are C of documents without and with each label, 2 × labels, where they differ.
        `held_out` documents are scored by machines that have not seen them, on the way there.
        """
        n_labels = self._labels.shape[1]
        of_label: list[Any] = [(np.zeros(0, np.int32), np.zeros(0, np.float32))] * n_labels
        intercepts, unsolved = self._constants.copy(), 0
        costs = np.full((2, n_labels), cost) if costs is None else costs
        folds = () if held_out is None else held_out.folds
        solved = self._solver.learned(self._taught, cost, costs, least, folds)
        for labels, found in solved:
            intercepts[labels] = found.intercepts
            unsolved += found.unsolved
            for label, words_and_weights in zip(labels, found.weights, strict=True):
                of_label[label] = words_and_weights
            if held_out is not None:
                for every, scores in zip(held_out.scores, found.held_out, strict=True):
                    every[:, labels] = scores
        if unsolved:
            _warn_unsolved(unsolved, self._problem.tolerance)
        return Weights(_assembled(of_label, self._problem.features.n_words), intercepts)

    def tune(self, cost: float, which: tuning.Weighted) -> Floats:
        """Return the weight of every label by the paper's hold-out rule."""
        found = np.ones(self._labels.shape[1])
        for labels, chosen in self._solver.tuned(self._taught, cost, which):
            found[labels] = chosen
        return found

    def choose_cost(self, costs: Sequence[float], folds: Sequence[Numbers] = ()) -> float:
        """Return the C with the best average precision on held-out documents: folds, or a tenth.

        Of many labels, some of all frequencies are enough to choose by, and so are some documents.
        """
        if len(self._taught) < 2:
            return 1.0
        chosen_by = self._taught[:: -(-len(self._taught) // _MOST_LABELS_TO_CHOOSE_BY)]
        folds = [fold[:_MOST_HELD_OUT] for fold in folds or [tuning.tenth(self._problem.order)]]
        parts = [scores for _, scores in self._solver.paths(chosen_by, costs, folds)]
        scores = np.concatenate(parts, axis=2)
        truth = self._labels[np.concatenate(folds)][:, chosen_by]
        return tuning.best_cost(costs, lambda k: tuning.average_precision(truth, scores[k]))


def _solver_for(problem: Problem, execution: Execution) -> Solver:
    """Return what solves; nothing of CUDA is imported for the CPU."""
    if execution.device != "cpu":
        from deplda.models.linear.tiles import tiles_for

        if (tiles := tiles_for(problem, execution)) is not None:
            return tiles
    return Blocks(problem, execution)


def _assembled(columns: Sequence[Any], n_words: int) -> csr_array[Any, tuple[int, int]]:
    """Return a sparse matrix of columns, each its row numbers and values."""
    starts = np.concatenate([[0], np.cumsum([len(words) for words, _ in columns])])
    words, values = (np.concatenate(part) for part in zip(*columns, strict=True))
    return csr_array(csc_array((values, words, starts), shape=(n_words, len(columns))))


def _warn_unsolved(n: int, tolerance: float) -> None:
    warn(
        f"the SVMs of {n:,} labels have not come down to tol={tolerance:g}; "
        "a smaller C or a larger tol helps",
        ConvergenceWarning,
    )
