"""One SVM for each label, in blocks on all cores; the documents are shared."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from threading import Event
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import label_ranking_average_precision_score

from deplda.baselines import tuning
from deplda.baselines.solver import Features, Floats, Machine, Signs, never, solve
from deplda.engine import map_ordered
from deplda.progress import compiling, counted
from deplda.targets import Indicator

Result = TypeVar("Result")
Numbers = npt.NDArray[np.int64]

CONSTANT = 2.0
"""Score of a label that all training documents have; less than 0 of one that none has."""

HELD_OUT_TOLERANCE = 0.03
"""Scores of held-out documents are then right to some thousandths."""

_BLOCK_LABELS, _BLOCK_CELLS = 32, 1 << 22
_MOST_HELD_OUT = 2_000
_MOST_LABELS_TO_CHOOSE_BY = 2_048


class Weights(NamedTuple):
    """What is learned: the weights, words × labels, and one intercept for each label."""

    weights: csr_array[Any, tuple[int, int]]
    intercepts: Floats


class HeldOut:
    """Documents to be scored by machines that have not seen them, some folds of all documents."""

    def __init__(self, folds: Sequence[Numbers], shape: tuple[int, int]) -> None:
        self.folds = folds
        self.scores = np.full(shape, -CONSTANT, np.float32)
        """Documents × labels; a label of too few documents scores as one that none has."""


class OneVsRest:
    """Training documents and their labels, for which machines are solved some labels at a time."""

    def __init__(
        self, matrix: csr_array[Any, tuple[int, int]], labels: Indicator, *, tolerance: float,
        seed: int, n_jobs: int | None, progress: bool | None,
    ) -> None:  # fmt: skip
        self._labels, self._columns = labels, csc_array(labels)
        self.tolerance, self.n_jobs, self.progress = tolerance, n_jobs, progress
        n_positive, n = np.diff(self._columns.indptr), labels.shape[0]
        taught = np.flatnonzero((n_positive > 0) & (n_positive < n))
        # The frequent ones take longest: they come first, so that all cores end together.
        self._taught = taught[np.argsort(-n_positive[taught], kind="stable")]
        self._constants = np.where(n_positive > 0, CONSTANT, -CONSTANT)
        self._order = tuning.shuffled(n, seed)
        with compiling(progress):
            self.features = Features.of(matrix)
            never(Features.of(matrix[:1]), 1.0, 1.0)

    def learn(
        self,
        cost: float,
        least: float,
        positive_weights: Floats | None = None,
        held_out: HeldOut | None = None,
    ) -> Weights:
        """Return the solution for C; weights of no more than `least` are left out.

        `positive_weights` multiply C of the documents that have a label, label by label. `held_out`
        documents are scored by machines that have not seen them, on the way to the solution.
        """
        start = never(self.features, cost, self.tolerance)
        n_words, n_labels = self.features.n_words, self._labels.shape[1]
        of_label: list[Any] = [(np.zeros(0, np.int32), np.zeros(0, np.float32))] * n_labels
        intercepts, unsolved = self._constants.copy(), 0

        def work(labels: Sequence[int], stop: Event) -> tuple[list[Any], list[float], int]:
            ratios = np.ones(n_labels) if positive_weights is None else positive_weights
            machines = [
                self._machine(label, (cost, cost * ratios[label]), start) for label in labels
            ]
            if held_out is not None:
                machines = self._score_held_out(held_out, labels, machines, stop)
            solve(machines, self.tolerance, stop)
            kept = [_sparse(machine.weights[:-1], least) for machine in machines]
            late = sum(machine.error > self.tolerance for machine in machines)
            return kept, [machine.weights[-1] for machine in machines], late

        for labels, (kept, ends, late) in self._blocks("training", self._taught, work):
            intercepts[labels] = ends
            unsolved += late
            for label, words_and_weights in zip(labels, kept, strict=True):
                of_label[label] = words_and_weights
        if unsolved:
            _warn_unsolved(unsolved, self.tolerance)
        return Weights(_assembled(of_label, n_words), intercepts)

    def _score_held_out(
        self, held_out: HeldOut, labels: Sequence[int], machines: Sequence[Machine], stop: Event
    ) -> list[Machine]:
        """Set the labels' scores of documents held out; return machines that start from there.

        A fold's machines start where no document of the fold has been seen: what is left of the
        start when they stop would else be the fold's own labels.
        """
        solved = list(machines)
        for fold in held_out.folds:
            solved = [
                Machine(self.features, _without(machine.signs, fold), machine.costs, machine)
                for machine in machines
            ]
            solve(solved, HELD_OUT_TOLERANCE, stop)
            for label, machine in zip(labels, solved, strict=True):
                held_out.scores[fold, label] = machine.scores[fold]
        return [
            Machine(self.features, machine.signs, machine.costs, start)
            for machine, start in zip(machines, solved, strict=True)
        ]

    def tune(self, cost: float) -> Floats:
        """Return the positive weight of every label by the paper's hold-out rule."""
        start = never(self.features, cost, self.tolerance)
        found = np.ones(self._labels.shape[1])

        def work(labels: Sequence[int], stop: Event) -> list[float]:
            searches = [
                tuning.Search(self.features, self._signs(label), self._order, cost, start)
                for label in labels
            ]
            return tuning.search_weights(searches, self.tolerance, stop)

        for labels, chosen in self._blocks("tuning", self._taught, work):
            found[labels] = chosen
        return found

    def choose_cost(self, costs: Sequence[float], folds: Sequence[Numbers] = ()) -> float:
        """Return the C with the best average precision on held-out documents: folds, or a tenth.

        Of many labels, some of all frequencies are enough to choose by, and so are some documents.
        """
        if len(self._taught) < 2:
            return 1.0
        chosen_by = self._taught[:: -(-len(self._taught) // _MOST_LABELS_TO_CHOOSE_BY)]
        folds = [fold[:_MOST_HELD_OUT] for fold in folds or [tuning.tenth(self._order)]]
        start = never(self.features, costs[0], self.tolerance)

        def work(labels: Sequence[int], stop: Event) -> npt.NDArray[np.float32]:
            found = []
            for held in folds:
                machines = [
                    self._machine(label, (costs[0], costs[0]), start, held) for label in labels
                ]
                found.append(tuning.path_scores(machines, held, costs, stop))
            return np.concatenate(found, axis=1)

        parts = [scores for _, scores in self._blocks("choosing C", chosen_by, work)]
        scores = np.concatenate(parts, axis=2)
        truth = self._labels[np.concatenate(folds)][:, chosen_by].toarray()
        return tuning.best_cost(
            costs, lambda k: float(label_ranking_average_precision_score(truth, scores[k]))
        )

    def _signs(self, label: int) -> Signs:
        signs = np.full(len(self.features), -1, np.int8)
        first, last = self._columns.indptr[label : label + 2]
        signs[self._columns.indices[first:last]] = 1
        return signs

    def _machine(
        self, label: int, costs: tuple[float, float], start: Machine,
        held: Numbers | None = None,
    ) -> Machine:  # fmt: skip
        signs = self._signs(label)
        if held is not None:
            signs[held] = 0
        return Machine(self.features, signs, costs, start)

    def _blocks(
        self, what: str, labels: Numbers, work: Callable[[Sequence[int], Event], Result]
    ) -> Iterator[tuple[list[int], Result]]:
        """Yield some of the labels and work(some, stop), block after block."""
        size = min(_BLOCK_LABELS, max(1, _BLOCK_CELLS // max(1, len(self.features))))
        blocks = [labels[k : k + size].tolist() for k in range(0, len(labels), size)]
        with counted(what, len(labels), "labels", self.progress) as done:
            for some, result in zip(blocks, map_ordered(work, blocks, self.n_jobs), strict=True):
                done(len(some))
                yield some, result


def _without(signs: Signs, fold: Numbers) -> Signs:
    left = signs.copy()
    left[fold] = 0
    return left


def _sparse(w: Floats, least: float) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    words = np.flatnonzero(np.abs(w) > least)
    return words.astype(np.int32), w[words].astype(np.float32)


def _assembled(columns: Sequence[Any], n_words: int) -> csr_array[Any, tuple[int, int]]:
    """Return a sparse matrix of columns, each its row numbers and values."""
    starts = np.concatenate([[0], np.cumsum([len(words) for words, _ in columns])])
    words, values = (np.concatenate(part) for part in zip(*columns, strict=True))
    return csr_array(csc_array((values, words, starts), shape=(n_words, len(columns))))


def _warn_unsolved(n: int, tolerance: float) -> None:
    warnings.warn(
        f"the SVMs of {n:,} labels have not come down to tol={tolerance:g}; "
        "a smaller C or a larger tol helps",
        ConvergenceWarning,
        stacklevel=4,
    )
