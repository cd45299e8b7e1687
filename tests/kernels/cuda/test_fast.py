"""Fast inference on a GPU against exact chains and the CPU; deliberate mistakes are found.

Every test with the fixture `gpu` runs on a GPU where there is one (`-m gpu`), and everywhere on an
emulated one, with fewer chains.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import Corpus, Schedule
from deplda.inference.batches import infer
from deplda.inference.layout import Tables
from deplda.inference.settings import METHODS, Inference
from deplda.kernels.cuda import proper
from deplda.kernels.cuda.device import Gpu, GpuFullError
from deplda.kernels.cuda.fast import batches, phi_sizes, workspace_sizes
from deplda.training.estimates import LabelWords, TopicLabels
from tests.kernels.benches import Array, Bench, exact_tokens, some_label_words, some_topic_labels
from tests.kernels.checks import chi_square_p
from tests.kernels.cuda.emulator import emulated, more, one, use


def last_states(gpu: Gpu, bench: Bench, document: list[int], n_chains: int) -> tuple[Array, Array]:
    """Return the tokens of each label and of each topic in the last state of so many chains."""
    tables = Tables(bench.label_words, bench.topic_labels)
    gamma = bench.gamma * max(bench.n_topics, 1)
    inference = Inference(
        bench.eta, bench.alpha * bench.n_labels, gamma, n_chains=n_chains, schedule=Schedule(12)
    )
    found = one([document], tables, inference)
    topics = found.topics[0] * (bench.n + gamma) - bench.gamma
    return np.rint(found.counts[0] * n_chains), np.rint(topics * n_chains)


@pytest.mark.parametrize("n_topics", [0, 1, 4])
@pytest.mark.parametrize("word", [0, 3])
def test_the_label_of_a_single_token_follows_the_dense_weights(
    gpu: Gpu, word: int, n_topics: int
) -> None:
    # With one token there is no other to sit with: every draw comes from the prior's buckets.
    document = [0] * 10
    document[word] = 1
    bench = Bench(5, 10, 30, n_topics, document, eta=6.0)
    observed, _ = last_states(gpu, bench, document, more(gpu, 600, 200_000))
    assert chi_square_p(observed, exact_tokens(bench)[0]) > 0.001


def test_expected_counts_and_prior_are_those_of_the_exact_chain(gpu: Gpu) -> None:
    document, n_chains = [2, 1, 0, 1], more(gpu, 200, 40_000)
    bench = Bench(3, 4, 3, 2, document)
    counts, tokens = exact_tokens(bench)
    alpha = bench.alpha + bench.phi_prime @ (bench.scale * (tokens + bench.gamma))
    tables = Tables(bench.label_words, bench.topic_labels)
    error = 3.5 / np.sqrt(n_chains)  # some five standard errors of a mean over chains
    for estimate in ("counts", "conditionals"):
        inference = Inference(
            3.0, 0.8, 0.7, n_chains=n_chains, schedule=Schedule(20, 4, 8), estimate=estimate
        )
        found = one([document], tables, inference)
        assert found.counts[0] == pytest.approx(counts, abs=error)
        assert found.alpha[0] == pytest.approx(alpha, abs=error)
        assert found.counts.sum() == pytest.approx(4, rel=1e-6)


WRONG_DRAWS = [
    ("mass[b] - (k == b * LANES + lane)", "mass[b] + 9 * (k == b * LANES + lane)"),
    ("slot == to ? 1.0f : -1.0f", "slot == to ? 1.0f : 0.0f"),
    ("ws.n_dt[t] - (t == old)", "ws.n_dt[t] * 4"),
    ("number, at) * (heavy + rest)", "number, at) * heavy"),
    ("topics.topic_values[first + e]", "1.0f"),
    ("* topic_value(topics, words.row_labels[begin + e], t)", "* 0.3f"),
    ("words.row_sums, begin, end, u2 *", "words.row_sums, begin, end, 0.5 *"),
    ("label_values[begin + lane]", "label_values[0]"),
    ("near.rows[0][slot] = own.x + smooth", "near.rows[0][slot] = 9.0f * slot"),
    ("left < topics.word_sums[end - 1]", "false"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong"), WRONG_DRAWS)
def test_a_wrong_kernel_of_documents_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str
) -> None:
    gpu = emulated(folder, changed=(right, wrong))
    use(gpu, monkeypatch)
    document, single = [2, 1, 0, 1], [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    bench = Bench(3, 4, 3, 2, document)
    found = np.concatenate(last_states(gpu, bench, document, 300)) / 300
    off = np.abs(found - np.concatenate(exact_tokens(bench))).max()
    p = 1.0
    for n_topics in (1, 4):
        other = Bench(5, 10, 30, n_topics, single, eta=6.0)
        observed, _ = last_states(gpu, other, single, 1_000)
        p = min(p, chi_square_p(observed, exact_tokens(other)[0]))
    assert off > 7 / np.sqrt(300) or p < 1e-6  # some five standard errors


def test_more_labels_than_slots_are_handled(gpu: Gpu) -> None:
    rng = np.random.default_rng(2)
    tables = Tables(some_label_words(rng, 20, 300), [some_topic_labels(rng, 300, 3)])
    document, n_chains = [[9] * 20], more(gpu, 3, 600)
    inference = Inference(20.0, 400.0, 1.0, n_chains=n_chains, schedule=Schedule(4, 3, 2))
    found = one(document, tables, inference).counts[0]
    assert found.sum() == pytest.approx(180, rel=1e-9)
    corpus = Corpus(document, np.zeros((1, 300)))
    usual = next(infer(corpus, tables, replace(inference, n_chains=100))).counts[0]
    spread = np.sqrt(np.maximum(usual, 0.1) * (1 / (3 * n_chains) + 1 / 300))
    assert (np.abs(found - usual) < 8 * spread).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_documents_result_depends_on_its_words_and_the_seed_alone(gpu: Gpu, method: Any) -> None:
    rng = np.random.default_rng(0)
    tables = Tables(
        some_label_words(rng, 25, 12), [some_topic_labels(rng, 12, 4) for _ in range(2)]
    )
    documents = rng.poisson(0.6, size=(9, 25))
    documents[0] = 0
    inference = Inference(
        5.0, 2.0, 1.0, method=method, n_chains=2, schedule=Schedule(5, 3, 2), n_label_tokens=20
    )
    whole = one(documents, tables, inference, seed=4).counts
    order = rng.permutation(9)
    assert (one(documents[order], tables, inference, seed=4).counts == whole[order]).all()
    assert (one(documents[[7]], tables, inference, seed=4).counts == whole[[7]]).all()
    assert whole.sum(axis=1) == pytest.approx(documents.sum(axis=1), rel=1e-6)
    if method != "deterministic":
        assert (one(documents, tables, inference, seed=5).counts != whole).any()


@pytest.mark.parametrize("method", ["sampled", "proper"])
def test_documents_whose_words_do_not_fit_side_by_side_come_one_after_the_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch, method: Any
) -> None:
    rng = np.random.default_rng(0)
    tables = Tables(some_label_words(rng, 25, 90), [some_topic_labels(rng, 90, 4)])
    documents = rng.poisson(0.6, size=(5, 25))
    inference = Inference(5.0, 2.0, 1.0, method=method, schedule=Schedule(4), n_label_tokens=20)
    own, tokens = (documents > 0).sum(axis=1), documents.sum(axis=1)
    needed = workspace_sizes(own, tokens, 90, 4, conditionals=False)
    if method == "proper":
        needed = proper.workspace_sizes(own, tokens, 90, 4, False, 20)
    least = 4 * int(needed.max()) + 8 * int(phi_sizes(own, 90).max())
    corpus = Corpus(documents, np.zeros((5, 90)))
    found = []
    for room in (1 << 20, least):
        use(emulated(folder, room=room), monkeypatch)
        some = list(infer(corpus, tables, inference, device="cuda"))
        found.append(np.concatenate([batch.counts for batch in some]))
    assert (found[0] == found[1]).all()
    use(emulated(folder, room=least - 4), monkeypatch)
    with pytest.raises(GpuFullError, match="would need"):
        list(infer(corpus, tables, inference, device="cuda"))


def test_batches_are_as_large_as_fits() -> None:
    assert list(batches(np.array([5, 5, 3, 1, 1]), 10)) == [(0, 2), (2, 5)]
    assert list(batches(np.array([], np.int64), 10)) == []
    with pytest.raises(GpuFullError):
        list(batches(np.array([5, 11]), 10))


def test_seventy_thousand_labels_are_no_limit(gpu: Gpu) -> None:
    rng = np.random.default_rng(6)
    n, few = 70_000, 50
    phi = some_label_words(rng, 5, few)
    weights = np.zeros((5, n), np.float32)
    weights[:, :few] = phi.weights.toarray()
    base = np.concatenate([phi.base, np.full(n - few, 0.1)])
    own = some_topic_labels(rng, few, 3).weights.toarray()
    own = np.concatenate([own * 0.9 / own.sum(axis=0), np.zeros((n - few, 3))])
    topics = TopicLabels(csr_array(own), np.full(3, 0.1 / n))
    tables = Tables(LabelWords(csr_array(weights), base), [topics])
    usual = Inference(5.0, 2.0, 1.0, n_chains=2, schedule=Schedule(2, 2, 1))
    for inference in (
        usual, replace(usual, estimate="conditionals"), replace(usual, method="deterministic"),
        replace(usual, method="proper", n_label_tokens=9),
    ):  # fmt: skip
        found = one([[1, 0, 2, 3, 1]], tables, inference)
        assert found.counts.sum() == pytest.approx(7, rel=1e-4)
        assert found.alpha.sum() == pytest.approx(7, rel=1e-6)
