"""What a report says: figures, differences, verdicts, and what is missing."""

import re
from pathlib import Path

import msgspec
import numpy as np
import pytest

from deplda import InputError
from deplda.experiments import read_results
from deplda.experiments.report.content import report_of
from deplda.experiments.report.literature import paper_figures
from deplda.experiments.report.measures import (
    BY_DOCUMENT,
    BY_LABEL,
    FIGURES,
    ONE_ERROR,
    TABLES,
    Metric,
)
from deplda.experiments.report.overview import leaderboard_of
from deplda.experiments.report.paper_tables import difference
from deplda.experiments.report.parts import (
    Bullets,
    Cell,
    Details,
    Figure,
    Report,
    Section,
    Table,
    placed,
)
from deplda.experiments.report.runs import read_groups, versus
from tests.experiments.report.folders import experiment, make

PAPER = {"name": "yahoo-health", "paper": "Y! Health"}


def section(report: Report, title: str) -> Section:
    return next(place.section for place in placed(report) if place.section.title == title)


def tables(part: Section) -> list[Table]:
    return [block for block in part.blocks if isinstance(block, Table)]


def words(part: Section) -> str:
    said = [
        b if isinstance(b, str) else " ".join(b.items)
        for b in part.blocks
        if isinstance(b, str | Bullets)
    ]
    return " ".join(said)


def test_means_and_spreads_are_those_of_the_splits(tmp_path: Path) -> None:
    folder = make(tmp_path / "r", n_splits=3)
    four = tables(section(report_of(read_groups(folder)), "Results"))
    assert [len(table.columns) for table in four] == [8, 7, 8, 7]
    values = [
        (unit.found or {})["metrics"]["label"]["ranking"]["average_precision"]
        for unit in read_results(folder).done
        if unit.model == "Flat-LDA"
    ]
    row = next(row for row in four[2].rows if row[0].text == "Flat-LDA")
    shown = row[four[2].columns.index("Avg-Prec")].text
    mean, spread = (float(text) for text in shown.split(" ± "))
    assert mean == pytest.approx(np.mean(values), abs=5.1e-4)
    assert spread == pytest.approx(np.std(values, ddof=1), abs=5.1e-4)


def test_the_best_of_each_column_is_bold_and_nothing_else_is(tmp_path: Path) -> None:
    report = report_of(read_groups(make(tmp_path / "r")))
    four = tables(section(report, "Results"))
    for table, metrics in zip(four, TABLES.values(), strict=True):
        for k, metric in enumerate(metrics, start=1):
            shown = [float(row[k].text.split(" ± ")[0].replace(",", "")) for row in table.rows]
            best = min(shown) if metric.lower_is_better else max(shown)
            bold = [row[k].tone == "best" for row in table.rows]
            assert bold == [value == best for value in shown]


def test_the_papers_figures_and_our_differences_stand_below_ours(tmp_path: Path) -> None:
    groups = read_groups(make(tmp_path / "r", experiment(**PAPER)))
    agreement, *four = tables(section(report_of(groups), "Results"))
    run, paper = groups[0].main, paper_figures("Y! Health")
    first = four[0]
    assert [row[0].text for row in first.rows[:3]] == [
        "Dependency-LDA", "the paper’s", "difference",
    ]  # fmt: skip
    assert [cell.text for cell in first.rows[1][1:]] == [
        ".795", ".926", ".805", "7.45", "24.7", "44.1", "1.52",
    ]  # fmt: skip
    near = 0
    for table, metrics in zip(four, TABLES.values(), strict=True):
        for k, metric in enumerate(metrics, start=1):
            printed = paper["Dependency-LDA"][metric]
            cell = table.rows[2][k]
            exact = run.mean("Dependency-LDA", metric) - float(printed)
            decimals = len(printed.partition(".")[2])
            assert float(cell.text.replace("−", "-")) == pytest.approx(
                exact, abs=0.51 * 10**-decimals
            )
            limit = metric.tolerance
            inside = limit is not None and abs(float(cell.text.replace("−", "-"))) <= limit + 1e-9
            assert (cell.tone == "off") == (limit is not None and not inside)
            near += inside
    rows = {row[0].text: [cell.text for cell in row[1:4]] for row in agreement.rows}
    assert rows["Dependency-LDA"] == [f"{near} of 26", str(24 - near), "2"]
    assert "tf-idf SVM" not in rows


def test_a_difference_is_judged_as_it_is_shown() -> None:
    assert difference(0.8153, BY_DOCUMENT, ".805") == ("+.010", 0.01, True)
    assert difference(0.8156, BY_DOCUMENT, ".805") == ("+.011", 0.011, False)
    assert difference(26.21, ONE_ERROR, "24.7") == ("+1.5", 1.5, True)
    assert difference(23.0, ONE_ERROR, "24.7") == ("−1.7", -1.7, False)
    assert difference(9.0, Metric("document", "ranking", "margin"), "1.52").near is None
    assert difference(100.0, Metric("label", "ranking", "is_error"), "100").text == "0"


def test_data_of_the_same_kind_is_shown_beside_the_paper_but_not_judged(tmp_path: Path) -> None:
    asked = experiment(**PAPER, note="Not the same documents.")
    report = report_of(read_groups(make(tmp_path / "r", asked)))
    results = section(report, "Results")
    assert "Not the same documents." in words(results)
    assert len(tables(results)) == 4
    assert any(cell.text == ".795" for row in tables(results)[0].rows for cell in row)
    assert not any(c.tone == "off" for t in tables(results) for row in t.rows for c in row)
    assert "Not the same documents." in words(section(report, "Other methods, as published"))


def test_other_methods_stand_beside_ours(tmp_path: Path) -> None:
    report = report_of(read_groups(make(tmp_path / "r", experiment(**PAPER))))
    (table,) = tables(section(report, "Other methods, as published"))
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    assert rows["ML_LS"] == [".597", ".681"]
    assert rows["Tuned-SVM (the paper’s)"] == [".571", ".656"]
    assert "Dependency-LDA" in rows
    plain = report_of(read_groups(make(tmp_path / "s")))
    titles = [place.section.title for place in placed(plain)]
    assert "Other methods, as published" not in titles


def test_percentages_of_others_are_compared_as_percentages(tmp_path: Path) -> None:
    groups = read_groups(make(tmp_path / "r", experiment("eurlex", paper="EUR-Lex")))
    first, second = tables(section(report_of(groups), "Other methods, as published"))
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in first.rows}
    ours = 100 * groups[0].main.mean("Flat-LDA", BY_DOCUMENT)
    assert float(rows["Flat-LDA"][0]) == pytest.approx(ours, abs=5.1e-3)
    assert rows["Dependency-LDA (the paper’s)"] == ["51.1", "1.77", "32.0", "97.2", "269"]
    assert [c.text for c in second.rows[0]][-1] == "–"


def test_verdicts_by_frequency_follow_the_tests(tmp_path: Path) -> None:
    groups = read_groups(make(tmp_path / "r", n_splits=6))
    run = groups[0].main
    found = run.by_frequency
    assert found is not None
    part = section(report_of(groups), "Rare and frequent labels")
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


def test_failed_units_are_named_with_their_reason(tmp_path: Path) -> None:
    folder = make(tmp_path / "r", failed=(("Flat-LDA", 1), ("Tuned-SVM", 0)))
    (folder / "units" / "0-tf-idf-svm.json").unlink()
    report = report_of(read_groups(folder))
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


def test_a_folder_of_nothing_finished_is_refused(tmp_path: Path) -> None:
    every = tuple((model, 0) for model in experiment().models)
    with pytest.raises(InputError, match=r"none of the 4 units in .* ended well .*no. room"):
        read_groups(make(tmp_path / "r", n_splits=1, failed=every))
    bare = make(tmp_path / "s", n_splits=1)
    for path in (bare / "units").iterdir():
        path.unlink()
    with pytest.raises(InputError, match="holds no unit that has finished; run the experiment"):
        read_groups([make(tmp_path / "t"), bare])
    with pytest.raises(InputError, match="there are no folders of results"):
        read_groups([])


def test_a_folder_that_does_not_describe_its_data_says_so(tmp_path: Path) -> None:
    plain = make(tmp_path / "r", described=False, n_splits=1, diagnosed=False)
    report = report_of(read_groups(plain))
    assert "does not describe its data" in words(section(report, "Data"))
    titles = [place.section.title for place in placed(report)]
    assert "Convergence of the chains" not in titles
    cells = [cell for row in tables(section(report, "Results"))[0].rows for cell in row]
    assert not any("±" in cell.text for cell in cells)


def test_the_data_is_described_with_both_distributions(tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    facts = read_results(folder).data
    assert facts is not None
    part = section(report_of(read_groups(folder)), "Data")
    (statistics,) = tables(part)
    rows = {row[0].text: row[1].text for row in statistics.rows}
    assert rows["documents"] == "80"
    assert rows["labels"] == "6"
    labels, documents = (block for block in part.blocks if isinstance(block, Figure))
    assert sum(int(row[1].text) for row in labels.table.rows) == 6
    assert sum(int(row[1].text) for row in documents.table.rows) == facts.n_train == 40


def test_budgets_of_one_experiment_are_set_side_by_side(tmp_path: Path) -> None:
    folders = [make(tmp_path / "q"), make(tmp_path / "p", budget="paper", seed=100)]
    groups = read_groups(folders)
    assert [(group.name, [run.title for run in group.runs]) for group in groups] == [
        ("tiny", ["paper", "quick"])
    ]
    part = section(report_of(groups), "Budgets")
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
    verdict = words(section(report_of(same), "Budgets"))
    assert "4 of 4 models agree in all 24 figures" in verdict


def test_budgets_are_compared_on_the_splits_that_both_have(tmp_path: Path) -> None:
    quick = make(tmp_path / "q", n_splits=3)
    paper = make(tmp_path / "p", budget="paper", failed=(("Flat-LDA", 0), ("Tuned-SVM", 1)))
    for path in paper.glob("units/?-tf-idf-svm.json"):
        path.unlink()
    groups = read_groups([quick, paper])
    assert groups[0].main.title == "quick"
    part = section(report_of(groups), "Budgets")
    # The same seeds: on the same splits there is no difference, over all of them there would be.
    assert "3 of 3 models agree in all 24 figures" in words(part)
    (table,) = tables(part)
    assert {row[3].text for row in table.rows} == {".000", ".0", ""}


def test_budgets_on_other_splits_are_not_set_side_by_side(tmp_path: Path) -> None:
    folders = [make(tmp_path / "q", n_splits=2), make(tmp_path / "p", budget="paper", n_splits=2)]
    for folder, split in zip(folders, "01", strict=True):
        for path in folder.glob(f"units/{split}-*.json"):
            path.unlink()
    part = section(report_of(read_groups(folders)), "Budgets")
    assert "have no unit in common" in words(part)
    assert not tables(part)


def test_of_equal_models_the_run_of_most_splits_is_shown_in_full(tmp_path: Path) -> None:
    folders = [make(tmp_path / "p", budget="paper"), make(tmp_path / "q", n_splits=3)]
    assert [run.title for run in read_groups(folders)[0].runs] == ["quick", "paper"]


def test_models_that_ran_on_a_card_are_named_beside_the_times(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    assert read_groups(folder)[0].main.gpus == ""
    for path in folder.glob("units/*-flat-lda.json"):
        unit = msgspec.json.decode(path.read_bytes())
        unit["found"]["machine"]["gpu"] = "NVIDIA X"
        path.write_bytes(msgspec.json.encode(unit))
    groups = read_groups(folder)
    said = "On a CUDA GPU (NVIDIA X): Flat-LDA; their CPU-seconds are"
    assert said in words(section(report_of(groups), "Quality and time"))
    assert said in leaderboard_of(groups[0]).caption


def test_several_data_sets_share_a_scorecard_and_figures_by_their_kind(tmp_path: Path) -> None:
    models = dict(list(experiment().models.items())[:3])
    folders = [
        make(tmp_path / "a", experiment("a")),
        make(tmp_path / "b", experiment("b", models=models), seed=50),
        make(tmp_path / "c", experiment("c"), described=False),
    ]
    report = report_of(read_groups(folders))
    part = section(report, "All data sets")
    (gpu,) = tables(part)
    assert gpu.columns == ("data set", "of", "Dependency-LDA", "Flat-LDA", "Tuned-SVM")
    total = next(row for row in gpu.rows if row[0].text == "a, all")
    assert total[1].text == "24"
    assert total[2] == Cell(total[2].text, "best")
    figures = [block for block in part.blocks if isinstance(block, Figure)]
    assert len(figures) == 4
    assert [row[0].text for row in figures[0].table.rows] in (["a", "b"], ["b", "a"])
    for row in figures[0].table.rows:
        above = [float(cell.text.replace("−", "-")) for cell in row[3:]]
        assert sum(above) == pytest.approx(0, abs=2e-3)
    assert "not described: c" in words(part)


def test_models_without_dependency_lda_are_reported_all_the_same(tmp_path: Path) -> None:
    models = {name: model for name, model in experiment().models.items() if "SVM" in name}
    groups = read_groups(make(tmp_path / "r", experiment(models=models)))
    report = report_of(groups)
    titles = [place.section.title for place in placed(report)]
    assert "What was learned" not in titles
    assert "Rare and frequent labels" in titles
    assert groups[0].main.dependency is None


def test_all_26_figures_are_those_of_the_paper() -> None:
    assert [metric.title for metric in TABLES["document", "ranking"]] == [
        "AUC-PR", "AUC-ROC", "Avg-Prec", "Rank-Loss", "One-Err", "Is-Err", "Margin",
    ]  # fmt: skip
    assert TABLES["label", "binary"][2].title == "Calibrated macro-F1"
    assert BY_LABEL in FIGURES


def test_old_folders_without_a_note_or_data_can_be_read(tmp_path: Path) -> None:
    folder = make(tmp_path / "r", described=False)
    head = msgspec.json.decode((folder / "experiment.json").read_bytes())
    del head["experiment"]["note"]
    (folder / "experiment.json").write_bytes(msgspec.json.encode(head))
    results = read_results(folder)
    assert results.data is None
    assert results.head.experiment.note is None
    (folder / "data.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="this is no description of data"):
        read_results(folder)
