"""Linear SVMs of many labels at once on a GPU: the kernels of linear.cu and linear_scores.cu."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from deplda.kernels.cuda.device import Gpu, refuse_large

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]

LANES = 32
_LABELS, _ROWS = 8, 64
_WARPS = 4
_PIECE = 256  # entries of a word's row that are summed up at a time
_SLICE, _THREADS = 4096, 256  # of the kernel `score_labels`

_SOURCE = "linear"


def padded(n_labels: int) -> int:
    """Return the width of a matrix with a column for each of so many labels."""
    return -(-n_labels // LANES) * LANES


class Documents:
    """Training documents on a GPU, by document and by word, each with a constant 1 at its end.

    `lengths` are those of the documents with their 1, `weights` what C of each is multiplied by.
    """

    def __init__(
        self, gpu: Gpu, matrix: csr_array[Any, tuple[int, int]], lengths: Floats, weights: Floats
    ) -> None:
        self.gpu = gpu
        self.n, self.n_columns = matrix.shape[0], matrix.shape[1] + 1
        one = np.arange(self.n + 1)
        places = np.insert(matrix.indices.astype(np.int32), matrix.indptr[1:], self.n_columns - 1)
        values = np.insert(matrix.data.astype(np.float32), matrix.indptr[1:], 1)
        rows = csr_array((values, places, matrix.indptr + one), shape=(self.n, self.n_columns))
        columns = rows.tocsc()
        pieces = -(-np.diff(columns.indptr).astype(np.int64) // _PIECE)
        first = np.concatenate([[0], np.cumsum(pieces)])
        within = np.arange(first[-1]) - np.repeat(first[:-1], pieces)
        starts = np.repeat(columns.indptr[:-1].astype(np.int64), pieces) + _PIECE * within
        self.n_pieces = int(first[-1])
        self.by_document = gpu.put(rows.indptr.astype(np.int64)), _entries(gpu, rows)
        self.by_word = gpu.put(np.append(starts, rows.nnz)), _entries(gpu, columns)
        """Where each piece of a word's row starts, and the entries."""
        self.piece_starts = gpu.put(first.astype(np.int32))
        """Which piece is the first of each word."""
        self.lengths, self.weights = gpu.put(lengths), gpu.put(weights)

    def labels_that_fit(self) -> int:
        """Return how many labels the GPU holds side by side, a multiple of 32."""
        # State twice, since labels that are left are taken out to go on by themselves.
        each = 2 * (12 * self.n + 16 * self.n_columns)
        each += 13 * self.n + 16 * self.n_columns + 8 * self.n_pieces
        if (room := self.gpu.free()) < each * LANES:
            refuse_large(each * LANES, room)
        return int(room // (each * LANES)) * LANES


def _entries(gpu: Gpu, matrix: Any) -> Any:
    """Return (column, value) of each entry of a sparse matrix, eight bytes each."""
    entries = np.empty((matrix.nnz, 2), np.int32)
    entries[:, 0], entries[:, 1] = matrix.indices, matrix.data.view(np.int32)
    return gpu.put(entries)


class Scratch:
    """Memory for what lasts no longer than a step, shared by machines and parts of them."""

    def __init__(self, documents: Documents, width: int) -> None:
        xp, n, n_columns = documents.gpu.xp, documents.n, documents.n_columns
        self._moves = xp.empty(n * width)
        self._factors = xp.empty(n * width, np.float32)
        self._within = xp.empty(n * width // LANES, np.uint32)
        self._parts = xp.empty(documents.n_pieces * width)
        self._vectors = [xp.empty(n_columns * width, np.float32) for _ in range(4)]

    def of_width(self, width: int, documents: Documents) -> tuple[Any, ...]:
        """Return moves, factors, within, parts, as double and single, and four vectors."""
        n, single = documents.n, self._parts.view(np.float32)
        size = documents.n_columns * width
        return (
            self._moves[: n * width], self._factors[: n * width],
            self._within[: n * width // LANES], self._parts, single,
            *(vector[:size] for vector in self._vectors),
        )  # fmt: skip


class Machines:
    """The SVMs of some labels while they are solved; matrices have a column for each label.

    `signs` are 1, −1 and, for documents to be left out, 0, on the GPU and as wide as `padded` says;
    costs are C of documents without and with the label, 2 × labels. `w` and `scores` are where they
    start, of the width of the signs. `held`, if any, has the signs of documents to be judged by.
    """

    def __init__(
        self, documents: Documents, signs: Any, costs: Floats, w: Any, scores: Any, ease: float,
        held: Any = None, scratch: Scratch | None = None,
    ) -> None:  # fmt: skip
        self.documents, self.signs, self.held, self.w, self.scores = (
            documents, signs, held, w, scores
        )  # fmt: skip
        self.n, self.width, self._ease = costs.shape[1], int(signs.shape[1]), ease
        self._gpu, xp = documents.gpu, documents.gpu.xp
        self._scratch = scratch or Scratch(documents, self.width)
        self._costs = np.zeros((2, self.width))
        self.n_steps = np.zeros(self.n, np.int64)
        self.set_costs(np.arange(self.n), costs)
        self.weights = xp.zeros((documents.n_columns, self.width))
        """What w is at the solution, where the gradient is 0; words of no document within are 0."""
        self.errors: Floats = np.zeros(self.n)
        """‖w − w*‖ at most: the objective's second derivative is nowhere below 1."""
        self._errors, self._squares, self._goals, self.lengths = (
            xp.zeros(self.width) for _ in range(4)
        )

    def set_costs(self, numbers: Numbers, costs: Floats) -> None:
        """Set C of documents without and with some of the labels, 2 × labels."""
        self._costs[:, numbers] = costs
        self.n_steps[numbers] = 0
        self._costs_there = None

    def look(self, awake: Bools) -> None:
        """Find the documents within the margins of some labels, their weights and errors."""
        documents, bits = self.documents, self._bits(awake)
        moves, _, within, parts, _, rest, step, _, direction = self._views()
        shared = (self.signs, self.scores, documents.weights, self._costs_on_gpu())
        self._by_row("look", documents.n, bits, *shared, moves, within)
        self._by_row(
            "add_pulls", documents.n_pieces, bits, *documents.by_word, within, moves, parts
        )
        self._by_label(
            "settle", documents.n_columns, self.width, bits, documents.piece_starts, parts, self.w,
            self._ease, self.weights, rest, step, direction, self._errors, self._squares,
            self._goals,
        )  # fmt: skip
        self.errors[awake] = self._gpu.get(self._errors)[: self.n][awake]

    def step(self, awake: Bools, most_inner: int, most_line: int) -> None:
        """Take one of Newton's steps of labels just looked at; what is within is not looked at."""
        documents, bits = self.documents, self._bits(awake)
        moves, factors, within, _, parts, rest, step, image, direction = self._views()
        shared = (self.signs, documents.weights, self._costs_on_gpu())
        going = bits.copy()
        for _ in range(most_inner):
            self._by_row(
                "curve", documents.n, going, *documents.by_document, *shared, within, step, factors
            )
            self._by_row(
                "add_factors", documents.n_pieces, going, *documents.by_word, within, factors, parts
            )
            self._by_label(
                "conjugate", documents.n_columns, self.width, going, documents.piece_starts, parts,
                self._goals, rest, step, image, direction, self._squares,
            )  # fmt: skip
            if not self._gpu.get(going).any():
                break
        self._by_row("change", documents.n, bits, *documents.by_document, direction, moves)
        self._by_label(
            "move", documents.n, documents.n_columns, self.width, bits, *shared, moves, direction,
            most_line, self.scores, self.w, self.lengths,
        )  # fmt: skip
        self.n_steps[awake] += 1

    def judged(self, awake: Bools) -> npt.NDArray[np.int64]:
        """Return how many held-out documents are right, surely wrong, and not sure; 3 × labels."""
        counts = self._gpu.xp.zeros((3, self.width), np.int32)
        self._by_label(
            "judge", self.documents.n, self.width, self._bits(awake), self.held, self.scores,
            self.documents.lengths, self._errors, counts,
        )  # fmt: skip
        found: npt.NDArray[np.int64] = self._gpu.get(counts)[:, : self.n].astype(np.int64)
        return found

    def start_again(self, signs: Any) -> None:
        """Go on from here with other signs, of the same labels."""
        self.signs, self.n_steps[:] = signs, 0

    def part(self, numbers: Numbers) -> Self:
        """Return some of the labels, as they are, to go on by themselves."""
        chosen = self._gpu.put(np.resize(numbers, padded(len(numbers))))
        take = partial(self._gpu.xp.take, indices=chosen, axis=1)
        signs, w, scores = map(take, (self.signs, self.w, self.scores))
        signs[:, len(numbers) :] = 0
        found = type(self)(
            self.documents, signs, self._costs[:, numbers], w, scores, self._ease,
            None if self.held is None else take(self.held), self._scratch,
        )  # fmt: skip
        found.n_steps[:] = self.n_steps[numbers]
        return found

    def put_back(self, numbers: Numbers, part: Machines) -> None:
        """Set what became of some of the labels that went on by themselves."""
        there = self._gpu.put(numbers)
        for own, other in (
            (self.w, part.w), (self.scores, part.scores), (self.weights, part.weights),
        ):  # fmt: skip
            own[:, there] = other[:, : part.n]
        self.errors[numbers], self.n_steps[numbers] = part.errors, part.n_steps

    def _views(self) -> tuple[Any, ...]:
        return self._scratch.of_width(self.width, self.documents)

    def _costs_on_gpu(self) -> Any:
        if self._costs_there is None:
            self._costs_there = self._gpu.put(self._costs)
        return self._costs_there

    def _bits(self, awake: Bools) -> Any:
        """Return a bit for each label, 32 of them a number."""
        every = np.zeros(self.width, bool)
        every[: self.n] = awake
        return self._gpu.put(np.packbits(every, bitorder="little"))

    def _by_row(self, kernel: str, n_rows: int, bits: Any, *arguments: Any) -> None:
        blocks = -(-n_rows // _WARPS), self.width // LANES
        self._gpu.launch(
            _SOURCE, kernel, blocks, _WARPS * LANES, n_rows, self.width, bits, *arguments
        )

    def _by_label(self, kernel: str, *arguments: Any) -> None:
        self._gpu.launch(_SOURCE, kernel, self.width // _LABELS, _ROWS * _LABELS, *arguments)


def hold_out(gpu: Gpu, signs: Any, order: Any, totals: Numbers, most: Numbers) -> Any:
    """Mutate signs, 0 for documents held out of either side, in their order; return those's signs.

    `totals` and `most` are how many there are without and with each label, and how many to hold
    out, 2 × labels. The only document of a side is held out and left in.
    """
    n, width = signs.shape
    held = gpu.xp.zeros((n, width), np.int8)
    both = np.zeros((2, 2, width), np.int32)
    both[0, :, : totals.shape[1]], both[1, :, : most.shape[1]] = totals, most
    gpu.launch(
        _SOURCE, "hold_out", width // LANES, LANES, n, width, order, gpu.put(both[0]),
        gpu.put(both[1]), signs, held,
    )  # fmt: skip
    return held


def score_labels(
    gpu: Gpu, starts: Any, words: Any, values: Any, weights: tuple[Any, ...], intercepts: Any
) -> Any:
    """Return intercept_c + w_c·x_i, documents × labels, on the GPU.

    `weights` are those of a sparse matrix, words × labels: starts, labels in ascending order,
    values.
    """
    n, n_labels = len(starts) - 1, len(intercepts)
    scores = gpu.xp.empty((n, n_labels))
    gpu.launch(
        "linear_scores", "score_labels", (n, -(-n_labels // _SLICE)), _THREADS, n_labels, starts,
        words, values, *weights, intercepts, scores,
    )  # fmt: skip
    return scores
