"""Training φ′ on a GPU against enumeration and the CPU; deliberate mistakes are found."""

from collections import Counter
from itertools import product
from math import comb, lgamma, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import Corpus, Schedule, train_topic_labels
from deplda.kernels import random
from deplda.kernels import train_labels as cpu
from deplda.kernels.cuda.device import Gpu
from deplda.kernels.cuda.train_labels import TopicChains
from tests import naive
from tests.drawn_news import drawn_news
from tests.kernels.checks import p_value
from tests.kernels.cuda.emulator import emulated, more
from tests.kernels.test_train_labels import TOPIC_DOCUMENTS
from tests.kernels.worlds import corpus_of


def chains_on(
    gpu: Gpu, corpus: Corpus, n_topics: int, gamma: float, beta: float, n_chains: int
) -> TopicChains:
    z, phi = (
        np.array([random.stream(11, purpose, k) for k in range(n_chains)])
        for purpose in (random.TOPIC_CHAIN, random.CHAIN_TOPICS)
    )
    labels = corpus.labels
    return TopicChains(
        gpu, labels.indptr.astype(np.int64), labels.indices, corpus.n_labels, n_topics, gamma, beta,
        z, phi,
    )  # fmt: skip


def weights_of_states(gamma: float, beta: float) -> dict[tuple[int, ...], float]:
    """Return log P(c, z′) of every z′ with two topics."""
    own = [labels for _, labels in TOPIC_DOCUMENTS]
    return {
        state: naive.topic_log_likelihood(
            own, [list(state[0:3]), list(state[3:5]), list(state[5:6])], gamma, beta, 3, 2
        )
        for state in product(range(2), repeat=6)
    }


def topics_p_value(gpu: Gpu, n_chains: int) -> float:
    gamma, beta = 0.6, 0.5
    chains = chains_on(gpu, corpus_of(TOPIC_DOCUMENTS, 1, 3), 2, gamma, beta, n_chains)
    for number in range(1, 9):
        chains.sweep(number)
    states = Counter(map(tuple, gpu.get(chains.z).tolist()))
    return p_value(states, weights_of_states(gamma, beta))


def test_chains_of_topics_are_in_every_state_as_often_as_they_should(gpu: Gpu) -> None:
    assert topics_p_value(gpu, more(gpu, 1_000, 60_000)) > 0.001


def worst_moment(gpu: Gpu, beta: float, counts: list[int]) -> float:
    """Return by how many standard errors a moment of φ′_·t ~ Dirichlet(N_·t + β) is off.

    With a small β all draws of a topic without tokens are mostly less than 1e-38.
    """
    corpus = Corpus(np.ones((1, 1)), np.ones((1, len(counts))))
    chains = chains_on(gpu, corpus, 40, 0.5, beta, more(gpu, 200, 5_000))
    chains.counts[:] = gpu.put(np.array(counts, np.int32))[None, :, None]
    chains.draw_phi(1)
    phi = gpu.get(chains.phi)
    assert not phi[:, :, 40:].any()
    drawn = phi[:, :, :40].transpose(0, 2, 1).reshape(-1, len(counts))
    assert drawn.sum(axis=1) == pytest.approx(1, abs=1e-4)
    shapes = np.array(counts) + beta
    total, offs = shapes.sum(), []
    for power, mean in ((1, shapes / total), (2, shapes * (shapes + 1) / total / (total + 1))):
        found = drawn.astype(np.float64) ** power
        offs.append((found.mean(axis=0) - mean) / (found.std(axis=0) / np.sqrt(len(found)) + 1e-9))
    return float(np.abs(offs).max())


SHAPES = [(0.002, [0] * 5), (0.4, [0, 3, 1, 0, 20]), (0.4, [0] * 70 + [2] * 3)]


@pytest.mark.parametrize(("beta", "counts"), SHAPES)
def test_phi_prime_is_drawn_from_its_distribution(gpu: Gpu, beta: float, counts: list[int]) -> None:
    assert worst_moment(gpu, beta, counts) < 4.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("+ log_factor, LOWEST)", "+ log_factor, -80.0f)"),
        ("log_factor = logf(part((unsigned)(pair >> 32))) / shape;", ";"),
        ("float d = shape - 1.0f / 3.0f", "float d = shape"),
        ("total = total * expf(top - higher) + expf", "total = total + expf"),
        ("totals[other][lane] * expf", "expf"),
        ("* expf(most[(long long)tile * width] - top)", ""),
    ],
)
def test_a_wrong_draw_of_phi_prime_is_found(folder: Path, right: str, wrong: str) -> None:
    gpu = emulated(folder, changed=(right, wrong))
    found = []
    for case in SHAPES:
        try:
            found.append(worst_moment(gpu, *case))
        except AssertionError:
            found.append(np.inf)
    assert max(found) > 6


@pytest.fixture
def all_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a warp sweep every document."""
    monkeypatch.setattr("deplda.kernels.cuda.train_labels._SHORT", 0)


@pytest.mark.usefixtures("all_long")
def test_long_documents_are_in_every_state_as_often_as_they_should(gpu: Gpu) -> None:
    assert topics_p_value(gpu, more(gpu, 1_000, 60_000)) > 0.001


def long_p_value(gpu: Gpu, n_chains: int) -> float:
    """Return the p-value of one document of 48 tokens of one label, so that φ′ plays no part.

    Of its first 32 and its last 16 tokens, a and b have the first of two topics:
    P(a, b) = C(32, a) C(16, b) B(a + b + γ, 48 − a − b + γ)/B(γ, γ). A lane has one token or two.
    """
    gamma, labels = 6.0, np.zeros(48, np.int32)
    streams = [
        np.array([random.stream(7, purpose, k) for k in range(n_chains)])
        for purpose in (random.TOPIC_CHAIN, random.CHAIN_TOPICS)
    ]
    chains = TopicChains(gpu, np.array([0, 48]), labels, 1, 2, gamma, 0.5, *streams)
    for number in range(1, 6):
        chains.sweep(number)
    is_first = gpu.get(chains.z) == 0
    found = Counter(zip(is_first[:, :32].sum(axis=1), is_first[:, 32:].sum(axis=1), strict=True))
    log_weights = {
        (a, b): log(comb(32, a) * comb(16, b)) + lgamma(a + b + gamma) + lgamma(48 - a - b + gamma)
        for a in range(33)
        for b in range(17)
    }
    return p_value(Counter(found), log_weights)


@pytest.mark.parametrize("short", [32, 100])
def test_documents_of_many_labels_are_drawn_as_they_should(
    gpu: Gpu, short: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deplda.kernels.cuda.train_labels._SHORT", short)
    assert long_p_value(gpu, more(gpu, 500, 60_000)) > 0.001


WRONG_TOPICS = [
    ("own += k == i ? 0.0f : row[z[k]]", "own += row[z[k]]"),
    ("float weight = k == i ? 0.0f : row[z[k]]", "float weight = row[z[k]]"),
    ("* width + t] + (float)beta", "* width + t] + 2 * (float)beta"),
    ("(r - all) / gamma", "r / gamma"),
    ("(all + gamma * upto[n_blocks - 1])", "(all + upto[n_blocks - 1])"),
    ("max(logf(factor) + log_factor, LOWEST)", "logf(factor)"),
    ("expf(*at - scale[chain * width + t])", "expf(*at)"),
    ("((round - 1) * PASSES + pass + 1)", "1"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong"), WRONG_TOPICS)
def test_a_wrong_kernel_of_topics_is_found(folder: Path, right: str, wrong: str) -> None:
    gpu = emulated(folder, changed=(right, wrong))
    assert topics_p_value(gpu, 4_000) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("until = running_sum(own, member);", ";"),
        ("float left = r - (until - own);", "float left = r;"),
    ],
)
def test_a_wrong_kernel_of_many_labels_is_found(folder: Path, right: str, wrong: str) -> None:
    assert long_p_value(emulated(folder, changed=(right, wrong)), 2_000) < 1e-6


@pytest.mark.parametrize(("n_labels", "n_topics"), [(6, 5), (150, 70)])
def test_the_log_likelihood_is_that_of_the_cpu(gpu: Gpu, n_labels: int, n_topics: int) -> None:
    rng = np.random.default_rng(8)
    labels = rng.random((14, n_labels)) < 0.4
    labels[3] = False
    corpus = Corpus(np.ones((14, 1)), labels)
    chains = chains_on(gpu, corpus, n_topics, 0.3, 0.2, 5)
    for number in range(1, 4):
        chains.sweep(number)
    levels, z = gpu.get(chains.log_likelihood()), gpu.get(chains.z)
    assert z.max() < n_topics
    starts = corpus.labels.indptr.astype(np.int64)
    for k in (0, 4):
        topics = cpu.no_topics(corpus.label_counts, n_topics)
        cpu.tally(corpus.labels.indices, z[k], topics)
        usual = cpu.log_likelihood(starts, corpus.labels.indices, z[k], topics, 0.3, 0.2)
        assert levels[k] == pytest.approx(usual, rel=1e-10)


def test_the_start_is_that_of_the_cpu(gpu: Gpu) -> None:
    corpus = corpus_of(TOPIC_DOCUMENTS, 1, 3)
    chains = chains_on(gpu, corpus, 7, 0.3, 0.2, 2)
    z = np.empty(6, np.uint16)
    for k in range(2):
        cpu.start(z, 7, *random.stream(11, random.TOPIC_CHAIN, k))
        assert (gpu.get(chains.z)[k] == z).all()


def test_topics_of_a_gpu_are_as_likely_as_those_of_the_cpu_and_the_same_in_pieces(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = drawn_news(120, seed=4).corpus
    how: Any = {"gamma": 0.05, "beta": 0.05, "n_chains": 4, "schedule": Schedule(25, 2, 3)}
    found = train_topic_labels(corpus, 6, **how, device="cuda")
    usual = train_topic_labels(corpus, 6, **how)
    assert len(found.topic_labels) == len(usual.topic_labels) == 8
    for each in found.topic_labels:
        assert each.dense().sum(axis=0) == pytest.approx(1)
    assert found.traces.values.shape == usual.traces.values.shape
    a, b = (each.traces.log_likelihood[:, -4:] for each in (found, usual))
    assert a.mean() == pytest.approx(b.mean(), abs=4 * (a.std() + b.std()))
    monkeypatch.setattr("deplda.training.topic_labels_cuda.chains_that_fit", lambda *_: 3)
    pieces = train_topic_labels(corpus, 6, **how, device="cuda")
    for one, other in zip(pieces.topic_labels, found.topic_labels, strict=True):
        assert one.dense().tobytes() == other.dense().tobytes()
    assert pieces.traces.values == pytest.approx(found.traces.values, rel=1e-12)
