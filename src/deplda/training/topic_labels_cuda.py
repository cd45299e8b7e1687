"""Training φ′ on a CUDA GPU: all chains side by side, as many at a time as fit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deplda.data.corpus import Corpus
from deplda.data.files import StrPath
from deplda.engine.execution import Execution
from deplda.engine.progress import Report
from deplda.kernels import random
from deplda.kernels.cuda.device import Gpu, attempt, within_memory
from deplda.kernels.cuda.train_labels import TopicChains, chains_that_fit
from deplda.training.chains import Schedule


def gpu_for(
    execution: Execution, checkpoint: StrPath | None, corpus: Corpus, n_topics: int
) -> Gpu | None:
    """Return the GPU to train on, or None for the CPU."""
    unable = execution.not_for_a_gpu
    if checkpoint is not None:
        unable = f"a GPU keeps no chains in {checkpoint}; leave the checkpoint out"

    def with_room(gpu: Gpu) -> Gpu:
        chains_that_fit(gpu, _starts(corpus), corpus.n_labels, n_topics)
        return gpu

    return attempt(execution.device, unable, with_room)


def run_on(
    gpu: Gpu, corpus: Corpus, n_topics: int, gamma: float, beta: float, n_chains: int,
    schedule: Schedule, seed: int, report: Report | None,
) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.float64]]:  # fmt: skip
    """Return z′ of every sample, chains × samples × label tokens, and the chains' log-likelihoods.

    These are chains × sweeps × 1.
    """
    starts = _starts(corpus)
    at_a_time = chains_that_fit(gpu, starts, corpus.n_labels, n_topics)
    samples, traces = [], []
    for first in range(0, n_chains, at_a_time):
        numbers = range(first, min(first + at_a_time, n_chains))
        z, phi = (
            np.array([random.stream(seed, purpose, number) for number in numbers])
            for purpose in (random.TOPIC_CHAIN, random.CHAIN_TOPICS)
        )
        with within_memory():
            chains = TopicChains(
                gpu, starts, corpus.labels.indices, corpus.n_labels, n_topics, float(gamma),
                float(beta), z, phi,
            )  # fmt: skip
        trace, taken = [], []
        for sweep in range(1, schedule.n_sweeps + 1):
            chains.sweep(sweep)
            trace.append(chains.log_likelihood())
            if schedule.samples_at(sweep):
                taken.append(gpu.get(chains.z).copy())
            if report is not None:
                gpu.get(trace[-1])  # which is there when the sweep has ended
                for number in numbers:
                    report(number, sweep)
        samples.append(np.stack(taken, axis=1))
        traces.append(gpu.get(gpu.xp.stack(trace, axis=1))[:, :, None])
    return np.concatenate(samples), np.concatenate(traces)


def _starts(corpus: Corpus) -> npt.NDArray[np.int64]:
    return np.array(corpus.labels.indptr, dtype=np.int64)
