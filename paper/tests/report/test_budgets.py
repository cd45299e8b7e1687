"""Budgets of one experiment side by side."""

from pathlib import Path

import pytest

from paper.report.measures import (
    BY_DOCUMENT,
)
from paper.report.pages import full_report
from paper.report.parts import Details
from paper.report.runs import read_groups
from paper.tests.report.folders import experiment, make
from paper.tests.report.reading import section, tables, words


def test_budgets_of_one_experiment_are_set_side_by_side(tmp_path: Path) -> None:
    folders = [make(tmp_path / "q"), make(tmp_path / "p", budget="paper", seed=100)]
    groups = read_groups(folders)
    assert [(group.name, [run.title for run in group.runs]) for group in groups] == [
        ("tiny", ["paper", "quick"])
    ]
    part = section(full_report(groups), "Budgets")
    (table,) = tables(part)
    main, other = groups[0].runs
    row = next(r for r in table.rows if r[0].text == "Flat-LDA, Avg-Prec by document")
    gap = other.mean("Flat-LDA", BY_DOCUMENT) - main.mean("Flat-LDA", BY_DOCUMENT)
    assert float(row[3].text.replace("−", "-")) == pytest.approx(gap, abs=5.1e-4)
    assert (row[3].tone == "off") == (abs(round(gap, 3)) > 0.01)
    assert any(isinstance(b, Details) and "budget quick" in b.summary for b in part.blocks)
    fewer = experiment(models=dict(list(experiment().models.items())[:2]))
    some = read_groups([make(tmp_path / "f", fewer, budget="paper"), folders[0]])
    assert some[0].main.title == "quick"
    same = read_groups([make(tmp_path / "a"), make(tmp_path / "b")])
    assert [run.title for run in same[0].runs] == ["quick (a)", "quick (b)"]
    verdict = words(section(full_report(same), "Budgets"))
    assert "4 of 4 models agree in all 24 metrics" in verdict


def test_budgets_are_compared_on_the_splits_that_both_have(tmp_path: Path) -> None:
    quick = make(tmp_path / "q", n_splits=3)
    paper = make(tmp_path / "p", budget="paper", failed=(("Flat-LDA", 0), ("Tuned-SVM", 1)))
    for path in paper.glob("units/?-tf-idf-svm.json"):
        path.unlink()
    groups = read_groups([quick, paper])
    assert groups[0].main.title == "quick"
    part = section(full_report(groups), "Budgets")
    # The same seeds: on the same splits there is no difference, over all of them there would be.
    assert "3 of 3 models agree in all 24 metrics" in words(part)
    (table,) = tables(part)
    assert {row[3].text for row in table.rows} == {".000", ".0", ""}
    times = [row for row in table.rows if row[0].text.endswith("CPU-seconds")]
    assert all(row[1].text == row[2].text for row in times)


def test_budgets_on_other_splits_are_not_set_side_by_side(tmp_path: Path) -> None:
    folders = [make(tmp_path / "q", n_splits=2), make(tmp_path / "p", budget="paper", n_splits=2)]
    for folder, split in zip(folders, "01", strict=True):
        for path in folder.glob(f"units/{split}-*.json"):
            path.unlink()
    part = section(full_report(read_groups(folders)), "Budgets")
    assert "have no unit in common" in words(part)
    assert not tables(part)
