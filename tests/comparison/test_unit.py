"""One unit: the same metrics however it is run."""

from pathlib import Path

import numpy as np
import pytest

from deplda import Corpus
from deplda.comparison import Comparison, Model
from deplda.comparison.unit import Task, measure, shown_row
from deplda.data.datasets import Dataset, save_folder
from deplda.kernels.cuda.device import Gpu
from tests.kernels.cuda.conftest import folder, gpu
from tests.kernels.cuda.emulator import EmulatedGpu

__all__ = ["folder", "gpu"]


@pytest.fixture
def data(news: Dataset, tmp_path: Path) -> str:
    save_folder(news, tmp_path / "news")
    return str(tmp_path / "news")


def test_a_unit_gives_the_same_metrics_for_any_number_of_threads(
    small: Comparison, data: str
) -> None:
    title = "Dependency (few)"
    one, two = (
        measure(
            Task(title=title, model=small.models[title], split=0, seed=0, data=data, n_jobs=n)
        ).results["metrics"]
        for n in (1, 2)
    )
    assert one == two


def test_a_unit_on_a_gpu_names_it(gpu: Gpu, data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EmulatedGpu, "name", "emulated", raising=False)
    task = {"title": "SVM", "model": Model("VanillaSVM"), "split": 0, "seed": 0, "data": data}
    on_gpu = measure(Task(**task, device="cuda")).results  # type: ignore[arg-type]
    on_cpu = measure(Task(**task)).results  # type: ignore[arg-type]
    assert on_gpu["machine"]["gpu"] == gpu.name
    assert on_cpu["machine"]["gpu"] == "–"
    ours, expected = (
        results["metrics"]["document"]["ranking"]["average_precision"]
        for results in (on_gpu, on_cpu)
    )
    assert ours == pytest.approx(expected, abs=1e-3)


def test_a_document_of_three_to_eight_labels_is_shown() -> None:
    labels = [[1, 1, 1, 0, 1], [1, 1, 0, 1, 0], [0, 0, 1, 0, 1], [0, 0, 0, 1, 0]]
    corpus = Corpus(np.ones((4, 1)), labels)
    assert shown_row(corpus) == 0
    assert shown_row(corpus[[2, 0]]) == 1
