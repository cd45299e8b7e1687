"""Means over splits, and the best models."""

from pathlib import Path

import msgspec
import pytest

from deplda.comparison.measured import Run, leaders_in, versus
from deplda.comparison.metrics import BY_DOCUMENT, ONE_ERROR
from deplda.comparison.results import read_results
from tests.comparison.folders import make


def test_the_best_is_the_first_of_equals_and_never_one_without_a_value(tmp_path: Path) -> None:
    folder = make(tmp_path / "r", n_splits=1)
    for path in folder.glob("units/*.json"):
        unit = msgspec.json.decode(path.read_bytes())
        values = unit["found"]["metrics"]["document"]["ranking"]
        values["average_precision"] = None if "LDA" in unit["model"] else 0.5
        values["one_error"] = None if "LDA" in unit["model"] else 20.0
        path.write_bytes(msgspec.json.encode(unit))
    run = Run(read_results(folder))
    for metric in (BY_DOCUMENT, ONE_ERROR):
        assert run.best(metric) == "Tuned-SVM"
        assert run.leaders(metric)[0] == "Tuned-SVM"
        assert {*run.leaders(metric)} <= {"Tuned-SVM", "tf-idf SVM"}


def test_models_tie_unless_one_is_better_in_nearly_all_resamples(tmp_path: Path) -> None:
    folder = make(tmp_path / "r", n_splits=1)
    values = {"Dependency-LDA": 0.8, "Flat-LDA": 0.79, "Tuned-SVM": 0.7, "tf-idf SVM": 0.79}
    for path in folder.glob("units/*.json"):
        unit = msgspec.json.decode(path.read_bytes())
        name, found = unit["model"], unit["found"]
        found["metrics"]["document"]["ranking"]["average_precision"] = values[name]
        # Flat-LDA is better than the best in 5 of 100 resamples, the tf-idf SVM in 1.
        better = {"Flat-LDA": 5, "tf-idf SVM": 1}.get(name, 0)
        drawn = [0.81] * better + [values[name]] * (100 - better)
        found["resampled"]["document"]["ranking"]["average_precision"] = drawn
        path.write_bytes(msgspec.json.encode(unit))
    assert Run(read_results(folder)).leaders(BY_DOCUMENT) == ("Dependency-LDA", "Flat-LDA")


def test_one_model_has_no_rivals(tmp_path: Path) -> None:
    failed = tuple((model, 0) for model in ("Flat-LDA", "Tuned-SVM", "tf-idf SVM"))
    run = Run(read_results(make(tmp_path / "r", n_splits=1, failed=failed)))
    assert run.models == ("Dependency-LDA",)
    assert run.leaders(BY_DOCUMENT) == ()


def test_labels_are_paired_on_the_splits_that_all_models_have_finished(tmp_path: Path) -> None:
    run = Run(read_results(make(tmp_path / "r", failed=(("Flat-LDA", 1),))))
    assert run.shared_splits == [0]
    assert run.by_frequency is not None
    part = run.by_frequency.bins[0]
    there, back = (versus(part, *pair) for pair in (run.models[:2], run.models[1::-1]))
    assert there.difference == pytest.approx(-back.difference)
    assert set(leaders_in(part)) <= set(run.models)
