"""Proper inference against enumeration of its exact posterior, and by Geweke's test."""

from collections import Counter
from itertools import product
from math import lgamma
from typing import Any

import numpy as np
import pytest

from deplda.kernels import proper
from deplda.kernels import workspace as workspaces
from deplda.kernels.layouts import Prior
from deplda.kernels.random import stream
from tests.kernels.benches import Bench
from tests.kernels.checks import chi_square_p, geweke_scores

Array = np.ndarray[Any, Any]


class Proper:
    """A document under proper inference, its state as labels of words, label tokens and topics."""

    def __init__(self, bench: Bench, n_label_tokens: int) -> None:
        self.bench = bench
        self.prior = Prior(bench.eta, bench.alpha, bench.gamma)
        self.step = bench.eta / n_label_tokens
        self.table = proper.new_table(n_label_tokens)
        self.tokens = np.zeros(n_label_tokens, np.int64)
        self.n_tokens = np.zeros(bench.n_labels, np.int64)
        self.key, self.stride = stream(11, 9, n_label_tokens)
        self.ws: Any = None
        self.lay_out(bench.types, bench.times)
        self.ws = proper.start(
            bench.words, bench.topics, self.ws, self.types, self.tokens, self.n_tokens,
            self.prior, self.key, self.stride,
        )  # fmt: skip

    def lay_out(self, types: Array, times: Array) -> None:
        bench = self.bench
        self.types = types
        slot_of = np.full(bench.n_labels, -1, np.int32)
        place = np.full(bench.words.row_totals.size, -1, np.int32)
        self.ws = workspaces.new_workspace(
            types, times, len(self.tokens), bench.n_topics, slot_of, place, np.empty(1, np.float32)
        )

    def cycle(self) -> None:
        self.ws = proper.cycle(
            self.bench.words, self.bench.topics, self.ws, self.types, self.table, self.tokens,
            self.n_tokens, self.step, self.prior, self.key, self.stride,
        )  # fmt: skip

    def z(self) -> list[int]:
        return list(self.ws.labels[self.ws.z].tolist())

    def z_topic(self) -> list[int]:
        return [max(t, 0) for t in self.ws.z_topic.tolist()]

    def replace_words(self, words: list[int]) -> None:
        """Mutate: the document's words are now these; all labels and topics stay."""
        order = np.argsort(words, kind="stable")
        z, old = np.array(self.z())[order], self.ws
        types, times = np.unique(np.array(words, dtype=np.int32), return_counts=True)
        times = times.astype(np.int32)
        for array in (types, times):
            array.flags.writeable = False
        self.lay_out(types, times)
        for name in ("z_topic", "n_dt", "live", "live_at", "clock"):
            getattr(self.ws, name)[:] = getattr(old, name)
        self.ws.counters[workspaces.LIVE] = old.counters[workspaces.LIVE]
        for c in set(z.tolist()) | set(self.tokens.tolist()):
            words_of = self.bench.words
            k = workspaces.new_slot(
                self.ws.columns, self.ws.mass, self.ws.labels, self.ws.slot_of,
                self.ws.cache, self.ws.cache_of, self.ws.cache_labels, self.ws.place,
                self.ws.counters, words_of.column_starts, words_of.column_words,
                words_of.column_values, words_of.base, c,
            )  # fmt: skip
            self.ws.mass[k] = (z == c).sum() + self.step * self.n_tokens[c]
            self.ws.counters[workspaces.HEAVY] += 1
        self.ws.z[:] = self.ws.slot_of[z]


def log_joint(
    bench: Bench, words: list[int], z: tuple[int, ...], c: tuple[int, ...], topics: tuple[int, ...]
) -> float:
    """Return log P(w, z, c, z′) up to a constant."""
    n, n_c = np.bincount(z, minlength=bench.n_labels), np.bincount(c, minlength=bench.n_labels)
    alpha = bench.eta * n_c / len(c) + bench.alpha
    n_t = np.bincount(topics, minlength=bench.n_topics)
    return (
        sum(np.log(bench.phi[w, k]) for w, k in zip(words, z, strict=True))
        + sum(lgamma(a + k) - lgamma(a) for a, k in zip(alpha, n, strict=True))
        + sum(np.log(bench.phi_prime[k, t]) for k, t in zip(c, topics, strict=True))
        + sum(lgamma(bench.gamma + k) for k in n_t)
    )


@pytest.mark.parametrize("n_topics", [1, 2])
def test_proper_inference_samples_the_exact_posterior(n_topics: int) -> None:
    bench = Bench(8, 4, 3, n_topics, [2, 1, 0, 2])
    words = np.repeat(bench.types, bench.times).tolist()
    document = Proper(bench, 2)
    states = list(
        product(
            product(range(3), repeat=5),
            product(range(3), repeat=2),
            product(range(n_topics), repeat=2),
        )
    )
    weights = np.exp([log_joint(bench, words, *state) for state in states])
    observed: Counter[Any] = Counter()
    for number in range(60_000):
        document.cycle()
        if number % 3 == 0:
            observed[tuple(document.z()), tuple(document.tokens), tuple(document.z_topic())] += 1
    assert chi_square_p(np.array([observed[state] for state in states]), weights) > 0.001


def forward(rng: np.random.Generator, bench: Bench, n: int, m: int) -> tuple[list[int], ...]:
    topics = rng.choice(
        bench.n_topics, m, p=rng.dirichlet(np.full(bench.n_topics, bench.gamma))
    ).tolist()
    c = [int(rng.choice(bench.n_labels, p=bench.phi_prime[:, t])) for t in topics]
    alpha = bench.eta * np.bincount(c, minlength=bench.n_labels) / m + bench.alpha
    z = rng.choice(bench.n_labels, n, p=rng.dirichlet(alpha)).tolist()
    return topics, c, z, words_given(rng, bench, z)


def words_given(rng: np.random.Generator, bench: Bench, z: list[int]) -> list[int]:
    return [int(rng.choice(len(bench.phi), p=bench.phi[:, c] / bench.phi[:, c].sum())) for c in z]


def moments(bench: Bench, topics: list[int], c: list[int], z: list[int], w: list[int]) -> Array:
    n_t, n_c, n_z, n_w = (
        np.bincount(values, minlength=size)
        for values, size in (
            (topics, bench.n_topics), (c, bench.n_labels), (z, bench.n_labels), (w, len(bench.phi)),
        )
    )  # fmt: skip
    return np.concatenate(
        [n_t, n_t**2, n_c, n_c**2, n_z, n_z**2, n_w, n_w**2, n_c * n_z, [n_t[0] * n_c[0]]]
    )


@pytest.mark.slow
def test_proper_inference_passes_gewekes_test() -> None:
    rng = np.random.default_rng(2)
    bench = Bench(4, 4, 3, 2, [2, 1, 0, 3], eta=2.0, alpha=1.5, gamma=2.0)
    n, m = bench.n, 4
    direct = [list(moments(bench, *forward(rng, bench, n, m))) for _ in range(10_000)]
    document = Proper(bench, m)
    chain = []
    for _ in range(8_000):
        document.replace_words(words_given(rng, bench, document.z()))
        document.cycle()
        words = document.types[document.ws.tokens].tolist()
        chain.append(
            list(moments(bench, document.z_topic(), document.tokens.tolist(), document.z(), words))
        )
    assert np.abs(geweke_scores(direct, chain)).max() < 4
