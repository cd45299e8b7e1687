from pathlib import Path

import pytest

from deplda.kernels.cuda import device
from deplda.kernels.cuda.device import Gpu
from tests.kernels.cuda.emulator import emulated, use


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("emulated")


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def gpu(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Gpu:
    """Give a GPU, which device="cuda" then means."""
    if request.param == "cuda":
        if problem := device.problem():
            pytest.skip(problem)
        chosen: Gpu | None = device.choose("cuda")
        assert chosen is not None
    else:
        chosen = emulated(folder)
    use(chosen, monkeypatch)
    return chosen
