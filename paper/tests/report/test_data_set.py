"""The data of an experiment, described or not."""

from pathlib import Path

from paper.report.pages import full_report
from paper.report.parts import Figure
from paper.report.runs import read_groups
from paper.results import read_paper_results as read_results
from paper.tests.report.folders import make
from paper.tests.report.reading import section, tables, words


def test_a_folder_that_does_not_describe_its_data_says_so(tmp_path: Path) -> None:
    plain = make(tmp_path / "r", described=False, n_splits=1, diagnosed=False)
    report = full_report(read_groups(plain))
    assert "does not describe its data" in words(section(report, "Data"))
    titles = [part.title for part in report.sections]
    assert "Convergence of the chains" not in titles


def test_the_data_is_described_with_both_distributions(tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    facts = read_results(folder).data
    assert facts is not None
    part = section(full_report(read_groups(folder)), "Data")
    (statistics,) = tables(part)
    rows = {row[0].text: row[1].text for row in statistics.rows}
    assert rows["documents"] == "80"
    assert rows["labels"] == "6"
    labels, documents = (block for block in part.blocks if isinstance(block, Figure))
    assert sum(int(row[1].text) for row in labels.table.rows) == 6
    assert sum(int(row[1].text) for row in documents.table.rows) == facts.n_train == 40
