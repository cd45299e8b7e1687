"""What is shown of one document: every part of a score, and every model's words."""

import re
from pathlib import Path

import msgspec
import pytest
from tests.comparison.folders import NAMES

from deplda.models.explanation import Explanation
from paper.protocol import PaperModel as Model
from paper.report import write_report
from paper.report.pages import full_report
from paper.report.parts import Details
from paper.report.runs import read_groups
from paper.results import read_paper_results as read_results
from paper.tests.report.folders import MODELS, experiment, make
from paper.tests.report.reading import section


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / "r", experiment(models=MODELS | {"Hybrid": Model("HybridLDA")}))


def test_the_reasons_of_a_hybrid_have_all_their_parts_and_words(folder: Path) -> None:
    write_report(folder, folder / "report.html")
    page = (folder / "report.html").read_text(encoding="utf-8")
    hybrid = page[page.index("Why Hybrid says so") :]
    assert "−1.250 = any candidate −2.000, SVM +0.750" in hybrid
    assert "A score is the sum of its parts" in hybrid
    assert "Words: plain&nbsp;(+0.62)" in hybrid
    assert "0.500 = words +0.300, prior +0.200" in page[: page.index("Why Hybrid says so")]


def test_dependency_lda_is_explained_first_and_others_on_demand(folder: Path) -> None:
    blocks = section(full_report(read_groups(folder)), "One document").blocks
    said = "below it the words of the document, in no order: the data set has no texts"
    assert blocks[2] == f"Why Dependency-LDA says so, and {said}:"
    assert isinstance(blocks[3], Explanation)
    assert [b.summary for b in blocks if isinstance(b, Details)] == [
        "Why Flat-LDA says so",
        "Why Hybrid says so",
    ]


def test_models_that_learned_the_same_share_a_column(folder: Path) -> None:
    _, words, topics = section(full_report(read_groups(folder)), "What was learned").blocks
    assert words.columns[2:] == ("Dependency-LDA, Flat-LDA and Hybrid",)  # type: ignore[union-attr]
    assert topics.caption.startswith("Dependency-LDA: 2 of the topics")  # type: ignore[union-attr]
    assert NAMES[3] in topics.rows[0][1].text  # type: ignore[union-attr]


def test_reasons_without_parts_of_an_older_folder_are_left_out(folder: Path) -> None:
    for path in folder.glob("units/*-lda.json"):
        unit = msgspec.json.decode(path.read_bytes())
        for reason in unit["found"]["showcase"]["explanation"]["labels"]:
            del reason["parts"]
        path.write_bytes(msgspec.json.encode(unit))
    blocks = section(full_report(read_groups(folder)), "One document").blocks
    (why,) = [b for b in blocks if isinstance(b, str)][1:]
    assert why.startswith("Why Hybrid says so, and")


def test_a_document_whose_text_is_known_reads_as_text(folder: Path) -> None:
    facts = msgspec.json.decode((folder / "data.json").read_bytes())
    document = read_results(folder).done[0].results or {}
    text = "It is plain: x<y, and plain again."
    spans = [[6, 11, "plain"], [13, 16, "x<y"], [22, 27, "plain"]]
    facts["document"] = {"id": document["showcase"]["document"], "text": text, "spans": spans}
    (folder / "data.json").write_bytes(msgspec.json.encode(facts))
    write_report(folder, folder / "report.html")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "below it the document as it is written" in page
    assert re.search(r"It is plain: <mark[^>]*>x&lt;y</mark>, and plain again\.", page)
    assert "×3" not in page  # no bag of words


def test_topics_that_mix_themes_are_named(folder: Path) -> None:
    for path in folder.glob("units/*-dependency-lda.json"):
        unit = msgspec.json.decode(path.read_bytes())
        unit["found"]["showcase"]["coherence"] = [0.5, -0.25]
        path.write_bytes(msgspec.json.encode(unit))
    *_, topics, said = section(full_report(read_groups(folder)), "What was learned").blocks
    assert [row[2].text for row in topics.rows] == ["+.50", "−.25, mixes themes"]  # type: ignore[union-attr]
    assert str(said).endswith("A topic below 0 mixes themes. Here topic 2 mixes themes.")
