"""Prepared shards as the kernels of φ read them, and the cells of all shards, in blocks of labels.

A cell is a pair of label and word that meet in a document. Those of one shard are numbered label by
label; a block has the cells of some labels in all shards, so that what is known of them, in every
shard, is in memory for one block at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from deplda.data.atomic import write_whole
from deplda.data.files import StrPath, read_json
from deplda.data.weighting import WordCounts
from deplda.engine.execution import HERE, Execution, Shown
from deplda.engine.pool import Stop
from deplda.errors import InputError, ReadError
from deplda.training.label_words import whole_tokens, with_background
from deplda.training.shards import PREPARE_ANEW, Ready, read_shard, shard_folder
from deplda.training.slices import OnDisk, never_falls, save_array
from deplda.training.word_chain import Cells, lay_out

Kind = Literal["expected", "sampled"]
Numbers = npt.NDArray[np.int64]

_BLOCK_CELLS = 4_000_000


class Laid(msgspec.Struct, frozen=True):
    """All shards laid out: how many words and labels there are, and the blocks of labels."""

    folder: str
    name: str
    n_words: int
    n_labels: int
    """With a background one more than the documents have, the last."""
    has_background: bool
    cuts: list[int]
    """Block b has the labels cuts[b] to cuts[b + 1]."""
    tokens: list[int]
    """Of each shard."""
    documents: list[int]

    @property
    def blocks(self) -> range:
        """The numbers of all blocks."""
        return range(len(self.cuts) - 1)

    @property
    def shards(self) -> range:
        """The numbers of all shards."""
        return range(len(self.documents))

    def of_shard(self, number: int, what: str) -> Path:
        """Return where something of a shard is kept."""
        return shard_folder(Path(self.folder), number) / f"{self.name}-{what}"

    def of_block(self, number: int, what: str) -> Path:
        """Return where something of the cells of a block is kept."""
        return Path(self.folder) / f"{self.name}-block-{number:05}-{what}"

    @property
    def ends_file(self) -> Path:
        """Where it is kept where the cells of shards end."""
        return Path(self.folder) / f"{self.name}-ends.npy"

    @property
    def ends(self) -> npt.NDArray[np.int64]:
        """Where the cells of each shard end among those of all shards in a block; by block."""
        shape = (len(self.cuts) - 1, len(self.documents) + 1)
        found = OnDisk(self.ends_file, np.int64, shape[0] * shape[1], PREPARE_ANEW)
        ends: npt.NDArray[np.int64] = found.mapped.reshape(shape)
        is_right = not ends[:, 0].any() and never_falls(ends)
        found.require(is_right, "it does not rise from 0 in each block")
        return ends

    def first_document(self, shard: int) -> int:
        """Return the number of a shard's first document when those of all are numbered through."""
        return sum(self.documents[:shard])

    def cell_starts(self, shard: int) -> OnDisk:
        """Return where the cells of each label begin in a shard."""
        path = self.of_shard(shard, "cell_starts.npy")
        return OnDisk(path, np.int64, self.n_labels + 1, PREPARE_ANEW)

    def cell_words(self, shard: int) -> OnDisk:
        """Return the word of each cell of a shard."""
        return OnDisk(self.of_shard(shard, "cell_words.npy"), np.int32, None, PREPARE_ANEW)

    def own_cells(self, shard: int, block: int) -> tuple[int, int]:
        """Return where the cells of a block begin and end among those of a shard."""
        starts = self.cell_starts(shard)
        begin, end = starts.mapped[self.cuts[block : block + 2]].tolist()
        is_right = end - begin == np.diff(self.ends[block])[shard]
        starts.require(is_right, "its cells are not those that were indexed")
        return begin, end

    def own_values(self, path: Path, dtype: Any, shard: int, block: int) -> npt.NDArray[Any]:
        """Return what a file has for the cells of a block, of one value for each of a shard's."""
        n_cells = int(self.cell_starts(shard).mapped[-1])
        values = OnDisk(path, dtype, n_cells, PREPARE_ANEW)
        return values.finite(*self.own_cells(shard, block))

    def rows_of(self, shard: int, documents: Numbers) -> Numbers:
        """Return those of some documents of all that are in a shard, as numbered there."""
        first = self.first_document(shard)
        begin, end = np.searchsorted(documents, [first, first + self.documents[shard]])
        return documents[begin:end] - first


class Block(NamedTuple):
    """The cells of some labels in all shards."""

    first_label: int
    starts: Numbers
    """Where the cells of each of its labels begin."""
    words: npt.NDArray[np.int32]
    places: npt.NDArray[np.int32]
    """Where the cells of the shards, one after the other, stand among these."""

    def cells(self, n_words: int, beta: float) -> Cells:
        """Return the cells as φ is estimated of them."""
        return Cells(self.starts, self.words, n_words, beta)


def lay_out_shards(
    folder: StrPath,
    ready: Ready,
    kind: Kind,
    word_counts: WordCounts = "raw",
    *,
    background: bool = False,
    execution: Execution = HERE,
) -> Laid:
    """Lay prepared shards out, or find that they are.

    With a background there is one label more, which all documents with labels have.
    """
    path = Path(folder).absolute()
    name = f"layout-{kind}-{word_counts}{'-background' * background}"
    n_labels = len(ready.labels) + background
    documents = [shard.documents for shard in ready.shards]
    laid = Laid(str(path), name, len(ready.words), n_labels, background, [], [], documents)
    manifest = path / f"{name}.json"
    if os.path.lexists(manifest):
        return _found(manifest, laid)
    n = len(documents)
    n_cells, tokens = np.zeros(n_labels, np.int64), []
    shown = Shown(f"laying out {n:,} shards", n, lambda _: 1)
    for own, n_tokens in execution.map(_lay_out, range(n), laid, kind, word_counts, shown=shown):
        n_cells += own
        tokens.append(n_tokens)
    if not n_cells.any():
        raise InputError("no document has both words and labels; there is nothing to learn from")
    laid = msgspec.structs.replace(laid, cuts=_cuts(n_cells, background), tokens=tokens)
    shown = Shown(f"indexing {len(laid.blocks):,} blocks", len(laid.blocks), lambda _: 1)
    ends = list(execution.map(_index, laid.blocks, laid, shown=shown))
    save_array(laid.ends_file, np.concatenate(ends))
    with write_whole(manifest) as file:
        file.write(msgspec.json.encode(laid))
    return laid


def _found(manifest: Path, wanted: Laid) -> Laid:
    """Return what was laid out before, which must be what is wanted, with cuts and tokens."""
    problem = f"this is not what it should be ({{}}); {PREPARE_ANEW}"
    found = read_json(manifest, Laid, problem)
    cuts, n_labels = found.cuts, wanted.n_labels
    laid = msgspec.structs.replace(wanted, cuts=cuts, tokens=found.tokens)
    if msgspec.structs.replace(found, folder=wanted.folder) != laid:
        raise ReadError(manifest, None, problem.format("it is the layout of other shards"))
    if cuts != sorted({0, *cuts, n_labels}) or len(found.tokens) != len(wanted.documents):
        raise ReadError(manifest, None, problem.format("cuts or tokens are of other shards"))
    return laid


def _cuts(n_cells: Numbers, background: bool) -> list[int]:
    """Return where blocks of labels begin that have about as many cells, and the last ends.

    The background's block is its own.
    """
    upto, n = np.cumsum(n_cells), len(n_cells) - background
    cuts = np.flatnonzero(np.diff(upto[:n] // _BLOCK_CELLS, prepend=0)).tolist()
    return sorted({0, *cuts, n, len(n_cells)})


def _lay_out(
    laid: Laid, kind: Kind, word_counts: WordCounts, number: int, stop: Stop
) -> tuple[Numbers, int]:
    """Lay a shard out; return how many cells each label has in it, and its tokens."""
    n_own = laid.n_labels - laid.has_background
    corpus = read_shard(Path(laid.folder), (laid.n_words, n_own), number)
    if laid.has_background:
        corpus = with_background(corpus)
    if kind == "sampled":
        layout = lay_out(whole_tokens(corpus, word_counts))
    else:
        layout = lay_out(corpus, word_counts)
    for name, array in layout._asdict().items():
        save_array(laid.of_shard(number, f"{name}.npy"), array)
    return np.diff(layout.cell_starts), int(layout.token_starts[-1])


def _index(laid: Laid, number: int, stop: Stop) -> Numbers:
    """Write the cells of a block; return where those of each shard end."""
    first, last = laid.cuts[number : number + 2]
    keys = []
    for shard in laid.shards:
        words = laid.cell_words(shard)
        starts = laid.cell_starts(shard).starts(len(words))[first : last + 1]
        owner = np.repeat(np.arange(last - first), np.diff(starts))
        keys.append(owner * laid.n_words + words.below(laid.n_words, starts[0], starts[-1]))
    every, places = np.unique(np.concatenate(keys), return_inverse=True)
    starts = np.searchsorted(every, np.arange(last - first + 1) * laid.n_words)
    save_array(laid.of_block(number, "starts.npy"), starts)
    save_array(laid.of_block(number, "words.npy"), (every % laid.n_words).astype(np.int32))
    save_array(laid.of_block(number, "places.npy"), places.astype(np.int32))
    return np.concatenate([[0], np.cumsum([len(each) for each in keys])])


def read_block(laid: Laid, number: int) -> Block:
    """Return the cells of a block, mapped, and checked as far as others rely on them."""
    first, last = laid.cuts[number : number + 2]

    def saved(what: str, dtype: Any, n: int | None) -> OnDisk:
        return OnDisk(laid.of_block(number, f"{what}.npy"), dtype, n, PREPARE_ANEW)

    words = saved("words", np.int32, None)
    starts = saved("starts", np.int64, last - first + 1).starts(len(words))
    places = saved("places", np.int32, int(laid.ends[number, -1]))
    return Block(first, starts, words.all_below(laid.n_words), places.all_below(len(words)))


def read_layout(laid: Laid, number: int) -> Any:
    """Return the layout of a shard, mapped, and checked as far as kernels rely on it."""
    from deplda.kernels.train_words import Layout, document_lengths

    n = laid.documents[number]

    def saved(what: str, dtype: Any, n: int | None = None) -> OnDisk:
        return OnDisk(laid.of_shard(number, f"{what}.npy"), dtype, n, PREPARE_ANEW)

    def starts(what: str, end: int) -> tuple[OnDisk, Numbers]:
        found = saved(what, (np.int32, np.int64), n + 1)
        return found, found.starts(end)

    times = saved("times", (np.int32, np.float32)).all_counts()
    labels = saved("labels", np.int32).all_below(laid.n_labels)
    words = laid.cell_words(number)
    cells = saved("cells", np.int32).all_below(len(words))
    _, entries = starts("entry_starts", len(times))
    _, label_starts = starts("label_starts", len(labels))
    token_file, tokens = starts("token_starts", laid.tokens[number])
    grid_file, grids = starts("grid_starts", len(cells))
    is_right = np.array_equal(np.diff(grids), np.diff(entries) * np.diff(label_starts))
    grid_file.require(is_right, "it does not fit the documents")
    is_right = np.array_equal(np.diff(tokens), document_lengths(entries, times))
    token_file.require(is_right, "it does not fit the documents")
    for array in (times, labels):  # as in a corpus: kernels are compiled for read-only ones
        array.flags.writeable = False
    return Layout(
        entries, times, label_starts, labels, tokens, grids, cells,
        laid.cell_starts(number).starts(len(words)), words.all_below(laid.n_words),
    )  # fmt: skip


def add_up(
    laid: Laid, block: int, path_of: Callable[[int], Path], cells: Block
) -> npt.NDArray[np.float64]:
    """Return the sum over all shards of values that each has, in a file, for its cells."""
    total = np.zeros(len(cells.words))
    ends = laid.ends[block]
    for shard in laid.shards:
        values = laid.own_values(path_of(shard), np.float64, shard, block)
        total[cells.places[ends[shard] : ends[shard + 1]]] += values
    return total
