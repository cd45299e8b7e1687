"""Inference among candidates on a GPU against the CPU."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import Corpus
from deplda.engine.execution import Execution
from deplda.inference.batches import settle
from deplda.inference.cpu import Cpu
from deplda.inference.layout import Tables
from deplda.inference.scores import scores
from deplda.inference.settings import Inference
from deplda.kernels.cuda.device import Gpu
from tests.kernels.benches import some_label_words, some_topic_labels
from tests.kernels.cuda.emulator import emulated, use

Array = np.ndarray[Any, Any]
HOW = Inference(8.0, 4.0, 2.0, method="deterministic", tolerance=0.0, max_cycles=6)


def some_documents(topics: list[int], n_labels: int, background: float) -> tuple[Tables, Any]:
    rng = np.random.default_rng(0)
    words = some_label_words(rng, 21, n_labels + (background > 0))
    tables = Tables(words, [some_topic_labels(rng, n_labels, n) for n in topics], background)
    x = rng.poisson(3, size=(5, 21))
    x[2] = 0
    return tables, Corpus(x, np.zeros((5, n_labels)))


def some_candidates(k: int, n_labels: int) -> Array:
    return np.array([np.random.default_rng(d).permutation(n_labels)[:k] for d in range(5)])


def both(tables: Tables, corpus: Any, candidates: Array, how: Inference = HOW) -> tuple[Any, Any]:
    """Return the shares by a GPU and by the CPU."""
    backend, _ = settle(corpus, tables, how, 0, Execution(device="cuda"))
    assert backend.gpu is not None
    asked = corpus.counts, candidates
    return backend.shares_among(*asked), Cpu(tables, how, 0).shares_among(*asked)


@pytest.mark.parametrize("topics", [[], [1], [4], [3, 5]])
@pytest.mark.parametrize("background", [0.0, 0.2])
@pytest.mark.parametrize("k", [1, 9, 30])
def test_shares_among_candidates_are_those_of_the_cpu(
    gpu: Gpu, topics: list[int], background: float, k: int
) -> None:
    if background and not topics:
        pytest.skip("a background has a share of topics")
    tables, corpus = some_documents(topics, 30, background)
    found, usual = both(tables, corpus, some_candidates(k, 30))
    assert found == pytest.approx(usual, rel=2e-5)
    if k == 30:
        assert found.sum(axis=1)[[0, 1, 3, 4]] == pytest.approx(1, rel=1e-4)


def test_as_many_as_are_cycled_over(gpu: Gpu) -> None:
    tables, corpus = some_documents([3, 5], 400, 0.2)
    found, usual = both(tables, corpus, some_candidates(286, 400), replace(HOW, word_counts="log"))
    assert found == pytest.approx(usual, rel=1e-3)


def test_of_more_all_labels_are_inferred(gpu: Gpu) -> None:
    tables, corpus = some_documents([3, 5], 400, 0.2)
    candidates = some_candidates(287, 400)
    found, _ = both(tables, corpus, candidates)
    every = scores(Cpu(tables, HOW, 0).infer(corpus.counts), "blend", 400) / 2
    assert found == pytest.approx(np.take_along_axis(every, candidates, axis=1), rel=1e-3)


def test_places_that_are_empty_have_no_share_and_change_no_other(gpu: Gpu) -> None:
    tables, corpus = some_documents([3, 5], 30, 0.2)
    few = some_candidates(7, 30)
    wide = np.pad(few, ((0, 0), (1, 2)), constant_values=-1)
    wide[1, 4] = -1
    (found, usual), (narrow, _) = both(tables, corpus, wide), both(tables, corpus, few)
    assert found == pytest.approx(usual, rel=2e-5)
    assert (found[wide < 0] == 0).all()
    np.testing.assert_array_equal(found[[0, 2, 3, 4], 1:8], narrow[[0, 2, 3, 4]])


def test_a_documents_shares_are_the_same_beside_any_others_and_in_any_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables, corpus = some_documents([3, 5], 30, 0.2)
    candidates = some_candidates(9, 30)
    found = []
    for room in (1 << 30, 60_000):
        use(emulated(folder, room=room), monkeypatch)
        found.append(both(tables, corpus, candidates)[0])
    np.testing.assert_array_equal(*found)
    alone, _ = both(tables, corpus[[3]], candidates[[3]])
    np.testing.assert_array_equal(alone, found[0][[3]])


WRONG = [
    ("number <= FLAT_CYCLES; number++) {\n        for", "number < 1; number++) {\n        for"),
    ("rest = max(own.n - block_sum(rest, parts), 0.0);", "rest = 0.0;"),
    ("(names[s] + 1LL) * n_sets", "names[s] * n_sets"),
    ("mass[s] = (float)(mean + prior);", "mass[s] = (float)mean;"),
    ("alpha[s] = flat + eta / n_sets * own;", "alpha[s] = flat + eta * own;"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong"), WRONG)
def test_a_wrong_kernel_among_candidates_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str
) -> None:
    use(emulated(folder, changed=(right, wrong)), monkeypatch)
    tables, corpus = some_documents([3, 5], 30, 0.2)
    found, usual = both(tables, corpus, some_candidates(9, 30))
    assert found != pytest.approx(usual, rel=2e-5)
