from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.web.serving import running, text_model


@pytest.fixture(scope="session")
def model() -> Any:
    return text_model()


@pytest.fixture(scope="session")
def address(model: Any) -> Iterator[str]:
    with running(model) as found:
        yield found


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address) as found:
        yield found
