"""Training φ on a GPU against enumeration and the CPU; deliberate mistakes are found."""

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import Corpus, Schedule, datasets, train_label_words
from deplda.kernels import random
from deplda.kernels.cuda.device import Gpu
from deplda.kernels.cuda.train_words import Chains
from tests import naive
from tests.kernels.checks import p_value
from tests.kernels.cuda.emulator import emulated, more
from tests.kernels.test_train_words import WORD_DOCUMENTS
from tests.kernels.worlds import WordWorld, corpus_of, layout_of


def chains_on(gpu: Gpu, corpus: Corpus, eta: float, beta: float, n_chains: int) -> Chains:
    z, phi = (
        np.array([random.stream(11, purpose, k) for k in range(n_chains)])
        for purpose in (random.WORD_CHAIN, random.CHAIN_PHI)
    )
    return Chains(gpu, layout_of(corpus), corpus.n_words, eta, beta, z, phi)


def training_p_value(gpu: Gpu, n_chains: int) -> float:
    eta, beta = 1.5, 0.4
    chains = chains_on(gpu, corpus_of(WORD_DOCUMENTS, 3, 3), eta, beta, n_chains)
    for number in range(1, 17):
        chains.sweep(number)
    ranges = [range(len(own)) for tokens, own in WORD_DOCUMENTS for _ in tokens]
    log_weights = {}
    for state in product(*ranges):
        z = [list(state[0:3]), list(state[3:5]), list(state[5:6])]
        log_weights[state] = naive.word_log_likelihood(WORD_DOCUMENTS, z, eta, beta, 3, 3)
    return p_value(Counter(map(tuple, gpu.get(chains.z).T.tolist())), log_weights)


def test_chains_of_training_are_in_every_state_as_often_as_they_should(gpu: Gpu) -> None:
    assert training_p_value(gpu, more(gpu, 4_000, 200_000)) > 0.001


WRONG_TRAINING = [
    ("n_cd[*own * n_chains] -= 1;", ";"),
    ("(n_cd[j * n_chains] + alpha)", "(n_cd[j * n_chains] + (float)eta)"),
    ("chain] + (float)beta", "chain] + 2 * (float)beta"),
    ("return drawn * expf(log_factor)", "return drawn"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong"), WRONG_TRAINING)
def test_a_wrong_kernel_of_training_is_found(folder: Path, right: str, wrong: str) -> None:
    assert training_p_value(emulated(folder, changed=(right, wrong)), 4_000) < 1e-6


def test_the_counts_and_the_log_likelihood_are_those_of_the_cpu(gpu: Gpu) -> None:
    rng = np.random.default_rng(8)
    labels = rng.random((12, 6)) < 0.4
    corpus = Corpus(rng.poisson(0.8, size=(12, 30)), labels)
    chains = chains_on(gpu, corpus, 1.2, 0.3, 40)
    world = WordWorld(corpus, 1.2, 0.3)
    for number in range(1, 4):
        chains.sweep(number)
    for k in (0, 17, 39):
        world.z[:] = gpu.get(chains.z)[:, k]
        world.tally()
        assert (gpu.get(chains.cell_counts)[:, k] == world.cell_counts).all()
        assert (gpu.get(chains.label_counts)[:, k] == world.label_counts).all()
        level = float(chains.log_likelihood()[k])
        assert level == pytest.approx(world.log_likelihood(), rel=1e-10)


@pytest.mark.slow
def test_phi_of_a_gpu_is_near_that_of_the_cpu_and_the_same_in_pieces(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = datasets.newsroom(60).corpus
    how: Any = {"n_chains": more(gpu, 5, 400), "schedule": Schedule(15, 3, 2), "seed": 3}
    found = train_label_words(corpus, **how, device="cuda")
    usual = train_label_words(corpus, **how)
    a, b = found.label_words.dense(), usual.label_words.dense()
    assert a.sum(axis=0) == pytest.approx(1)
    assert np.corrcoef(a.ravel(), b.ravel())[0, 1] > (0.75 if how["n_chains"] == 5 else 0.98)
    assert found.traces is not None
    assert usual.traces is not None
    levels = found.traces.log_likelihood[:, -1], usual.traces.log_likelihood[:, -1]
    assert levels[0].mean() == pytest.approx(levels[1].mean(), rel=0.02)
    monkeypatch.setattr("deplda.training.word_chain_cuda.chains_that_fit", lambda *_: 2)
    pieces = train_label_words(corpus, **how, device="cuda")
    assert (pieces.label_words.dense() == a).all()
    assert pieces.traces is not None
    assert pieces.traces.values == pytest.approx(found.traces.values, rel=1e-12)
