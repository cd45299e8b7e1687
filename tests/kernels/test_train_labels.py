"""Training φ′: each kernel against its twin, enumeration and Geweke's test; mistakes are found."""

from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest

from deplda.kernels import train_labels as labels
from tests import naive
from tests.kernels.checks import Array, Kernel, geweke_scores, mutant, p_value
from tests.kernels.worlds import TopicWorld, corpus_of, random_documents


@pytest.mark.parametrize("seed", range(6))
def test_the_topic_sweep_is_its_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    documents = random_documents(rng, 30, 2, 7)
    own = [labels for _, labels in documents]
    world = TopicWorld(corpus_of(documents, 2, 7), 4, gamma=0.3, beta=0.2, seed=seed)
    stream = (int(world.key), int(world.gamma))
    z = world.places()
    topics = naive.Topics(7, 4)
    for labels_of, topics_of in zip(own, z, strict=True):
        for c, t in zip(labels_of, topics_of, strict=True):
            topics.add(c, t)
    for number in range(1, 8):
        world.sweep(number)
        naive.topic_sweep(own, z, topics, 0.3, 0.2, stream, number * len(world.z))
        assert world.places() == z
        assert world.topics.topic_counts.tolist() == topics.total
        for c in range(7):
            first = world.topics.slot_starts[c]
            slots = world.topics.slots.reshape(-1, 2)[first : first + world.topics.used[c]]
            assert slots.tolist() == topics.of[c]


@pytest.mark.parametrize("seed", range(4))
def test_the_topic_log_likelihood_is_its_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    documents = random_documents(rng, 12, 2, 6)
    world = TopicWorld(corpus_of(documents, 2, 6), 5, gamma=0.3, beta=0.2, seed=seed)
    found = labels.log_likelihood(world.starts, world.labels, world.z, world.topics, 0.3, 0.2)
    own = [labels for _, labels in documents]
    expected = naive.topic_log_likelihood(own, world.places(), 0.3, 0.2, 6, 5)
    assert found == pytest.approx(expected, rel=1e-12)


TOPIC_DOCUMENTS: naive.Documents = [([], [0, 1, 2]), ([], [0, 2]), ([], [1])]
WRONG_TOPICS = [
    ("(n_old - 1 + prior)", "(n_old + prior)"),
    ("topic_counts[old] - 1 + c_beta", "topic_counts[old] + c_beta"),
    ("own -= share[old]", "own -= 0.0"),
    ("(n_old - 1) * scale[old]", "n_old * scale[old]"),
    ("n_dt[t] = 0", "pass"),
]


def topic_p_value(sweep: Kernel, n: int = 30_000, thin: int = 4) -> float:
    gamma, beta = 0.6, 0.5
    world = TopicWorld(corpus_of(TOPIC_DOCUMENTS, 1, 3), 2, gamma, beta, seed=5, sweep=sweep)
    own = [labels for _, labels in TOPIC_DOCUMENTS]
    log_weights = {}
    for state in product(range(2), repeat=6):
        z = [list(state[0:3]), list(state[3:5]), list(state[5:6])]
        log_weights[state] = naive.topic_log_likelihood(own, z, gamma, beta, 3, 2)
    counts: Counter[tuple[int, ...]] = Counter()
    for number in range(1, n * thin + 1):
        world.sweep(number)
        if number % thin == 0:
            counts[tuple(world.z.tolist())] += 1
    return p_value(counts, log_weights)


def test_the_topic_chain_visits_every_state_as_often_as_it_should() -> None:
    assert topic_p_value(labels.sweep) > 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong"), WRONG_TOPICS)
def test_enumeration_finds_a_wrong_topic_kernel(right: str, wrong: str) -> None:
    assert topic_p_value(mutant(labels.sweep, right, wrong), n=10_000) < 1e-6


TOPIC_LENGTHS = [3, 2, 4, 1]
N_TOPICS, GAMMA, BETA_LABELS, N_LABELS = 3, 0.5, 0.4, 6


def topic_moments(z: list[list[int]], own: list[list[int]]) -> list[float]:
    pairs = Counter(
        (c, t) for cs, ts in zip(own, z, strict=True) for c, t in zip(cs, ts, strict=True)
    )
    totals = Counter(t for ts in z for t in ts)
    return [
        sum(n * n for n in pairs.values()),
        sum(n * n for n in totals.values()),
        pairs[0, 1],
        totals[2] ** 2,
        float(np.mean([len(set(ts)) for ts in z])),
        sum(ts.count(0) ** 2 for ts in z),
        sum(own[0].count(c) ** 2 for c in range(N_LABELS)),
    ]


def topic_geweke(sweep: Kernel, n: int = 4_000) -> Array:
    rng = np.random.default_rng(4)
    key, gamma = np.uint64(12345), np.uint64(0x9E3779B97F4A7C15)
    starts = np.concatenate([[0], np.cumsum(TOPIC_LENGTHS)])

    def prior() -> list[list[int]]:
        return [
            rng.choice(N_TOPICS, length, p=rng.dirichlet([GAMMA] * N_TOPICS)).tolist()
            for length in TOPIC_LENGTHS
        ]

    def labels_given(z: list[list[int]]) -> list[list[int]]:
        # A document of a corpus carries a label once; the kernel allows repeats, and so do we here.
        phi = rng.dirichlet([BETA_LABELS] * N_LABELS, size=N_TOPICS)
        return [[int(rng.choice(N_LABELS, p=phi[t])) for t in ts] for ts in z]

    direct = []
    for _ in range(n):
        z = prior()
        direct.append(topic_moments(z, labels_given(z)))
    z, chain = prior(), []
    for number in range(n):
        own = labels_given(z)
        flat = np.array([c for cs in own for c in cs], dtype=np.int32)
        topics = labels.no_topics(np.bincount(flat, minlength=N_LABELS), N_TOPICS)
        places = np.array([t for ts in z for t in ts], dtype=np.uint16)
        labels.tally(flat, places, topics)
        sweep(starts, flat, places, topics, GAMMA, BETA_LABELS, key, gamma, number * len(flat))
        z = [places[a:b].tolist() for a, b in pairwise(starts)]
        chain.append(topic_moments(z, own))
    return geweke_scores(direct, chain)


@pytest.mark.slow
def test_the_topic_chain_passes_gewekes_test() -> None:
    assert np.abs(topic_geweke(labels.sweep)).max() < 4


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong"), [WRONG_TOPICS[0], WRONG_TOPICS[2]])
def test_gewekes_test_finds_a_wrong_topic_kernel(right: str, wrong: str) -> None:
    assert np.abs(topic_geweke(mutant(labels.sweep, right, wrong), n=4_000)).max() > 5
