"""Inference on a CUDA GPU: what a GPU can do, and batches of documents given to its kernels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from deplda.data.corpus import Corpus
from deplda.data.weighting import weighed, whole
from deplda.engine.execution import Execution
from deplda.inference.cpu import Cpu, shares_of, weights_of, with_background
from deplda.inference.layout import Tables
from deplda.inference.scores import Floats, Inferred, Labels, scores
from deplda.inference.settings import Inference
from deplda.kernels.cuda import among, expected, fast
from deplda.kernels.cuda.device import Gpu, GpuFullError, Struct, choose, too_large, within_memory

# A batch is never more than this many documents × labels, so that our own memory stays bounded.
_BATCH_CELLS = 20_000_000
_CELL_BYTES = 64


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
        return max(1, min(_BATCH_CELLS, self.gpu.free() // _CELL_BYTES) // self.tables.n_labels)

    def infer(self, counts: Any) -> Inferred:
        """Return what is inferred of the documents, averaged over chains and topic sets."""
        run = self._expect if self.inference.method == "deterministic" else self._sample
        times = weighed(counts.data, self.inference.word_counts)
        with within_memory():
            found = run(counts.indptr.astype(np.int64), counts.indices, times)
            return Inferred(*(self.gpu.get(each) for each in found))

    def _expect(self, starts: Any, types: Any, times: Any) -> list[Any]:
        """Return N, α′ and θ′, on the GPU. There is no chance in it: no seed is used."""
        gpu, tables, inference, eta, flat = self._with_weights()
        on, n_sets = _on_gpu(gpu, tables, inference), len(tables.topic_starts) - 1
        n_labels, n_topics = tables.n_labels, int(tables.topic_starts[-1])
        room = expected.bytes_of(np.diff(starts), n_labels, n_topics, n_sets)
        parts = [[gpu.xp.zeros((0, n))] for n in (n_labels, n_labels, n_topics)]
        for first, last in fast.batches(room, gpu.free()):
            own = slice(starts[first], starts[last])
            found = expected.expect(
                gpu, on.words, on.sets, n_sets, n_labels, n_topics, eta, flat,
                float(inference.gamma), starts[first : last + 1] - starts[first],
                types[own], times[own], float(inference.tolerance), inference.max_cycles,
            )  # fmt: skip
            for part, each in zip(parts, found, strict=True):
                part.append(each)
        return [gpu.xp.concatenate(part) for part in parts]

    def _sample(self, starts: Any, types: Any, times: Any) -> list[Any]:
        """Return N, α′ and θ′ (eq. 7), on the GPU, as means over all samples of all topic sets."""
        from deplda.kernels import random
        from deplda.kernels.layouts import Prior

        gpu, tables, inference, eta, flat = self._with_weights()
        on, set_starts, times = _on_gpu(gpu, tables, inference), tables.topic_starts, whole(times)
        n_sets, plan = len(set_starts) - 1, inference.schedule
        key, stride = random.stream(self.seed, random.DOCUMENT, 0)
        counts, tokens = fast.sample(
            gpu, on.words, on.topics or on.sets, set_starts, tables.n_labels,
            Prior(eta, flat, float(inference.gamma)), starts, types, times, key, stride,
            inference.n_chains, plan.burn_in, plan.n_samples, plan.lag,
            inference.estimate == "conditionals",
        )  # fmt: skip
        n_samples = inference.n_chains * plan.n_samples
        sizes = np.diff(set_starts)
        gamma = gpu.put(np.repeat(inference.gamma / np.maximum(sizes, 1), sizes))
        lengths = gpu.put(fast.lengths_of(starts, times))
        shares = (tokens / n_samples + gamma) / (lengths[:, None] + float(inference.gamma))
        alpha = expected.mean_alpha(gpu, on.sets, n_sets, tables.n_labels, shares, eta, flat)
        return [counts / (n_samples * n_sets), alpha, shares]

    def on_cpu(self) -> Cpu:
        """Return what infers the same on the CPU."""
        return Cpu(self.tables, self.inference, self.seed)

    def shares_among(self, counts: Any, candidates: Labels) -> Floats:
        """Return the share of each document's candidates, by expectations: all others are pooled.

        Those of all labels are inferred where there are too many candidates.
        """
        sizes = (candidates >= 0).sum(axis=1)
        found = np.zeros(candidates.shape)
        for size in np.unique(sizes).tolist():  # the kernels have as many of each document
            rows = np.flatnonzero(sizes == size)
            at = np.argsort(candidates[rows] < 0, axis=1, kind="stable")[:, :size]
            own = np.take_along_axis(candidates[rows], at, axis=1)
            found[rows[:, None], at] = self._shares(counts[rows], own)
        return found

    def _shares(self, counts: Any, candidates: Labels) -> Floats:
        """Return the shares of candidates, all of which are labels."""
        tables = self.tables
        inference = replace(self.inference, method="deterministic")
        names = with_background(candidates, tables).astype(np.int32)
        if names.shape[1] > among.MOST:
            every = self._replace(inference=inference).infer(counts)
            shares = scores(every, "blend", tables.n_ranked) / 2
            return np.take_along_axis(shares, candidates.astype(np.int64), axis=1)
        times = weighed(counts.data, inference.word_counts).astype(np.float32)
        tokens, alpha = self._expect_among(counts, times, names)
        return shares_of(candidates.shape[1], counts, times, tokens, alpha, tables, inference)

    def _expect_among(self, counts: Any, times: Any, names: Any) -> tuple[Floats, Floats]:
        """Return N and α′ of these labels of each document, as many documents at a time as fit."""
        gpu, tables, inference, eta, flat = self._with_weights()
        on, n_sets = _on_gpu(gpu, tables, inference), len(tables.topic_starts) - 1
        n_labels, n_topics = tables.n_labels, int(tables.topic_starts[-1])
        starts, types = counts.indptr.astype(np.int64), counts.indices.astype(np.int32, copy=False)
        sizes = among.bytes_of(np.diff(starts), n_labels, names.shape[1], n_topics, n_sets)
        tokens, alpha = np.empty(names.shape), np.empty(names.shape)
        with within_memory():
            for first, last in fast.batches(sizes, gpu.free()):
                own = slice(starts[first], starts[last])
                found = among.expect_among(
                    gpu, on.words, on.sets, n_sets, n_labels, n_topics, eta, flat,
                    float(inference.gamma), starts[first : last + 1] - starts[first], types[own],
                    times[own], float(inference.tolerance), inference.max_cycles,
                    names[first:last],
                )  # fmt: skip
                tokens[first:last], alpha[first:last] = (gpu.get(each) for each in found)
        return tokens, alpha

    def _with_weights(self) -> tuple[Gpu, Tables, Inference, float, float]:
        return self.gpu, self.tables, self.inference, *weights_of(self.tables, self.inference)


def gpu_backend(
    execution: Execution, corpus: Corpus, tables: Tables, inference: Inference, seed: int
) -> GpuBackend | None:
    """Return the GPU to infer on, with φ and φ′ put on it, or None for the CPU."""
    unable = execution.not_for_a_gpu
    if inference.method == "proper":
        unable = "proper inference is done on the CPU alone"
    gpu = choose(execution.device, unable)
    if gpu is None:
        return None
    try:
        _on_gpu(gpu, tables, inference)
        _check_room(gpu, corpus, tables, inference)
    except GpuFullError:
        if execution.device == "auto":
            return None
        raise
    return GpuBackend(gpu, tables, inference, seed)


def _on_gpu(gpu: Gpu, tables: Tables, inference: Inference) -> _OnGpu:
    """Return φ and φ′ on the GPU, put there once; draws need more of φ′."""
    kept = gpu.kept.setdefault(tables, {})
    is_sampled = inference.method != "deterministic"
    if "words" not in kept:
        kept["words"], kept["sets"] = gpu.struct(tables.words), gpu.struct(tables.sets)
    if is_sampled and "topics" not in kept:
        kept["topics"] = gpu.struct(*tables.topics)
    return _OnGpu(kept["words"], kept.get("topics"), kept["sets"])


def _check_room(gpu: Gpu, corpus: Corpus, tables: Tables, inference: Inference) -> None:
    """Raise if the GPU does not hold the work on the largest document."""
    n_types, n_labels = np.diff(corpus.counts.indptr).astype(np.int64), tables.n_labels
    n_topics = int(tables.topic_starts[-1])
    if inference.method == "deterministic":
        needed = expected.bytes_of(n_types, n_labels, n_topics, len(tables.topic_starts) - 1)
    else:
        conditionals = inference.estimate == "conditionals"
        lengths = corpus.document_lengths
        needed = 4 * fast.workspace_sizes(n_types, lengths, n_labels, n_topics, conditionals)
    most = int(needed.max(initial=0))
    if most > gpu.free():
        raise too_large(most, gpu.free())
