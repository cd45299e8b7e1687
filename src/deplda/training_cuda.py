"""Training φ on a CUDA card: all chains side by side, as many at a time as fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from deplda.chains import Report, Schedule
from deplda.files import StrPath
from deplda.kernels import random
from deplda.kernels.cuda.card import Card, CardFullError, choose, within_memory
from deplda.kernels.cuda.words import UNIT, Chains, chains_that_fit
from deplda.word_chains import Words

Floats = npt.NDArray[np.float64]


def card_for(device: str, engine: Any, checkpoint: StrPath | None, data: Words) -> Card | None:
    """Return the card to train on, or None for the CPU."""
    unable = None
    if checkpoint is not None:
        unable = f"a card keeps no chains in {checkpoint}; leave the checkpoint out"
    card = choose(device, unable, engine)
    try:
        if card is not None:
            chains_that_fit(card, data.layout)
    except CardFullError:
        if device == "auto":
            return None
        raise
    return card


def run_on(
    card: Card, data: Words, n_chains: int, schedule: Schedule, seed: int,
    watched: npt.NDArray[np.int64], report: Report | None,
) -> tuple[Floats, Floats, Floats]:  # fmt: skip
    """Return A by cell and b by label, summed over all samples, and chains × sweeps × traced."""
    weights = card.put(np.zeros(len(data.words), np.uint64))
    base = card.put(np.zeros(len(data.starts) - 1, np.uint64))
    at_a_time = chains_that_fit(card, data.layout)
    traces = []
    for first in range(0, n_chains, at_a_time):
        numbers = range(first, min(first + at_a_time, n_chains))
        z, phi = (
            np.array([random.stream(seed, purpose, number) for number in numbers])
            for purpose in (random.WORD_CHAIN, random.CHAIN_PHI)
        )
        with within_memory():
            chains = Chains(card, data.layout, data.n_words, data.eta, data.beta, z, phi)
        trace = []
        for sweep in range(1, schedule.n_sweeps + 1):
            chains.sweep(sweep)
            trace.append(_traced(card, chains, data, watched))
            if schedule.samples_at(sweep):
                chains.collect(weights, base)
            if report is not None:
                for number, level in zip(numbers, card.get(trace[-1][0]), strict=True):
                    report(number, sweep, float(level))
        traces.append(np.stack([card.get(each) for each in trace]).transpose(2, 0, 1))
    return card.get(weights) / UNIT, card.get(base) / UNIT, np.concatenate(traces)


def _traced(
    card: Card, chains: Chains, data: Words, watched: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return the log-likelihood and the watched entries of φ, × chains, on the card."""
    counts = chains.cell_counts[card.put(watched)]
    totals = chains.label_counts[card.put(data.labels_of(watched))]
    phi = (counts + data.beta) / (totals + data.n_words * data.beta)
    traced: npt.NDArray[np.float64] = card.xp.concatenate([chains.log_likelihood()[None], phi])
    return traced
