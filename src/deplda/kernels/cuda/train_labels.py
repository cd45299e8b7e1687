"""Training φ′ on a GPU: chains of the partially collapsed sampler, side by side."""

from __future__ import annotations

from math import lgamma
from typing import Any

import numpy as np
import numpy.typing as npt

from deplda.kernels.cuda.device import Gpu, refuse_large

Int64 = npt.NDArray[np.int64]
Streams = npt.NDArray[np.uint64]

_LANES, _TILE, _TABLE = 32, 64, 4096
_SHORT = 32  # labels of a document that one thread sweeps; a warp sweeps a longer one
# Of a sweep: it then takes a chain a little further than one of the collapsed sampler does.
_ROUNDS = 2
_MOST_CHAINS = 65_535  # of a grid's second axis


def _width(n_topics: int) -> int:
    return -(-n_topics // _LANES) * _LANES


def chains_that_fit(gpu: Gpu, starts: Int64, n_labels: int, n_topics: int) -> int:
    """Return how many chains the GPU holds side by side."""
    n_tokens, n_documents, width = int(starts[-1]), len(starts), _width(n_topics)
    shared = 4 * n_tokens + 16 * n_documents + 8 * _TABLE
    each = 9 * n_labels * width + 2 * n_tokens + 8 * n_documents
    each += (20 * -(-n_labels // _TILE) + 12) * width
    room = gpu.free() - shared
    if room < each:
        refuse_large(shared + each, gpu.free())
    return min(int(room // each), _MOST_CHAINS)


class TopicChains:
    """Some chains of z′ on a GPU; arrays have an axis over chains, the first.

    Document d has the labels starts[d]:starts[d+1]. `streams` are the (key, gamma) of each chain's
    z′, `phi_streams` those of its φ′: chains × 2.
    """

    def __init__(
        self, gpu: Gpu, starts: Int64, labels: npt.NDArray[np.int32], n_labels: int, n_topics: int,
        gamma: float, beta: float, streams: Streams, phi_streams: Streams,
    ) -> None:  # fmt: skip
        self._gpu, self._n, xp = gpu, len(streams), gpu.xp
        self._gamma, self._beta = gamma, beta
        self._n_labels, self._n_topics, self._width = n_labels, n_topics, _width(n_topics)
        self._n_tiles, self._n_tokens = -(-n_labels // _TILE), len(labels)
        sizes = np.diff(starts)
        self._n_documents = len(sizes)
        self._tokens = gpu.struct((starts, labels))
        self._streams, self._phi_streams = gpu.put(streams), gpu.put(phi_streams)
        order = np.argsort(-sizes, kind="stable").astype(np.int32)  # threads beside each other
        self._short, self._long = (
            gpu.put(order[is_swept[order]])
            for is_swept in ((sizes > 0) & (sizes <= _SHORT), sizes > _SHORT)
        )
        self._table = gpu.put(np.array([lgamma(k + beta) - lgamma(beta) for k in range(_TABLE)]))
        n_d, times = np.unique(sizes, return_counts=True)
        all_gamma = n_topics * gamma
        self._constant = sum(
            k * (lgamma(all_gamma) - lgamma(n + all_gamma))
            for n, k in zip(n_d.tolist(), times.tolist(), strict=True)
        )
        shape, tiles = (self._n, n_labels, self._width), (self._n, self._n_tiles, self._width)
        self.z = xp.empty((self._n, self._n_tokens), np.uint16)
        self.counts, self.phi = xp.zeros(shape, np.int32), xp.empty(shape, np.float32)
        self._block_sums = xp.empty((self._n, n_labels, self._width // _LANES), np.float32)
        self._most, self._sums = xp.empty(tiles, np.float32), xp.empty(tiles, np.float32)
        self._scale = xp.empty((self._n, self._width), np.float32)
        self._topic_counts, self._tile_levels = xp.empty(tiles, np.int32), xp.empty(tiles)
        self._levels = xp.empty((self._n, n_topics)), xp.zeros((self._n, self._n_documents))
        self._launch(
            "start_topics", self._n_tokens, self._tokens.arrays[1], self._n_tokens, n_labels,
            n_topics, self._width, self._streams, self.z, self.counts,
        )  # fmt: skip

    def sweep(self, number: int) -> None:
        """Update every z′, as eq. 5 has it, by two rounds; sweeps are numbered from 1."""
        for k in range(1, _ROUNDS + 1):
            round_number = (number - 1) * _ROUNDS + k
            self.draw_phi(round_number)
            self._update(round_number)

    def draw_phi(self, number: int) -> None:
        """Draw φ′ given z′, for a round; rounds are numbered from 1."""
        shape = self._n_labels, self._n_topics, self._width
        n_blocks = self._n_tiles * self._width // _LANES
        self._launch(
            "draw_topics", 256 * n_blocks, *shape, self._beta, self._phi_streams,
            np.uint64(number), self.counts, self.phi, self._most, self._sums,
        )  # fmt: skip
        self._launch(
            "scale_topics", self._n_topics, self._n_tiles, *shape[1:], self._most, self._sums,
            self._scale,
        )  # fmt: skip
        self._launch(
            "normalise_topics", _LANES * self._n_labels, *shape, self._scale, self.phi,
            self._block_sums,
        )  # fmt: skip

    def _update(self, number: int) -> None:
        """Draw every z′ given φ′, twice, and count them."""
        self.counts.fill(0)
        for kernel, documents, threads in (
            ("sweep_long", self._long, _LANES * len(self._long)),
            ("sweep_short", self._short, len(self._short)),
        ):
            self._launch(
                kernel, threads, self._tokens, len(documents), documents, self._n_tokens,
                self._n_labels, self._n_documents, self._width, self._gamma, self._streams,
                np.uint64(number), self.phi, self._block_sums, self.z, self.counts,
                self._levels[1], block=128,
            )  # fmt: skip

    def log_likelihood(self) -> Any:
        """Return log P(c, z′) of each chain, on the GPU."""
        n_blocks = self._n_tiles * self._width // _LANES
        self._launch(
            "tally_topics", 256 * n_blocks, self._n_labels, self._n_topics, self._width, self._beta,
            self._table, _TABLE, self.counts, self._topic_counts, self._tile_levels,
        )  # fmt: skip
        self._launch(
            "measure_topics", self._n_topics, self._n_tiles, self._n_labels, self._n_topics,
            self._width, self._beta, self._topic_counts, self._tile_levels, self._levels[0],
        )  # fmt: skip
        return sum(level.sum(axis=1) for level in self._levels) + self._constant

    def _launch(self, kernel: str, threads: int, *arguments: Any, block: int = 256) -> None:
        """Begin a kernel with so many threads for each chain."""
        grid = -(-threads // block), self._n
        self._gpu.launch("train_labels", kernel, grid, block, *arguments)
