from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--data-dir", type=Path, help="folder of real data sets, for the tests marked 'data'"
    )
    parser.addoption(
        "--abuse", action="store_true", help="kills, mutations and crowds in full number"
    )


_LONG = {
    "test_docs.py", "test_base.py", "test_hybrid.py", "test_page.py", "test_connections.py",
    "test_runner.py", "test_kills.py",
}  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that no process is left alone with one."""
    items.sort(key=lambda item: item.path.name not in _LONG)


@pytest.fixture(scope="session")
def data_dir(request: pytest.FixtureRequest) -> Path:
    folder: Path | None = request.config.getoption("--data-dir")
    if folder is None:
        pytest.fail("tests marked 'data' need --data-dir=DIR")
    return folder


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    from tests.engine.clusters import Cluster

    with ExitStack() as opened:
        yield Cluster(opened)


@pytest.fixture
def client(cluster: Any) -> Any:
    return cluster.client()
