"""The two pages: sound, self-contained, and with the same content."""

import re
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console

from deplda import InputError
from deplda.experiments import Experiment, read_experiment
from deplda.experiments.protocol import Model
from deplda.experiments.report import demo, leaderboard, write_markdown, write_report
from deplda.experiments.report.charts import Axis, Chart, Point, Series, svg
from tests.experiments.report.folders import NAMES, experiment, make

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Elements with their parents, attributes and text; fails on a tag that closes another."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None], tuple[str, ...]]] = []
        self.rows: list[list[str]] = []
        self.cells: list[str] | None = None
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.cells = []
        if tag in {"th", "td"} and self.cells is not None:
            self.cells.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), tuple(self.open)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag == "tr" and self.cells is not None:
            self.rows.append(self.cells)
            self.cells = None

    def handle_data(self, data: str) -> None:
        if self.cells and "style" not in self.open:
            self.cells[-1] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes, _ in self.elements if name == tag]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("results")
    return [
        make(root / "a", experiment("yahoo-arts", paper="Y! Arts")),
        make(root / "b", experiment("yahoo-arts", paper="Y! Arts"), budget="paper", seed=70),
        make(root / "c", n_splits=1, failed=(("Flat-LDA", 0),)),
    ]


@pytest.fixture(scope="module")
def html(folders: list[Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("html") / "report.html"
    write_report(folders, path)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def markdown(folders: list[Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("md") / "report.md"
    write_markdown(folders, path)
    return path.read_text(encoding="utf-8")


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


def test_both_pages_hold_the_same_tables(html: str, markdown: str) -> None:
    def numbers(text: str) -> Counter[str]:
        return Counter(re.findall(r"[+−-]?[\d,]*\.?\d+", text))

    rows = Page(html).rows
    theirs = [line for line in markdown.splitlines() if line.startswith("|")]
    theirs = [line for line in theirs if not re.fullmatch(r"[|: -]+", line)]
    # The explanation is a list in HTML and a table in Markdown.
    begins = [k for k, line in enumerate(theirs) if line.startswith("| label | score |")]
    theirs = [line for k, line in enumerate(theirs) if k not in {*begins, *(b + 1 for b in begins)}]
    assert len(rows) == len(theirs)
    for ours, line in zip(rows, theirs, strict=True):
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        assert len(ours) == len(cells)
        assert numbers(" ".join(ours)) == numbers(line)
        for a, b in zip(ours, cells, strict=True):
            plain = re.sub(r"\\(.)", r"\1", re.sub(r"(?<!\\)\*\*", "", b))
            assert a == plain


def test_odd_label_names_are_shown_as_they_are(html: str, markdown: str) -> None:
    for name in NAMES:
        assert any(name == cell.removesuffix(" ✓") for row in Page(html).rows for cell in row)
    assert "<i>rare</i>" not in html
    assert "&lt;i&gt;rare&lt;/i&gt;" in html
    assert r"\<i>rare\</i>" in markdown
    assert r"pipe \| label" in markdown
    assert r"five\_\*six\*" in markdown
    assert "MemoryError: <no>" not in html
    assert "MemoryError: &lt;no&gt; room &amp; time" in html


def test_headings_are_the_same_and_links_lead_to_them(html: str, markdown: str) -> None:
    theirs = [(len(m[1]), m[2]) for m in re.finditer(r"^(#+) (.*)$", markdown, re.M)]
    ours = [
        (int(m[1]), unescape(m[2])) for m in re.finditer(r"<h([1-3])(?: id=[^>]*)?>(.*?)</h", html)
    ]
    assert theirs == ours
    links = re.findall(r"\]\(#(.*?)\)", markdown)
    assert links == [str(a["href"])[1:] for a in Page(html).all("a")][1:]


def test_the_same_folders_give_the_same_bytes(
    folders: list[Path], html: str, tmp_path: Path
) -> None:
    write_report(map(str, folders), tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == html


def test_remarks_stand_under_a_heading_of_their_own(folders: list[Path], tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("\nWe *think* that 5 > 4.\n\n- so\n", encoding="utf-8")
    write_markdown(folders, tmp_path / "r.md", notes)
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "\n- [Remarks](#remarks)\n" in text
    assert "\n\n## Remarks\n\nWe *think* that 5 > 4.\n\n- so\n\n## " in text
    write_markdown(folders[:1], tmp_path / "r.md", title="Ours & <theirs>")
    assert (tmp_path / "r.md").read_text(encoding="utf-8").startswith("# Ours & \\<theirs>")
    write_report(folders[:1], tmp_path / "r.html", title="Ours & <theirs>")
    assert "<title>Ours &amp; &lt;theirs&gt;</title>" in (tmp_path / "r.html").read_text("utf-8")
    assert "Remarks" not in (tmp_path / "r.md").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="No such file"):
        write_markdown(folders, tmp_path / "r.md", tmp_path / "none.md")
    notes.write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match=r"notes.md, line 1: byte 0xe9"):
        write_markdown(folders, tmp_path / "r.md", notes)
    with pytest.raises(InputError, match=r"there is no folder .*nowhere"):
        write_report(folders, tmp_path / "nowhere" / "r.html")


def test_the_leaderboard_fits_a_terminal(folders: list[Path]) -> None:
    console = Console(width=80, record=True)
    console.print(leaderboard(folders))
    text = console.export_text()
    assert text.count("Leaderboard of") == 2
    assert "Dependency-LDA" in text
    assert "…" not in text


@pytest.mark.parametrize("kind", ["lines", "points", "traces", "bars"])
@pytest.mark.parametrize(
    "points",
    [
        [(1.0, 1.0)],
        [(1.0, 2.0), (1.0, 2.0)],
        [(0.001, -5e6), (4000.0, 5e6)],
        [(k, k * k) for k in range(40)],
    ],
)
def test_every_chart_stays_inside_its_frame(kind: str, points: list[tuple[float, float]]) -> None:
    series = Series("<x>", tuple(Point(x, y, y - 0.1, y + 0.1) for x, y in points), 0)
    for log in (False, True):
        if log and kind != "points":
            continue
        axes = Axis("a & b", log=log), Axis("y")
        drawn = svg(Chart(kind, *axes, (series,)), 'T "1"', "D", "f")  # type: ignore[arg-type]
        Page(drawn)
        for x, y in re.findall(r"M([\d.-]+) ([\d.-]+)", drawn):
            assert -1 <= float(x) <= 481
            assert -1 <= float(y) <= 301
        assert "nan" not in drawn
        assert drawn.count('class="tick"') >= 2


def test_ticks_are_all_different(html: str) -> None:
    for chart in re.findall(r'<svg viewBox="0 0.*?</svg>', html):
        ticks = re.findall(r'class="tick" x="[\d.]+" y="[\d.]+" text-anchor="end">(.*?)<', chart)
        assert len(ticks) == len(set(ticks)) >= 1


def test_named_places_have_their_names(html: str) -> None:
    assert re.search(r'class="tick"[^>]*>\d+–\d+</text>', html)


def test_the_demonstration_tells_its_story_and_can_be_given_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {"n_topics": 8, "n_topic_chains": 1, "n_topic_sweeps": 20}
    models = {
        "Dependency-LDA": Model("DependencyLDA", parameters=few),
        "Flat-LDA": Model("FlatLDA"),
    }

    def small(name: str) -> Experiment:
        assert name == "newsroom"
        assert set(read_experiment(name).models) > set(models)
        return Experiment(name=name, data=name, models=models)

    monkeypatch.setattr("deplda.experiments.report.demonstration.read_experiment", small)
    make(tmp_path / "demo" / "results", experiment("of another time"))
    console = Console(width=140, record=True)
    report = demo(tmp_path / "demo", console)
    text = console.export_text()
    assert "VIDEO GAMES has a single training document" in text
    assert "gamers, console, arcade, video" in text
    assert "words that argue for it" in text
    assert "Leaderboard of newsroom" in text
    assert str(report) in text.replace("\n", "")
    assert "VIDEO GAMES" in report.read_text(encoding="utf-8")
