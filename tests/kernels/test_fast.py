"""Fast inference against dense sums, exact enumeration and the exact chain it is."""

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest

from deplda import Corpus
from deplda.inference.batches import infer
from deplda.inference.layout import Tables
from deplda.inference.settings import Inference
from deplda.kernels import fast
from deplda.training.chains import Schedule
from tests.kernels.benches import (
    Array,
    Bench,
    exact_tokens,
    some_label_words,
    some_topic_labels,
    stationary,
)
from tests.kernels.checks import chi_square_p

COUNTS = [2, 0, 1, 3, 0, 1, 5, 1, 0, 2]


@pytest.mark.parametrize("n_topics", [0, 1, 4])
@pytest.mark.parametrize("seed", range(3))
def test_the_buckets_add_up_to_the_dense_sums(seed: int, n_topics: int) -> None:
    bench = Bench(seed, 10, 30, n_topics, COUNTS)
    for _ in range(5):
        bench.cycle()
        base_topics, base_flat = fast.bucket_totals(
            bench.words,
            bench.topics,
            bench.ws,
            bench.types,
            bench.scale,
            bench.alpha,
            bench.gamma,
        )
        ws = bench.ws
        heavy = ws.columns.astype(float) @ ws.mass
        found = heavy + ws.by_topic + ws.by_flat + base_topics + base_flat
        dense = bench.phi[bench.types] @ (bench.label_counts() + bench.prior())
        assert found == pytest.approx(dense, rel=1e-5)


@pytest.mark.parametrize("n_topics", [0, 1, 4])
@pytest.mark.parametrize("word", [0, 3])
def test_the_label_of_a_single_token_follows_the_dense_weights(word: int, n_topics: int) -> None:
    # With one token there is no other to sit with: every draw comes from the prior's buckets.
    counts = [0] * 10
    counts[word] = 1
    bench = Bench(5, 10, 30, n_topics, counts, eta=6.0)
    bench.ws.n_dt[:] = 0
    if n_topics:
        bench.ws.n_dt[0] = 7  # a topic of weight, so that its prefix sums are used
        bench.ws.live[0] = 0
        bench.ws.counters[2] = 1
    observed = np.zeros(30)
    for _ in range(30_000):
        bench.sweep_words(bench.scale, bench.alpha)
        observed[bench.labels()[0]] += 1
    assert chi_square_p(observed, bench.phi[word] * bench.prior()) > 0.001


def exact_posterior(bench: Bench, words: list[int]) -> dict[tuple[int, ...], float]:
    """Return P(z | w) for a fixed α′: ∏ φ_wz · Γ-ratios, by enumeration of all z."""
    alpha = bench.alpha + (bench.eta * bench.phi_prime[:, 0] if bench.n_topics else 0.0)
    alpha = np.broadcast_to(alpha, bench.n_labels)
    weights = {}
    for z in product(range(bench.n_labels), repeat=len(words)):
        weight, seen = 1.0, Counter[int]()
        for w, c in zip(words, z, strict=True):
            weight *= bench.phi[w, c] * (alpha[c] + seen[c])
            seen[c] += 1
        weights[z] = weight
    return weights


@pytest.mark.parametrize("n_topics", [0, 1])
def test_flat_and_prior_lda_sample_the_exact_posterior(n_topics: int) -> None:
    bench = Bench(8, 4, 3, n_topics, [2, 1, 0, 2])
    words = np.repeat(bench.types, bench.times).tolist()
    weights = exact_posterior(bench, words)
    observed: Counter[tuple[int, ...]] = Counter()
    for number in range(40_000):
        bench.cycle()
        if number % 2:
            observed[tuple(bench.labels().tolist())] += 1
    states = list(weights)
    p = chi_square_p(
        np.array([observed[s] for s in states]), np.array([weights[s] for s in states])
    )
    assert p > 0.001


def test_dependency_lda_follows_the_exact_chain_of_fast_inference() -> None:
    # Fast inference sets α′ from θ′ of the last z′ instead of integrating over it, so its target is
    # no posterior written in closed form: it is the stationary distribution of this very cycle.
    bench = Bench(3, 4, 3, 2, [2, 1, 0, 1])
    p = stationary(bench)
    observed = np.zeros(p.shape)
    for number in range(60_000):
        bench.cycle()
        if number % 3 == 0:
            observed[(*bench.labels().tolist(), *bench.ws.z_topic.tolist())] += 1
    assert chi_square_p(observed.ravel(), p.ravel()) > 0.001


def test_more_labels_than_slots_are_handled() -> None:
    counts = [9] * 40
    bench = Bench(2, 40, 900, 3, counts, eta=5.0, alpha=4_000.0)
    for _ in range(6):
        bench.cycle()
        assert bench.label_counts().sum() == bench.n
        on = bench.ws.labels[bench.ws.mass > 0]
        assert sorted(on.tolist()) == sorted(set(bench.labels().tolist()))
        assert bench.ws.mass.sum() == bench.n
    assert bench.ws.mass.size > 256
    for k in np.flatnonzero(bench.ws.labels >= 0):
        c = bench.ws.labels[k]
        assert bench.ws.slot_of[c] == k
        assert bench.ws.columns[:, k] == pytest.approx(bench.phi[bench.types, c], rel=1e-5)


def corpus_of(rng: np.random.Generator, n: int, n_words: int, n_labels: int) -> Corpus:
    counts = rng.poisson(0.6, size=(n, n_words))
    counts[0] = 0
    return Corpus(counts, np.zeros((n, n_labels)))


@pytest.fixture(params=["dense", "buckets"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the dense draw, or the one from buckets, whatever the number of labels."""
    monkeypatch.setattr("deplda.inference.layout.TINY", 0 if request.param == "buckets" else 1_000)


@pytest.mark.usefixtures("kernel")
def test_expected_counts_and_prior_are_those_of_the_exact_chain() -> None:
    bench = Bench(3, 4, 3, 2, [2, 1, 0, 1])
    counts, topics = exact_tokens(bench)
    alpha = bench.alpha + bench.phi_prime @ (bench.scale * (topics + bench.gamma))
    tables = Tables(bench.label_words, bench.topic_labels)
    corpus = Corpus([[2, 1, 0, 1]], np.zeros((1, 3)))
    inference = Inference(3.0, 0.8, 0.7, n_chains=3_000, schedule=Schedule(20, 10, 3))
    found = next(infer(corpus, tables, inference))
    assert found.counts[0] == pytest.approx(counts, abs=0.04)
    assert found.alpha[0] == pytest.approx(alpha, abs=0.02)


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("method", ["sampled", "proper", "deterministic"])
def test_a_documents_result_depends_on_its_words_and_the_seed_alone(method: Any) -> None:
    rng = np.random.default_rng(0)
    tables = Tables(
        some_label_words(rng, 25, 12), [some_topic_labels(rng, 12, 4) for _ in range(2)]
    )
    corpus = corpus_of(rng, 30, 25, 12)
    inference = Inference(
        5.0, 2.0, 1.0, method=method, n_chains=2, schedule=Schedule(5, 3, 2), n_label_tokens=9
    )
    whole = np.vstack([batch.counts for batch in infer(corpus, tables, inference, seed=4)])
    order = rng.permutation(30)
    shuffled = np.vstack([b.counts for b in infer(corpus[order], tables, inference, seed=4)])
    assert shuffled.tobytes() == whole[order].tobytes()
    alone = next(infer(corpus[[7]], tables, inference, seed=4, n_jobs=1)).counts
    assert alone.tobytes() == whole[[7]].tobytes()
    assert whole.sum(axis=1) == pytest.approx(corpus.document_lengths, rel=1e-4)
    if method != "deterministic":
        other = np.vstack([batch.counts for batch in infer(corpus, tables, inference, seed=5)])
        assert other.tobytes() != whole.tobytes()


@pytest.mark.parametrize("method", ["sampled", "proper"])
def test_a_chain_knows_nothing_of_the_chains_before_it(
    method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deplda.inference.layout.TINY", 0)
    rng = np.random.default_rng(3)
    label_words, topics = some_label_words(rng, 30, 400), some_topic_labels(rng, 400, 6)
    corpus = Corpus(rng.poisson(3, size=(3, 30)), np.zeros((3, 400)))
    plan = Schedule(8, 2, 3)

    def counts(n_chains: int, n_sets: int) -> Array:
        tables = Tables(label_words, [topics] * n_sets)
        inference = Inference(
            60.0, 40.0, 2.0, method=method, n_chains=n_chains, schedule=plan, n_label_tokens=80
        )
        return next(infer(corpus, tables, inference)).counts * n_chains * n_sets

    # Chains are numbered through all sets: three on one set are one on each of three.
    assert (counts(3, 1) == counts(1, 3)).all()


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("method", ["sampled", "proper"])
@pytest.mark.parametrize("n_topics", [0, 1, 4])
def test_conditionals_and_drawn_counts_agree_on_average(n_topics: int, method: Any) -> None:
    rng = np.random.default_rng(1)
    sets = [some_topic_labels(rng, 6, n_topics)] if n_topics else []
    tables = Tables(some_label_words(rng, 8, 6), sets)
    corpus = Corpus([[3, 0, 2, 0, 1, 1, 0, 4]], np.zeros((1, 6)))
    results = {}
    for estimate in ("counts", "conditionals"):
        inference = Inference(
            4.0, 2.0, 1.0, method=method, n_chains=400, schedule=Schedule(10, 20, 2),
            estimate=estimate, n_label_tokens=10,
        )  # fmt: skip
        results[estimate] = next(infer(corpus, tables, inference)).counts[0]
        assert results[estimate].sum() == pytest.approx(11, rel=1e-5)
    assert results["conditionals"] == pytest.approx(results["counts"], abs=0.12)
