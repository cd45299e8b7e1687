"""Inference on a GPU: what it cannot do, and words of labels. (The rest: tests/kernels/cuda.)"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import Corpus, DependencyLDA, FlatLDA, InputError, LabelWords, Schedule
from deplda.inference.batches import infer
from deplda.inference.layout import Tables
from deplda.inference.settings import Inference
from deplda.kernels.cuda import device
from deplda.kernels.cuda.device import Gpu
from tests.drawn_news import drawn_news
from tests.inference.inferred import attribute, score_matrix
from tests.kernels.benches import some_label_words, some_topic_labels
from tests.kernels.cuda.emulator import emulated, more, use


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "problem", lambda: "CuPy is not installed")


CORPUS = Corpus([[2, 0, 1], [0, 3, 1]], np.eye(2, 5))


def tables() -> Tables:
    return Tables(LabelWords(csr_array((3, 5)), np.full(5, 1 / 3)), [])


def test_what_a_gpu_cannot_do_is_said() -> None:
    fast = Inference(0.0, 1.0, 1.0)
    with pytest.raises(InputError, match="engine is 'processes'; a GPU works for this process"):
        infer(CORPUS, tables(), fast, engine="processes", device="cuda")


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("method", ["sampled", "proper", "deterministic"])
def test_without_a_gpu_cuda_is_an_error_and_auto_the_cpu(method: Any) -> None:
    inference = Inference(0.0, 1.0, 1.0, method=method, schedule=Schedule(2))
    with pytest.raises(InputError, match=r"device is 'cuda', but .*; use device='cpu' or 'auto'"):
        score_matrix(CORPUS, tables(), inference, device="cuda")
    found = score_matrix(CORPUS, tables(), inference, device="auto")
    assert (found == score_matrix(CORPUS, tables(), inference)).all()


# Words of chosen labels ---------------------------------------------------------------------------

N_LABELS = 40  # more than a warp has lanes
WAYS: list[Any] = [
    ("deterministic", "counts"), ("sampled", "counts"), ("sampled", "conditionals"),
    ("proper", "counts"), ("proper", "conditionals"),
]  # fmt: skip


def world(topics: tuple[int, ...] = (3, 4)) -> tuple[Tables, Corpus]:
    """Return four documents, one of them without words."""
    rng = np.random.default_rng(1)
    sets = [some_topic_labels(rng, N_LABELS, n) for n in topics]
    tables = Tables(some_label_words(rng, 15, N_LABELS), sets)
    documents = rng.poisson(1.5, size=(4, 15)) * (np.arange(4) != 1)[:, None]
    return tables, Corpus(documents, np.zeros((4, N_LABELS)))


def asked(way: tuple[Any, Any], n_chains: int) -> Inference:
    return Inference(
        9.0, 4.0, 2.0, method=way[0], estimate=way[1], n_chains=n_chains, n_label_tokens=12,
        schedule=Schedule(6, 3, 2),
    )  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_every_token_is_given_to_some_label(gpu: Gpu, way: Any) -> None:
    tables, corpus = world()
    inference = asked(way, 2)
    counts = next(infer(corpus, tables, inference, seed=3, device="cuda")).counts
    rng = np.random.default_rng(0)
    every = np.array([rng.permutation(N_LABELS) for _ in range(4)])
    given = list(attribute(corpus, tables, inference, every, seed=3, device="cuda"))
    for d, shares in enumerate(given):
        entries = corpus.counts[[d]]
        assert shares.shape == (entries.nnz, N_LABELS)
        assert shares.sum(axis=1) == pytest.approx(entries.data, rel=1e-5)
        assert shares.sum(axis=0) == pytest.approx(counts[d, every[d]], rel=1e-4, abs=1e-6)
    few = list(attribute(corpus, tables, inference, every[:, 5:8], seed=3, device="cuda"))
    assert all((a == b[:, 5:8]).all() for a, b in zip(few, given, strict=True))


def given_by(device: Any, way: Any, n_chains: int, topics: tuple[int, ...]) -> Any:
    tables, corpus = world(topics)
    every = np.tile(np.arange(N_LABELS), (4, 1))
    given = attribute(corpus, tables, asked(way, n_chains), every, device=device)
    return np.concatenate(list(given)), corpus.counts.data


@pytest.mark.parametrize("topics", [(), (3, 4)])
@pytest.mark.parametrize("way", WAYS)
def test_words_give_as_on_the_cpu(gpu: Gpu, way: Any, topics: tuple[int, ...]) -> None:
    n_chains = more(gpu, 30, 1_000)
    found, times = given_by("cuda", way, n_chains, topics)
    usual, _ = given_by("cpu", way, 600, topics)
    if way[0] == "deterministic":
        assert found == pytest.approx(usual, rel=1e-2, abs=1e-3)  # the CPU pools more labels
    else:
        spread = np.sqrt(np.maximum(usual, 0.05) * times[:, None] / (2 * n_chains))
        assert (np.abs(found - usual) < 6 * spread).all()


WRONG = [
    ("given += ws.label(ws.z[i]) == c", "given += ws.z[i] == c", ("sampled", "counts")),
    ("weight * phi * mass - itself", "weight * phi * mass", ("sampled", "conditionals")),
    ("ws.alpha[c] + (slot >= 0 ?", "0.0f * (slot >= 0 ?", ("proper", "conditionals")),
    ("(words->base[c] + own) * mass[c]", "words->base[c] * mass[c]", ("deterministic", "counts")),
]


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong", "way"), WRONG)
def test_a_wrong_kernel_of_chosen_labels_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str, way: Any
) -> None:
    use(emulated(folder, changed=(right, wrong)), monkeypatch)
    found, times = given_by("cuda", way, 2, (3, 4))
    tables, corpus = world()
    counts = next(infer(corpus, tables, asked(way, 2), device="cuda")).counts.sum(axis=0)
    off = [*(found.sum(axis=1) - times), *(found.sum(axis=0) - counts)]
    assert np.abs(off).max() > 0.05


@pytest.mark.parametrize("model", [DependencyLDA, FlatLDA])
def test_a_model_explains_on_a_gpu_as_on_the_cpu(gpu: Gpu, model: Any) -> None:
    corpus = drawn_news(40).corpus
    more_of: Any = {"n_topic_chains": 1, "n_topic_sweeps": 5} if model is DependencyLDA else {}
    fitted = model(**more_of, random_state=0).fit(corpus)
    usual = fitted.explain(corpus[[3]], k=3)
    found = fitted.set_params(device="cuda").explain(corpus[[3]], k=3)
    assert len(gpu.kept) == 1
    assert [each.label for each in found.reasons] == [each.label for each in usual.reasons]
    for one, other in zip(found.reasons, usual.reasons, strict=True):
        assert one.score == pytest.approx(other.score, rel=0.02)
        found_words, usual_words = (
            {word.name: word.weight for word in each.words} for each in (one, other)
        )
        assert found_words == pytest.approx(usual_words, rel=0.05)
