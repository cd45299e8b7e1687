from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# A busy machine is no failure.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--data-dir", type=Path, help="folder of real data sets, for the tests marked 'data'"
    )
    parser.addoption(
        "--annif", type=Path, help="executable of a real Annif, for the tests marked 'annif'"
    )
    parser.addoption(
        "--label-studio",
        type=Path,
        help="executable of a real Label Studio, for the tests marked 'label_studio'",
    )
    parser.addoption(
        "--abuse", action="store_true", help="kills, mutations and crowds in full number"
    )


@pytest.fixture(scope="session")
def data_dir(request: pytest.FixtureRequest) -> Path:
    folder: Path | None = request.config.getoption("--data-dir")
    if folder is None:
        pytest.fail("tests marked 'data' need --data-dir=DIR")
    return folder


@pytest.fixture(scope="session")
def annif(request: pytest.FixtureRequest) -> Path:
    command: Path | None = request.config.getoption("--annif")
    if command is None:
        pytest.fail("tests marked 'annif' need --annif=PATH")
    return command


@pytest.fixture(scope="session")
def label_studio(request: pytest.FixtureRequest) -> Path:
    command: Path | None = request.config.getoption("--label-studio")
    if command is None:
        pytest.fail("tests marked 'label_studio' need --label-studio=PATH")
    return command


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    from tests.engine.clusters import Cluster

    with ExitStack() as opened:
        yield Cluster(opened)


@pytest.fixture
def client(cluster: Any) -> Any:
    return cluster.client()
