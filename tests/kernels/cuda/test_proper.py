"""Proper inference on a GPU against its exact posterior and the CPU; mistakes are found."""

from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, identity, kron

from deplda import Corpus, Schedule
from deplda.inference.batches import infer
from deplda.inference.layout import Tables
from deplda.inference.settings import Inference
from deplda.kernels import proper as cpu
from deplda.kernels.cuda.device import Gpu
from deplda.training.estimates import LabelWords
from tests.kernels.benches import Bench, some_label_words, some_topic_labels
from tests.kernels.checks import chi_square_p
from tests.kernels.cuda.emulator import emulated, more, one, use
from tests.kernels.test_proper import log_joint

DOCUMENT, M = [2, 1, 0, 2], 3


@cache
def exact(n_topics: int) -> tuple[Bench, dict[Any, float]]:
    """Return the weight of each state as it can be told: words, label tokens, topics of labels."""
    bench = Bench(10, 4, 3, n_topics, DOCUMENT)
    words = np.repeat(bench.types, bench.times).tolist()
    weights: dict[Any, float] = defaultdict(float)
    for z in product(range(3), repeat=len(words)):
        for c in product(range(3), repeat=M):
            for topics in product(range(n_topics), repeat=M):
                told = (*np.bincount(z, minlength=3), *np.bincount(c, minlength=3),
                        *np.bincount(topics, minlength=n_topics))  # fmt: skip
                weights[told] += np.exp(log_joint(bench, words, z, c, topics))
    return bench, weights


def p_value(n_topics: int, n: int) -> float:
    """Return the p-value of the last states of n chains, a document each.

    The words of a document are copies of those of the others: all have the same posterior, and each
    its own random numbers.
    """
    bench, weights = exact(n_topics)
    phi = LabelWords(
        csr_array(np.tile(bench.label_words.weights.toarray(), (n, 1))), bench.label_words.base
    )
    documents = csr_array(kron(identity(n, "int64"), np.array([DOCUMENT])))
    inference = Inference(
        bench.eta, 3 * bench.alpha, bench.gamma * n_topics, method="proper", n_label_tokens=M,
        schedule=Schedule(10),
    )  # fmt: skip
    corpus = Corpus(documents, np.zeros((n, 3)))
    found = list(infer(corpus, Tables(phi, bench.topic_labels), inference, device="cuda"))
    counts, alpha, topics = (np.concatenate([batch[i] for batch in found]) for i in range(3))
    told = np.rint(np.concatenate(
        [counts, (alpha - bench.alpha) * M / bench.eta,
         topics * (M + bench.gamma * n_topics) - bench.gamma], axis=1
    )).astype(int)  # fmt: skip
    observed = Counter(map(tuple, told.tolist()))
    assert set(observed) <= set(weights)
    return chi_square_p(
        np.array([observed[state] for state in weights]), np.array(list(weights.values()))
    )


@pytest.mark.parametrize("n_topics", [1, 2])
def test_proper_inference_samples_the_exact_posterior(gpu: Gpu, n_topics: int) -> None:
    assert p_value(n_topics, more(gpu, 1_000, 3_000)) > 0.001


WRONG = [
    ("add_token(own, __shfl_sync(ALL, h, lent), -1, lane)", "add_token(own, -1, -1, lane)"),
    ("number * (1.0f +", "number * (0.5f +"),
    ("own.names[drawn] : other", "own.names[drawn] : c"),
    ("(float)own.step * own.n_slot[k]", "0.3f * (float)own.step * own.n_slot[k]"),
    ("own.rows[(long long)topics.label_topics[e] * width + h] +=", "own.rows[h] +="),
    ("return own.tokens[m]", "return own.tokens[0]"),
    ("lgamma(a + step + n_words)", "lgamma(a + step)"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong"), WRONG)
def test_a_wrong_kernel_of_label_tokens_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str
) -> None:
    use(emulated(folder, changed=(right, wrong)), monkeypatch)
    assert p_value(2, 3_000) < 1e-6


def test_the_table_is_that_of_the_cpu(gpu: Gpu) -> None:
    table = gpu.xp.empty((256, 6), np.float32)
    gpu.launch("proper", "excesses", 256, 32, 0.4, 0.01, 5, table)
    found, usual = gpu.get(table), cpu.new_table(5)
    expected = [[cpu._excess(usual, w, n, 0.4, 0.01) for n in range(6)] for w in range(256)]
    assert found == pytest.approx(np.array(expected), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("estimate", ["counts", "conditionals"])
def test_proper_inference_gives_what_the_cpu_does(gpu: Gpu, estimate: Any) -> None:
    rng = np.random.default_rng(3)
    label_words, n_chains = some_label_words(rng, 12, 80), more(gpu, 6, 400)
    tables = Tables(label_words, [some_topic_labels(rng, 80, n) for n in (3, 5)])
    documents = np.array([[1, 0, 3, 2] * 3, [0] * 12, [300] + [0] * 11])
    inference = Inference(
        20.0, 8.0, 2.0, method="proper", n_chains=n_chains, schedule=Schedule(12, 4, 3),
        n_label_tokens=40, estimate=estimate,
    )  # fmt: skip
    found = one(documents, tables, inference)
    corpus = Corpus(documents, np.zeros((3, 80)))
    usual = next(infer(corpus, tables, replace(inference, n_chains=400)))
    assert found.counts.sum(axis=1) == pytest.approx(documents.sum(axis=1), rel=1e-5)
    assert found.alpha.sum(axis=1) == pytest.approx(28, rel=1e-9)
    assert found.alpha[1] == pytest.approx(usual.alpha[1])
    assert found.topics[1] == pytest.approx(usual.topics[1])
    assert (found.counts[1] == 0).all()
    n = 2 * n_chains  # samples of a chain are hardly independent
    spread = np.sqrt(np.maximum(usual.counts, 0.1) * np.maximum(documents.max(axis=1), 1)[:, None])
    assert (np.abs(found.counts - usual.counts) < 6 * spread / np.sqrt(n)).all()
    spread = np.sqrt(20 * np.maximum(usual.alpha, 0.1))
    assert (np.abs(found.alpha - usual.alpha) < 6 * spread / np.sqrt(n)).all()
    assert found.topics == pytest.approx(usual.topics, abs=3 / np.sqrt(n))


def test_label_tokens_on_more_labels_than_slots_are_handled(gpu: Gpu) -> None:
    rng = np.random.default_rng(2)
    tables = Tables(some_label_words(rng, 20, 300), [some_topic_labels(rng, 300, 3)])
    inference = Inference(
        200.0, 40.0, 1.0, method="proper", n_label_tokens=400, n_chains=more(gpu, 2, 200),
        schedule=Schedule(3, 2, 1),
    )  # fmt: skip
    found = one([[4] * 20], tables, inference)
    assert found.counts.sum() == pytest.approx(80, rel=1e-9)
    assert found.alpha.sum() == pytest.approx(240, rel=1e-9)
    corpus = Corpus([[4] * 20], np.zeros((1, 300)))
    usual = next(infer(corpus, tables, replace(inference, n_chains=60)))
    error = 8 * np.sqrt(1 / (2 * inference.n_chains) + 1 / 120)  # of two samples a chain
    assert (np.abs(found.counts - usual.counts) < error * np.sqrt(usual.counts + 0.1)).all()
    assert (np.abs(found.alpha - usual.alpha) < error * np.sqrt(usual.alpha + 0.1)).all()
