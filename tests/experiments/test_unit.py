"""One unit: the same metrics however it is run, and draws that can be paired."""

import logging
from pathlib import Path

import pytest

from deplda import VanillaSVM, datasets
from deplda.experiments.protocol import Experiment, Model
from deplda.experiments.unit import Task, run_unit
from deplda.kernels.cuda import device
from deplda.kernels.cuda.device import Gpu
from tests.drawn_news import drawn_news
from tests.kernels.cuda.emulator import EmulatedGpu


def test_a_unit_gives_the_same_metrics_for_any_number_of_threads(small: Experiment) -> None:
    one, two = (
        run_unit(Task(small, "Dependency (few)", 0, "quick", n_jobs=n))["metrics"] for n in (1, 2)
    )
    assert one == two


@pytest.fixture
def few_news(monkeypatch: pytest.MonkeyPatch) -> Experiment:
    data = datasets.load("newsroom", n_documents=80)
    monkeypatch.setattr(datasets, "load", lambda *_: data)
    return Experiment(name="few", data="newsroom", models={"SVM": Model("VanillaSVM")})


def test_a_unit_takes_its_turn_on_a_gpu_and_leaves_its_memory(
    gpu: Gpu, few_news: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released: list[bool] = []
    monkeypatch.setattr(EmulatedGpu, "name", "emulated", raising=False)
    monkeypatch.setattr(type(gpu), "release", lambda _: released.append(True))
    task = Task(few_news, "SVM", 0, "quick", device="cuda", turn=str(tmp_path / "turn"))
    found = run_unit(task)
    assert found["machine"]["gpu"] == gpu.name
    assert found["machine"]["cpu_since"] is None
    assert released
    usual = run_unit(Task(few_news, "SVM", 0, "quick"))["metrics"]
    told, expected = (
        metrics["document"]["ranking"]["average_precision"] for metrics in (found["metrics"], usual)
    )
    assert told == pytest.approx(expected, abs=1e-3)


def test_a_unit_says_why_it_worked_on_the_cpu(
    few_news: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "problem", lambda: "CuPy is not installed")
    level = device.LOG.level
    found = run_unit(Task(few_news, "SVM", 0, "quick", device="auto"))
    assert found["machine"]["gpu"] == "–"
    assert found["machine"]["cpu_since"] == "CuPy is not installed"
    assert device.LOG.level == level
    assert not device.LOG.handlers


def test_the_log_alone_is_told_that_auto_is_the_cpu(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "problem", lambda: "no CUDA GPU can be used")
    corpus = drawn_news(40).corpus
    with caplog.at_level(logging.INFO, device.LOG.name):
        VanillaSVM(device="auto", n_held_out=0).fit(corpus)
    assert set(caplog.messages) == {"no CUDA GPU can be used"}
