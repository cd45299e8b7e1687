"""Experiments run unit by unit: what ended stays, what failed is said."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from deplda import InputError, datasets
from deplda.experiments import run
from deplda.experiments.processes import Processes
from deplda.experiments.protocol import Experiment, Model
from deplda.experiments.results import Unit, write_unit
from deplda.experiments.unit import Task


@pytest.mark.slow
def test_units_are_kept_as_they_end_and_never_run_twice(
    small: Experiment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "results"
    one = run(small, folder, budget="quick", models=["Flat"], device="auto", progress=False)
    assert [unit.model for unit in one.done] == ["Flat"]
    assert (one.done[0].found or {})["parameters"]["device"] == "auto"
    results = run(small, folder, budget="quick", progress=True)
    assert "experiment small: 1 run" in capsys.readouterr().err
    assert results.done[0] == one.done[0]
    assert [(unit.model, unit.split, unit.status) for unit in results.units] == [
        ("Flat", 0, "done"), ("Dependency (few)", 0, "done"),
    ]  # fmt: skip
    found: dict[str, Any] = results.done[1].found or {}
    assert found["metrics"]["document"]["ranking"]["average_precision"] > 0.5
    assert found["settings"]["n_topics"] == 8
    assert len(found["showcase"]["top"]) == 10
    assert found["seconds"]["fit"] > 0
    assert found["peak_mb"] > 10
    assert found["showcase"]["top_words"]["VIDEO GAMES"][0][0] == "gaming"
    times = {path: path.stat().st_mtime_ns for path in (folder / "units").iterdir()}
    (folder / "data.json").unlink()
    again = run(small, folder, budget="quick", progress=False)
    assert again == results
    assert again.data is not None
    assert again.data.statistics["n_documents"] == 2000
    assert again.data.shown_labels["VIDEO GAMES"] == 1
    assert {path: path.stat().st_mtime_ns for path in (folder / "units").iterdir()} == times
    with pytest.raises(InputError, match=r"results of another run .its budget is 'quick', not"):
        run(small, folder, budget="paper")
    other = msgspec.structs.replace(small, seed=1)
    with pytest.raises(InputError, match="its experiment is another one"):
        run(other, folder, budget="quick")


def test_what_an_experiment_has_not_is_named(
    small: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = datasets.load("newsroom", n_documents=50)
    monkeypatch.setattr(datasets, "load", lambda *_: data)
    with pytest.raises(InputError, match="there is no model 'flat'; small has Flat, Dependency"):
        run(small, tmp_path / "new", budget="quick", models=["flat"])
    with pytest.raises(InputError, match="device is 'gpu'; it must be"):
        run(small, tmp_path / "new", budget="quick", device="gpu")
    with pytest.raises(InputError, match="there is no split 7; newsroom has 1"):
        run(small, tmp_path / "new", splits=[7])
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_a_unit_that_fails_does_not_stop_the_others_and_is_tried_again(
    small: Experiment, tmp_path: Path
) -> None:
    bad = Model("DependencyLDA", parameters={"n_topics": -1})
    broken = msgspec.structs.replace(small, models={"Bad": bad, "Flat": small.models["Flat"]})
    folder = tmp_path / "results"
    results = run(broken, folder, budget="quick", progress=False)
    assert [unit.status for unit in results.units] == ["failed", "done"]
    assert "n_topics is -1" in str(results.units[0].error)
    assert [unit.model for unit in results.done] == ["Flat"]
    write_unit(folder, Unit("Bad", 0, "failed", error="an older one"))
    again = run(broken, folder, budget="quick", progress=False)
    assert "n_topics is -1" in str(again.units[0].error)


def test_python_files_of_the_current_folder_are_not_run(
    small: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "platform.py").write_text("open('ran', 'w')\nraise ImportError\n")
    monkeypatch.chdir(tmp_path)
    broken = msgspec.structs.replace(small, data="no-such-set")
    with Processes(1) as processes:
        unit = processes.run(Task(broken, "Flat", 0, "quick"))
    assert "no-such-set" in str(unit.error)
    assert not (tmp_path / "ran").exists()
