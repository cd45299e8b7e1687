"""Training φ on a GPU: chains of the partially collapsed sampler, side by side."""

from __future__ import annotations

from math import lgamma
from typing import Any

import numpy as np
import numpy.typing as npt

from deplda.kernels.cuda.device import Gpu, refuse_large
from deplda.kernels.train_words import Layout

Streams = npt.NDArray[np.uint64]

UNIT = 2.0**48  # of the sums over samples
_ROWS, _MOST_CHAINS = 16, 64  # of a block that has a label
_TABLE = 4096


def chains_that_fit(gpu: Gpu, layout: Layout) -> int:
    """Return how many chains the GPU holds side by side."""
    shared = sum(array.nbytes for array in layout)
    n_labels, n_documents = len(layout.cell_starts), len(layout.label_starts)
    each = 8 * len(layout.cell_words) + 2 * int(layout.token_starts[-1]) + 4 * len(layout.labels)
    each += 12 * n_labels + 8 * n_documents
    room = gpu.free() - shared
    if room < each:
        refuse_large(shared + each, gpu.free())
    return int(room // each)


class Chains:
    """Some chains of z on a GPU; arrays have an axis over chains, the last.

    `streams` are the (key, gamma) of each chain's z, `phi_streams` those of its φ: chains × 2.
    """

    def __init__(
        self, gpu: Gpu, layout: Layout, n_words: int, eta: float, beta: float, streams: Streams,
        phi_streams: Streams,
    ) -> None:  # fmt: skip
        self._gpu, self._n_words, self._eta, self._beta = gpu, n_words, eta, beta
        xp, n = gpu.xp, len(streams)
        n_labels, n_cells = len(layout.cell_starts) - 1, len(layout.cell_words)
        lengths, n_own = np.diff(layout.token_starts), np.diff(layout.label_starts)
        self._n, self._n_labels, self._groups = n, n_labels, -(-n // _MOST_CHAINS)
        self._threads = _ROWS * -(-n // self._groups)
        self._n_tokens = np.uint64(layout.token_starts[-1])
        self._layout = gpu.struct(layout)
        self._streams, self._phi_streams = gpu.put(streams), gpu.put(phi_streams)
        swept = np.flatnonzero((lengths > 0) & (n_own > 0))
        swept = swept[np.argsort(-lengths[swept], kind="stable")]  # the longest first
        self._swept = gpu.put(swept.astype(np.int32))
        terms = [lgamma(k + beta) - lgamma(beta) for k in range(_TABLE)]
        self._table = gpu.put(np.array(terms))
        self.z = xp.zeros((int(layout.token_starts[-1]), n), np.uint16)
        self.cell_counts = xp.zeros((n_cells, n), np.int32)
        self.label_counts = xp.zeros((n_labels, n), np.int32)
        self._document_counts = xp.zeros((len(layout.labels), n), np.int32)
        self._phi = xp.empty((n_cells, n), np.float32)
        self._levels = xp.zeros((n_labels, n)), xp.zeros((len(lengths), n))
        self._update(0)

    def sweep(self, number: int) -> None:
        """Draw φ given z, then every z given φ, as eq. 2 has it; sweeps are numbered from 1."""
        self._gpu.launch(
            "train_words", "draw_phi", (self._n_labels, self._groups), self._threads, self._layout,
            self._n, self._n_words, self._beta, self._phi_streams, np.uint64(number),
            self.cell_counts, self._phi,
        )  # fmt: skip
        self._update(number)

    def log_likelihood(self) -> Any:
        """Return log P(w, z) of each chain, on the GPU."""
        return self._levels[0].sum(axis=0) + self._levels[1].sum(axis=0)

    def collect(self, weights: Any, base: Any) -> None:
        """Add A and b of all chains to weights, by cell, and base, by label: whole units."""
        self._gpu.launch(
            "train_words", "collect", self._n_labels, 256, self._layout, self._n, self._n_words,
            self._beta, self.cell_counts, self.label_counts, weights, base,
        )  # fmt: skip

    def _update(self, number: int) -> None:
        self.cell_counts.fill(0)
        self._gpu.launch(
            "train_words", "sweep", -(-len(self._swept) * self._n // 128), 128, self._layout,
            len(self._swept), self._n_tokens, self._n, self._eta, self._streams, np.uint64(number),
            self._swept, self._phi, self.z, self._document_counts, self.cell_counts,
            self._levels[1],
        )  # fmt: skip
        self._gpu.launch(
            "train_words", "measure", (self._n_labels, self._groups), self._threads, self._layout,
            self._n, self._n_words, self._beta, self._table, _TABLE, self.cell_counts,
            self.label_counts, self._levels[0],
        )  # fmt: skip
