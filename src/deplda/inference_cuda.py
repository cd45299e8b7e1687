"""Inference on a CUDA card: what a card can do, and batches of documents given to its kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deplda.corpus import Corpus
from deplda.kernels.cuda import documents, expected
from deplda.kernels.cuda.card import Card, CardFullError, Struct, choose, too_large, within_memory
from deplda.tables import Tables
from deplda.word_counts import weighed, whole

if TYPE_CHECKING:
    from deplda.inference import Documents, Inference, Inferred

# A batch is never more than this many documents × labels, so that our own memory stays bounded.
_BATCH_CELLS = 20_000_000
_CELL_BYTES = 64


class _OnCard(NamedTuple):
    """φ and φ′ on a card, as its kernels read them."""

    words: Struct
    topics: Struct | None
    """Each set of topics, for draws."""
    sets: Struct
    """All sets side by side, for expectations."""


def card_for(
    device: str, engine: Any, corpus: Corpus, tables: Tables, inference: Inference
) -> Card | None:
    """Return the card to infer on, with φ and φ′ put on it, or None for the CPU."""
    unable = None
    if inference.method == "proper":
        unable = "proper inference is done on the CPU alone"
    card = choose(device, unable, engine)
    if card is None:
        return None
    try:
        _on_card(card, tables, inference)
        _check_room(card, corpus, tables, inference)
    except CardFullError:
        if device == "auto":
            return None
        raise
    return card


def documents_at_a_time(card: Card, tables: Tables) -> int:
    """Return how many documents a batch has."""
    return max(1, min(_BATCH_CELLS, card.free() // _CELL_BYTES) // tables.n_labels)


def infer_on(
    card: Card, tables: Tables, inference: Inference, seed: int, some: Documents
) -> Inferred:
    """Return what is inferred of the documents, averaged over chains and topic sets."""
    from deplda.inference import Inferred, weights_of

    run = _expect if inference.method == "deterministic" else _sample
    with within_memory():
        found = run(card, tables, inference, seed, some, *weights_of(tables, inference))
        return Inferred(*(card.get(each) for each in found))


def _expect(
    card: Card, tables: Tables, inference: Inference, seed: int, some: Documents, eta: float,
    flat: float,
) -> list[Any]:  # fmt: skip
    """Return N, α′ and θ′, on the card. There is no chance in it: no seed is used."""
    on, n_sets = _on_card(card, tables, inference), len(tables.topic_starts) - 1
    n_labels, n_topics = tables.n_labels, int(tables.topic_starts[-1])
    times = weighed(some.times, inference.word_counts)
    room = expected.bytes_of(np.diff(some.starts), n_labels, n_topics, n_sets)
    parts = [[card.xp.zeros((0, n))] for n in (n_labels, n_labels, n_topics)]
    for first, last in documents.batches(room, card.free()):
        own = slice(some.starts[first], some.starts[last])
        found = expected.expect(
            card, on.words, on.sets, n_sets, n_labels, n_topics, eta, flat,
            float(inference.gamma), some.starts[first : last + 1] - some.starts[first],
            some.types[own], times[own], float(inference.tolerance), inference.max_cycles,
        )  # fmt: skip
        for part, each in zip(parts, found, strict=True):
            part.append(each)
    return [card.xp.concatenate(part) for part in parts]


def _sample(
    card: Card, tables: Tables, inference: Inference, seed: int, some: Documents, eta: float,
    flat: float,
) -> list[Any]:  # fmt: skip
    """Return N, α′ and θ′, on the card, as means over all samples of all topic sets."""
    from deplda.kernels import random
    from deplda.kernels.tables import Prior

    on, starts = _on_card(card, tables, inference), tables.topic_starts
    n_sets, plan = len(starts) - 1, inference.schedule
    times = whole(weighed(some.times, inference.word_counts))
    key, stride = random.stream(seed, random.DOCUMENT, 0)
    counts, tokens = documents.sample(
        card, on.words, on.topics or on.sets, starts, tables.n_labels,
        Prior(eta, flat, float(inference.gamma)), some.starts, some.types, times, key, stride,
        inference.n_chains, plan.burn_in, plan.n_samples, plan.lag,
        inference.estimate == "conditionals",
    )  # fmt: skip
    n_samples = inference.n_chains * plan.n_samples
    sizes = np.diff(starts)
    gamma = card.put(np.repeat(inference.gamma / np.maximum(sizes, 1), sizes))
    lengths = card.put(documents.lengths_of(some.starts, times))
    shares = (tokens / n_samples + gamma) / (lengths[:, None] + float(inference.gamma))
    alpha = expected.mean_alpha(card, on.sets, n_sets, tables.n_labels, shares, eta, flat)
    return [counts / (n_samples * n_sets), alpha, shares]


def _on_card(card: Card, tables: Tables, inference: Inference) -> _OnCard:
    """Return φ and φ′ on the card, put there once; draws need more of φ′."""
    kept = card.kept.setdefault(tables, {})
    is_sampled = inference.method != "deterministic"
    if "words" not in kept:
        kept["words"], kept["sets"] = card.struct(tables.words), card.struct(tables.sets)
    if is_sampled and "topics" not in kept:
        kept["topics"] = card.struct(*tables.topics)
    return _OnCard(kept["words"], kept.get("topics"), kept["sets"])


def _check_room(card: Card, corpus: Corpus, tables: Tables, inference: Inference) -> None:
    """See that the card holds the work on the largest document."""
    n_types, n_labels = np.diff(corpus.counts.indptr).astype(np.int64), tables.n_labels
    n_topics = int(tables.topic_starts[-1])
    if inference.method == "deterministic":
        needed = expected.bytes_of(n_types, n_labels, n_topics, len(tables.topic_starts) - 1)
    else:
        conditionals = inference.estimate == "conditionals"
        lengths = corpus.document_lengths
        needed = 4 * documents.desk_sizes(n_types, lengths, n_labels, n_topics, conditionals)
    most = int(needed.max(initial=0))
    if most > card.free():
        raise too_large(most, card.free())
