"""What failed is named."""

from pathlib import Path

from paper.report.pages import full_report
from paper.report.runs import read_groups
from paper.tests.report.folders import make
from paper.tests.report.reading import section, tables, words


def test_failed_units_are_named_with_their_reason(tmp_path: Path) -> None:
    folder = make(tmp_path / "r", failed=(("Flat-LDA", 1), ("Tuned-SVM", 0)))
    (folder / "units" / "0-tf-idf-svm.json").unlink()
    report = full_report(read_groups(folder))
    missing = section(report, "What is missing")
    (table,) = tables(missing)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["tiny", "quick", "Tuned-SVM", "0", "MemoryError: <no> room & time"],
        ["tiny", "quick", "Flat-LDA", "1", "MemoryError: <no> room & time"],
    ]
    assert "Not run yet: tiny, quick: 1 of 8 units." in words(missing)
    assert "2 units failed" in words(section(report, "Summary"))
    assert "Flat-LDA (1)" in words(section(report, "Results"))
    assert "cannot be paired" in words(section(report, "Rare and frequent labels"))
