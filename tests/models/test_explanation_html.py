"""Explanations as pages: words where they stand, and nothing that a page could obey."""

from html.parser import HTMLParser
from typing import Any

import pytest
from msgspec import structs
from rich.console import Console

from deplda import DependencyLDA, FlatLDA, WordCounter
from deplda.models.explanation import Explanation
from deplda.models.topic_model import TopicModel
from tests.models.worlds import newsroom, trained


class Page(HTMLParser):
    """Reads a page and sees that every tag that is opened is closed."""

    VOID = ("meta", "br", "hr", "link", "img")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data.replace("\xa0", " "))


def page_of(explanation: Explanation) -> Page:
    html = explanation.to_html()
    page = Page()
    page.feed(html)
    page.close()
    assert page.open == []
    assert html.startswith("<!doctype html>")
    assert not {"script", "link", "img", "iframe", "object"} & page.tags
    assert not [name for name, _ in page.attributes if name.startswith(("on", "src", "href"))]
    for outside in ("http:", "https:", "//", "url(", "@import", "javascript:"):
        assert outside not in html.replace("<!doctype", "")
    return page


# Texts --------------------------------------------------------------------------------------------
TEXTS = ["Çay içmek güzel", "Das Café in İstanbul", "ΟΔΟΣ means Straße", "new york, New York"]


def explained(text: str, **options: Any) -> Explanation:
    counter = WordCounter(stop_words=None, **options)
    labels = [["tea"], ["tea", "city"], ["city"], ["city", "usa"]]
    model = FlatLDA().fit(counter.fit_transform(TEXTS), labels, counter=counter)
    return model.explain(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ÇAY, café!", ["ÇAY", "café"]),
        ("İstanbul İSTANBUL istanbul", ["İstanbul", "İSTANBUL"]),  # İ is folded to i and a dot
        ("ΟΔΟΣ Straße", ["ΟΔΟΣ", "Straße"]),
        ("the New York", ["New", "York"]),
        ("nothing known", []),
        ("", []),
    ],
)
def test_words_are_found_where_they_stand(text: str, found: list[str]) -> None:
    explanation = explained(text)
    assert [text[begin:end] for begin, end, _ in explanation.spans] == found
    counted = sum(word.times for word in explanation.words)
    assert counted == explanation.n_tokens == len(found)
    assert {word for _, _, word in explanation.spans} == {w.word for w in explanation.words}
    assert text in "".join(page_of(explanation).text)


def test_sequences_of_words_are_listed_below_the_text() -> None:
    explanation = explained("In New York and new york", ngrams=2)
    assert {"new", "york", "new york"} <= {word.word for word in explanation.words}
    assert [word for _, _, word in explanation.spans] == ["in", "new", "york", "new", "york"]
    page = "".join(page_of(explanation).text)
    assert "In New York and new york" in page
    assert "Counted beside single words: new york" in page


def test_letters_are_left_as_they_are_where_case_matters() -> None:
    explanation = explained("New York, new york", lowercase=False)
    assert [word for _, _, word in explanation.spans] == ["New", "York", "new", "york"]


# Pages --------------------------------------------------------------------------------------------


@pytest.fixture
def model(model: Any) -> TopicModel:
    """Give every model, trained on the newsroom."""
    return trained(model)


def test_a_page_needs_nothing_else(model: TopicModel) -> None:
    explanation = model.explain(newsroom().corpus[[0]])
    page = page_of(explanation)
    text = "".join(page.text)
    for reason in explanation.reasons:
        assert str(reason.label) in text
    for word in explanation.words:
        assert word.word in text
    assert explanation._repr_html_() in explanation.to_html()


ANY = r"[^ ]+"
HOSTILE = "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)>"


def test_hostile_labels_words_and_texts_are_shown_and_not_obeyed() -> None:
    text = f"{HOSTILE} {HOSTILE}"
    counter = WordCounter(stop_words=None, token_pattern=ANY, lowercase=False)
    counts = counter.fit_transform([text, "good"])
    model = DependencyLDA(n_topic_chains=1, n_topic_sweeps=3).fit(
        counts, [[HOSTILE, "worse" + HOSTILE], ["good"]], counter=counter
    )
    for document in (text, counts[[0]]):
        page = page_of(model.explain(document))
        assert HOSTILE in "".join(page.text)
    console = Console(width=200, record=True, file=None, force_terminal=False, quiet=True)
    console.print(model.explain(text))


def test_a_part_with_a_hostile_name_as_scores_may_have_is_shown_and_not_obeyed(
    model: TopicModel,
) -> None:
    explanation = model.explain(newsroom().corpus[[0]], k=1)
    (reason,) = explanation.reasons
    for probability in (0.5, None):
        named = structs.replace(reason, parts={HOSTILE: reason.score}, probability=probability)
        page = page_of(structs.replace(explanation, reasons=(named,)))
        assert HOSTILE in "".join(page.text)
