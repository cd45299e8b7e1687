"""The paper's tables: means, differences, verdicts, and other methods."""

from pathlib import Path

import numpy as np
import pytest

from paper.protocol import PaperModel as Model
from paper.report.literature import paper_values
from paper.report.measures import BY_DOCUMENT, BY_LABEL, ONE_ERROR, TABLES, Metric
from paper.report.pages import full_report
from paper.report.paper_tables import difference
from paper.report.runs import read_groups
from paper.results import read_paper_results as read_results
from paper.tests.report.folders import MODELS, experiment, make
from paper.tests.report.reading import section, tables, words

PAPER = {"name": "yahoo-health", "paper": "Y! Health"}


def test_means_are_those_of_the_splits_and_have_intervals(tmp_path: Path) -> None:
    folder = make(tmp_path / "r", n_splits=3)
    four = tables(section(full_report(read_groups(folder)), "Results"))
    assert [len(table.columns) for table in four] == [8, 7, 8, 7]
    values = [
        (unit.results or {})["metrics"]["label"]["ranking"]["average_precision"]
        for unit in read_results(folder).done
        if unit.model == "Flat-LDA"
    ]
    row = next(row for row in four[2].rows if row[0].text == "Flat-LDA")
    shown = row[four[2].columns.index("Avg-Prec")].text
    mean, around = (float(text) for text in shown.split(" ± "))
    assert mean == pytest.approx(np.mean(values), abs=5.1e-4)
    low, high = read_groups(folder)[0].main.interval("Flat-LDA", BY_LABEL)
    assert low < mean < high
    assert around == pytest.approx((high - low) / 2, abs=5.1e-4)


def test_a_figure_is_bold_only_if_it_is_best_beyond_noise_and_ties_are_marked(
    tmp_path: Path,
) -> None:
    groups = read_groups(make(tmp_path / "r"))
    four, run = tables(section(full_report(groups), "Results")), groups[0].main
    tones = set[str]()
    for table, metrics in zip(four, TABLES.values(), strict=True):
        for k, metric in enumerate(metrics, start=1):
            leaders = run.leaders(metric)
            assert leaders[0] == run.best(metric)
            expected = {m: "best" if len(leaders) == 1 else "tied" for m in leaders}
            found = {row[0].text: row[k].tone for row in table.rows}
            assert found == {m: expected.get(m, "") for m in run.models}
            tones.update(found.values())
    assert tones == {"", "best", "tied"}


def test_the_papers_values_and_our_differences_stand_below_ours(tmp_path: Path) -> None:
    groups = read_groups(make(tmp_path / "r", experiment(**PAPER)))
    agreement, *four = tables(section(full_report(groups), "Results"))
    run, paper = groups[0].main, paper_values("Y! Health")
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


def test_a_model_of_another_name_is_held_against_the_one_that_it_is_of_the_paper(
    tmp_path: Path,
) -> None:
    models = MODELS | {"Tuned-SVM (both)": Model("TunedSVM", published="Tuned-SVM")}
    groups = read_groups(make(tmp_path / "r", experiment(**PAPER, models=models)))
    agreement, first, *_ = tables(section(full_report(groups), "Results"))
    names = [row[0].text for row in first.rows]
    for model in ("Tuned-SVM", "Tuned-SVM (both)"):
        row = first.rows[names.index(model) + 1]
        assert [cell.text for cell in row[:4]] == ["the paper’s", ".779", ".898", ".788"]
        assert model in [row[0].text for row in agreement.rows]
    (others,) = tables(section(full_report(groups), "Other methods, as published"))
    assert [row[0].text for row in others.rows].count("Tuned-SVM (the paper’s)") == 1
    assert not any("both) (the paper" in row[0].text for row in others.rows)


def test_a_difference_is_judged_as_it_is_shown() -> None:
    assert difference(0.8153, BY_DOCUMENT, ".805") == ("+.010", 0.01, True)
    assert difference(0.8156, BY_DOCUMENT, ".805") == ("+.011", 0.011, False)
    assert difference(26.21, ONE_ERROR, "24.7") == ("+1.5", 1.5, True)
    assert difference(23.0, ONE_ERROR, "24.7") == ("−1.7", -1.7, False)
    assert difference(9.0, Metric("document", "ranking", "margin"), "1.52").near is None
    assert difference(100.0, Metric("label", "ranking", "is_error"), "100").text == "0"


def test_data_of_the_same_kind_is_shown_beside_the_paper_but_not_judged(tmp_path: Path) -> None:
    asked = experiment(**PAPER, note="Not the same documents.")
    report = full_report(read_groups(make(tmp_path / "r", asked)))
    results = section(report, "Results")
    assert "Not the same documents." in words(results)
    assert len(tables(results)) == 4
    assert any(cell.text == ".795" for row in tables(results)[0].rows for cell in row)
    assert not any(c.tone == "off" for t in tables(results) for row in t.rows for c in row)
    assert "Not the same documents." in words(section(report, "Other methods, as published"))


def test_other_methods_stand_beside_ours(tmp_path: Path) -> None:
    report = full_report(read_groups(make(tmp_path / "r", experiment(**PAPER))))
    (table,) = tables(section(report, "Other methods, as published"))
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    assert rows["ML_LS"] == [".597", ".681"]
    assert rows["Tuned-SVM (the paper’s)"] == [".571", ".656"]
    assert "Dependency-LDA" in rows
    plain = full_report(read_groups(make(tmp_path / "s")))
    titles = [part.title for part in plain.sections]
    assert "Other methods, as published" not in titles


def test_figures_on_sets_that_the_paper_lacks_stand_beside_ours(tmp_path: Path) -> None:
    groups = read_groups(make(tmp_path / "r", experiment("eurlex57k", paper="EURLEX57K")))
    (table,) = tables(section(full_report(groups), "Other methods, as published"))
    assert table.columns == ("method", "RP@5, %", "nDCG@5, %", "Predicted micro-F1, %")
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    assert rows["BERT-base"] == ["79.6", "82.3", "73.2"]
    rp = 100 * groups[0].main.mean("Flat-LDA", Metric("document", "ranking", "r_precision@5"))
    assert float(rows["Flat-LDA"][0]) == pytest.approx(rp, abs=5.1e-3)
    assert rows["Flat-LDA"][2] == "–"  # of which these results have no labels given


def test_percentages_of_others_are_compared_as_percentages(tmp_path: Path) -> None:
    groups = read_groups(make(tmp_path / "r", experiment("eurlex", paper="EUR-Lex")))
    first, second = tables(section(full_report(groups), "Other methods, as published"))
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in first.rows}
    ours = 100 * groups[0].main.mean("Flat-LDA", BY_DOCUMENT)
    assert float(rows["Flat-LDA"][0]) == pytest.approx(ours, abs=5.1e-3)
    assert rows["Dependency-LDA (the paper’s)"] == ["51.1", "1.77", "32.0", "97.2", "269"]
    assert [c.text for c in second.rows[0]][-1] == "–"
