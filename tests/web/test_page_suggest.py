"""The Suggest view in a real browser: a queue of documents, their labels, and why."""

from __future__ import annotations

import csv
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import deplda
from deplda import Fields
from deplda.data.readers import read_records
from deplda.data.vocabulary import Concept, Vocabulary
from deplda.models.reasons import percent
from deplda.web import Limits
from tests.cli.running import done
from tests.web.browsing import (
    TEXT,
    decisions,
    needs_chromium,
    open_files,
    paste_many,
    suggest,
    watched,
)
from tests.web.serving import bilingual_model, hybrid_model, running, text_model

pytestmark = needs_chromium
TEXTS = ("The jury in court.", "The team won the game.", "A company in court.")


def with_vocabulary() -> Any:
    model: Any = text_model()
    model.vocabulary_ = Vocabulary(
        [
            Concept(uri="LAW", names={"en": "law"}, synonyms={"en": ("Jurisprudence",)}),
            Concept(uri="SPORT", names={"en": "sport"}, notation="S12"),
            Concept(uri="COMPANIES", names={"en": "companies"}),
        ]
    )
    return model


# Light where it matters ---------------------------------------------------------------------------


def test_a_text_becomes_labels_with_probabilities_and_a_line(page: Page, model: Any) -> None:
    suggest(page)
    names = page.locator(".suggestion .name").evaluate_all(
        "all => all.map(one => one.firstChild.textContent)"
    )
    (every,), (given,) = model.suggest([TEXT], cutoff=10), model.suggest([TEXT])
    assert names == every.labels.tolist()
    chances = page.locator(".suggestion .score").all_inner_texts()
    assert chances == [percent(chance) for chance in every.probabilities]
    lengths = page.locator(".suggestion .bar i").evaluate_all(
        "all => all.map(one => one.offsetWidth / one.parentNode.offsetWidth)"
    )
    assert lengths == pytest.approx(every.probabilities.tolist(), abs=0.01)
    shown = page.locator("#suggestions > li").evaluate_all("all => all.map(one => one.className)")
    assert shown.index("line") == len(given.labels)
    expect(page.locator("#suggestions .line")).to_have_text("the model would stop here")
    expect(page.locator("#said")).to_contain_text("words read")
    assert page.locator("#reading").text_content() == TEXT


def test_the_words_that_add_most_are_brightest_and_the_rest_stays_plain(page: Page) -> None:
    lit, by_all = page.evaluate(
        """async () => {
          const { litByLabels, litWords } = await import("./static/lighting.js");
          const words = [
            { word: "trade", times: 15, added: [6, 0.2] },
            { word: "row", times: 1, added: [1.5, 3] },
            { word: "the", times: 9, added: [0.3, 0.1] },
            { word: "said", times: 2, added: [0.2, 0] },
            { word: "game", times: 4, added: [-5, 0.1] },
          ];
          const lists = (map) => [...map].map(([word, one]) => [word, one.how ?? one, one.label]);
          return [lists(litWords(words, 0)), lists(litByLabels(words, [0, 1], [0.9, 0.1]))];
        }"""
    )
    assert [word for word, _, _ in lit] == ["trade", "row"]  # 7.5 of 8 that speak for it
    assert [how for _, how, _ in lit] == [1, 0.25]
    assert [(word, label) for word, _, label in by_all] == [("trade", 0), ("row", 0)]
    assert by_all[1][1] == pytest.approx(0.25)


def test_pointing_at_a_label_lights_its_words_and_says_why(page: Page) -> None:
    suggest(page)
    first = page.locator(".suggestion .name").first.evaluate("one => one.firstChild.textContent")
    why = page.locator(".why")
    expect(why).to_contain_text(f"Why {first}?")  # it is selected from the start
    page.keyboard.press("Escape")
    expect(why).to_contain_text("Point at a label")
    assert "game" in page.locator("mark.lit").all_text_contents()
    page.locator(".suggestion", has_text="LAW").hover()
    expect(why).to_contain_text("Why LAW?")
    expect(why).to_contain_text(re.compile(r"because of the words (court|jury) and (court|jury)"))
    assert set(page.locator("mark.lit").all_text_contents()) == {"jury", "court"}
    page.mouse.move(5, 5)
    expect(why).to_contain_text(f"Why {first}?")  # the keys act on it
    page.locator(".suggestion", has_text="LAW").locator(".name").click()
    page.mouse.move(5, 5)
    expect(why).to_contain_text("Why LAW?")  # a click keeps it
    page.keyboard.press("Escape")
    expect(why).to_contain_text("Point at a label")


def test_a_word_says_which_labels_it_speaks_for(page: Page) -> None:
    suggest(page)
    tip = page.locator("#tip")
    page.locator("mark", has_text="court").hover()
    expect(tip).to_contain_text("LAW")
    page.mouse.move(5, 5)
    expect(tip).to_be_hidden()
    page.locator("#reading").focus()
    page.keyboard.press("ArrowRight")
    expect(tip).to_contain_text("SPORT")
    described = page.evaluate("document.activeElement.getAttribute('aria-describedby')")
    assert described == "tip"


def shown_number(text: str) -> Decimal:
    return Decimal(text.replace("−", "-"))


def test_the_shown_parts_of_a_score_add_up_to_it(browser: Browser, page: Page) -> None:
    suggest(page)
    for n in range(3):
        page.locator(".suggestion").nth(n).hover()
        told = page.locator(".why p").nth(1).inner_text()
        assert sum(int(share) for share in re.findall(r"(\d+) %", told)) == 100
    with running(hybrid_model()) as address, watched(browser, address) as other:
        suggest(other)
        for n in range(3):
            place = other.locator(".suggestion").nth(n)
            place.hover()
            parts = other.locator(".sources tbody td:last-child").all_inner_texts()
            whole = other.locator(".sources tfoot td").inner_text()
            assert sum(map(shown_number, parts)) == shown_number(whole)
            expect(other.locator(".sources tfoot")).to_contain_text(
                place.locator(".score").inner_text()
            )
            rows = other.locator(".words tbody tr").all()
            cells = [row.locator("td").all_inner_texts() for row in rows]
            for svm, topics, both in cells:
                assert not svm or shown_number(svm) + shown_number(topics) == shown_number(both)
            assert sum(shown_number(both) for _, _, both in cells) == shown_number(parts[0])
        other.locator(".suggestion", has_text="LAW").hover()
        expect(other.locator(".words")).to_contain_text(re.compile(r"court[+−]\d\.\d\d"))


NAMED = """async (isWhole) => {
  const { showWhy } = await import("./static/why.js");
  const named = { name: "catch quota", added: 1, is_synonym: false, is_whole: isWhole,
    places: [[0, 5]], as_written: "quota" };
  const label = { label: "catch quota", score: 1, probability: 0.73, named, companions: [],
    other_prior: 0, evidence: [], parts: { base: -4, margin: 0, name: 1, calibration: 4 } };
  const explained = { labels: [label], words: [], scale: "log-odds", written: (word) => word };
  showWhy(document.getElementById("why-place"), explained, 0, true);
  return document.querySelector(".why").textContent;
}"""


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_name_whose_words_stand_apart_is_not_said_to_stand_there(
    page: Page, is_whole: bool
) -> None:
    told = page.evaluate(NAMED, is_whole)
    assert ("its name “catch quota” occurs in the text" in told) == is_whole
    assert ("of its name “catch quota” occur in the text, though not together" in told) != is_whole
    # What calibration corrects is no part of where the label starts.
    for row in (r"held-out documents\+4\.00", r"without its words−4\.00"):
        assert re.search(row, told), told


def test_a_name_is_underlined_among_all_labels_where_no_word_is_lit(page: Page) -> None:
    found = page.evaluate(
        """async () => {
          const { showReading } = await import("./static/reading.js");
          const place = document.createElement("div");
          const named = { places: [[0, 10]] };
          const labels = [{ label: "economists", named }, { label: "bread" }];
          const words = [{ word: "bread", times: 1, added: [0, 2] }];
          const spans = [[0, 10, "economist"], [11, 16, "bread"]];
          const light = showReading(place, "Economists bread", { labels, words, spans });
          const classes = () => [...place.children].map((mark) => mark.className.trim());
          return [[-1, [0, 1]], [-1, [1]], [0, []]].map((how) => (light(...how), classes()));
        }"""
    )
    assert found == [["of-name", "lit"], ["", "lit"], ["of-name", ""]]


def test_words_of_a_topic_model_stand_as_they_are_written(page: Page) -> None:
    suggest(page, "The JURY in Court")
    page.locator(".suggestion", has_text="LAW").hover()
    chips = page.locator(".why .chips").first
    expect(chips).to_contain_text("JURY")
    expect(chips).to_contain_text("Court")


# Nothing is ever lost -----------------------------------------------------------------------------


def test_text_and_decisions_survive_a_reload_and_a_change_of_number(page: Page) -> None:
    suggest(page)
    page.get_by_role("button", name="Accept LAW").click()
    page.get_by_role("button", name="Reject SPORT").click()
    before = decisions(page)
    page.locator("#many").select_option("5")
    expect(page.locator("#suggestions")).not_to_have_attribute("aria-busy", "true")
    assert decisions(page) == before
    page.reload()
    expect(page.locator("#reading")).to_have_text(TEXT)
    assert decisions(page) == before
    expect(page.locator("#many")).to_have_value("5")
    expect(page.locator("#accepted li")).to_have_count(1)
    page.click("#new")
    page.fill("#text", "a draft that was not asked about")
    page.reload()
    expect(page.locator("#text")).to_have_value("a draft that was not asked about")
    page.locator("#before").click()
    other = page.context.new_page()  # another tab
    other.goto("/")
    expect(other.locator("#documents li")).to_have_count(2)
    other.get_by_role("button", name="Accept COMPANIES").click()
    expect(page.locator("#accepted li")).to_have_count(2)  # it is there in the first, too


def test_what_was_done_can_be_undone(page: Page) -> None:
    paste_many(page, *TEXTS)
    page.keyboard.press("a")
    page.keyboard.press("r")
    assert decisions(page) == ["accepted", "rejected", "open"]
    page.keyboard.press("u")
    assert decisions(page) == ["accepted", "open", "open"]
    page.keyboard.press("n")
    expect(page.locator("#queue-said")).to_have_text("Document 2 of 3")
    expect(page.locator("#queue-done")).to_have_text("1 done")
    page.keyboard.press("u")  # back to the first, which is not done
    expect(page.locator("#queue-said")).to_have_text("Document 1 of 3")
    expect(page.locator("#queue-done")).to_have_text("0 done")
    page.click("#remove-all")
    expect(page.locator("#notice")).to_contain_text("3 documents deleted")
    page.click("#bring-back")
    expect(page.locator("#documents li")).to_have_count(3)
    assert decisions(page) == ["accepted", "open", "open"]


def test_a_queue_is_worked_through_by_keyboard_alone(page: Page) -> None:
    expect(page.locator("#many-texts")).to_be_visible()
    page.focus("#many-texts")
    page.keyboard.press("Enter")
    page.keyboard.insert_text("\n---\n".join(TEXTS))
    expect(page.locator("#several-said")).to_have_text("These are 3 documents.")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    first = page.locator(".suggestion .name").first
    for number in (1, 2, 3):
        expect(page.locator("#queue-said")).to_have_text(f"Document {number} of 3")
        expect(first).to_be_focused()
        page.keyboard.press("ArrowDown")
        expect(page.locator(".why h2")).to_be_visible()
        page.keyboard.press("ArrowUp")
        page.keyboard.press("a")
        page.keyboard.press("/")
        page.keyboard.insert_text("comp")
        expect(page.locator("#another-list li").first).to_contain_text("COMPANIES")
        page.keyboard.press("Enter")
        expect(page.locator("#accepted")).to_contain_text("COMPANIES")
        page.keyboard.press("Escape")  # back to the labels: in the field letters are letters
        expect(first).not_to_be_focused()  # but to the next one
        page.keyboard.press("n")
    expect(page.locator("#told")).to_contain_text("All documents are done")
    expect(page.locator("#queue-done")).to_have_text("3 done")
    expect(page.locator("#save-csv")).to_be_focused()
    page.keyboard.press("p")
    expect(page.locator("#queue-said")).to_have_text("Document 2 of 3")


@pytest.mark.parametrize("how", ["click", "keys"])
def test_the_first_label_is_selected_from_the_start(how: str, page: Page) -> None:
    page.fill("#text", TEXT)
    if how == "click":
        page.click("#go")
    else:
        page.keyboard.press("Control+Enter")
    selected = page.locator(".suggestion.looked-at")
    expect(page.locator(".why h2")).to_be_visible()
    first, second = (page.locator(".suggestion").nth(n).inner_text() for n in (0, 1))
    assert selected.all_inner_texts() == [first]
    page.keyboard.press("ArrowDown")
    assert selected.all_inner_texts() == [second]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("a")  # which goes to the next label
    assert decisions(page) == ["accepted", "open", "open"]
    assert selected.all_inner_texts() == [second]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("a")  # a second time reverts, and stays
    assert decisions(page) == ["open", "open", "open"]
    assert selected.all_inner_texts() == [first]


def test_the_document_before_is_decided_on_by_keyboard_too(page: Page) -> None:
    paste_many(page, *TEXTS)
    page.keyboard.press("a")
    page.keyboard.press("n")
    expect(page.locator("#queue-said")).to_have_text("Document 2 of 3")
    expect(page.locator(".suggestion .name").first).to_be_focused()
    page.keyboard.press("p")
    expect(page.locator("#queue-said")).to_have_text("Document 1 of 3")
    expect(page.locator(".suggestion .name").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("r")
    assert decisions(page) == ["accepted", "rejected", "open"]


def test_a_document_whose_text_is_edited_is_open_again(page: Page) -> None:
    paste_many(page, *TEXTS[:2])
    page.keyboard.press("a")
    page.keyboard.press("n")
    expect(page.locator("#queue-done")).to_have_text("1 done")
    page.click("#before")
    page.click("#edit")
    page.fill("#text", "The team in court.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#reading")).to_have_text("The team in court.")
    expect(page.locator("#queue-done")).to_have_text("0 done")
    page.click("#new")
    page.fill("#text", " \n ")
    page.click("#go")
    expect(page.locator("#entry-problem")).to_contain_text("There is no text yet")
    expect(page.locator("#documents li")).to_have_count(2)  # blanks are no document


def test_single_keys_can_be_hidden_and_switched_off(page: Page) -> None:
    suggest(page)
    expect(page.locator("#key-list")).to_be_visible()
    page.locator("#use-keys").uncheck()
    page.locator("#keys summary").click()
    expect(page.locator("#key-list")).to_be_hidden()
    page.reload()
    expect(page.locator("#reading")).to_be_visible()
    expect(page.locator("#key-list")).to_be_hidden()
    page.locator(".suggestion .name").first.focus()
    page.keyboard.press("a")
    assert decisions(page) == ["open"] * 3
    page.keyboard.press("ArrowDown")
    expect(page.locator(".suggestion .name").nth(1)).to_be_focused()


@pytest.mark.parametrize("storage", ["forbidden", "full"])
def test_a_browser_that_keeps_nothing_only_says_so(
    storage: str, browser: Browser, address: str
) -> None:
    broken = {
        "forbidden": "Object.defineProperty(window, 'localStorage', { get() { throw 'no'; } });",
        "full": "Storage.prototype.setItem = () => { throw new DOMException('full'); };",
    }
    with watched(browser, address, broken[storage]) as page:
        paste_many(page, *TEXTS)
        page.keyboard.press("a")
        page.keyboard.press("n")
        expect(page.locator("#queue-done")).to_have_text("1 done")
        expect(page.locator("#kept")).to_contain_text(
            "3 documents are lost when this tab is closed"
        )


def test_what_others_have_kept_in_the_browser_is_left_out(browser: Browser, address: str) -> None:
    kept = {
        "text:model:1": 5,
        "text:model:2": {"text": {"a": 1}, "title": [], "key": '"]', "__proto__": {"text": "no"}},
        "text:model:3": {"id": "own", "title": "", "text": "the jury"},
        "decided:model:1": {"decisions": 5, "suggestions": {"length": 3}},
        "decided:model:2": {"decisions": [1, ["a", None], [{}, {}]], "nGiven": "x", "isDone": 1},
        "decided:model:3": {"decisions": [["law", {"said": "accepted"}]], "suggestions": [None]},
        "language": "toString", "many": {}, "at:model": ["x"],
    }  # fmt: skip
    script = "".join(
        f"localStorage.setItem({json.dumps(f'deplda:{name}')}, {json.dumps(json.dumps(value))});"
        for name, value in kept.items()
    )
    with watched(browser, address, script) as page:
        expect(page.locator(".entry-title")).to_have_count(3)
        page.click("#unfold")
        page.locator(".entry-title", has_text="the jury").click()
        expect(page.locator("#accepted")).to_contain_text("law")
        page.goto("/?lang=constructor")
        expect(page.locator("html")).to_have_attribute("lang", "en")


# From files, and to files -------------------------------------------------------------------------


def test_texts_of_any_encoding_are_read_and_empty_ones_are_said(page: Page, tmp_path: Path) -> None:
    text = "Zölle: the jury in court"
    for encoding in ("utf-8-sig", "utf-16", "cp1252"):
        (tmp_path / f"{encoding}.txt").write_text(text, encoding=encoding)
    (tmp_path / "empty.txt").write_text(" \n", encoding="utf-8")
    open_files(page, *sorted(tmp_path.iterdir()))
    expect(page.locator("#entry-problem")).to_have_text("empty.txt: there is no text in it.")
    assert page.locator(".entry-title").all_text_contents() == [text] * 3


def test_a_text_that_is_cut_is_said_to_be(browser: Browser, tmp_path: Path) -> None:
    row = {"id": "A", "title": "A court\nin session", "text": "court " * 90}
    (tmp_path / "long.jsonl").write_text(json.dumps(row))
    with (
        running(text_model(), limits=Limits(characters=500)) as address,
        watched(browser, address) as page,
    ):
        open_files(page, tmp_path / "long.jsonl")
        expect(page.locator("#notice")).to_have_text(
            re.compile(r"^A is too long: its last \d\d characters are left out\.$")
        )
        expect(page.locator("#suggest-title")).to_have_text("A court")  # a title is a line


def test_files_become_documents(page: Page, tmp_path: Path) -> None:
    for name, text in {"one.txt": TEXT, "two.md": "# the team in court"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "binary.txt").write_bytes(b"\0\1\2")
    (tmp_path / "table.csv").write_text("id,title,text\n7,First,the jury\n7,,the game\n")
    (tmp_path / "wrong.jsonl").write_text("[]\n")
    open_files(page, *sorted(tmp_path.iterdir()))
    expect(page.locator("#reading")).to_have_text(TEXT)
    problem = page.locator("#entry-problem")
    expect(problem).to_contain_text("binary.txt: this is not plain text")
    expect(problem).to_contain_text("wrong.jsonl: That did not work")
    page.expected_errors = 1  # type: ignore[attr-defined]  # what the service says of it
    titles = page.locator(".entry-title").all_text_contents()
    assert titles == [TEXT, "First", "the game", "# the team in court"]
    with page.expect_download() as download:
        page.click("#save-csv")
    rows = csv.DictReader(Path(download.value.path()).read_text("utf-8-sig").splitlines())
    assert list(dict.fromkeys(row["id"] for row in rows)) == ["one", "7", "7-2", "two"]
    page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.setData("text", "the team in court");
          document.getElementById("suggest").dispatchEvent(
            new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }"""
    )
    expect(page.locator("#reading")).to_have_text("the team in court")


def test_the_whole_queue_is_taken_along(browser: Browser, tmp_path: Path) -> None:
    with running(with_vocabulary()) as address, watched(browser, address) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        paste_many(page, "=1+1 in\tcourt,\n“the jury”", "the team won")
        page.get_by_role("button", name="Accept law").click()
        page.get_by_role("button", name="Reject sport").click()
        page.fill("#another", "my own")
        page.locator("#another-list li", has_text="free label").click()
        page.click("#copy")
        expect(page.locator("#told")).to_contain_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == "law\nmy own"
        page.click("#finish")
        saved = {}
        for kind in ("csv", "json", "tsv"):
            with page.expect_download() as download:
                page.click(f"#save-{kind}")
            assert re.fullmatch(
                rf"deplda-\d{{4}}-\d\d-\d\d\.{kind}", download.value.suggested_filename
            )
            saved[kind] = Path(download.value.path()).read_bytes()
            expect(page.locator("#taken")).to_have_text(
                {
                    "csv": "", "json": "1 document is not done and is not in it.",
                    "tsv": "1 label has no address and is not in it.",
                }[kind]
            )  # fmt: skip
    assert saved["csv"].startswith("\ufeffid,title,label".encode())
    rows = list(csv.DictReader(saved["csv"].decode("utf-8-sig").splitlines()))
    first = [row for row in rows if row["id"] == "text-1"]
    assert {row["title"] for row in first} == {"'=1+1 in\tcourt,"}  # no formula
    assert {(row["label"], row["uri"], row["decision"], row["kind"]) for row in first} == {
        ("law", "LAW", "accepted", "suggested"), ("sport", "SPORT", "rejected", "suggested"),
        ("companies", "COMPANIES", "open", "suggested"), ("my own", "", "accepted", "free"),
    }  # fmt: skip
    assert {row["id"] for row in rows} == {"text-1", "text-2"}
    (told,) = json.loads(saved["json"])  # the other one is not done
    assert (told["id"], told["labels"]) == ("text-1", ["LAW", "my own"])
    assert {row["label"]: row["decision"] for row in told["suggestions"]} == {
        "law": "accepted", "sport": "rejected", "companies": "open", "my own": "accepted",
    }  # fmt: skip
    assert saved["tsv"].decode() == "=1+1 in court, “the jury”\t<LAW>\nthe team won\t\n"


@pytest.mark.parametrize(
    "fields",
    [
        Fields(),
        Fields(id="Nr.", text=("Title", "Abstract"), labels="Subjects", weights={"Title": 2}),
    ],
)
def test_exported_json_is_learned_without_options(
    fields: Fields, browser: Browser, tmp_path: Path
) -> None:
    model = text_model()
    model.fields_ = fields
    model.save(tmp_path / "m")
    (tmp_path / "new.jsonl").write_text(
        json.dumps({fields.id: "n1", fields.texts[-1]: "The jury in court."}) + "\n"
        + json.dumps({fields.id: "n2", fields.texts[-1]: "The team won the game."})
    )  # fmt: skip
    with running(model) as address, watched(browser, address) as page:
        open_files(page, tmp_path / "new.jsonl")
        expect(page.locator(".suggestion")).to_have_count(3, timeout=60_000)
        page.click("#save-json")
        expect(page.locator("#taken")).to_contain_text("No document is done yet")
        page.get_by_role("button", name="Accept LAW").click()
        page.get_by_role("button", name="Reject COMPANIES").click()
        page.fill("#another", "HISTORY")
        page.locator("#another-list li", has_text="free label").click()
        page.click("#finish")
        with page.expect_download() as download:
            page.click("#save-json")
        export = Path(download.value.path()).rename(tmp_path / "export.json")
        open_files(page, export)
        expect(page.locator("#queue-said")).to_have_text("Document 3 of 3")
    said = done("learn", tmp_path / "m", export, "-o", tmp_path / "m-2")
    assert "learned from 1 document (0 without labels, 0 without words): 1 known label" in said
    assert "1 new one ('HISTORY')" in said
    learned = deplda.load(tmp_path / "m-2")
    assert learned.label_sets_[[-1]].indices.tolist() == [
        learned.classes_.tolist().index(label) for label in ("LAW", "HISTORY")
    ]
    (record,) = read_records(export, "json", fields=fields, counter=model.counter_)
    counts: Any = record.counts
    assert (record.id, counts["jury"]) == ("n1", 1)


def test_a_column_of_the_model_that_a_file_lacks_is_named(browser: Browser, tmp_path: Path) -> None:
    model = text_model()
    model.fields_ = Fields(text=("Title", "Abstract / Full text"), labels="Subjects")
    said = {
        "en": "news.csv: Column “Abstract / Full text” is not in this file; read: “Title”.",
        "de": "news.csv: Die Spalte „Abstract / Full text“ gibt es in dieser Datei nicht; "
        "gelesen: „Title“.",
        "fr": "news.csv : la colonne « Abstract / Full text » n’est pas dans ce fichier ; le texte "
        "est lu dans « Title ».",
        "fi": "news.csv: Saraketta ”Abstract / Full text” ei ole tässä tiedostossa; luettu: "
        "”Title”.",
    }
    table = tmp_path / "news.csv"
    table.write_text(" Title ;Text\nthe jury;x\n")
    with running(model) as address:
        for locale, expected in said.items():
            with watched(browser, address, locale=locale) as page:
                open_files(page, table)
                expect(page.locator("#notice")).to_have_text(expected, timeout=30_000)


def test_where_a_comma_is_decimal_excel_wants_semicolons(browser: Browser, address: str) -> None:
    with watched(browser, address, locale="de") as page:
        suggest(page, "the jury; in court")
        with page.expect_download() as download:
            page.click("#save-csv")
        text = Path(download.value.path()).read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(text.splitlines(), delimiter=";"))
    assert {row["title"] for row in rows} == {"the jury; in court"}
    assert all(re.fullmatch(r"\d,\d+", row["probability"]) for row in rows)


def test_no_name_is_a_formula_in_a_spreadsheet(page: Page, tmp_path: Path) -> None:
    (tmp_path / "=1+1.txt").write_text("the jury in court")
    (tmp_path / "table.csv").write_text("id,text\n@SUM(1),the game\n7;=1,the team\n")
    open_files(page, *sorted(tmp_path.iterdir()))
    expect(page.locator("#reading")).to_be_visible()
    page.fill("#another", "=2+2")
    page.locator("#another-list li", has_text="free label").click()
    with page.expect_download() as download:
        page.click("#save-csv")
    text = Path(download.value.path()).read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(text.splitlines()))
    assert {row["id"] for row in rows} == {"'=1+1", "'@SUM(1)", "7;'=1"}
    assert [row["label"] for row in rows if row["kind"] == "free"] == ["'=2+2"]
    assert all(float(row["probability"] or 0) >= 0 for row in rows)


def test_finished_documents_go_to_the_feedback_file(
    browser: Browser, model: Any, tmp_path: Path
) -> None:
    path = tmp_path / "feedback.jsonl"
    with running(model, learn=path) as address, watched(browser, address) as page:
        paste_many(page, *TEXTS)
        page.route("**/learn", lambda route: route.abort())
        page.keyboard.press("a")
        page.keyboard.press("n")
        expect(page.locator("#told")).to_contain_text("It was not sent")
        page.unroute("**/learn")
        expect(page.locator("#queue-said")).to_have_text("Document 2 of 3")
        expect(page.locator(".suggestion .name").first).to_be_focused()
        page.keyboard.press("a")
        page.keyboard.press("n")
        expect(page.locator("#told")).to_contain_text("2 documents were sent to be learned from")
        expect(page.locator("#kept")).to_contain_text("sent to the service, which stores them")
        page.expected_errors = 1  # type: ignore[attr-defined]  # that which was not sent
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["text"] for line in lines] == list(TEXTS[:2])
    assert all(len(line["labels"]) == 1 for line in lines)


# Labels of one's own ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "label", "note"),
    [("LAW", "law", ""), ("jurisp", "law", "Jurisprudence"), ("s12", "sport", "S12")],
)
def test_a_label_is_added_by_name_synonym_or_notation(
    typed: str, label: str, note: str, named: Page
) -> None:
    named.fill("#another", typed)
    option = named.locator("#another-list li").first
    expect(option).to_contain_text(label)
    expect(option).to_contain_text(note)
    expect(named.locator("#another")).to_have_attribute("aria-activedescendant", "another-list-0")
    named.keyboard.press("Enter")
    expect(named.locator("#accepted")).to_contain_text(label)
    expect(named.locator("#added")).to_have_text(f"{label} is added.")
    expect(named.locator("#another")).to_be_focused()
    named.get_by_role("button", name=f"Remove {label}").click()
    expect(named.locator("#accepted")).to_contain_text("None accepted yet")
    expect(named.locator("#another")).to_be_focused()


@pytest.fixture(scope="module")
def vocabulary_address() -> Any:
    with running(with_vocabulary()) as address:
        yield address


@pytest.fixture
def named(browser: Browser, vocabulary_address: str) -> Any:
    with watched(browser, vocabulary_address) as page:
        suggest(page)
        yield page


@pytest.fixture(scope="module")
def bilingual_address() -> Any:
    with running(bilingual_model()) as address:
        yield address


def label_names(page: Page) -> list[str]:
    names: list[str] = page.locator(".suggestion .name").evaluate_all(
        "all => all.map(one => one.firstChild.textContent)"
    )
    return names


def test_label_names_are_in_the_language_of_the_page_by_default(
    browser: Browser, bilingual_address: str
) -> None:
    for locale, name, other in (
        ("fi", "laki", "Law"),
        ("en", "Law", "laki"),
        ("de", "laki", "Law"),
    ):
        with watched(browser, bilingual_address, locale=locale) as page:
            suggest(page)
            assert name in label_names(page)
            page.goto("/#/labels")
            expect(page.locator("#label-list")).to_contain_text(name)
            expect(page.locator("#label-list")).not_to_contain_text(other)


def test_decisions_stay_when_another_language_is_chosen_for_label_names(
    browser: Browser, bilingual_address: str, tmp_path: Path
) -> None:
    with watched(browser, bilingual_address) as page:
        paste_many(page, *TEXTS)
        page.get_by_role("button", name="Accept Law").click()
        page.get_by_role("button", name="Reject Sport").click()
        page.fill("#another", "compan")
        page.keyboard.press("Enter")
        before = dict(zip(label_names(page), decisions(page), strict=True))
        assert before == {"Law": "accepted", "Sport": "rejected", "Companies": "accepted"}
        page.locator("#after").click()
        expect(page.locator("#queue-said")).to_contain_text("Document 2")
        expect(page.get_by_label("Labels in")).to_have_value("en")
        assert page.locator("#label-language option").all_inner_texts() == ["English", "Finnish"]
        page.get_by_label("Labels in").select_option("fi")
        expect(page.locator("html")).to_have_attribute("lang", "en")
        expect(page.locator("#suggestions")).to_contain_text("urheilu")
        with page.expect_download() as download:  # the first document is not shown again yet
            page.click("#save-csv")
        download.value.save_as(tmp_path / "a.csv")
        text = (tmp_path / "a.csv").read_text(encoding="utf-8-sig")
        rows = [row for row in csv.DictReader(text.splitlines()) if row["id"] == "text-1"]
        assert {row["label"]: (row["uri"], row["decision"]) for row in rows} == {
            "laki": ("LAW", "accepted"), "urheilu": ("SPORT", "rejected"),
            "Companies": ("COMPANIES", "accepted"),
        }  # fmt: skip
        page.locator("#before").click()
        expect(page.locator("#accepted")).to_contain_text("laki")
        after = dict(zip(label_names(page), decisions(page), strict=True))
        assert after == {"laki": "accepted", "urheilu": "rejected", "Companies": "accepted"}
        page.goto("/#/labels/Law")  # it is remembered, and a label is found by any of its names
        expect(page.locator(".label-name")).to_have_text("laki")
        expect(page.locator("#label-list [aria-current]")).to_have_text("laki")


def test_decisions_that_were_kept_by_name_are_those_of_the_label(
    browser: Browser, bilingual_address: str
) -> None:
    text = {"id": "a", "title": "", "text": "the jury in court"}
    said = {"said": "accepted", "uri": "LAW", "probability": 0.5}
    kept = {
        "text:model:1": text,
        "decided:model:1": {"decisions": [["laki", said]], "isAsked": True},
    }
    script = "".join(
        f"localStorage.setItem({json.dumps(f'deplda:{name}')}, {json.dumps(json.dumps(value))});"
        for name, value in kept.items()
    )
    with watched(browser, bilingual_address, script) as page:
        expect(page.locator("#accepted")).to_contain_text("Law")
        expect(page.locator(".suggestion", has_text="Law")).to_have_attribute(
            "data-decision", "accepted"
        )


def test_a_model_without_names_in_languages_has_no_menu_for_them(page: Page) -> None:
    expect(page.locator("#suggest-title")).to_be_visible()
    expect(page.locator("#label-language")).to_be_hidden()


def test_an_unknown_name_is_a_free_label_and_marked_as_such(named: Page) -> None:
    named.fill("#another", "Space law")
    named.keyboard.press("Enter")
    expect(named.locator("#accepted .free")).to_have_text(re.compile("Space law\\s*free label"))
    expect(named.locator("#added")).to_contain_text("is not a label of the model")
    named.fill("#another", "law")
    expect(named.locator("#another-list li")).to_have_count(1)  # it is known: none of one's own
    named.keyboard.press("Escape")
    expect(named.locator("#another-list")).to_be_hidden()


def test_what_the_model_would_give_is_preselected_by_choice(page: Page, model: Any) -> None:
    suggest(page)
    assert set(decisions(page)) == {"open"}
    page.locator("#preselect").check()
    n = len(model.suggest([TEXT])[0].labels)
    assert decisions(page) == ["accepted"] * n + ["open"] * (3 - n)
    page.click("#new")
    suggest(page, "the jury in court")
    assert decisions(page)[0] == "accepted"  # it is remembered
    page.keyboard.press("u")
    assert set(decisions(page)) == {"open"}
    page.reload()
    expect(page.locator("#reading")).to_be_visible()
    assert set(decisions(page)) == {"open"}  # and done once


def test_of_a_text_without_known_words_nothing_is_preselected(page: Page) -> None:
    suggest(page)
    page.locator("#preselect").check()
    page.click("#new")
    page.fill("#text", "qwxz bvnk")
    page.click("#go")
    expect(page.get_by_text("The model knows none of these words, so it suggests")).to_be_visible()
    assert not decisions(page)


def test_a_first_visit_has_an_example_to_try(page: Page) -> None:
    expect(page.locator("#invitation li")).to_have_count(3)
    page.click("#example")
    expect(page.locator("#reading")).to_contain_text("court", ignore_case=True)
    expect(page.locator("#invitation")).to_be_hidden()
    expect(page.locator(".suggestion .name").first).to_be_focused()
    page.click("#remove")
    expect(page.locator("#invitation")).to_be_visible()
    expect(page.locator("#text")).to_be_focused()
