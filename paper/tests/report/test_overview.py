"""The top of the page: leaderboards, and all data sets together."""

from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from paper.report import leaderboard, write_markdown, write_report
from paper.report.pages import full_report
from paper.report.parts import Figure, Remark
from paper.report.runs import read_groups
from paper.tests.report.folders import experiment, make
from paper.tests.report.reading import section, tables, words


def test_the_leaderboard_fits_a_terminal(folders: list[Path]) -> None:
    console = Console(width=80, record=True)
    console.print(leaderboard(folders))
    text = console.export_text()
    assert text.count("Leaderboard of") == 2
    assert "Dependency-LDA" in text
    assert "…" not in text
    assert "± is half of the 95 % interval" in text


def test_the_first_thing_said_of_a_generated_corpus_is_that_it_is_generated(
    tmp_path: Path,
) -> None:
    folder = make(tmp_path / "r")
    first = full_report(read_groups(folder)).sections[0].blocks[0]
    assert not isinstance(first, Remark)
    facts = msgspec.json.decode((folder / "data.json").read_bytes())
    (folder / "data.json").write_bytes(msgspec.json.encode(facts | {"generated": True}))
    first = full_report(read_groups(folder)).sections[0].blocks[0]
    assert isinstance(first, Remark)
    assert first.text.startswith("The documents of tiny are generated: a program drew them.")
    write_report(folder, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.index("are generated") < page.index("Leaderboard of")
    write_markdown(folder, tmp_path / "r.md")
    assert "> The documents of tiny are generated" in (tmp_path / "r.md").read_text("utf-8")


def test_several_data_sets_share_a_scorecard_and_figures_by_their_kind(tmp_path: Path) -> None:
    models = dict(list(experiment().models.items())[:3])
    folders = [
        make(tmp_path / "a", experiment("a")),
        make(tmp_path / "b", experiment("b", models=models), seed=50),
        make(tmp_path / "c", experiment("c"), described=False),
    ]
    report = full_report(read_groups(folders))
    part = section(report, "All data sets")
    (card,) = tables(part)
    assert card.columns == ("data set", "of", "Dependency-LDA", "Flat-LDA", "Tuned-SVM")
    total = next(row for row in card.rows if row[0].text == "a, all")
    assert total[1].text == "24"
    assert int(total[2].text) > int(total[3].text)
    figures = [block for block in part.blocks if isinstance(block, Figure)]
    assert len(figures) == 4
    assert [row[0].text for row in figures[0].table.rows] in (["a", "b"], ["b", "a"])
    for row in figures[0].table.rows:
        above = [float(cell.text.replace("−", "-")) for cell in row[3:]]
        assert sum(above) == pytest.approx(0, abs=2e-3)
    assert "not described: c" in words(part)
