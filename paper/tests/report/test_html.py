"""The HTML page: sound, self-contained, and of use without seeing it."""

import re
from collections import Counter
from itertools import pairwise

from tests.comparison.folders import NAMES
from tests.comparison.reading import Page


def test_the_page_is_sound_and_needs_nothing_else(html: str) -> None:
    page = Page(html)
    for _, attributes, _ in page.elements:
        for name in ("src", "href", "xlink:href", "action"):
            value = attributes.get(name)
            assert value is None or value.startswith("#")
    assert not page.all("script")
    assert "@import" not in html
    assert "url(" not in html
    ids = [a["id"] for _, a, _ in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for link in page.all("a"):
        assert str(link["href"])[1:] in ids


def test_the_page_can_be_used_without_seeing_it(html: str) -> None:
    page = Page(html)
    tags = Counter(tag for tag, _, _ in page.elements)
    assert page.all("html")[0]["lang"] == "en"
    assert tags["h1"] == tags["main"] == tags["nav"] == tags["header"] == tags["footer"] == 1
    assert page.all("a")[0]["href"] == "#main"
    levels = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert all(b <= a + 1 for a, b in pairwise(levels))
    captions = [parents for tag, _, parents in page.elements if tag == "caption"]
    assert len(captions) == tags["table"] > 20
    assert all(th["scope"] in {"col", "row"} for th in page.all("th"))
    drawn = [a for tag, a, _ in page.elements if tag == "svg" and a.get("role") == "img"]
    assert len(drawn) == tags["figure"] == tags["figcaption"] == tags["desc"] > 5
    titles = [parents for tag, _, parents in page.elements if tag == "title" and "svg" in parents]
    assert len(titles) == tags["figure"]
    inside = [p for tag, _, p in page.elements if tag == "table" and "figure" in p]
    assert len(inside) == tags["figure"]


def test_odd_label_names_are_shown_as_they_are(html: str) -> None:
    for name in NAMES:
        assert any(name == cell.removesuffix(" ✓") for row in Page(html).rows for cell in row)
    assert "<i>rare</i>" not in html
    assert "&lt;i&gt;rare&lt;/i&gt;" in html
    assert "MemoryError: <no>" not in html
    assert "MemoryError: &lt;no&gt; room &amp; time" in html


def test_the_contents_lead_to_every_heading(html: str) -> None:
    headings = re.findall(r"<h[2-3] id=\"(.*?)\">(.*?)</h", html)
    links = re.findall(r"<li class=\"d\d\"><a href=\"#(.*?)\">(.*?)</a>", html)
    assert headings == links != []
