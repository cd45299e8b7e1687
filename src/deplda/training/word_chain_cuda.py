"""Training φ on a CUDA GPU: all chains side by side, as many at a time as fit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deplda.data.files import StrPath
from deplda.engine.execution import Execution
from deplda.engine.progress import Report
from deplda.kernels import random
from deplda.kernels.cuda.device import Gpu, attempt, within_memory
from deplda.kernels.cuda.train_words import UNIT, Chains, chains_that_fit
from deplda.training.chains import Schedule
from deplda.training.word_chain import Words

Floats = npt.NDArray[np.float64]


def gpu_for(execution: Execution, checkpoint: StrPath | None, data: Words) -> Gpu | None:
    """Return the GPU to train on, or None for the CPU."""
    unable = execution.not_for_a_gpu
    if checkpoint is not None:
        unable = f"a GPU keeps no chains in {checkpoint}; leave the checkpoint out"

    def with_room(gpu: Gpu) -> Gpu:
        chains_that_fit(gpu, data.layout)
        return gpu

    return attempt(execution.device, unable, with_room)


def run_on(
    gpu: Gpu, data: Words, n_chains: int, schedule: Schedule, seed: int,
    watched: npt.NDArray[np.int64], report: Report | None,
) -> tuple[Floats, Floats, Floats]:  # fmt: skip
    """Return A by cell and b by label, summed over all samples, and chains × sweeps × traced."""
    weights = gpu.put(np.zeros(len(data.words), np.uint64))
    base = gpu.put(np.zeros(len(data.starts) - 1, np.uint64))
    at_a_time = chains_that_fit(gpu, data.layout)
    traces = []
    for first in range(0, n_chains, at_a_time):
        numbers = range(first, min(first + at_a_time, n_chains))
        z, phi = (
            np.array([random.stream(seed, purpose, number) for number in numbers])
            for purpose in (random.WORD_CHAIN, random.CHAIN_PHI)
        )
        with within_memory():
            chains = Chains(gpu, data.layout, data.n_words, data.eta, data.beta, z, phi)
        trace = []
        for sweep in range(1, schedule.n_sweeps + 1):
            chains.sweep(sweep)
            trace.append(_traced(gpu, chains, data, watched))
            if schedule.samples_at(sweep):
                chains.collect(weights, base)
            if report is not None:
                gpu.get(trace[-1][0])  # which is there when the sweep has ended
                for number in numbers:
                    report(number, sweep)
        traces.append(np.stack([gpu.get(each) for each in trace]).transpose(2, 0, 1))
    return gpu.get(weights) / UNIT, gpu.get(base) / UNIT, np.concatenate(traces)


def _traced(
    gpu: Gpu, chains: Chains, data: Words, watched: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return the log-likelihood and the watched entries of φ, × chains, on the GPU."""
    counts = chains.cell_counts[gpu.put(watched)]
    totals = chains.label_counts[gpu.put(data.labels_of(watched))]
    phi = (counts + data.beta) / (totals + data.n_words * data.beta)
    traced: npt.NDArray[np.float64] = gpu.xp.concatenate([chains.log_likelihood()[None], phi])
    return traced
