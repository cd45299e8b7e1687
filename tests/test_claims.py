"""The benchmark of the paper's claims: what is changed, and who is counted as best."""

from pathlib import Path

import pytest
from benchmarks.claims import Part, line, model_of, of_kind, settings, show_results
from paper.protocol import PaperModel
from paper.report.runs import read_groups
from paper.tests.report.folders import MODELS, experiment, make

from tests.models.linear.worlds import world


def test_one_setting_is_changed_at_a_time() -> None:
    part = Part(world(60), world(20, seed=1))
    tried = list(settings("bibtex", part))
    assert tried[0] == {}
    assert all(len(changes) == 1 or "n_topics" in changes for changes in tried[1:])
    assert {next(iter(changes)) for changes in tried[1:]} == {
        "train_eta", "beta_words", "eta", "n_topics",
    }  # fmt: skip
    usual = model_of("bibtex").fit(part.train).settings_
    assert all(usual[name] != value for each in tried for name, value in each.items())
    smoothing = [each["n_topics"] * each["beta_labels"] for each in tried if "n_topics" in each]
    assert smoothing == pytest.approx([usual["n_topics"] * usual["beta_labels"]] * 4)
    assert model_of("yahoo-arts").eta == 100


def test_each_tuned_svm_is_counted_among_the_other_models_of_the_paper(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = MODELS | {"Tuned-SVM (both)": PaperModel("TunedSVM", published="Tuned-SVM")}
    folder = make(tmp_path / "r", experiment(models=models))
    run = read_groups(folder)[0].main
    assert of_kind(run, "TunedSVM") == ("Tuned-SVM", "Tuned-SVM (both)")
    show_results([folder])
    rows = [text.strip("| ").split(" | ") for text in capsys.readouterr().out.splitlines()]
    counts = [[int(n) for n in row[1:]] for row in rows if row[0] == "all"]
    assert [row[0] for row in counts] == [24, 24]
    assert all(len(row) == 4 and sum(row[1:]) >= 24 for row in counts)  # of equals each counts
    heads = [row[-1] for row in rows if row[:2] == ["", "of"] or row[0] == "of"]
    assert heads == ["Tuned-SVM", "Tuned-SVM (both)"]
    pairs = {row[0]: row[1:] for row in rows if " before " in row[0]}
    assert pairs["Dependency-LDA before Flat-LDA"] == ["13", "13"]
    assert len(pairs) == 3
    differences = [row for row in rows if "(p = " in row[-1]]
    assert differences
    assert all(len(row) == 1 + 4 + 2 for row in differences)


def test_a_line_is_a_row_of_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    line("a", 1)
    assert capsys.readouterr().out == "| a | 1 |\n"
