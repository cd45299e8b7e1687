"""Screenshots of every view, in light and dark, on a telephone, a laptop and a large screen.

Run: ``python -m tests.web.screenshots FOLDER [--model MODEL] [--view VIEW …]``. Without a model a
small generated one is shown. Not a test: people look at what it leaves.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright

import deplda
from tests.web.serving import running

WIDTHS = {390: 844, 1280: 900, 2560: 1300}
TEXTS = """Imports of olive oil fall under a new tariff quota of the organisation of the market.
---
The court held that state aid to the airline distorts competition between companies.
---
Fishing for cod in the Baltic Sea is restricted to protect stocks of fish."""


def first_visit(page: Page) -> None:
    expect(page.locator("#example")).to_be_visible()


def example(page: Page) -> None:
    page.click("#example")
    expect(page.locator("#reading")).to_be_visible()


def why(page: Page) -> None:
    example(page)
    page.locator(".suggestion .accept").first.click()
    page.locator(".suggestion .reject").last.click()
    page.locator(".suggestion .name").nth(1).click()
    expect(page.locator(".why h2")).to_be_visible()


def word(page: Page) -> None:
    example(page)
    page.locator("mark.lit").nth(2).hover()
    expect(page.locator("#tip")).to_be_visible()


def queue(page: Page) -> None:
    page.click("#many-texts")
    page.fill("#several-text", TEXTS)
    page.click("#several-add")
    expect(page.locator("#reading")).to_be_visible()
    page.locator(".suggestion .accept").first.click()
    page.click("#finish")
    expect(page.locator("#queue-said")).to_contain_text("2")
    expect(page.locator("#reading")).to_be_visible()
    page.locator(".suggestion .accept").first.click()
    page.fill("#another", "fis")
    expect(page.locator("#another-list")).to_be_visible()


def at(address: str, shown: str) -> Callable[[Page], None]:
    def go(page: Page) -> None:
        page.evaluate("hash => { location.hash = hash; }", address)
        expect(page.locator(shown).first).to_be_visible()

    return go


def label(page: Page) -> None:
    at("#/labels", "#label-list li")(page)
    page.locator("#label-list a").nth(2).click()
    expect(page.locator("#label h2")).to_be_visible()


VIEWS: dict[str, Callable[[Page], None]] = {
    "suggest": first_visit,
    "example": example,
    "why": why,
    "word": word,
    "queue": queue,
    "labels": at("#/labels", "#label-list li"),
    "label": label,
    "model": at("#/model", "#card"),
}


def generated_model() -> Any:
    data = deplda.datasets.load("newsroom")
    documents = data.corpus[data.splits[0].train][:400]
    return deplda.HybridLDA(n_topic_chains=1, n_topic_sweeps=20).fit(documents)


def take(folder: Path, model: Any, views: list[str]) -> None:
    """Leave VIEW-SCHEME-WIDTH.png of each view in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=60_000)  # a large model may take its time
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with running(model) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for view, scheme, width in itertools.product(views, ("light", "dark"), WIDTHS):
            context = browser.new_context(
                base_url=address, color_scheme=scheme,  # type: ignore[arg-type]  # one of two
                viewport={"width": width, "height": WIDTHS[width]}, reduced_motion="reduce",
            )  # fmt: skip
            page = context.new_page()
            page.goto("/")
            expect(page.locator("#about")).not_to_be_empty()
            VIEWS[view](page)
            page.wait_for_load_state("networkidle")
            name = f"{view}-{scheme}-{width}.png"
            page.screenshot(path=folder / name, full_page=width == min(WIDTHS))
            sys.stdout.write(f"{folder / name}\n")
            context.close()
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path, help="a saved model")
    parser.add_argument("--view", action="append", choices=VIEWS, help="only this one")
    asked = parser.parse_args()
    model = deplda.load(asked.model) if asked.model else generated_model()
    take(asked.folder, model, asked.view or list(VIEWS))


if __name__ == "__main__":
    main()
