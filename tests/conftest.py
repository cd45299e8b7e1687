from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--data-dir", type=Path, help="folder of real data sets, for the tests marked 'data'"
    )


@pytest.fixture(scope="session")
def data_dir(request: pytest.FixtureRequest) -> Path:
    folder: Path | None = request.config.getoption("--data-dir")
    if folder is None:
        pytest.fail("tests marked 'data' need --data-dir=DIR")
    return folder
