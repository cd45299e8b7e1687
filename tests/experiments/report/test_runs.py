"""Folders of results: which are read, how they are grouped, which run is shown in full."""

from pathlib import Path

import msgspec
import pytest

from deplda import InputError
from deplda.experiments import read_results
from deplda.experiments.report import write_report
from deplda.experiments.report.measures import BY_DOCUMENT, ONE_ERROR
from deplda.experiments.report.pages import full_report
from deplda.experiments.report.runs import read_groups
from tests.experiments.report.folders import experiment, make


def test_a_folder_of_nothing_finished_is_an_error(tmp_path: Path) -> None:
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


def test_of_equal_models_the_run_of_most_splits_is_shown_in_full(tmp_path: Path) -> None:
    folders = [make(tmp_path / "p", budget="paper"), make(tmp_path / "q", n_splits=3)]
    assert [run.title for run in read_groups(folders)[0].runs] == ["quick", "paper"]


def test_the_best_is_the_first_of_equals_and_never_one_without_a_value(tmp_path: Path) -> None:
    folder = make(tmp_path / "r", n_splits=1)
    for path in folder.glob("units/*.json"):
        unit = msgspec.json.decode(path.read_bytes())
        values = unit["found"]["metrics"]["document"]["ranking"]
        values["average_precision"] = None if "LDA" in unit["model"] else 0.5
        values["one_error"] = None if "LDA" in unit["model"] else 20.0
        path.write_bytes(msgspec.json.encode(unit))
    run = read_groups(folder)[0].main
    for metric in (BY_DOCUMENT, ONE_ERROR):
        assert run.best(metric) == "Tuned-SVM"
        assert run.leaders(metric)[0] == "Tuned-SVM"
        assert {*run.leaders(metric)} <= {"Tuned-SVM", "tf-idf SVM"}


def test_models_tie_unless_one_is_better_in_nearly_all_draws(tmp_path: Path) -> None:
    folder = make(tmp_path / "r", n_splits=1)
    values = {"Dependency-LDA": 0.8, "Flat-LDA": 0.79, "Tuned-SVM": 0.7, "tf-idf SVM": 0.79}
    for path in folder.glob("units/*.json"):
        unit = msgspec.json.decode(path.read_bytes())
        name, found = unit["model"], unit["found"]
        found["metrics"]["document"]["ranking"]["average_precision"] = values[name]
        # Flat-LDA is better than the best in 5 of 100 draws, the tf-idf SVM in 1.
        better = {"Flat-LDA": 5, "tf-idf SVM": 1}.get(name, 0)
        drawn = [0.81] * better + [values[name]] * (100 - better)
        found["resampled"]["document"]["ranking"]["average_precision"] = drawn
        path.write_bytes(msgspec.json.encode(unit))
    run = read_groups(folder)[0].main
    assert run.leaders(BY_DOCUMENT) == ("Dependency-LDA", "Flat-LDA")


def test_results_of_an_earlier_version_have_no_intervals_and_nothing_bold(tmp_path: Path) -> None:
    folder = make(tmp_path / "r", n_splits=1)
    for path in folder.glob("units/*.json"):
        unit = msgspec.json.decode(path.read_bytes())
        del unit["found"]["resampled"]
        path.write_bytes(msgspec.json.encode(unit))
    run = read_groups(folder)[0].main
    assert run.leaders(BY_DOCUMENT) == ()
    assert run.interval("Flat-LDA", BY_DOCUMENT) is None
    assert "Summary" in [part.title for part in full_report(read_groups(folder)).sections]


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
    assert results.head.experiment.note is None
    (folder / "data.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="this is not a description of data"):
        read_results(folder)


def test_draws_that_do_not_fit_together_are_damage_that_is_told(tmp_path: Path) -> None:
    folder = make(tmp_path / "r")
    path = next(folder.glob("units/*.json"))
    unit = msgspec.json.decode(path.read_bytes())
    unit["found"]["resampled"]["document"]["ranking"]["average_precision"].pop()
    path.write_bytes(msgspec.json.encode(unit))
    with pytest.raises(InputError, match=r"these results cannot be shown .ValueError"):
        write_report(folder, tmp_path / "r.html")
