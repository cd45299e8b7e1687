from pathlib import Path

import pytest

from deplda.experiments import read_experiment
from deplda.experiments.protocol import Experiment
from tests.experiments.worlds import SMALL
from tests.kernels.cuda.conftest import folder, gpu

__all__ = ["folder", "gpu", "small"]


@pytest.fixture
def small(tmp_path: Path) -> Experiment:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return read_experiment(path)
