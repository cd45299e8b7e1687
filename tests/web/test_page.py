"""The explorer page in a real browser."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Browser, Page, expect, sync_playwright

from deplda.data.vocabulary import Concept, Vocabulary
from deplda.models.reasons import percent
from tests.web.serving import (
    HOSTILE,
    hybrid_model,
    model_of_counts,
    running,
    svm_model,
    text_model,
)

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium is installed (apt-get install chromium, or set CHROMIUM)"
)
TEXT = "The jury in court. A naïve 𝒳 team lost the game <b>in</b> the arena."


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with watched(browser, address) as found:
        yield found


@contextmanager
def watched(browser: Browser, address: str, **how: Any) -> Iterator[Page]:
    """Yield a page; fail on console errors, and on requests to anywhere else."""
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
    page.goto("/")
    yield page
    context.close()
    expected = getattr(page, "expected_errors", 0)
    assert len(wrong) == expected, wrong


def suggest(page: Page, text: str = TEXT) -> None:
    page.fill("#text", text)
    page.click("#go")
    expect(page.locator("#reading")).to_be_visible()


def test_a_text_becomes_ranked_labels_and_coloured_words(page: Page, model: Any) -> None:
    suggest(page)
    names = page.locator(".suggestion .name").evaluate_all(
        "all => all.map(one => one.firstChild.textContent)"
    )
    (expected,) = model.suggest([TEXT], cutoff=10)
    assert names == expected.labels.tolist()
    chances = page.locator(".suggestion .score").all_inner_texts()
    assert chances == [percent(chance) for chance in expected.probabilities]
    assert page.locator("#reading").text_content() == TEXT
    lit = page.locator("mark.lit").all_text_contents()
    assert {"jury", "court", "team", "game"} <= set(lit)
    expect(page.locator("#said")).to_contain_text("words read")


def test_hovering_lights_a_labels_words_and_says_why(page: Page) -> None:
    suggest(page)
    item = page.locator(".suggestion", has_text="LAW")
    item.hover()
    why = page.locator(".why")
    expect(why).to_contain_text("Why LAW?")
    expect(why).to_contain_text(re.compile(r"\d+ % of its score came from its words, \d+ %"))
    expect(why).to_contain_text("court")
    assert "game" not in page.locator("mark.lit").all_text_contents()
    assert "court" in page.locator("mark.lit").all_text_contents()
    page.mouse.move(5, 5)
    expect(why).to_have_count(0)


def shown_number(text: str) -> Decimal:
    return Decimal(text.replace("−", "-"))


def test_the_shown_parts_of_a_score_add_up_to_it(browser: Browser, page: Page) -> None:
    suggest(page)
    for n in range(3):
        page.locator(".suggestion").nth(n).hover()
        told = page.locator(".why p").inner_text()
        assert sum(int(share) for share in re.findall(r"(\d+) %", told)) == 100
    with running(hybrid_model()) as address, watched(browser, address) as other:
        suggest(other)
        expect(other.locator("#legend")).to_be_hidden()
        expect(other.locator("#scale")).to_be_hidden()
        for n in range(3):
            other.locator(".suggestion").nth(n).hover()
            told = other.locator(".why p").inner_text()
            whole, *parts = re.findall(r"[+−]\d+\.\d\d", told)
            assert told.startswith(f"Log-odds {whole}: "), told
            assert sum(map(shown_number, parts)) == shown_number(whole)
        other.locator(".suggestion", has_text="LAW").hover()
        words = other.locator(".why div", has_text="Its words (added to its log-odds)")
        expect(words).to_contain_text(re.compile(r"court\+\d\.\d\d"))


def test_a_click_keeps_the_words_lit(page: Page) -> None:
    suggest(page)
    page.locator(".suggestion", has_text="LAW").locator(".name").click()
    page.mouse.move(5, 5)
    expect(page.locator(".why")).to_contain_text("Why LAW?")
    page.keyboard.press("Escape")
    expect(page.locator(".why")).to_have_count(0)


def test_labels_are_accepted_rejected_and_taken_along(page: Page, tmp_path: Path) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    suggest(page)
    page.get_by_role("button", name="Accept LAW").click()
    page.get_by_role("button", name="Reject SPORT").click()
    expect(page.locator("#told")).to_have_text("1 label accepted")
    page.fill("#another", "COMPANIES")
    page.keyboard.press("Enter")
    expect(page.locator("#accepted li")).to_have_count(2)
    page.click("#copy")
    expect(page.locator("#told")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "LAW\nCOMPANIES"
    saved = {}
    for name in ("json", "csv"):
        with page.expect_download() as download:
            page.click(f"#save-{name}")
        download.value.save_as(tmp_path / name)
        saved[name] = (tmp_path / name).read_text(encoding="utf-8")
    found = json.loads(saved["json"])
    assert found["labels"] == ["LAW", "COMPANIES"] or found["labels"] == ["COMPANIES", "LAW"]
    decisions = {row["label"]: row["decision"] for row in found["suggestions"]}
    assert decisions == {"LAW": "accepted", "SPORT": "rejected", "COMPANIES": "accepted"}
    rows = list(csv.DictReader(saved["csv"].splitlines()))
    assert {row["label"]: row["decision"] for row in rows} == decisions
    page.get_by_role("button", name="Take LAW away").click()
    expect(page.locator("#told")).to_have_text("1 label accepted")


def test_all_of_it_works_by_keyboard(page: Page) -> None:
    page.focus("#text")
    page.keyboard.insert_text(TEXT)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#reading")).to_be_visible()
    page.locator(".suggestion .name").first.focus()
    expect(page.locator(".why")).to_have_count(1)
    page.keyboard.press("a")
    page.keyboard.press("r")
    decisions = page.locator(".suggestion").evaluate_all(
        "all => all.map(one => one.dataset.decision)"
    )
    assert decisions == ["accepted", "rejected", "open"]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("a")
    expect(page.locator("#told")).to_have_text("None accepted yet")
    page.get_by_role("button", name="Edit the text").press("Enter")
    expect(page.locator("#text")).to_be_focused()


def test_a_dropped_file_is_read(page: Page, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    page.set_input_files("#file", tmp_path / "text.txt")
    expect(page.locator("#reading")).to_have_text(TEXT)
    (tmp_path / "binary.txt").write_bytes(b"\0\1\2")
    page.set_input_files("#file", tmp_path / "binary.txt")
    expect(page.locator("#failure")).to_contain_text("binary.txt is not plain text")
    page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.setData("text", "the team in court");
          document.getElementById("suggest").dispatchEvent(
            new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }"""
    )
    expect(page.locator("#reading")).to_have_text("the team in court")


def test_labels_are_searched_and_shown(page: Page) -> None:
    page.click("nav a:has-text('Labels')")
    expect(page.locator("#label-list li")).to_have_count(3)
    page.fill("#search", "comp")
    expect(page.locator("#label-list li")).to_have_count(1)
    page.click("#label-list a")
    label = page.locator("#label")
    expect(label).to_contain_text("In 3 training documents, 17 % of all.")
    expect(label).to_contain_text("company")
    expect(label.locator(".part", has_text="Stands beside")).to_contain_text("LAW")
    label.locator(".part", has_text="Stands beside").get_by_role("link").click()
    expect(label.locator("h2")).to_have_text("LAW")
    page.fill("#search", "nothing like it")
    expect(page.locator("#found")).to_have_text("0 labels")


def test_labels_by_the_thesaurus_and_by_the_model_stand_side_by_side(browser: Browser) -> None:
    model: Any = text_model()
    model.vocabulary_ = Vocabulary(
        [
            Concept(uri="LAW", names={"en": "law"}, broader=("SOCIETY",), related=("SPORT",)),
            Concept(uri="SOCIETY", names={"en": "society"}),
            Concept(uri="SPORT", names={"en": "sport"}),
        ]
    )
    with running(model) as address, watched(browser, address) as page:
        page.goto("/#/labels/law")
        sides = page.locator("#label .side")
        expect(sides.locator("h3")).to_have_text(["By the thesaurus", "By the model"])
        expect(sides.nth(0).locator(".part", has_text="Broader")).to_contain_text("society")
        expect(sides.nth(0).get_by_role("link")).to_have_text(["sport"])  # the model's own alone
        expect(sides.nth(1)).to_contain_text("Stands beside, in training documents")
        left, right = (sides.nth(n).bounding_box() for n in range(2))
        assert left is not None
        assert right is not None
        assert left["y"] == right["y"]
        sides.nth(0).get_by_role("link").click()
        expect(page.locator("#label h2")).to_have_text("sport")
        expect(sides.nth(0)).to_contain_text("No broader, narrower or related terms.")


def test_topics_are_shown_as_map_and_list(page: Page) -> None:
    page.click("nav a:has-text('Topics')")
    expect(page.locator(".bubble")).to_have_count(3)
    expect(page.locator("#topic-list > li")).to_have_count(3)
    page.locator(".bubble").nth(1).hover()
    expect(page.locator("#topic")).to_contain_text("of all labels given")
    page.fill("#topic-search", "compan")
    expect(page.locator(".bubble.aside")).not_to_have_count(0)
    circles = page.locator(".bubble").evaluate_all(
        "all => all.map(one => { const box = one.querySelector('circle').getBoundingClientRect();"
        " return [box.x + box.width / 2, box.y + box.height / 2, box.width / 2]; })"
    )
    for n, (x, y, r) in enumerate(circles):
        for other in circles[:n]:
            assert (x - other[0]) ** 2 + (y - other[1]) ** 2 >= (r + other[2] - 1) ** 2


def test_errors_are_shown(page: Page) -> None:
    page.click("#go")
    expect(page.get_by_role("alert")).to_contain_text("There is no text yet")
    page.route("**/v1/suggest", lambda route: route.abort())
    page.fill("#text", TEXT)
    page.click("#go")
    expect(page.get_by_role("alert")).to_contain_text("The service does not answer")
    page.unroute("**/v1/suggest")
    page.route("**/v1/suggest", lambda route: route.fulfill(status=503, json={"error": "full"}))
    page.click("#go")
    expect(page.get_by_role("alert")).to_contain_text("The service is busy: full.")
    page.goto("/#/labels/NOTHING")
    expect(page.get_by_role("alert")).to_contain_text("no label 'NOTHING'")
    page.expected_errors = 3  # type: ignore[attr-defined]  # the browser notes each failed request


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_page_is_accessible_and_fits(
    browser: Browser, address: str, scheme: Any, width: int
) -> None:
    with watched(browser, address, color_scheme=scheme, reduced_motion="reduce") as page:
        page.set_viewport_size({"width": width, "height": 844})
        suggest(page)
        page.get_by_role("button", name="Accept LAW").click()
        page.get_by_role("button", name="Reject SPORT").click()
        page.locator(".suggestion .name").first.click()
        page.evaluate(AXE_FILE_PATH.read_text(encoding="utf-8"))
        for view in ("suggest", "labels/LAW", "topics", "model"):
            page.evaluate("view => { location.hash = `#/${view}`; }", view)
            expect(page.locator(f"#{view.partition('/')[0]}")).to_be_visible()
            page.wait_for_load_state("networkidle")
            found = page.evaluate("axe.run()")
            assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width, view


def test_hostile_labels_and_documents_are_only_ever_text(browser: Browser) -> None:
    text = f"court {HOSTILE['LAW']} <img src=x onerror=alert(2)> game"
    with running(text_model(HOSTILE)) as address, watched(browser, address) as page:
        dialogs: list[str] = []
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        suggest(page, text)
        assert page.locator("#reading").text_content() == text
        page.get_by_role("button", name=f"Accept {HOSTILE['SPORT']}").click()
        page.locator(".suggestion .name").first.click()
        for name in HOSTILE.values():
            page.goto("/#/labels")
            page.locator("#label-list").get_by_role("link", name=name, exact=True).click()
            expect(page.locator("#label h2")).to_have_text(name)
        page.goto("/#/topics")
        expect(page.locator(".bubble")).to_have_count(3)
        assert page.locator("main img, main script").count() == 0
        assert "deplda" in page.title()
        assert dialogs == []


def test_parts_that_a_model_lacks_are_hidden(browser: Browser) -> None:
    with running(svm_model()) as address, watched(browser, address) as page:
        expect(page.locator("nav a:has-text('Topics')")).to_be_hidden()
        page.fill("#text", TEXT)
        page.click("#go")
        expect(page.locator(".suggestion")).to_have_count(3)
        expect(page.locator("#legend")).to_be_hidden()
        expect(page.locator("#scale")).to_have_text(
            "A bar beyond its middle: the score is above 0."
        )
        page.goto("/#/labels/LAW")
        expect(page.locator("#label h2")).to_have_text("LAW")
        expect(page.locator("#label")).not_to_contain_text("Words that tell")
    with running(model_of_counts()) as address, watched(browser, address) as page:
        expect(page.locator("#said")).to_contain_text("learned from word counts")
        expect(page.locator("#go")).to_be_disabled()


def test_of_several_models_one_is_chosen(browser: Browser, page: Page, model: Any) -> None:
    page.goto("/")
    expect(page.locator("#about")).to_contain_text("3 labels")
    expect(page.get_by_label("Model", exact=True)).to_be_hidden()  # there is but one
    models = {"law-en": model, "games-en": text_model({"SPORT": "GAMES"})}
    with running(models) as address, watched(browser, address) as found:
        found.goto("/#/labels")
        choice = found.get_by_label("Model", exact=True)
        expect(choice).to_have_value("law-en")
        expect(found.locator("#label-list")).to_contain_text("SPORT")
        choice.select_option("games-en")
        found.wait_for_url(re.compile(r"\?project=games-en"))
        expect(choice).to_have_value("games-en")
        expect(found.locator("#label-list")).to_contain_text("GAMES")


def test_a_token_is_asked_for_once_and_kept_for_the_tab(browser: Browser, model: Any) -> None:
    secret = "the-token-of-this-test"  # noqa: S105
    with running(model, token=secret) as address, watched(browser, address) as page:
        page.expected_errors = 2  # type: ignore[attr-defined]  # what the browser says of a 401
        expect(page.locator("#entry-said")).to_contain_text("for those who have its token")
        expect(page.locator("#token")).to_be_focused()
        page.evaluate(AXE_FILE_PATH.read_text(encoding="utf-8"))
        assert page.evaluate("axe.run()")["violations"] == []
        page.fill("#token", "another token, wrong ✗")
        page.keyboard.press("Enter")
        expect(page.locator("#entry-said")).to_contain_text("does not accept this token")
        page.fill("#token", f" {secret}\n")
        page.keyboard.press("Enter")
        expect(page.locator("#entry")).to_be_hidden()
        suggest(page)
        page.reload()
        expect(page.locator("#about")).to_contain_text("DependencyLDA")
        expect(page.locator("#entry")).to_be_hidden()
        page.goto("/#/model")
        expect(page.locator("#card pre")).to_contain_text("Bearer $DEPLDA_TOKEN")
        with page.expect_download() as download:
            page.get_by_role("link", name="openapi.json").click()
        assert "/v1/suggest" in json.loads(download.value.path().read_text())["paths"]
        assert secret not in page.content()
