"""The top of the page: leaderboards, and all data sets together."""

from pathlib import Path

import pytest
from rich.console import Console

from deplda.experiments.report import leaderboard
from deplda.experiments.report.pages import full_report
from deplda.experiments.report.parts import Cell, Figure
from deplda.experiments.report.runs import read_groups
from tests.experiments.report.folders import experiment, make
from tests.experiments.report.reading import section, tables, words


def test_the_leaderboard_fits_a_terminal(folders: list[Path]) -> None:
    console = Console(width=80, record=True)
    console.print(leaderboard(folders))
    text = console.export_text()
    assert text.count("Leaderboard of") == 2
    assert "Dependency-LDA" in text
    assert "…" not in text


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
    assert total[2] == Cell(total[2].text, "best")
    figures = [block for block in part.blocks if isinstance(block, Figure)]
    assert len(figures) == 4
    assert [row[0].text for row in figures[0].table.rows] in (["a", "b"], ["b", "a"])
    for row in figures[0].table.rows:
        above = [float(cell.text.replace("−", "-")) for cell in row[3:]]
        assert sum(above) == pytest.approx(0, abs=2e-3)
    assert "not described: c" in words(part)
