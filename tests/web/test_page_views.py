"""The views Labels, Topics and Model in a real browser."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, Page, expect

from deplda.data.vocabulary import Concept, Vocabulary
from tests.web.browsing import needs_chromium, watched
from tests.web.serving import running, text_model

pytestmark = needs_chromium


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
