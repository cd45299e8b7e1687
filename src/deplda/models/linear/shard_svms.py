"""SVMs that learn from shortlists of documents in shards, on disk; a block of labels at a time.

Each shard lists, label by label, the documents that have it or list it. A block gathers the rows of
its labels from all shards, so that a worker has these in memory and no others.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from deplda.data.corpus import compact_rows
from deplda.engine.execution import Execution, Shown
from deplda.engine.pool import Stop
from deplda.kernels import shortlists
from deplda.models.candidates import Sparse, training_lists
from deplda.models.linear import reduced
from deplda.models.shard_features import BESIDE, NEAR, Taught, load_index
from deplda.training.checkpoint import load_arrays, save_arrays
from deplda.training.shards import PREPARE_ANEW, read_shard
from deplda.training.slices import OnDisk, save_array

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_LEAST_PAIRS, _MOST_PAIRS, _USUAL_BLOCKS = 40_000, 250_000, 64
"""Pairs of a block: as few as give so many blocks, within limits."""
_MOST_ROWS = 300_000
"""Documents of a block that are gathered in memory."""
_ALONE = Execution(n_jobs=1, progress=False)


class Solution(NamedTuple):
    """Where the weights and α of all labels are on disk: of each block, for one of the costs."""

    folder: Path
    blocks: list[Numbers]
    place: int
    sizes: Numbers
    """How many words each label weighs."""
    n_words: int

    @property
    def alpha(self) -> Solution:
        """Where α are: here."""
        return self

    @property
    def weights(self) -> Sparse:
        """The weights of all labels, labels × words, in memory; read anew each time."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        words, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
        for number, block in enumerate(self.blocks):
            saved = load_arrays(_block_file(self.folder, number), PREPARE_ANEW)
            own = saved.below(f"words_{self.place}", np.int32, (None,), self.n_words)
            ends = saved.starts(f"ends_{self.place}", len(block), len(own))
            if not np.array_equal(np.diff(ends), self.sizes[block]):
                raise saved.unusable("its labels have other weights than they had")
            places = _ranges(starts[block], starts[block + 1])
            words[places] = own
            values[places] = saved.finite(f"values_{self.place}", own.shape, np.float32)
        return compact_rows(values, words, starts, (len(self.sizes), self.n_words))

    def of_block(self, number: int, n_documents: int) -> tuple[Numbers, Numbers, Floats]:
        """Return the documents of each label, of so many in all, and α of each, above 0."""
        saved = load_arrays(_block_file(self.folder, number), PREPARE_ANEW)
        documents = saved.below(f"documents_{self.place}", np.int64, (None,), n_documents)
        ends = saved.starts(f"document_ends_{self.place}", len(self.blocks[number]), len(documents))
        return ends, documents, saved.counts(f"alpha_{self.place}", np.float64, documents.shape)


class ShardSvms(NamedTuple):
    """What the SVMs of all labels are to learn from shards."""

    taught: Taught
    k: int
    start: Solution | None = None
    """Of a part of the documents, from which this is solved."""

    def learn(
        self, costs: Sequence[float], numbers: Numbers, execution: Execution
    ) -> list[Solution]:
        """Return the solution for each C, which is that of `reduced.learn`, on disk."""
        sizes = self._sizes()
        blocks = _blocks(numbers, sizes) if self.start is None else self.start.blocks
        cuts = tuple(map(len, blocks))
        begun = None if self.start is None else self.start.folder.name
        meaning = (self.k, tuple(costs), numbers.tobytes(), cuts, begun)
        name = blake2b(repr(meaning).encode(), digest_size=6).hexdigest()
        folder = self.taught.of_all(f"svms-{name}")
        folder.mkdir(exist_ok=True)
        shown = Shown(
            f"training SVMs of {len(numbers):,} labels", int(sizes[numbers].sum()),
            lambda item: int(sizes[item[1]].sum()),
        )  # fmt: skip
        # Those with the most pairs take longest: they come first, so that all cores end together.
        work = sorted(enumerate(blocks), key=lambda item: -int(sizes[item[1]].sum()))
        found = execution.map(_solve_block, work, self, folder, tuple(costs), shown=shown)
        n_weights, unsolved = np.zeros((len(costs), self.taught.n_labels), np.int64), 0
        for (_, block), (own, n) in zip(work, found, strict=True):
            n_weights[:, block] = own
            unsolved += n
        reduced.warn_of_unsolved(unsolved)
        n_words = self.taught.laid.n_words
        return [
            Solution(folder, blocks, place, own, n_words) for place, own in enumerate(n_weights)
        ]

    def _sizes(self) -> Numbers:
        """Return how many pairs each label has."""
        sizes = np.zeros(self.taught.n_labels, np.int64)
        for shard in self.taught.laid.shards:
            starts, rows, _ = self._pairs(shard)
            sizes += np.diff(starts.starts(len(rows)))
        return sizes

    def _pairs(self, shard: int) -> tuple[OnDisk, OnDisk, OnDisk]:
        """Return where the pairs of each label begin in a shard, their documents and signs."""
        starts, rows, signs = (_pair_file(self.taught, self.k, shard, what) for what in _PAIRS)
        found = OnDisk(rows, np.int32, None, PREPARE_ANEW)
        n = self.taught.n_labels
        return (
            OnDisk(starts, np.int64, n + 1, PREPARE_ANEW), found,
            OnDisk(signs, np.int8, len(found), PREPARE_ANEW),
        )  # fmt: skip


_PAIRS = ("starts", "rows", "signs")


def _pair_file(taught: Taught, k: int, shard: int, what: str) -> Path:
    return taught.of_shard(shard, f"pairs-{k}-{what}.npy")


def _block_file(folder: Path, number: int) -> Path:
    return folder / f"block-{number:05}.npz"


def _blocks(numbers: Numbers, sizes: Numbers) -> list[Numbers]:
    """Return labels in blocks of about as many pairs."""
    upto = np.cumsum(sizes[numbers])
    n_pairs = int(upto[-1]) if len(upto) else 0
    size = min(max(n_pairs // _USUAL_BLOCKS, _LEAST_PAIRS), _MOST_PAIRS)
    cuts = np.flatnonzero(np.diff(upto // size, prepend=0))
    return [block for block in np.split(numbers, cuts) if len(block)]


# Shortlists ---------------------------------------------------------------------------------------


def pair_up(taught: Taught, k: int, execution: Execution) -> ShardSvms:
    """Write the shortlists of all shards; the indexes of `shard_features` are there."""
    shards = taught.laid.shards
    shown = Shown(f"ranking candidates of {len(shards):,} shards", len(shards), lambda _: 1)
    for _ in execution.map(_pair_up, shards, taught, k, shown=shown):
        pass
    return ShardSvms(taught, k)


def _pair_up(taught: Taught, k: int, shard: int, stop: Stop) -> None:
    """Write for each label the documents of a shard that have it or list it; starts last."""
    target = _pair_file(taught, k, shard, "starts")
    if os.path.lexists(target):
        return
    laid, n_labels = taught.laid, taught.n_labels
    labels = read_shard(Path(laid.folder), (laid.n_words, n_labels), shard).labels
    rest = np.flatnonzero(~taught.is_left_out(shard))
    sizes, words, values, _ = taught.features().rows(laid.first_document(shard) + rest)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    features = compact_rows(values, words, ends, (len(rest), laid.n_words))
    labels = labels[rest]
    indexes = load_index(taught, NEAR), load_index(taught, BESIDE)
    lists = training_lists(features, labels, *indexes, k, _ALONE)
    join: Any = shortlists.pair_up
    own = labels.indptr.astype(np.int64), labels.indices.astype(np.int32)
    starts, rows, signs = join(*own, np.ascontiguousarray(lists, np.int32), n_labels)
    save_array(_pair_file(taught, k, shard, "rows"), rest[rows].astype(np.int32))
    save_array(_pair_file(taught, k, shard, "signs"), signs)
    save_array(target, starts)


# A block of labels --------------------------------------------------------------------------------


class _Problem(NamedTuple):
    """The documents that some labels learn from, and the pairs, label by label."""

    features: tuple[Numbers, Any, Any]
    squares: Floats
    words: Numbers
    """The words by their numbers in the features."""
    starts: Numbers
    rows: Numbers
    signs: npt.NDArray[np.int8]
    documents: Numbers
    """The document of each pair, those of all shards numbered through."""


def _problem_of(svms: ShardSvms, labels: Numbers) -> _Problem:
    """Return what some labels learn from.

    The rows of their documents are gathered in memory, with words numbered by how many of these
    have them; of very many documents they stay where they are, on disk.
    """
    starts, documents, signs = _pairs_of(svms, labels)
    features, n_words = svms.taught.features(), svms.taught.laid.n_words
    every, rows = np.unique(documents, return_inverse=True)
    if len(every) > _MOST_ROWS:
        *matrix, squares = features.every()
        words = np.arange(n_words)
        return _Problem(
            (matrix[0], matrix[1], matrix[2]), squares, words, starts, documents, signs, documents
        )
    sizes, own, values, squares = features.rows(every)
    n_with, number_of = np.zeros(n_words, np.int64), np.zeros(n_words, np.int32)
    shortlists.count_each(own, n_with)
    words = np.argsort(-n_with, kind="stable")[: np.count_nonzero(n_with)]
    number_of[words] = np.arange(len(words), dtype=np.int32)
    shortlists.renumber(own, number_of)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    return _Problem(
        (ends, own, values), squares, words, starts, rows.astype(np.int64), signs, documents
    )


def _pairs_of(svms: ShardSvms, labels: Numbers) -> tuple[Numbers, Numbers, npt.NDArray[np.int8]]:
    """Return where the pairs of each label begin, their documents, which rise, and signs."""
    laid, n_pairs = svms.taught.laid, np.zeros(len(labels), np.int64)
    pairs = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int8))]
    for shard in laid.shards:
        begins, rows, signs = svms._pairs(shard)
        first, last = begins.mapped[labels], begins.mapped[labels + 1]
        if not ((first >= 0) & (first <= last) & (last <= len(rows))).all():
            raise begins.unusable("it has numbers out of range")
        places = _ranges(first, last)
        local = rows.checked_below(laid.documents[shard], rows.mapped[places])
        mine = signs.mapped[places]
        if (np.abs(mine) != 1).any():
            raise signs.unusable("it has signs that are neither 1 nor -1")
        owner = np.repeat(np.arange(len(labels)), last - first)
        if ((np.diff(local) <= 0) & (np.diff(owner) == 0)).any():
            raise rows.unusable("the documents of a label do not rise")
        pairs.append((owner, laid.first_document(shard) + local.astype(np.int64), mine))
        n_pairs += last - first
    owner, documents, sign = (np.concatenate(each) for each in zip(*pairs, strict=True))
    order = np.argsort(owner, kind="stable")
    return np.concatenate([[0], np.cumsum(n_pairs)]), documents[order], sign[order]


def _ranges(starts: Numbers, ends: Numbers) -> Numbers:
    """Return the numbers from each start to its end, one after the other."""
    sizes = ends - starts
    first = np.cumsum(sizes) - sizes
    return np.repeat(starts - first, sizes) + np.arange(sizes.sum())


def _solve_block(
    svms: ShardSvms, folder: Path, costs: tuple[float, ...], item: tuple[int, Numbers], stop: Stop
) -> tuple[Numbers, int]:
    """Write the weights and α of a block's labels for each C.

    Returns how many words each label weighs, costs × labels, and how many are not solved.
    """
    number, labels = item
    target = _block_file(folder, number)
    if os.path.lexists(target):
        saved = load_arrays(target, PREPARE_ANEW)
        every = []
        for place in range(len(costs)):
            n = len(saved.take(f"words_{place}", np.int32, (None,)))
            every.append(np.diff(saved.starts(f"ends_{place}", len(labels), n)))
        return np.stack(every), int(saved.counts("unsolved", np.int64, (1,))[0])
    problem, n_words = _problem_of(svms, labels), svms.taught.laid.n_words
    alpha = _started(svms.start, number, problem, sum(svms.taught.laid.documents))
    arrays: dict[str, Any] = {}
    unsolved = 0
    for place, cost in enumerate(costs):
        ends, words, values, n = reduced.solve_rows(
            problem.features, problem.squares, problem.starts, problem.rows, problem.signs, labels,
            len(problem.words), cost, alpha, stop,
        )  # fmt: skip
        unsolved += n
        found = csr_array(
            (values, problem.words[words].astype(np.int32), ends), shape=(len(labels), n_words)
        )
        found.sort_indices()
        is_used = alpha > 0
        upto = np.concatenate([[0], np.cumsum(is_used)])
        arrays |= {
            f"ends_{place}": ends, f"words_{place}": found.indices.astype(np.int32),
            f"values_{place}": found.data, f"document_ends_{place}": upto[problem.starts],
            f"documents_{place}": problem.documents[is_used], f"alpha_{place}": alpha[is_used],
        }  # fmt: skip
    save_arrays(target, unsolved=np.array([unsolved]), **arrays)
    return np.stack([np.diff(arrays[f"ends_{place}"]) for place in range(len(costs))]), unsolved


def _started(start: Solution | None, number: int, problem: _Problem, n_documents: int) -> Floats:
    """Return α of all pairs to begin with: that of the same pair in a solved part, or 0."""
    alpha = np.zeros(len(problem.rows))
    if start is None or not len(alpha):
        return alpha
    ends, documents, values = start.of_block(number, n_documents)

    def keys(starts: Numbers, own: Numbers) -> Numbers:
        return np.repeat(np.arange(len(starts) - 1), np.diff(starts)) * n_documents + own

    known, wanted = keys(problem.starts, problem.documents), keys(ends, documents)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    is_there = known[at] == wanted
    alpha[at[is_there]] = values[is_there]
    return alpha
