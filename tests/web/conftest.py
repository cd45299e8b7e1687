from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.web.browsing import CHROMIUM, watched
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
    with httpx.Client(base_url=address, timeout=60) as found:  # a file's process starts slowly
        yield found


@pytest.fixture(scope="module")  # while it is there, asyncio has a loop in this thread
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with watched(browser, address) as found:
        yield found
