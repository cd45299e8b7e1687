"""Training φ on a GPU by expectations: documents laid out and updated, a batch at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deplda.kernels.cuda.device import Gpu, refuse_large

Int64 = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Documents of a batch do not see each other's changes: with so many batches in a pass, passes move
# as much as those of the CPU, where every document sees those before it.
BATCHES = 32
_LANES, _THREADS = 32, 128
_MOST_BITS = 61  # of the sum of all counts in units, which is signed


class Texts(NamedTuple):
    """Documents as csr counts and csr labels, and how many documents each counts as."""

    entry_starts: Int64
    words: npt.NDArray[np.int32]
    times: npt.NDArray[Any]
    label_starts: Int64
    labels: npt.NDArray[np.int32]
    weights: Floats
    n_words: int
    n_labels: int


class _Items(NamedTuple):
    """Up to 32 types of a document each, on the GPU: the document, and which of its 32 types."""

    n: int
    owners: Any
    chunks: Any

    @classmethod
    def of(cls, gpu: Gpu, documents: Int64, n_types: Int64) -> _Items:
        sizes = -(-n_types[documents] // _LANES)
        owners = np.repeat(documents, sizes)
        chunks = np.arange(len(owners)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return cls(len(owners), gpu.put(owners.astype(np.int32)), gpu.put(chunks.astype(np.int32)))


def check_room(gpu: Gpu, texts: Texts) -> None:
    """Raise if the GPU does not hold the work."""
    n_pairs = int(np.diff(texts.entry_starts) @ np.diff(texts.label_starts))
    # Sorting the pairs takes most: keys, their order, and which cell each is.
    needed = 60 * n_pairs + 16 * len(texts.words) + 40 * len(texts.labels)
    if needed > gpu.free():
        refuse_large(needed, gpu.free())


class Expectations:
    """The shares of every word type in its document's labels, on a GPU, and the counts they give.

    `known` tokens, by cell and by label, are added to the counts by `start`. Cells are as in
    deplda.kernels.train_words.Layout: the pairs of label and word that meet, label by label.
    """

    def __init__(self, gpu: Gpu, texts: Texts) -> None:
        self._gpu, self._texts, xp = gpu, texts, gpu.xp
        n_types, n_own = np.diff(texts.entry_starts), np.diff(texts.label_starts)
        grid_starts = np.concatenate([[0], np.cumsum(n_types * n_own)])
        self._documents = gpu.struct(
            (texts.entry_starts, texts.words, texts.times.astype(np.float64), texts.label_starts,
             texts.labels, grid_starts, texts.weights)
        )  # fmt: skip
        self._all = _Items.of(gpu, np.flatnonzero((n_types > 0) & (n_own > 0)), n_types)
        keys = xp.empty(int(grid_starts[-1]), np.int64)
        self._launch("pairs", self._all, texts.n_words, keys)
        cells, inverse = xp.unique(keys, return_inverse=True)
        self._cells = inverse.astype(np.int32)
        firsts = xp.arange(texts.n_labels + 1, dtype=np.int64) * texts.n_words
        self.cell_starts: Int64 = gpu.get(xp.searchsorted(cells, firsts))
        self.cell_words: npt.NDArray[np.int32] = gpu.get((cells % texts.n_words).astype(np.int32))
        self._shares = xp.empty(len(keys), np.float32)

    def start(self, swept: Int64, known: tuple[Floats, Floats]) -> None:
        """Begin with equal shares; passes will be over the `swept` documents."""
        gpu, texts = self._gpu, self._texts
        n_types = np.diff(texts.entry_starts)
        self._batches = [_Items.of(gpu, swept[b::BATCHES], n_types) for b in range(BATCHES)]
        n_cells, n_labels = len(self.cell_words), texts.n_labels
        times = texts.times @ np.repeat(texts.weights, n_types)
        most = max(float(times), float(texts.times.sum(dtype=np.float64))) + float(known[1].sum())
        self._unit = 2.0 ** (_MOST_BITS - int(np.ceil(np.log2(max(most, 2.0)))))
        counts = np.concatenate([*known, np.zeros(len(texts.labels))])
        self._counts = gpu.put(np.rint(counts * self._unit).astype(np.int64).view(np.uint64))
        self._ends = n_cells, n_cells + n_labels
        self._launch(
            "expected_start", self._all, self._cells, self._unit, self._shares,
            *self._parts(self._counts),
        )  # fmt: skip
        self._later = self._counts.copy()

    def sweep(self, eta: float, beta: float, background: float) -> float:
        """Update all shares and counts, a pass of CVB0; return Σ m · times · |change of shares|."""
        moved = [self._gpu.xp.empty(items.n) for items in self._batches]
        for items, own in zip(self._batches, moved, strict=True):
            self._launch(
                "expect", items, self._cells, eta, beta, self._texts.n_words * beta, background,
                self._unit, *self._parts(self._counts), self._shares, *self._parts(self._later),
                own,
            )  # fmt: skip
            self._counts[:] = self._later
        return float(self._gpu.xp.concatenate(moved).sum())

    def counts(self) -> tuple[Floats, Floats]:
        """Return the expected N_wc, by cell, and N_c."""
        cells, labels, _ = self._parts(self._counts)
        found = (self._gpu.get(each).view(np.int64) / self._unit for each in (cells, labels))
        return next(found), next(found)

    def _parts(self, counts: Any) -> tuple[Any, Any, Any]:
        """Return the counts by cell, by label, and by label of each document."""
        first, second = self._ends
        return counts[:first], counts[first:second], counts[second:]

    def _launch(self, kernel: str, items: _Items, *arguments: Any) -> None:
        self._gpu.launch(
            "train_expected", kernel, -(-items.n * _LANES // _THREADS), _THREADS, self._documents,
            *items, *arguments,
        )  # fmt: skip
