"""Looking at the page in a real browser, as people do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium is installed (apt-get install chromium, or set CHROMIUM)"
)
TEXT = "The jury in court. A naïve 𝒳 team lost the game <b>in</b> the arena."


@contextmanager
def watched(browser: Browser, address: str, script: str = "", **how: Any) -> Iterator[Page]:
    """Yield a page; fail on console errors, and on requests to anywhere else.

    The script runs before the page's own.
    """
    context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 900}, **how)
    context.set_default_timeout(20_000)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "request",
        lambda asked: None if asked.url.startswith((address, "blob:")) else wrong.append(asked.url),
    )
    page.add_init_script(script)
    page.goto("/")
    yield page
    context.close()
    expected = getattr(page, "expected_errors", 0)
    assert len(wrong) == expected, wrong


def suggest(page: Page, text: str = TEXT) -> None:
    """Type a text and ask for its labels."""
    page.fill("#text", text)
    page.click("#go")
    expect(page.locator("#reading")).to_be_visible()


def open_files(page: Page, *paths: Path) -> None:
    """Open files, once the page listens: a field that is hidden takes them before, in vain."""
    expect(page.locator("#open")).to_be_visible()
    page.set_input_files("#file", list(paths))


def paste_many(page: Page, *texts: str) -> None:
    """Put several texts into the queue."""
    page.click("#many-texts")
    page.fill("#several-text", "\n---\n".join(texts))
    page.click("#several-add")
    expect(page.locator("#queue-said")).to_have_text(f"Document 1 of {len(texts)}")
    expect(page.locator(".suggestion .name").first).to_be_focused()


def decisions(page: Page) -> list[str]:
    """Return what was said to each suggestion."""
    found: list[str] = page.locator(".suggestion").evaluate_all(
        "all => all.map(one => one.dataset.decision)"
    )
    return found
