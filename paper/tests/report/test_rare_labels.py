"""Rare and frequent labels: what is said follows the tests."""

import re
from pathlib import Path

import pytest

from deplda.comparison.measured import versus
from paper.report.pages import full_report
from paper.report.parts import (
    Figure,
)
from paper.report.runs import read_groups
from paper.tests.report.folders import make
from paper.tests.report.reading import section, words


def test_verdicts_by_frequency_follow_the_tests(tmp_path: Path) -> None:
    groups = read_groups(make(tmp_path / "r", n_splits=6))
    run = groups[0].main
    found = run.by_frequency
    assert found is not None
    part = section(full_report(groups), "Rare and frequent labels")
    said = words(part)
    for bin_ in found.bins:
        test = versus(bin_, "Dependency-LDA", "Tuned-SVM")
        low, high = bin_.means["Tuned-SVM"].value, bin_.means["Dependency-LDA"].value
        assert test.difference == pytest.approx(high - low)
        back = versus(bin_, "Tuned-SVM", "Dependency-LDA")
        assert (back.difference, back.p) == (-test.difference, test.p)
    sure = [b for b in found.bins if versus(b, "Dependency-LDA", "Tuned-SVM").p < 0.05]
    assert sure, "the models differ so much that some bin shows it"
    assert "Dependency-LDA against Tuned-SVM: better on labels of" in said
    (figure,) = [block for block in part.blocks if isinstance(block, Figure)]
    assert figure.table.columns[-2:] == (
        "Dependency-LDA − Tuned-SVM",
        "Dependency-LDA − tf-idf SVM",
    )
    marks = [bool(re.search(r"\*", row[-2].text)) for row in figure.table.rows]
    assert marks == [b in sure for b in found.bins]
    tuned = next(series for series in figure.chart.series if series.name == "Tuned-SVM")
    assert [point.hollow for point in tuned.points] == [b not in sure for b in found.bins]
