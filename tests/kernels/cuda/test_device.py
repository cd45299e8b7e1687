"""The GPU as a whole: chosen or not, its memory, its compiler, and models that work on it."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from paper.data import load as load_data

from deplda import (
    Corpus,
    DependencyLDA,
    InputError,
    Schedule,
    datasets,
    load,
    train_label_words,
    train_topic_labels,
)
from deplda.inference.batches import infer
from deplda.inference.layout import Tables
from deplda.inference.settings import ESTIMATES, METHODS, Inference
from deplda.kernels.cuda import device as gpus
from deplda.kernels.cuda.device import Gpu, GpuFullError
from tests.drawn_news import drawn_news
from tests.inference.inferred import attribute, score_matrix
from tests.kernels.benches import some_label_words, some_topic_labels
from tests.kernels.cuda.emulator import SOURCES, emulated, one, use


def test_a_gpu_with_little_memory_gives_the_same_bits(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    tables = Tables(some_label_words(rng, 25, 12), [some_topic_labels(rng, 12, 4)])
    documents = rng.poisson(0.6, size=(6, 25))
    labels = np.tile([3, 0, 7], (6, 1))
    for method in METHODS:
        for estimate in ESTIMATES:
            inference = Inference(
                5.0, 2.0, 1.0, method=method, estimate=estimate, n_chains=3, schedule=Schedule(3),
                n_label_tokens=20,
            )  # fmt: skip
            found = []
            for room in (1 << 30, 3 << 14):
                use(emulated(folder, room=room), monkeypatch)
                corpus = Corpus(documents, np.zeros((6, 12)))
                given = attribute(corpus, tables, inference, labels, device="cuda")
                parts = [*one(documents, tables, inference)[:3], *given]
                found.append(np.concatenate([part.ravel() for part in parts]))
            assert (found[0] == found[1]).all()


def test_too_little_memory_is_an_error_or_the_cpu(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    tables = Tables(some_label_words(rng, 25, 80), [])
    corpus = Corpus(rng.poisson(2, size=(2, 25)), np.eye(2, 80))
    use(emulated(folder, room=1_000), monkeypatch)
    for method in METHODS:
        inference = Inference(0.0, 2.0, 1.0, method=method, schedule=Schedule(2))
        with pytest.raises(InputError, match=r"GB are free for it; use device='cpu'"):
            next(infer(corpus, tables, inference, device="cuda"))
        usual = next(infer(corpus, tables, inference)).counts
        assert (next(infer(corpus, tables, inference, device="auto")).counts == usual).all()
    with pytest.raises(GpuFullError):
        train_label_words(corpus, device="cuda")
    schedule = Schedule(2)
    found = train_label_words(corpus, schedule=schedule, device="auto").label_words
    assert (found.base == train_label_words(corpus, schedule=schedule).label_words.base).all()


@pytest.mark.parametrize("source", SOURCES)
def test_the_sources_are_what_a_cuda_compiler_takes(source: str, tmp_path: Path) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no CUDA compiler (nvcc) is on this machine")
    path = gpus.SOURCES / f"{source}.cu"
    command = [nvcc, "-std=c++17", "-Werror", "all-warnings", "-cubin", "-arch=sm_75", str(path)]
    subprocess.run([*command, "-o", str(tmp_path / "out")], check=True)


def test_what_a_gpu_cannot_do_is_an_error_or_done_on_the_cpu(gpu: Gpu) -> None:
    rng = np.random.default_rng(0)
    tables = Tables(some_label_words(rng, 6, 70), [some_topic_labels(rng, 70, 2)])
    corpus = Corpus(rng.poisson(1, size=(2, 6)), np.eye(2, 70))
    inference = Inference(1.0, 1.0, 1.0, method="deterministic")
    reason = "engine is 'processes'; a GPU works for this process"
    with pytest.raises(InputError, match=reason):
        infer(corpus, tables, inference, engine="processes", device="cuda")
    with pytest.raises(InputError, match=reason):
        train_label_words(corpus, engine="processes", device="cuda")
    usual = next(infer(corpus, tables, inference)).counts
    found = next(infer(corpus, tables, inference, engine="processes", n_jobs=1, device="auto"))
    assert (found.counts == usual).all()


def test_without_a_gpu_cuda_is_an_error_and_auto_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "problem", lambda: "CuPy is not installed")
    rng = np.random.default_rng(0)
    tables = Tables(some_label_words(rng, 6, 5), [])
    corpus = Corpus(rng.poisson(1, size=(2, 6)), np.eye(2, 5))
    inference = Inference(0.0, 1.0, 1.0, method="deterministic")
    with pytest.raises(InputError, match="device is 'cuda', but CuPy is not installed; use"):
        infer(corpus, tables, inference, device="cuda")
    with pytest.raises(InputError, match="device is 'gpu'; it must be one of"):
        train_label_words(corpus, device=cast("Any", "gpu"))
    usual = next(infer(corpus, tables, inference)).counts
    assert (next(infer(corpus, tables, inference, device="auto")).counts == usual).all()


def test_a_model_says_at_once_that_there_is_no_gpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(gpus, "problem", lambda: "CuPy is not installed")
    corpus = datasets.newsroom(60).corpus
    quick: Any = {"n_topic_chains": 1, "n_topic_sweeps": 5}
    with pytest.raises(InputError, match="device is 'cuda', but CuPy is not installed"):
        DependencyLDA(**quick, device="cuda").fit(corpus)
    with pytest.raises(
        InputError, match="device is 'gpu'; it must be one of 'cpu', 'cuda', 'auto'"
    ):
        DependencyLDA(**quick).set_params(device="gpu").fit(corpus)
    model = DependencyLDA(**quick, device="auto").fit(corpus)
    usual = DependencyLDA(**quick).fit(corpus)
    assert (model.decision_function(corpus) == usual.decision_function(corpus)).all()
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").get_params()["device"] == "cpu"


def test_a_model_trains_and_predicts_on_a_gpu(gpu: Gpu) -> None:
    corpus = drawn_news(40).corpus
    quick: Any = {"n_topic_chains": 1, "n_topic_sweeps": 5, "n_chains": 2, "n_sweeps": 4}
    model = DependencyLDA(**quick, fit_method="sampled", device="cuda").fit(corpus)
    assert model.traces_["label_words"] is not None
    assert model.traces_["label_words"].values.shape[:2] == (2, 4)
    ranking = model.rank(corpus[:4], k=3)
    usual = model.set_params(device="cpu").rank(corpus[:4], k=3)
    assert (ranking.labels[:, 0] == usual.labels[:, 0]).all()
    # The CPU pools more labels.
    assert ranking.scores == pytest.approx(usual.scores, rel=0.02, abs=0.001)


def test_a_model_learns_by_expectations_on_a_gpu_and_learns_on(gpu: Gpu) -> None:
    corpus = drawn_news(60).corpus
    quick: Any = {"n_topic_chains": 2, "n_topic_sweeps": 5, "n_held_out": 0, "background": 0.3}
    found, usual = (
        DependencyLDA(**quick, device=device).fit(corpus[:40]) for device in ("cuda", "cpu")
    )
    for _ in range(2):
        a, b = found.label_words_.dense(), usual.label_words_.dense()
        assert np.corrcoef(a.ravel(), b.ravel())[0, 1] > 0.98
        traces = found.traces_["topic_labels"]
        assert traces is not None
        assert traces.values.shape == (2, 5, 1)
        found.partial_fit(corpus[40:])
        usual.partial_fit(corpus[40:])


@pytest.mark.gpu
@pytest.mark.data
@pytest.mark.timeout(1200)  # most of it for the CPU's part
@pytest.mark.parametrize("name", ["yahoo-arts", "eurlex20k"])
def test_the_gpu_ranks_as_well_as_the_cpu_on_real_data(name: str, data_dir: Path) -> None:
    from tests.training.test_real_data import average_precision

    if problem := gpus.problem():
        pytest.skip(problem)
    data = load_data(name, data_dir)
    train, test = (data.corpus[rows] for rows in data.splits[0])
    test = test[:400]
    n_topics = min(200, train.n_labels)
    topics = train_topic_labels(train, n_topics, n_chains=2, schedule=Schedule(100)).topic_labels
    phi = {
        device: train_label_words(train, n_chains=6, device=device).label_words
        for device in ("cpu", "cuda")
    }
    usual = Inference(100.0, 10.0, 1.0, n_chains=8, estimate="conditionals")
    for inference in (usual, replace(usual, method="deterministic")):
        found: dict[Any, float] = {}
        for trained, device in (("cpu", "cpu"), ("cpu", "cuda"), ("cuda", "cuda")):
            scores = score_matrix(test, Tables(phi[trained], topics), inference, device=device)  # type: ignore[arg-type]
            found[trained, device] = average_precision(scores, test.labels.toarray())
        assert found["cpu", "cuda"] == pytest.approx(found["cpu", "cpu"], abs=0.003)
        assert found["cuda", "cuda"] == pytest.approx(found["cpu", "cpu"], abs=0.006)
