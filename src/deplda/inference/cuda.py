"""Inference on a CUDA GPU: what a GPU can do, and batches of documents given to its kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from deplda.data.corpus import Corpus
from deplda.data.weighting import weighed, whole
from deplda.engine.execution import Execution
from deplda.inference.cpu import weights_of
from deplda.inference.layout import Tables
from deplda.inference.scores import Floats, Inferred, Labels
from deplda.inference.settings import Inference
from deplda.kernels.cuda import expected, fast, proper, scores
from deplda.kernels.cuda.device import Gpu, Struct, attempt, refuse_large, within_memory
from deplda.kernels.cuda.fast import Documents

# A batch is never more than this many documents × labels, so that our own memory stays bounded.
_BATCH_CELLS = 20_000_000
_BATCH_DOCUMENTS = 1 << 16
# What the results of a document and a label take on the GPU: sums, N, α′, and copies of them.
_CELL_BYTES = 64

_Found = tuple[Any, Any, Any, Any]
"""N, α′, θ′, and what entries give to chosen labels, on the GPU."""


class _OnGpu(NamedTuple):
    """φ and φ′ on a GPU, as its kernels read them."""

    words: Struct
    topics: Struct | None
    """Each set of topics, for draws."""
    sets: Struct
    """All sets side by side, for expectations."""


class GpuBackend(NamedTuple):
    """Infers on a GPU, for this process."""

    gpu: Gpu
    tables: Tables
    inference: Inference
    seed: int

    @property
    def batch_size(self) -> int:
        """How many documents are inferred at a time."""
        return self._documents_of(_BATCH_CELLS)

    def _documents_of(self, n_cells: int) -> int:
        cells = min(n_cells, self.gpu.free() // _CELL_BYTES)
        return max(1, min(_BATCH_DOCUMENTS, cells // self.tables.n_labels))

    def infer(self, counts: Any, chosen: Labels | None = None) -> Inferred:
        """Return what is inferred of the documents, averaged over chains and topic sets.

        And, entry by entry, the tokens that words give to `chosen` labels, documents × k.
        """
        tables, k = self.tables, 0 if chosen is None else chosen.shape[1]
        sizes = (tables.n_labels, tables.n_labels, tables.topic_starts[-1], k)
        parts = [[np.zeros((0, size))] for size in sizes]
        with within_memory():
            for found in self._found(counts, chosen):
                for part, each in zip(parts, found, strict=True):
                    part.append(self.gpu.get(each))
        return Inferred(*map(np.concatenate, parts))

    def scores(self, counts: Any) -> Floats:
        """Return the scores of the documents, documents × labels to be ranked."""
        parts = [np.zeros((0, self.tables.n_ranked))]
        with within_memory():
            parts.extend(self.gpu.get(each) for each in self._scored(counts))
        return np.concatenate(parts)

    def _scored(self, counts: Any) -> Iterator[Any]:
        """Yield the scores of some documents after the other, on the GPU."""
        for n, alpha, _, _ in self._found(counts, None):
            yield scores.scores(self.gpu, n, alpha, self.inference.combine, self.tables.n_ranked)

    def _found(self, counts: Any, chosen: Labels | None) -> Iterator[_Found]:
        """Yield what is inferred of some documents after the other, on the GPU."""
        is_expected = self.inference.method == "deterministic"
        times = weighed(counts.data, self.inference.word_counts)
        documents = Documents(
            counts.indptr.astype(np.int64),
            counts.indices.astype(np.int32, copy=False),
            times if is_expected else whole(times),
            np.zeros((counts.shape[0], 0), np.int32) if chosen is None else chosen.astype(np.int32),
        )
        return self._expect(documents) if is_expected else iter([self._sample(documents)])

    def _expect(self, documents: Documents) -> Iterator[_Found]:
        """Yield expectations. There is no chance in them: no seed is used."""
        gpu, tables, inference, eta, flat = self._with_weights()
        on, n_sets = _on_gpu(gpu, tables, inference), len(tables.topic_starts) - 1
        n_labels, n_topics = tables.n_labels, int(tables.topic_starts[-1])
        starts, types, times, chosen = documents
        room = expected.bytes_of(np.diff(starts), n_labels, n_topics, n_sets, chosen.shape[1])
        for first, last in fast.batches(room, gpu.free()):
            own = slice(starts[first], starts[last])
            piece = Documents(
                starts[first : last + 1] - starts[first], types[own], times[own], chosen[first:last]
            )
            yield expected.expect(
                gpu, on.words, on.sets, n_sets, n_labels, n_topics, eta, flat,
                float(inference.gamma), piece, float(inference.tolerance), inference.max_cycles,
            )  # fmt: skip

    def _sample(self, documents: Documents) -> _Found:
        """Return means over all samples of all topic sets; of θ′ by eq. 7."""
        gpu, tables, inference, eta, flat = self._with_weights()
        on, set_starts = _on_gpu(gpu, tables, inference), tables.topic_starts
        n_sets, sizes = len(set_starts) - 1, np.diff(set_starts)
        found = self._samples(documents)
        n_samples = inference.n_chains * inference.schedule.n_samples
        lengths = fast.lengths_of(documents)
        n_tokens = lengths if found.labels is None else inference.n_label_tokens * (lengths > 0)
        gamma = gpu.put(np.repeat(inference.gamma / np.maximum(sizes, 1), sizes))
        total = gpu.put(n_tokens + float(inference.gamma))
        shares = (found.topics / n_samples + gamma) / total[:, None]
        alpha = expected.mean_alpha(gpu, on.sets, n_sets, tables.n_labels, shares, eta, flat)
        if found.labels is not None:  # a document without words has the expectation: α′ of even θ′
            own = flat + found.labels * (eta / inference.n_label_tokens / (n_samples * n_sets))
            alpha = gpu.xp.where(gpu.put(lengths > 0)[:, None], own, alpha)
        for sums in (found.counts, found.words):
            sums /= n_samples * n_sets
        return found.counts, alpha, shares, found.words

    def _samples(self, documents: Documents) -> fast.Samples:
        """Return the sums over all samples, on the GPU; Flat-LDA has no label tokens."""
        from deplda.kernels import random
        from deplda.kernels.layouts import Prior

        gpu, tables, inference, eta, flat = self._with_weights()
        on, plan = _on_gpu(gpu, tables, inference), inference.schedule
        key, stride = random.stream(self.seed, random.DOCUMENT, 0)
        asked = (
            gpu, on.words, on.topics or on.sets, tables.topic_starts, tables.n_labels,
            Prior(eta, flat, float(inference.gamma)), documents,
            fast.Plan(
                key, stride, inference.n_chains, plan.burn_in, plan.n_samples, plan.lag,
                inference.estimate == "conditionals",
            ),
        )  # fmt: skip
        if _has_label_tokens(tables, inference):
            return proper.sample(*asked, inference.n_label_tokens)
        return fast.sample(*asked)

    def _with_weights(self) -> tuple[Gpu, Tables, Inference, float, float]:
        return self.gpu, self.tables, self.inference, *weights_of(self.tables, self.inference)


def gpu_backend(
    execution: Execution, corpus: Corpus, tables: Tables, inference: Inference, seed: int
) -> GpuBackend | None:
    """Return the GPU to infer on, with φ and φ′ put on it, or None for the CPU."""

    def with_room(gpu: Gpu) -> GpuBackend:
        if inference.method != "deterministic":
            tables.lay_out_topics(execution)
        _on_gpu(gpu, tables, inference)
        _check_room(gpu, corpus, tables, inference)
        return GpuBackend(gpu, tables, inference, seed)

    return attempt(execution.device, execution.not_for_a_gpu, with_room)


def _on_gpu(gpu: Gpu, tables: Tables, inference: Inference) -> _OnGpu:
    """Return φ and φ′ on the GPU, put there once; draws need more of φ′."""
    kept = gpu.kept.setdefault(tables, {})
    is_sampled = inference.method != "deterministic"
    if "words" not in kept:
        kept["words"], kept["sets"] = gpu.struct(tables.words), gpu.struct(tables.sets)
    if is_sampled and "topics" not in kept:
        kept["topics"] = fast.put_topics(gpu, tables.words, tables.topics)
    return _OnGpu(kept["words"], kept.get("topics"), kept["sets"])


def _has_label_tokens(tables: Tables, inference: Inference) -> bool:
    return inference.method == "proper" and bool(tables.topic_starts[-1])


def _check_room(gpu: Gpu, corpus: Corpus, tables: Tables, inference: Inference) -> None:
    """Raise if the GPU does not hold the work on the largest document."""
    n_types, n_labels = np.diff(corpus.counts.indptr).astype(np.int64), tables.n_labels
    n_topics, n_sets = int(tables.topic_starts[-1]), len(tables.topic_starts) - 1
    lengths, conditionals = corpus.document_lengths, inference.estimate == "conditionals"
    if inference.method == "deterministic":
        needed = expected.bytes_of(n_types, n_labels, n_topics, n_sets)
    elif _has_label_tokens(tables, inference):
        needed = 4 * proper.workspace_sizes(
            n_types, lengths, n_labels, n_topics, conditionals, inference.n_label_tokens
        )
    else:
        needed = 4 * fast.workspace_sizes(n_types, lengths, n_labels, n_topics, conditionals)
    if inference.method != "deterministic":  # a document's φ takes half of the memory at most
        needed = needed + 8 * fast.phi_sizes(n_types, n_labels)
    most = int(needed.max(initial=0))
    if most > gpu.free():
        refuse_large(most, gpu.free())
