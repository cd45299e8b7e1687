"""Fast inference on a GPU: workspaces laid out in its memory, chains run in batches that fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from deplda.kernels.cuda.device import Gpu, Struct, refuse_large
from deplda.kernels.layouts import Float64, Int32, Int64, Prior, TopicTables, WordTables

_UNIT = 2.0**28
LANES = 32
_GROUP = 4  # types whose φ is read together
_WARPS = 4  # of a block
_SPREADERS = 256  # threads of a document whose φ is spread


class Documents(NamedTuple):
    """Some documents, and k labels of each whose words are asked for."""

    starts: Int64
    types: Int32
    times: Any
    """Tokens, or their weights, of each type."""
    chosen: Int32
    """Documents × k."""


class Plan(NamedTuple):
    """Which chains are run on each document, and when they give samples of what."""

    key: Any
    gamma: Any
    n_chains: int
    """On each set of topics; chains are numbered through all sets."""
    burn_in: int
    n_samples: int
    lag: int
    conditionals: bool


class Samples(NamedTuple):
    """Sums over the samples of all chains, on the GPU; documents × labels but for two."""

    counts: Any
    """Of N_c, or of its conditionals."""
    topics: Any
    """Of N_dt, documents × the topics of all sets side by side."""
    words: Any
    """Of what each entry of the documents gives to their chosen labels, entries × k."""
    labels: Any = None
    """Of n_c, in proper inference."""


def workspace_sizes(
    n_types: Int64, n_tokens: Int64, n_labels: int, n_topics: int, conditionals: bool
) -> Int64:
    """Return the words of memory that a chain needs for each document, as `lay_out` deals them."""
    sizes = 2 * slots_of(n_tokens, n_labels) + 2 * n_tokens + 2 * n_topics + n_types
    return sizes + 2 * n_labels * conditionals + 7 & ~7  # begin on a sector


def slots_of(n_tokens: Int64, n_labels: int) -> Int64:
    """Return the slots of a workspace: as many labels may have tokens, and a block to widen by."""
    return -(-np.minimum(n_tokens, n_labels) // LANES) * LANES + LANES


def phi_sizes(n_types: Int64, n_labels: int) -> Int64:
    """Return the words of memory of each document's φ, labels × types in whole groups."""
    return -(-n_types // _GROUP) * _GROUP * n_labels


def put_topics(gpu: Gpu, words: WordTables, sets: Sequence[TopicTables]) -> Struct:
    """Return φ′ of each set on the GPU, as `TopicTables` of layouts.cuh has it."""
    return gpu.struct(
        *(
            (
                *topics._replace(
                    topic_values=topics.topic_values.astype(np.float32),
                    label_values=topics.label_values.astype(np.float32),
                    base=topics.base.astype(np.float32),
                ),
                _word_sums(words, topics),
            )
            for topics in sets
        )
    )


def _word_sums(words: WordTables, topics: TopicTables) -> Float64:
    """Return running sums of A_wc P_c in each word's row where there is one topic, or nothing.

    That topic has all labels: a walk through them would take longer than all else.
    """
    if len(topics.base) != 1:
        return np.zeros(0)
    weights = np.zeros(len(words.base))
    weights[topics.topic_labels] = topics.topic_values
    sums = np.cumsum(words.row_values * weights[words.row_labels])
    before = np.concatenate([[0.0], sums])[words.row_starts[:-1]]
    return np.asarray(sums - np.repeat(before, np.diff(words.row_starts)))


def sample(
    gpu: Gpu,
    words: Struct,
    sets: Struct,
    set_starts: Int64,
    n_labels: int,
    prior: Prior,
    documents: Documents,
    plan: Plan,
) -> Samples:
    """Return the sums over all samples. `prior.gamma` is Σγ."""
    sizes = workspace_sizes(
        np.diff(documents.starts), lengths_of(documents), n_labels,
        int(np.diff(set_starts).max()), plan.conditionals,
    )  # fmt: skip
    return run_chains(gpu, "fast", words, sets, set_starts, n_labels, prior, documents, plan, sizes)


def run_chains(
    gpu: Gpu,
    source: str,
    words: Struct,
    sets: Struct,
    set_starts: Int64,
    n_labels: int,
    prior: Prior,
    documents: Documents,
    plan: Plan,
    sizes: Int64,
    *others: Any,
) -> Samples:
    """Return the sums over all samples of the kernel `sample` of a source.

    `sizes` are the words of memory of a chain for each document; `others` are what the kernel takes
    after what all such kernels do.
    """
    n, n_sets, k = len(documents.starts) - 1, len(set_starts) - 1, documents.chosen.shape[1]
    shapes = ((n, n_labels), (n, int(set_starts[-1])), (len(documents.types), k))
    sums = Samples(*(gpu.xp.zeros(shape, np.uint64) for shape in shapes))
    order = np.argsort(-lengths_of(documents), kind="stable")  # no long one ends much later
    on = Documents(*map(gpu.put, documents))
    each = sizes[order]
    own_phi = _OwnPhi(gpu, source, words, documents, on, order, n_labels, int(each.max(initial=0)))
    upto = [
        np.cumsum([0, *np.repeat(each[first:last], n_sets * plan.n_chains)])
        for first, last in own_phi.groups
    ]
    pieces = [list(batches(np.diff(own), gpu.free() // 4)) for own in upto]
    # One for all pieces: two would not fit beside each other.
    most = max((_longest(own, some) for own, some in zip(upto, pieces, strict=True)), default=0)
    memory, on_sets = gpu.xp.empty(most, np.float32), gpu.put(set_starts)
    for group, own, some in zip(own_phi.groups, upto, pieces, strict=True):
        phi, rows = own_phi.of(group), slice(*group)
        for first, last in some:
            gpu.launch(
                source, "sample", -(-(last - first) // _WARPS), _WARPS * LANES, words, sets,
                on_sets, n_labels, *on[:3], own_phi.order[rows], own_phi.starts[rows], phi,
                gpu.put(own[first:last] - own[first]), memory, first, last - first,
                n_sets, plan.n_chains, *prior, plan.key, plan.gamma, *plan[3:],
                on.chosen, k, *sums[:3], *others,
            )  # fmt: skip
    return sums._replace(counts=of_units(sums.counts), words=of_units(sums.words))


class _OwnPhi:
    """φ of the documents' words, labels × types, which all chains of a document read.

    It is written for as many documents at a time as half of the memory holds.
    """

    def __init__(
        self,
        gpu: Gpu,
        source: str,
        words: Struct,
        documents: Documents,
        on: Documents,
        order: Int64,
        n_labels: int,
        besides: int,
    ) -> None:
        """Have memory for documents in this order; `besides` words of memory are for a chain."""
        sizes = phi_sizes(np.diff(documents.starts)[order], n_labels)
        room = max(gpu.free() // 4 - besides, 0) // 2
        self.groups = list(batches(sizes, room))
        self._upto = np.concatenate([[0], np.cumsum(sizes)])
        self._memory = gpu.xp.empty(_longest(self._upto, self.groups), np.float32)
        self._gpu, self._source, self._words, self._on = gpu, source, words, on
        begins = np.repeat([first for first, _ in self.groups], [b - a for a, b in self.groups])
        self.order = gpu.put(order.astype(np.int32))
        self.starts = gpu.put(self._upto[:-1] - self._upto[begins.astype(np.int64)])

    def of(self, group: tuple[int, int]) -> Any:
        """Return φ of a group, where that of another may have been."""
        first, last = group
        self._memory[: _longest(self._upto, [group])] = 0.0
        self._gpu.launch(
            self._source, "spread", last - first, _SPREADERS, self._words, self._on.starts,
            self._on.types, self.order[first:last], self.starts[first:last], self._memory,
        )  # fmt: skip
        return self._memory


def _longest(upto: Int64, pieces: list[tuple[int, int]]) -> int:
    """Return the words of memory of the largest piece; `upto` has those of all before each item."""
    return max((int(upto[last] - upto[first]) for first, last in pieces), default=0)


def of_units(sums: Any) -> Any:
    """Return numbers that were added up in whole units."""
    return sums.view(np.int64) / _UNIT


def lengths_of(documents: Documents) -> Int64:
    """Return the tokens of each document."""
    upto = np.concatenate([[0], np.cumsum(documents.times, dtype=np.int64)])
    return np.asarray(np.diff(upto[documents.starts]))


def batches(sizes: Int64, room: int) -> Iterator[tuple[int, int]]:
    """Yield (first, last) of as many items at a time as fit into the room together."""
    if len(sizes) and sizes.max() > room:
        refuse_large(4 * int(sizes.max()), 4 * room)
    first, ends = 0, np.cumsum(sizes)
    while first < len(sizes):
        before = ends[first - 1] if first else 0
        last = int(np.searchsorted(ends, before + room, side="right"))
        yield first, last
        first = last
