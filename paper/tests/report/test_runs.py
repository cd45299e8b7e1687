"""Folders of results: which are read, how they are grouped, which run is shown in full."""

from pathlib import Path

import msgspec
import pytest

from deplda import InputError
from paper.report.pages import full_report
from paper.report.runs import read_groups
from paper.results import read_paper_results as read_results
from paper.tests.report.folders import experiment, make


def test_of_equal_models_the_run_of_most_splits_is_shown_in_full(tmp_path: Path) -> None:
    folders = [make(tmp_path / "p", budget="paper"), make(tmp_path / "q", n_splits=3)]
    assert [run.title for run in read_groups(folders)[0].runs] == ["quick", "paper"]


def test_models_without_dependency_lda_are_reported_all_the_same(tmp_path: Path) -> None:
    models = {name: model for name, model in experiment().models.items() if "SVM" in name}
    groups = read_groups(make(tmp_path / "r", experiment(models=models)))
    report = full_report(groups)
    titles = [part.title for part in report.sections]
    assert "What was learned" not in titles
    assert "Rare and frequent labels" in titles
    assert groups[0].main.dependency is None


def test_old_folders_without_a_note_or_data_can_be_read(tmp_path: Path) -> None:
    folder = make(tmp_path / "r", described=False)
    head = msgspec.json.decode((folder / "experiment.json").read_bytes())
    del head["experiment"]["note"]
    (folder / "experiment.json").write_bytes(msgspec.json.encode(head))
    results = read_results(folder)
    assert results.data is None
    (folder / "data.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="this is not a description of data"):
        read_results(folder)
