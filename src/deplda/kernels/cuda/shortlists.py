"""Shortlists on a GPU: nearest labels, SVMs that learn from lists, and margins, as much as fits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deplda.kernels.cuda.device import Gpu, Struct, too_large, within_memory
from deplda.kernels.cuda.fast import batches
from deplda.kernels.layouts import Int32, Int64

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Arrays = tuple[Int64, Int32, Singles]
"""A sparse matrix: where its rows start, columns and values."""

IN_SHARED, MOST = 4096, 1024
_THREADS, _WARPS = 256, 4
_EVERY = np.iinfo(np.int32).max
_ENTRY_BYTES = 48
"""Of a document's word, while the words are put in order."""
_BLOCKS = 2048


def nearest(
    gpu: Gpu, rows: Arrays, index: Struct, n_labels: int, budget: int, k: int
) -> tuple[Int32, Singles]:
    """Return the k labels that each row's words speak for, best first, and their scores.

    −1 and 0 where none is left. The rows' words are in ascending order; they are looked up as on
    the CPU, the heaviest first, until `budget` entries of the index have been read: the same bits.
    """
    n = len(rows[0]) - 1
    labels, scores = np.empty((n, k), np.int32), np.empty((n, k), np.float32)
    is_dense = n_labels > IN_SHARED or k > MOST
    each = 8 * k + (4 + 16 * (k > MOST)) * n_labels * is_dense
    sizes = _ENTRY_BYTES * np.diff(rows[0]) + each
    with within_memory():
        for first, last in batches(sizes, gpu.free()):
            own = _heaviest_first(gpu, _some(rows, first, last))
            find = _nearest if k <= MOST else _nearest_by_sort
            found = find(gpu, own, last - first, index, n_labels, budget, k)
            labels[first:last], scores[first:last] = (gpu.get(each) for each in found)
    return labels, scores


def _nearest(
    gpu: Gpu, rows: Struct, n: int, index: Struct, n_labels: int, budget: int, k: int
) -> tuple[Any, Any]:
    xp = gpu.xp
    room = xp.empty((n if n_labels > IN_SHARED else 0, n_labels), np.float32)
    labels, scores = xp.empty((n, k), np.int32), xp.empty((n, k), np.float32)
    gpu.launch(
        "shortlists", "nearest", n, _THREADS, rows, index, n_labels, budget, k, room, labels, scores
    )
    return labels, scores


def _nearest_by_sort(
    gpu: Gpu, rows: Struct, n: int, index: Struct, n_labels: int, budget: int, k: int
) -> tuple[Any, Any]:
    """Return the same of more labels than a block sorts: by keys as those of the kernel."""
    xp = gpu.xp
    scores = _scored(gpu, rows, n, index, n_labels, budget)
    last = np.uint64(0xFFFFFFFF)
    keys = (scores.view(np.uint32).astype(np.uint64) << np.uint64(32)) | (
        last - xp.arange(n_labels, dtype=np.uint64)
    )
    best = xp.sort(keys, axis=1)[:, ::-1][:, :k]
    labels = (last - (best & last)).astype(np.int32)
    found = xp.take_along_axis(scores, labels.astype(np.int64), axis=1)
    labels[found == 0.0] = -1
    missing = k - labels.shape[1]
    if missing:
        labels = xp.concatenate([labels, xp.full((n, missing), -1, np.int32)], axis=1)
        found = xp.concatenate([found, xp.zeros((n, missing), np.float32)], axis=1)
    return labels, found


def products(gpu: Gpu, rows: Arrays, index: Struct, n_labels: int) -> Singles:
    """Return rows × index, dense: what each row's words speak for every label."""
    n = len(rows[0]) - 1
    found = np.empty((n, n_labels), np.float32)
    sizes = _ENTRY_BYTES * np.diff(rows[0]) + 4 * n_labels
    with within_memory():
        for first, last in batches(sizes, gpu.free()):
            own = gpu.struct(_some(rows, first, last))
            scores = _scored(gpu, own, last - first, index, n_labels, _EVERY)
            found[first:last] = gpu.get(scores)
    return found


def _scored(gpu: Gpu, rows: Struct, n: int, index: Struct, n_labels: int, budget: int) -> Any:
    scores = gpu.xp.empty((n, n_labels), np.float32)
    gpu.launch("shortlists", "score_all", n, _THREADS, rows, index, n_labels, budget, scores)
    return scores


def rank_below(
    gpu: Gpu, rows: Arrays, index: Struct, n_labels: int, counts: Floats, alpha: Floats,
    least_share: float, least_likeness: float,
) -> Floats:  # fmt: skip
    """Return ln(share · likeness) of every label.

    The likeness is a product of the row and the index, the share ½ normalise(α′) + ½ normalise(N)
    over the first labels of `counts` and `alpha`. Each is at least so large, the product 1 at most.
    """
    xp, n, n_all = gpu.xp, len(rows[0]) - 1, counts.shape[1]
    found = np.empty((n, n_labels))
    sizes = _ENTRY_BYTES * np.diff(rows[0]) + 16 * n_all + 12 * n_labels
    with within_memory():
        for first, last in batches(sizes, gpu.free()):
            out = xp.empty((last - first, n_labels))
            room = xp.empty((last - first if n_labels > IN_SHARED else 0, n_labels), np.float32)
            gpu.launch(
                "shortlists", "rank_below", last - first, _THREADS,
                gpu.struct(_some(rows, first, last)), index, n_labels, n_all,
                gpu.put(counts[first:last]), gpu.put(alpha[first:last]), least_share,
                least_likeness, room, out,
            )  # fmt: skip
            found[first:last] = gpu.get(out)
    return found


def margins(gpu: Gpu, rows: Arrays, candidates: Int32, weights: Struct, n_words: int) -> Floats:
    """Return w·x − 1 of each document's candidates; of −1, no candidate, the bias."""
    n, k = candidates.shape
    blocks = min(n, _BLOCKS, int(gpu.free() // (4 * n_words)) if n_words else n)
    if n and not blocks:
        raise too_large(4 * n_words, gpu.free())
    with within_memory():
        out = gpu.xp.empty((n, k))
        gpu.launch(
            "shortlists", "margins", blocks, _THREADS, gpu.struct(rows), weights, n, k, n_words,
            gpu.put(candidates), gpu.xp.zeros((blocks, n_words), np.float32), out,
        )  # fmt: skip
        found: Floats = gpu.get(out)
    return found


class Weights(NamedTuple):
    """Of some labels: where the weights of each start, their words and values."""

    starts: Int64
    words: Int32
    values: Singles
    unsolved: int
    """Labels that took as many sweeps as there may be."""


class Svms:
    """The SVMs of labels on a GPU: documents, and for each label those that it learns from.

    The documents of label c and their signs are those from `starts[c]` on; `alpha`, of the same
    length, is where to start, and is left at the solution. `before` are the weights to stay near
    to, labels × words. As `deplda.kernels.shortlists.solve_labels`.
    """

    def __init__(
        self, gpu: Gpu, features: Arrays, squares: Floats, starts: Int64, rows: Int64,
        signs: npt.NDArray[np.int8], before: Arrays, n_words: int, alpha: Floats,
    ) -> None:  # fmt: skip
        fixed = 12 * len(features[1]) + 20 * len(rows) + 8 * n_words
        self._gpu, self._n_words, self._squares = gpu, n_words, squares
        self._room = gpu.free() - fixed
        if self._room < self._label_bytes:
            raise too_large(fixed + self._label_bytes, gpu.free())
        with within_memory():
            self._features, self._before = gpu.struct(features), gpu.struct(before)
            self._starts, self._rows = gpu.put(starts), gpu.put(rows.astype(np.int32))
            self._signs, self._alpha = gpu.put(signs), gpu.put(alpha)
            self._order = gpu.xp.empty(len(rows), np.int32)

    @property
    def _label_bytes(self) -> int:
        return 16 * self._n_words  # of its weights, all of which may be kept

    @property
    def alpha(self) -> Floats:
        """α of each document of each label."""
        found: Floats = self._gpu.get(self._alpha)
        return found.copy()

    def solve(
        self, numbers: Int64, costs: Floats, tolerance: float, most: int, least: float,
        places: Int32,
    ) -> Weights:  # fmt: skip
        """Return the weights of labels, and leave α at the solution; `costs` are by document.

        Weights whose size is below `least` of the label's largest are left out. A word's weight
        stands at its place among those of `features`. Labels with many documents come first best.
        """
        gpu, at_a_time = self._gpu, max(1, self._room // self._label_bytes)
        diagonals = 0.5 / costs
        with within_memory():
            how = gpu.put(diagonals), gpu.put(1.0 / (self._squares + diagonals))
            on = gpu.put(places)
            parts = [
                self._solve(numbers[first : first + at_a_time], how, tolerance, most, least, on)
                for first in range(0, len(numbers), at_a_time)
            ]
        sizes, words, values, sweeps = (
            np.concatenate([none, *each])
            for none, each in zip(
                (np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32),
                 np.zeros(0, np.int32)),
                zip(*parts, strict=True) if parts else [()] * 4,
                strict=True,
            )
        )  # fmt: skip
        return Weights(np.cumsum(sizes), words, values, int((sweeps == most).sum()))

    def _solve(
        self, numbers: Int64, how: tuple[Any, Any], tolerance: float, most: int, least: float,
        places: Any,
    ) -> tuple[Int64, Int32, Singles, Int32]:  # fmt: skip
        """Return how many weights each of these labels has, their words and values, and sweeps."""
        gpu, xp, n, n_words = self._gpu, self._gpu.xp, len(numbers), self._n_words
        w, sweeps = xp.zeros((n, n_words)), xp.empty(n, np.int32)
        gpu.launch(
            "shortlists", "solve_labels", n, 32, self._features, self._before,
            gpu.put(numbers.astype(np.int32)), self._starts, self._rows, self._signs, *how,
            n_words, tolerance, most, self._alpha, self._order, w, sweeps,
        )  # fmt: skip
        limits, sizes = xp.empty(n, np.float32), xp.empty(n, np.int64)
        asked = ("shortlists", -(-n // _WARPS), 32 * _WARPS, w, n, n_words, least, limits)
        source, blocks, threads, *given = asked
        gpu.launch(source, "count_weights", blocks, threads, *given, sizes)
        ends = xp.cumsum(sizes)
        total = int(ends[-1])
        words, values = xp.empty(total, np.int32), xp.empty(total, np.float32)
        gpu.launch(source, "take_weights", blocks, threads, *given, ends, places, words, values)
        return gpu.get(sizes), gpu.get(words), gpu.get(values), gpu.get(sweeps)


def _heaviest_first(gpu: Gpu, rows: Arrays) -> Struct:
    """Return rows on the GPU with the heaviest words of each first, equals in their order."""
    starts, words, values = rows
    owner = np.repeat(np.arange(len(starts) - 1, dtype=np.uint64), np.diff(starts))
    lightness = np.uint32(0xFFFFFFFF) - np.ascontiguousarray(values).view(np.uint32)
    order = gpu.xp.argsort(gpu.put(owner << np.uint64(32) | lightness), kind="stable")
    return gpu.struct((starts, gpu.put(words)[order], gpu.put(values)[order]))


def _some(rows: Arrays, first: int, last: int) -> Arrays:
    """Return some of the rows."""
    own = slice(rows[0][first], rows[0][last])
    return rows[0][first : last + 1] - rows[0][first], rows[1][own], rows[2][own]
