"""The explorer page in a real browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Browser, Page, expect

import deplda.web
from tests.web.browsing import TEXT, needs_chromium, suggest, watched
from tests.web.serving import HOSTILE, model_of_counts, running, svm_model, text_model

STATIC = Path(deplda.web.__file__).parent / "static"
pytestmark = needs_chromium


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
        page.evaluate(AXE_FILE_PATH.read_text(encoding="utf-8"))

        def check(state: str) -> None:
            page.wait_for_load_state("networkidle")
            found = page.evaluate("axe.run()")
            wrong = [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]]
            assert wrong == [], state
            assert page.evaluate("document.documentElement.scrollWidth") <= width, state

        expect(page.locator("#example")).to_be_visible()
        check("a first visit")
        page.click("#many-texts")
        check("many texts")
        page.fill("#several-text", f"{TEXT}\n---\nthe team")
        page.click("#several-add")
        page.get_by_role("button", name="Accept LAW").press("Enter")
        page.get_by_role("button", name="Reject SPORT").press("Enter")
        page.click("#unfold")
        page.locator(".suggestion .name").first.click()
        page.fill("#another", "something else")
        expect(page.locator("#another-list")).to_be_visible()
        for view in ("suggest", "labels/LAW", "model"):
            page.evaluate("view => { location.hash = `#/${view}`; }", view)
            expect(page.locator(f"#{view.partition('/')[0]}")).to_be_visible()
            check(view)


def test_every_view_fits_on_any_screen_in_any_language(browser: Browser, address: str) -> None:
    with watched(browser, address, locale="de") as page:
        suggest(page)
        page.locator(".suggestion .name").first.click()
        for view in ("suggest", "labels/LAW", "model"):
            page.evaluate("view => { location.hash = `#/${view}`; }", view)
            page.wait_for_load_state("networkidle")
            for width in (320, 390, 768, 1024, 1600, 2560):
                page.set_viewport_size({"width": width, "height": 900})
                needed = page.evaluate("document.documentElement.scrollWidth")
                assert needed <= width, (view, width)


def test_every_string_is_there_in_four_languages_and_used(page: Page) -> None:
    strings = page.evaluate("async () => (await import('./static/strings.js')).STRINGS")
    sources = [*STATIC.glob("*.js"), *STATIC.glob("*.html")]
    table = re.compile(r"strings_\w+\.js")
    used = "\n".join(p.read_text(encoding="utf-8") for p in sources if not table.match(p.name))
    prefixes = re.findall(r"`(\w+\.)\$\{", used)  # t(`source.${name}`)
    for key, told in strings.items():
        assert set(told) == {"en", "de", "fr", "fi"}, key
        held = {
            name: {
                frozenset(re.findall(r"\{\w+\}", form))
                for form in ([each] if isinstance(each, str) else each.values())
            }
            for name, each in told.items()
        }
        # A form for one thing may leave the number out; each language has the same values.
        largest = {name: max(forms, key=len) for name, forms in held.items()}
        assert len(set(largest.values())) == 1, key
        assert (
            f'"{key}"' in used
            or key.startswith(tuple(prefixes))
            or (key.endswith(".short") and ".short`" in used)
        ), f"{key} is not used"
    asked = set(re.findall(r"""(?:\bt|told)\("([\w.-]+)"|data-t[\w-]*="([\w.-]+)\"""", used))
    missing = {key for pair in asked for key in pair if key} - set(strings)
    assert missing == set()


@pytest.mark.parametrize(
    ("locale", "title"), [("de-AT", "Ihr Dokument"), ("fr", "Votre document"), ("sv", "Your doc")]
)
def test_the_page_speaks_the_readers_language(
    browser: Browser, address: str, locale: str, title: str
) -> None:
    with watched(browser, address, locale=locale) as page:
        expect(page.locator("#suggest-title")).to_contain_text(title)
        page.locator("#language").select_option("fi")
        expect(page.locator("html")).to_have_attribute("lang", "fi")
        page.goto("/")  # it is remembered
        expect(page.locator("#suggest-title")).to_have_text("Asiakirjasi")
        suggest(page)
        page.locator(".suggestion", has_text="SPORT").hover()
        expect(page.locator(".why")).to_contain_text("koska tekstissä ovat sanat")


def test_thirty_labels_have_thirty_colours(page: Page) -> None:
    colours = page.evaluate(
        """async () => {
          const { colour } = await import("./static/dom.js");
          return Array.from({ length: 30 }, (_, n) => {
            const piece = document.createElement("i");
            piece.style.color = colour(n);
            document.body.append(piece);
            return getComputedStyle(piece).color;
          });
        }"""
    )
    assert len(set(colours)) == 30
    assert all(colour.startswith("oklch") for colour in colours)


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
        assert page.locator("main img, main script").count() == 0
        assert "deplda" in page.title()
        assert dialogs == []


def test_parts_that_a_model_lacks_are_hidden(browser: Browser) -> None:
    with running(svm_model()) as address, watched(browser, address) as page:
        page.fill("#text", TEXT)
        page.click("#go")
        expect(page.locator(".suggestion")).to_have_count(3)
        expect(page.locator("#text")).to_have_value(TEXT)  # no words are lit
        page.goto("/#/labels/LAW")
        expect(page.locator("#label h2")).to_have_text("LAW")
        expect(page.locator("#label")).not_to_contain_text("distinctive words")
    with running(model_of_counts()) as address, watched(browser, address) as page:
        expect(page.locator("#said")).to_contain_text("trained on word counts")
        expect(page.locator("#go")).to_be_disabled()
    with running(text_model(n_held_out=0)) as address, watched(browser, address) as page:
        suggest(page)
        expect(page.locator("#said")).to_contain_text("no probabilities")
        assert set(page.locator(".score").all_inner_texts()) == {""}  # no raw scores


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
