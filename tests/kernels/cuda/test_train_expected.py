"""φ by expectations on a GPU against plain batches, the CPU and its fixed point; mistakes found."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import Corpus, InputError, datasets, expect_label_words, update_label_words
from deplda.kernels.cuda import train_expected
from deplda.kernels.cuda.device import Gpu
from deplda.training.word_chain import Words
from tests.kernels.cuda.emulator import emulated
from tests.training.worlds import same

Array = np.ndarray[Any, Any]


def documents(n: int = 14) -> Corpus:
    """Return documents with up to 70 types, three turns of a warp's lanes, some without labels."""
    rng = np.random.default_rng(5)
    labels = rng.random((n, 7)) < 0.5
    labels[0], labels[1] = False, np.arange(7) == 3
    counts = rng.poisson(0.7, size=(n, 90))
    counts[2] = 0
    return Corpus(counts, labels)


def plain_counts(
    corpus: Corpus, eta: float, beta: float, background: float, weights: Array, n_passes: int
) -> tuple[Array, Array, float]:
    """Return N_wc, words × labels, N_c and what the last pass moved: batches, obviously."""
    x, y = corpus.counts.toarray().astype(float), corpus.labels.toarray()
    n_own = y.sum(axis=1)
    shares = y[:, None, :] / np.maximum(n_own, 1)[:, None, None] * (x > 0)[:, :, None]
    swept = np.flatnonzero((n_own > 1) & (x.sum(axis=1) > 0))
    alpha = y * (eta / np.maximum(n_own, 1))[:, None]
    if background:
        for d in swept:
            own = np.flatnonzero(y[d])
            alpha[d, own] = eta * (1 - background) / (len(own) - 1)
            alpha[d, own[-1]] = eta * background
    moved = 0.0
    for _ in range(n_passes):
        moved = 0.0
        for b in range(train_expected.BATCHES):
            tokens = weights[:, None, None] * x[:, :, None] * shares
            n_wc, n_c, n_cd = (
                tokens.sum(axis=0),
                tokens.sum(axis=(0, 1)),
                (x[:, :, None] * shares).sum(axis=1),
            )
            later = shares.copy()
            for d in swept[b :: train_expected.BATCHES]:
                m, own = weights[d], x[d][:, None] * shares[d]
                weight = (n_wc - m * own + beta) * (n_cd[d] - own + alpha[d])
                weight = y[d] * weight / (n_c - m * own + corpus.n_words * beta)
                later[d] = weight / weight.sum(axis=1, keepdims=True) * (x[d] > 0)[:, None]
                moved += m * (x[d][:, None] * np.abs(later[d] - shares[d])).sum()
            shares = later
    tokens = weights[:, None, None] * x[:, :, None] * shares
    return tokens.sum(axis=0), tokens.sum(axis=(0, 1)), moved


def counts_on(
    gpu: Gpu, corpus: Corpus, background: float = 0.0, weights: Array | None = None,
    known: Any = None, n_passes: int = 3, batches: int = 3,
) -> tuple[Array, Array, float]:  # fmt: skip
    """Return what a GPU makes of some passes, as `plain_counts` does."""
    weights = np.ones(len(corpus)) if weights is None else weights
    x, y = corpus.counts, corpus.labels
    texts = train_expected.Texts(
        x.indptr.astype(np.int64), x.indices, x.data, y.indptr.astype(np.int64), y.indices,
        weights, corpus.n_words, corpus.n_labels,
    )  # fmt: skip
    state = train_expected.Expectations(gpu, texts)
    usual = Words(corpus, 1.0, 1.0)
    assert (state.cell_starts == usual.starts).all()
    assert (state.cell_words == usual.words).all()
    if known is None:
        known = np.zeros(len(usual.words)), np.zeros(corpus.n_labels)
    state.start(np.concatenate(usual.pieces), known)
    moved = [state.sweep(2.0, 0.1, background) for _ in range(n_passes)]
    cells, labels = state.counts()
    return usual.by_label(cells).toarray().T, labels, moved[-1]


@pytest.fixture(autouse=True)
def few_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train_expected, "BATCHES", 3)


def difference(gpu: Gpu, background: float) -> float:
    corpus = documents()
    weights = np.random.default_rng(1).choice([1.0, 0.4, 2.5], len(corpus))
    found = counts_on(gpu, corpus, background, weights)
    plain = plain_counts(corpus, 2.0, 0.1, background, weights, 3)
    pairs: Any = zip(found, plain, strict=True)
    return max(float(np.abs(a - b).max()) for a, b in pairs)


@pytest.mark.parametrize("background", [0.0, 0.3])
def test_a_pass_is_that_of_plain_batches(gpu: Gpu, background: float) -> None:
    assert difference(gpu, background) < 1e-4  # shares have 24 bits


WRONG_EXPECTATIONS = [
    ("(max(n_wc - m * own, 0.0) + beta)", "(n_wc + beta)"),
    ("max(n_wc - m * own, 0.0)", "max(n_wc - own, 0.0)"),
    ("(max(n_cd - own, 0.0)", "(max(n_cd, 0.0)"),
    ("/ (max(n_c - m * own, 0.0) + w_beta)", "/ (n_c + w_beta)"),
    ("if (m != 1.0)", "if (m < 0.0)"),
    ("eta * background : alpha", "alpha : alpha"),
    ("atomicAdd(counts.documents + place.first + j, (u64)own);", ";"),
    ("change += m * times", "change += times"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong"), WRONG_EXPECTATIONS)
def test_a_wrong_kernel_of_expectations_is_found(folder: Path, right: str, wrong: str) -> None:
    assert not difference(emulated(folder, changed=(right, wrong)), 0.3) < 1e-3


def test_known_counts_are_there_from_the_start(gpu: Gpu) -> None:
    corpus = documents()
    usual = Words(corpus, 1.0, 1.0)
    rng = np.random.default_rng(2)
    known = rng.gamma(1.0, 5.0, len(usual.words))
    totals = usual.by_label(known).sum(axis=1)
    found = counts_on(gpu, corpus, known=(known, totals))[0]
    without = counts_on(gpu, corpus)[0]
    assert found.sum() == pytest.approx(without.sum() + known.sum())
    assert np.abs(found - usual.by_label(known).toarray().T - without).max() > 0.1


def test_both_devices_settle_at_the_same_expectations(gpu: Gpu) -> None:
    corpus = documents(10)
    how: Any = {"eta": 30.0, "beta": 0.5, "tolerance": 1e-6, "max_sweeps": 400}
    found = expect_label_words(corpus, **how, device="cuda")
    usual = expect_label_words(corpus, **how)
    assert found.n_sweeps < 400
    assert found.label_words.dense() == pytest.approx(usual.label_words.dense(), abs=2e-5)


def test_all_that_the_cpu_takes_is_taken(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many batches that nearly every document sees those before it, as on the CPU."""
    monkeypatch.setattr(train_expected, "BATCHES", 50)
    corpus = datasets.newsroom(40).corpus
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 2.25], len(corpus))
    for options in ({}, {"word_counts": "log"}, {"weights": weights}, {"background": 0.5}):
        how: Any = options
        found = expect_label_words(corpus, **how, device="cuda")
        usual = expect_label_words(corpus, **how)
        assert found.n_sweeps == usual.n_sweeps
        assert found.label_words.weights.nnz == pytest.approx(
            usual.label_words.weights.nnz, rel=0.1
        )
        a, b = found.label_words.dense(), usual.label_words.dense()
        assert a.sum(axis=0) == pytest.approx(1)
        assert np.corrcoef(a.ravel(), b.ravel())[0, 1] > 0.99
    assert same(found.label_words, expect_label_words(corpus, **how, device="cuda").label_words)


def test_phi_learns_on_as_on_the_cpu(gpu: Gpu) -> None:
    corpus = datasets.newsroom(40).corpus
    before = expect_label_words(corpus[:20]).label_words
    found, usual = (
        update_label_words(before, corpus[20:], device=device) for device in ("cuda", "cpu")
    )
    assert np.corrcoef(found.dense().ravel(), usual.dense().ravel())[0, 1] > 0.99


def test_documents_that_teach_nothing_are_an_error(gpu: Gpu) -> None:
    with pytest.raises(InputError, match="no document has both words and labels"):
        expect_label_words(Corpus([[0, 0], [1, 1]], [[1], [0]]), device="cuda")
