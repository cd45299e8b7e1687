"""Features of shards, and the mean documents of labels, made and kept on disk.

Each shard writes its features and, for each cell, a pair of label and word, the sum of them. The
sums of all shards are then added up and made mean documents, a block of labels at a time.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from deplda.data.corpus import compact_rows
from deplda.data.targets import Indicator
from deplda.engine.execution import Execution, Shown
from deplda.engine.pool import Stop
from deplda.errors import ReadError
from deplda.kernels import shortlists
from deplda.models.candidates import Centroids, Index, companions, mean_documents
from deplda.models.linear.svm import tfidf
from deplda.models.name_evidence import WordDocuments
from deplda.training.checkpoint import load_arrays, save_state
from deplda.training.shard_layouts import Laid, add_up, read_block, read_layout
from deplda.training.shards import PREPARE_ANEW, WORDS, Ready, read_shard, shard_folder
from deplda.training.slices import OnDisk, join_arrays, never_falls, save_array

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

NEAR, BESIDE = "near", "beside"


class Taught(NamedTuple):
    """Documents of shards that something is learned from: all but some."""

    laid: Laid
    n_labels: int
    left_out: Numbers
    """Documents, those of all shards numbered through."""

    @property
    def name(self) -> str:
        """What files of these documents are called."""
        told = self.laid.name.encode() + self.left_out.tobytes()
        return f"lesson-{blake2b(told, digest_size=6).hexdigest()}"

    def of_shard(self, shard: int, what: str) -> Path:
        """Return where something of a shard is kept."""
        return shard_folder(Path(self.laid.folder), shard) / f"{self.name}-{what}"

    def of_all(self, what: str) -> Path:
        """Return where something of all shards is kept."""
        return Path(self.laid.folder) / f"{self.name}-{what}"

    def is_left_out(self, shard: int) -> npt.NDArray[np.bool_]:
        """Return which documents of a shard are left out."""
        found = np.zeros(self.laid.documents[shard], bool)
        found[self.laid.rows_of(shard, self.left_out)] = True
        return found

    def features(self) -> FeaturesOnDisk:
        """Return the features of all documents, which stay on disk."""
        n = sum(self.laid.documents)
        words = OnDisk(self.of_all("words.npy"), np.int32, None, PREPARE_ANEW)
        return FeaturesOnDisk(
            OnDisk(self.of_all("starts.npy"), np.int64, n + 1, PREPARE_ANEW),
            words,
            OnDisk(self.of_all("values.npy"), np.float32, len(words), PREPARE_ANEW),
            OnDisk(self.of_all("squares.npy"), np.float64, n, PREPARE_ANEW),
            self.laid.n_words,
        )


class FeaturesOnDisk(NamedTuple):
    """A sparse matrix on disk, and the square of each row's length."""

    starts: OnDisk
    words: OnDisk
    values: OnDisk
    squares: OnDisk
    n_words: int

    def rows(self, numbers: Numbers) -> tuple[Numbers, Any, Any, Floats]:
        """Return sizes, words, values and squares of some rows, in memory; numbers rise."""
        begins, ends = self._places_of(numbers)
        n = int((ends - begins).sum())
        words, values = np.empty(n, np.int32), np.empty(n, np.float32)
        take: Any = shortlists.take_rows
        take(begins, ends, self.words.mapped, self.values.mapped, words, values)
        self.words.checked_below(self.n_words, words)
        self.values.checked_finite(values)
        squares = self.squares.checked_counts(np.asarray(self.squares.mapped[numbers]))
        return ends - begins, words, values, squares

    def every(self) -> tuple[Numbers, Any, Any, Floats]:
        """Return starts, words, values and squares of all rows, of which the system reads some."""
        self._places_of(np.arange(len(self.squares)))
        for piece in self.words.pieces():
            self.words.below(self.n_words, *piece)
            self.values.finite(*piece)
        self.squares.counts()
        every = self.starts, self.words, self.values, self.squares
        starts, words, values, squares = (each.mapped for each in every)
        return starts, words, values, squares

    def _places_of(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """Return where some rows begin and end, one after the other."""
        begins, ends = self.starts.mapped[numbers], self.starts.mapped[numbers + 1]
        self.starts.checked_below(len(self.words) + 1, np.concatenate([begins, ends]))
        self.starts.require(never_falls(np.stack([begins, ends], axis=1).ravel()), "rows overlap")
        return begins, ends


def count_words(
    folder: Path, ready: Ready, left_out: Numbers, execution: Execution
) -> WordDocuments:
    """Return how many documents there are in all shards, but for some, and how many have a word."""
    n_with = np.zeros(len(ready.words), np.int64)
    sizes = len(ready.words), len(ready.labels)
    for own in execution.map(_count_words, _by_shard(ready, left_out), folder, sizes):
        n_with += own
    n = sum(shard.documents for shard in ready.shards)
    return WordDocuments(n - len(left_out), n_with)


def _by_shard(ready: Ready, documents: Numbers) -> list[tuple[int, Numbers]]:
    """Return of each shard its number and which of some documents are in it; numbers rise."""
    firsts = np.cumsum([0, *(shard.documents for shard in ready.shards)])
    parts = np.split(documents, np.searchsorted(documents, firsts[1:-1]))
    return [(number, part - firsts[number]) for number, part in enumerate(parts)]


def _count_words(
    folder: Path, sizes: tuple[int, int], item: tuple[int, Numbers], stop: Stop
) -> Numbers:
    number, left_out = item
    counts = read_shard(folder, sizes, number).counts
    n_words = counts.shape[1]
    every = np.bincount(counts.indices, minlength=n_words)
    return every - np.bincount(counts[left_out].indices, minlength=n_words)


def gathered(folder: Path, ready: Ready, documents: Numbers, execution: Execution) -> Any:
    """Return the counts of some documents of all shards, in memory; their numbers rise."""
    items = [item for item in _by_shard(ready, documents) if len(item[1])]
    sizes = len(ready.words), len(ready.labels)
    return csr_array(vstack([*execution.map(_rows_of, items, folder, sizes)], format="csr"))


def _rows_of(folder: Path, sizes: tuple[int, int], item: tuple[int, Numbers], stop: Stop) -> Any:
    number, rows = item
    return read_shard(folder, sizes, number).counts[rows]


# Mean documents -----------------------------------------------------------------------------------


def centroids(taught: Taught, idf: Floats, execution: Execution) -> Centroids:
    """Return the labels' mean documents; features of all shards are on disk from then on."""
    lengths = taught.of_all("lengths.npy")
    if not os.path.lexists(lengths):
        laid = taught.laid
        n = len(laid.shards)
        shown = Shown(f"weighing words of {n:,} shards", n, lambda _: 1)
        for _ in execution.map(_write_features, laid.shards, taught, idf, shown=shown):
            pass
        _join_features(taught)
        blocks = [block for block in laid.blocks if laid.cuts[block] < taught.n_labels]
        for _ in execution.map(_write_block, blocks, taught):
            pass
        matrix, own_lengths = _assembled(taught, blocks)
        save_index(taught, NEAR, Index(matrix))
        save_array(lengths, own_lengths)
        for shard in laid.shards:
            for what in ("sums", *_FEATURES):
                taught.of_shard(shard, f"{what}.npy").unlink(missing_ok=True)
        for block in blocks:
            _block_file(taught, block).unlink(missing_ok=True)
    near = load_index(taught, NEAR)
    return Centroids(near, OnDisk(lengths, np.float64, taught.n_labels, PREPARE_ANEW).counts())


def _join_features(taught: Taught) -> None:
    """Write the features of all shards as one matrix; where its rows begin last."""
    target = taught.of_all("starts.npy")
    if os.path.lexists(target):
        return

    def of_each(what: str, lengths: Sequence[int]) -> list[OnDisk]:
        return [
            OnDisk(taught.of_shard(shard, f"{what}.npy"), _FEATURES[what], n, PREPARE_ANEW)
            for shard, n in enumerate(lengths)
        ]

    documents = taught.laid.documents
    sizes = [part.counts() for part in of_each("sizes", documents)]
    n_entries = [int(own.sum()) for own in sizes]
    for what, lengths in (("words", n_entries), ("values", n_entries), ("squares", documents)):
        join_arrays(taught.of_all(f"{what}.npy"), of_each(what, lengths))
    save_array(target, np.cumsum(np.concatenate([[0], *sizes]), dtype=np.int64))


_FEATURES: dict[str, Any] = {
    "sizes": np.int64, "words": np.int32, "values": np.float32, "squares": np.float64
}  # fmt: skip


def _write_features(taught: Taught, idf: Floats, shard: int, stop: Stop) -> None:
    """Write the features of a shard, and their sums by cell; the sums last."""
    target, laid = taught.of_shard(shard, "sums.npy"), taught.laid
    if os.path.lexists(target):
        return
    sizes = laid.n_words, taught.n_labels
    features = tfidf(idf, read_shard(Path(laid.folder), sizes, shard).counts)
    layout = read_layout(laid, shard)
    if not np.array_equal(features.indptr, layout.entry_starts):
        problem = f"these are not the documents that were laid out; {PREPARE_ANEW}"
        raise ReadError(shard_folder(Path(laid.folder), shard) / WORDS, None, problem)
    squares = np.asarray(features.multiply(features).sum(axis=1), np.float64).ravel()
    own: tuple[Any, ...] = np.diff(features.indptr), features.indices, features.data, squares
    for (what, kind), array in zip(_FEATURES.items(), own, strict=True):
        # These are soon joined with those of all shards.
        save_array(taught.of_shard(shard, f"{what}.npy"), array.astype(kind), synced=False)
    sums = np.zeros(len(layout.cell_words))
    add: Any = shortlists.add_to_cells
    add(
        layout.entry_starts, layout.label_starts, layout.grid_starts, layout.cells, features.data,
        taught.is_left_out(shard), int(laid.has_background), sums,
    )  # fmt: skip
    save_array(target, sums, synced=False)


def _block_file(taught: Taught, block: int) -> Path:
    return taught.of_all(f"centroids-{block:05}.npz")


def _write_block(taught: Taught, block: int, stop: Stop) -> None:
    """Write the mean documents of a block's labels."""
    target, laid = _block_file(taught, block), taught.laid
    if os.path.lexists(target):
        return
    cells = read_block(laid, block)
    total = add_up(laid, block, lambda shard: taught.of_shard(shard, "sums.npy"), cells)
    shape = (len(cells.starts) - 1, laid.n_words)
    sums = csr_array((total, cells.words, cells.starts), shape=shape)
    sums.eliminate_zeros()  # cells of documents that are left out
    rows, lengths = mean_documents(sums)
    save_state(
        target, starts=rows.indptr.astype(np.int64), words=rows.indices.astype(np.int32),
        values=rows.data.astype(np.float32), lengths=lengths,
    )  # fmt: skip


def _assembled(taught: Taught, blocks: list[int]) -> tuple[Any, Floats]:
    """Return the mean documents of all blocks, words × labels, and the lengths of their sums."""
    words, values, lengths, sizes = [], [], [], [np.zeros(1, np.int64)]
    for block in blocks:
        saved = load_arrays(_block_file(taught, block), PREPARE_ANEW)
        words.append(saved.below("words", np.int32, (None,), taught.laid.n_words))
        values.append(saved.counts("values", np.float32, words[-1].shape))
        first, last = taught.laid.cuts[block : block + 2]
        sizes.append(np.diff(saved.starts("starts", last - first, len(words[-1]))))
        lengths.append(saved.counts("lengths", np.float64, sizes[-1].shape))
    by_label = compact_rows(
        np.concatenate(values), np.concatenate(words), np.cumsum(np.concatenate(sizes)),
        (taught.n_labels, taught.laid.n_words),
    )  # fmt: skip
    words.clear()
    values.clear()
    return by_label.T.tocsr(), np.concatenate(lengths)


# Indexes ------------------------------------------------------------------------------------------


def write_companions(taught: Taught, labels: Indicator) -> None:
    """Write which labels documents have together, of the documents that are learned from."""
    if not os.path.lexists(taught.of_all(f"{BESIDE}-starts.npy")):
        save_index(taught, BESIDE, companions(labels))


def save_index(taught: Taught, name: str, index: Index) -> None:
    """Write an index for all workers; where its rows begin last."""
    matrix = index.matrix
    save_array(taught.of_all(f"{name}-labels.npy"), matrix.indices.astype(np.int32, copy=False))
    save_array(taught.of_all(f"{name}-values.npy"), matrix.data.astype(np.float32, copy=False))
    save_array(taught.of_all(f"{name}-starts.npy"), matrix.indptr.astype(np.int64, copy=False))


_indexes: dict[Path, Index] = {}
_loading = Lock()


def load_index(taught: Taught, name: str) -> Index:
    """Return an index of these documents; a process has one copy of each, until others come."""
    path, here = taught.of_all(name), taught.of_all("")
    with _loading:
        if path not in _indexes:
            n = taught.laid.n_words if name == NEAR else taught.n_labels
            starts = OnDisk(taught.of_all(f"{name}-starts.npy"), np.int64, n + 1, PREPARE_ANEW)
            labels = OnDisk(taught.of_all(f"{name}-labels.npy"), np.int32, None, PREPARE_ANEW)
            values = taught.of_all(f"{name}-values.npy")
            own = OnDisk(values, np.float32, len(labels), PREPARE_ANEW).counts()
            found = labels.below(taught.n_labels), starts.starts(len(labels))
            _indexes[path] = Index(compact_rows(own, *found, (n, taught.n_labels)))
            for other in [each for each in _indexes if not str(each).startswith(str(here))]:
                del _indexes[other]
        return _indexes[path]


def forget_indexes() -> None:
    """Take no memory for indexes that nobody else holds."""
    with _loading:
        _indexes.clear()
