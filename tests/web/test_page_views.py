"""The views Labels and Model in a real browser."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from deplda import DependencyLDA, WordCounter
from deplda.data.vocabulary import Concept, Vocabulary
from deplda.models.lighting import lit_by_labels
from tests.web.browsing import needs_chromium, watched
from tests.web.serving import LABELS, SMALL, TEXTS, hybrid_model, running, text_model

pytestmark = needs_chromium


def test_the_page_lights_the_words_that_an_explanation_lights(browser: Browser) -> None:
    """The page, pages of explanations and the README's picture agree."""
    text = "The jury of the court heard the team. The lawsuit is about a game, game."
    model: Any = hybrid_model()
    found = model.explain(text, 3)
    with running(model) as address, watched(browser, address) as page:
        lit = page.evaluate(
            """async ([text, chances]) => {
              const { post } = await import("./static/api.js");
              const { litByLabels } = await import("./static/lighting.js");
              const told = await post("v1/explain", { document: { text }, k: 3 });
              return [...litByLabels(told.words, [0, 1, 2], chances)]
                .map(([word, { label, how }]) => [word, label, how]);
            }""",
            [text, [reason.probability for reason in found.reasons]],
        )
    chances = [reason.probability or 0.0 for reason in found.reasons]
    expected = lit_by_labels(found.words, chances)
    assert expected
    assert {word: label for word, label, _ in lit} == {
        w: each.label for w, each in expected.items()
    }
    assert [how for _, _, how in lit] == pytest.approx([expected[word].how for word, _, _ in lit])


# Labels -------------------------------------------------------------------------------------------


def test_labels_are_searched_and_shown(page: Page) -> None:
    page.click("nav a:has-text('Labels')")
    expect(page.locator("#label-list li")).to_have_count(3)
    page.fill("#search", "comp")
    expect(page.locator("#label-list li")).to_have_count(1)
    page.click("#label-list a")
    label = page.locator("#label")
    expect(label).to_contain_text("3 training documents, 17 % of all")
    expect(label).to_contain_text("company")
    expect(label.locator(".part", has_text="Labels that occur with it")).to_contain_text("LAW")
    label.locator(".part", has_text="Labels that occur with it").get_by_role("link").click()
    expect(label.locator("h2")).to_have_text("LAW")
    page.fill("#search", "nothing like it")
    expect(page.locator("#found")).to_have_text("0 labels")


def test_labels_are_sorted_by_rarity_and_by_quality(page: Page, model: Any) -> None:
    page.goto("/#/labels")
    names = page.locator("#label-list a")
    expect(names).to_have_text(["SPORT", "LAW", "COMPANIES"])
    page.select_option("#sort", "rarest")
    expect(names).to_have_text(["COMPANIES", "LAW", "SPORT"])
    quality = dict(zip(model.classes_, model.label_quality_.average_precision, strict=True))
    page.select_option("#sort", "worst")
    worst = sorted(["SPORT", "LAW", "COMPANIES"], key=lambda name: quality[name])  # or by frequency
    expect(names.first).to_have_text(worst[0])
    expect(page.locator("#label-list .meter").first).to_contain_text(f"{quality[worst[0]]:.2f}")
    names.first.click()
    expect(page.locator("#label .how-good")).to_contain_text(f"{quality[worst[0]]:.2f}")


def test_typical_training_documents_are_shown_where_the_model_keeps_them(browser: Browser) -> None:
    counter = WordCounter(language=None)
    counts = counter.fit_transform(TEXTS)
    model = DependencyLDA(**SMALL).fit(counts, LABELS, counter=counter)
    model.keep_examples(counts, [f"On {text}" for text in TEXTS])
    with running(model) as address, watched(browser, address) as page:
        page.goto("/#/labels/COMPANIES")
        examples = page.locator("#label .part", has_text="Typical training documents")
        expect(examples.locator("li").first).to_have_text(f"On {TEXTS[0]}")


def test_labels_by_the_thesaurus_and_by_the_model_stand_side_by_side(browser: Browser) -> None:
    model: Any = text_model()
    model.vocabulary_ = Vocabulary(
        [
            Concept(
                uri="LAW", names={"en": "law"}, broader=("SOCIETY",), related=("SPORT",),
                synonyms={"en": ("justice",)},
            ),
            Concept(uri="SOCIETY", names={"en": "society"}),
            Concept(uri="SPORT", names={"en": "sport"}),
        ]
    )  # fmt: skip
    with running(model) as address, watched(browser, address) as page:
        page.goto("/#/labels/law")
        sides = page.locator("#label .side")
        expect(sides.locator("h3")).to_have_text(["In the thesaurus", "In the model"])
        expect(sides.nth(0).locator(".part", has_text="Broader")).to_contain_text("society")
        expect(sides.nth(0).get_by_role("link")).to_have_text(["sport"])  # the model's own alone
        expect(sides.nth(1)).to_contain_text("Labels that occur with it")
        left, right = (sides.nth(n).bounding_box() for n in range(2))
        assert left is not None
        assert right is not None
        assert left["y"] == right["y"]
        page.fill("#search", "justice")
        expect(page.locator("#label-list a")).to_have_text(["lawalso: justice"])
        sides.nth(0).get_by_role("link").click()
        expect(page.locator("#label h2")).to_have_text("sport")
        expect(sides.nth(0)).to_contain_text("No broader, narrower or related terms.")


# Model --------------------------------------------------------------------------------------------


def test_the_card_shows_how_well_rare_and_frequent_labels_are_found(page: Page, model: Any) -> None:
    page.click("nav a:has-text('Model')")
    card = page.locator("#card")
    expect(card).to_contain_text("Measured on")
    expect(card.locator("svg .column")).to_have_count(3)
    card.locator("summary").click()
    rows = card.locator("details tbody tr")
    expect(rows.locator("th")).to_have_text(["3", "9", "12"])
    mean = dict(zip(model.classes_, model.label_quality_.average_precision, strict=True))
    expect(rows.first).to_contain_text(f"{mean['COMPANIES']:.2f}")


def test_the_card_has_each_parameter_once(page: Page) -> None:
    page.goto("/#/model")
    table = page.locator("#card table.code").first
    expect(table).to_contain_text("n_topics")
    names = table.locator("th").all_text_contents()
    assert len(names) == len(set(names))
    rows = page.locator("#card tr", has_text="beta_words")
    expect(rows).to_contain_text("chosen by rule")


def test_a_model_that_measured_nothing_says_so(browser: Browser) -> None:
    with running(text_model(n_held_out=0)) as address, watched(browser, address) as page:
        page.goto("/#/model")
        expect(page.locator("#card")).to_contain_text("Nothing was measured")
        expect(page.locator("#card svg")).to_have_count(0)


@pytest.mark.parametrize(("code", "said"), [("de", "Modellkarte"), ("fi", "Mallikortti")])
def test_the_views_speak_the_readers_language(code: str, said: str, page: Page) -> None:
    page.goto(f"/?lang={code}#/model")
    expect(page.locator("#model h1")).to_have_text(said)
