"""The samplers against the exact posterior, by enumeration and by Geweke's joint-distribution test.

Each check is also run on deliberately wrong kernels, which it must find: a test that cannot fail
proves nothing.
"""

import inspect
from collections import Counter
from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy.stats import chi2

from deplda.kernels import train_labels as labels
from deplda.kernels import train_words as words
from tests import naive
from tests.kernels.worlds import TopicWorld, WordWorld, corpus_of

Kernel = Callable[..., Any]


def mutant(kernel: Any, right: str, wrong: str) -> Kernel:
    """Return the kernel with one piece of its source replaced."""
    source = inspect.getsource(kernel.py_func)
    source = source[source.index("def ") :]
    assert right in source
    scope = dict(inspect.getmodule(kernel.py_func).__dict__)
    exec(source.replace(right, wrong), scope)  # noqa: S102
    compiled: Kernel = njit(error_model="numpy")(scope[kernel.py_func.__name__])
    return compiled


def p_value(counts: Counter[Any], log_weights: dict[Any, float]) -> float:
    """Return the chi-square p-value of sampled states against their exact probabilities."""
    states = list(log_weights)
    weights = np.exp(np.array([log_weights[s] for s in states]) - max(log_weights.values()))
    expected = weights / weights.sum() * counts.total()
    observed = np.array([counts[s] for s in states])
    # States that are expected less than 5 times are taken together.
    small = expected < 5
    observed = np.append(observed[~small], observed[small].sum())
    expected = np.append(expected[~small], expected[small].sum())
    kept = expected > 0
    statistic = ((observed - expected)[kept] ** 2 / expected[kept]).sum()
    return float(chi2.sf(statistic, kept.sum() - 1))


WORD_DOCUMENTS: naive.Documents = [([0, 0, 1], [0, 1, 2]), ([1, 2], [0, 2]), ([2], [1])]
TOPIC_DOCUMENTS: naive.Documents = [([], [0, 1, 2]), ([], [0, 2]), ([], [1])]
WRONG_WORDS = [
    ("n_cd[old] - 1 + alpha", "n_cd[old] + alpha"),
    ("n_c[old] - 1 + w_beta", "n_c[old] + w_beta"),
    ("cell_counts[layout.cells[row + old]] -= 1\n", "cell_counts[layout.cells[row + old]] -= 0\n"),
    ("alpha = eta / n_labels", "alpha = eta"),
    ("range(n_labels - 1)", "range(n_labels - 2)"),
]
WRONG_TOPICS = [
    ("(n_old - 1 + prior)", "(n_old + prior)"),
    ("topic_counts[old] - 1 + c_beta", "topic_counts[old] + c_beta"),
    ("own -= share[old]", "own -= 0.0"),
    ("(n_old - 1) * scale[old]", "n_old * scale[old]"),
    ("n_dt[t] = 0", "pass"),
]


def word_p_value(sweep: Kernel, n: int = 30_000, thin: int = 4) -> float:
    eta, beta = 1.5, 0.4
    world = WordWorld(corpus_of(WORD_DOCUMENTS, 3, 3), eta, beta, seed=11, sweep=sweep)
    ranges = [range(len(own)) for tokens, own in WORD_DOCUMENTS for _ in tokens]
    log_weights = {}
    for state in product(*ranges):
        z = [list(state[0:3]), list(state[3:5]), list(state[5:6])]
        log_weights[state] = naive.word_log_likelihood(WORD_DOCUMENTS, z, eta, beta, 3, 3)
    counts: Counter[tuple[int, ...]] = Counter()
    for number in range(1, n * thin + 1):
        world.sweep(number)
        if number % thin == 0:
            counts[tuple(world.z.tolist())] += 1
    return p_value(counts, log_weights)


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


def test_the_word_chain_visits_every_state_as_often_as_it_should() -> None:
    assert word_p_value(words.sweep) > 0.01


def test_the_topic_chain_visits_every_state_as_often_as_it_should() -> None:
    assert topic_p_value(labels.sweep) > 0.01


@pytest.mark.parametrize(("right", "wrong"), WRONG_WORDS)
def test_enumeration_finds_a_wrong_word_kernel(right: str, wrong: str) -> None:
    assert word_p_value(mutant(words.sweep, right, wrong), n=10_000) < 1e-6


@pytest.mark.parametrize(("right", "wrong"), WRONG_TOPICS)
def test_enumeration_finds_a_wrong_topic_kernel(right: str, wrong: str) -> None:
    assert topic_p_value(mutant(labels.sweep, right, wrong), n=10_000) < 1e-6


# Geweke (2004): parameters and data drawn together from the model, against a chain that redraws
# the data given z and then z given the data. Both must have the same moments.


def geweke_scores(direct: list[list[float]], chain: list[list[float]]) -> np.ndarray[Any, Any]:
    """Return the difference of each moment in standard errors, the chain's by batch means."""
    a, b = np.array(direct), np.array(chain)
    batches = b.reshape(50, -1, b.shape[1]).mean(axis=1)
    error = np.sqrt(a.var(axis=0) / len(a) + batches.var(axis=0, ddof=1) / len(batches))
    return (a.mean(axis=0) - b.mean(axis=0)) / error


LABEL_SETS = [[0, 1], [1, 2], [0, 1, 2], [2]]
LENGTH = 5
ETA, BETA, N_WORDS = 1.2, 0.5, 4


def words_given_z(rng: np.random.Generator, z: list[list[int]]) -> list[list[int]]:
    """Draw φ | nothing but z's sizes, i.e. from its prior, then the words: P(w | z)."""
    phi = rng.dirichlet([BETA] * N_WORDS, size=3)
    return [
        [int(rng.choice(N_WORDS, p=phi[own[k]])) for k in places]
        for own, places in zip(LABEL_SETS, z, strict=True)
    ]


def word_moments(z: list[list[int]], tokens: list[list[int]]) -> list[float]:
    labels_of = [[own[k] for k in places] for own, places in zip(LABEL_SETS, z, strict=True)]
    pairs = Counter(
        (w, c)
        for ws, cs in zip(tokens, labels_of, strict=True)
        for w, c in zip(ws, cs, strict=True)
    )
    totals = Counter(c for cs in labels_of for c in cs)
    return [
        sum(n * n for n in pairs.values()),
        sum(n * n for n in totals.values()),
        pairs[0, 1],
        pairs[0, 1] ** 2,
        totals[2],
        float(np.mean([len(set(places)) for places in z])),
        sum(places.count(0) ** 2 for places in z),
    ]


def word_geweke(sweep: Kernel, n: int = 4_000) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(3)

    def prior() -> list[list[int]]:
        return [
            rng.choice(len(own), LENGTH, p=rng.dirichlet([ETA / len(own)] * len(own))).tolist()
            for own in LABEL_SETS
        ]

    direct = []
    for _ in range(n):
        z = prior()
        direct.append(word_moments(z, words_given_z(rng, z)))
    z, chain = prior(), []
    for number in range(n):
        tokens = words_given_z(rng, z)
        order = [np.argsort(ws, kind="stable") for ws in tokens]
        documents = [
            ([ws[i] for i in o], own) for ws, o, own in zip(tokens, order, LABEL_SETS, strict=True)
        ]
        world = WordWorld(corpus_of(documents, N_WORDS, 3), ETA, BETA, seed=9, sweep=sweep)
        sorted_z = [[places[i] for i in o] for places, o in zip(z, order, strict=True)]
        world.z[:] = [k for places in sorted_z for k in places]
        world.tally()
        world.sweep(number + 1)
        z = world.places()
        chain.append(word_moments(z, [tokens for tokens, _ in documents]))
    return geweke_scores(direct, chain)


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


def topic_geweke(sweep: Kernel, n: int = 4_000) -> np.ndarray[Any, Any]:
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


def test_the_word_chain_passes_gewekes_test() -> None:
    assert np.abs(word_geweke(words.sweep)).max() < 4


def test_the_topic_chain_passes_gewekes_test() -> None:
    assert np.abs(topic_geweke(labels.sweep)).max() < 4


@pytest.mark.parametrize(("right", "wrong"), [WRONG_WORDS[0], WRONG_WORDS[2]])
def test_gewekes_test_finds_a_wrong_word_kernel(right: str, wrong: str) -> None:
    assert np.abs(word_geweke(mutant(words.sweep, right, wrong), n=2_000)).max() > 5


@pytest.mark.parametrize(("right", "wrong"), [WRONG_TOPICS[0], WRONG_TOPICS[2]])
def test_gewekes_test_finds_a_wrong_topic_kernel(right: str, wrong: str) -> None:
    assert np.abs(topic_geweke(mutant(labels.sweep, right, wrong), n=4_000)).max() > 5
