"""Units are run one by one: finished ones are kept, failed ones reported and tried again."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from deplda import InputError
from deplda.comparison import Comparison, Model, run
from deplda.comparison.results import Unit, write_unit
from deplda.comparison.runner import run_process
from deplda.comparison.unit import Task
from deplda.data.datasets import Dataset

UNIT = ("-P", "-m", "deplda.comparison.unit")


@pytest.mark.slow
def test_units_are_kept_as_they_end_and_never_run_twice(
    small: Comparison, news: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "results"
    one = run(small, folder, news, models=["Flat"], device="auto", progress=False)
    assert [unit.model for unit in one.done] == ["Flat"]
    assert (one.done[0].results or {})["parameters"]["device"] == "auto"
    results = run(small, folder, news, progress=True)
    assert "comparison small: 1 run" in capsys.readouterr().err
    assert results.done[0] == one.done[0]
    assert [(unit.model, unit.split, unit.status) for unit in results.units] == [
        ("Flat", 0, "done"), ("Dependency (few)", 0, "done"),
    ]  # fmt: skip
    found: dict[str, Any] = results.done[1].results or {}
    assert found["settings"]["n_topics"] == 8
    assert len(found["showcase"]["top"]) == 10
    assert found["seconds"]["fit"] > 0
    assert found["peak_mb"] > 10
    times = {path: path.stat().st_mtime_ns for path in (folder / "units").iterdir()}
    assert run(small, folder, news, progress=False) == results
    assert {path: path.stat().st_mtime_ns for path in (folder / "units").iterdir()} == times
    with pytest.raises(InputError, match=r"results of another run \(another experiment\)"):
        run(msgspec.structs.replace(small, seed=1), folder, news)


def test_unknown_models_devices_and_splits_are_named(
    small: Comparison, news: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="there is no model 'flat'; small has Flat, Dependency"):
        run(small, tmp_path / "new", news, models=["flat"])
    with pytest.raises(InputError, match="device is 'gpu'; it must be"):
        run(small, tmp_path / "new", news, device="gpu")
    with pytest.raises(InputError, match="there is no split 7; newsroom has 1"):
        run(small, tmp_path / "new", news, splits=[7])
    monkeypatch.setattr("deplda.comparison.runner.missing", lambda: "CuPy is not installed")
    with pytest.raises(InputError, match="device is 'cuda', but CuPy is not installed"):
        run(small, tmp_path / "new", news, device="cuda")
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_a_unit_that_fails_does_not_stop_the_others_and_is_tried_again(
    small: Comparison, news: Dataset, tmp_path: Path
) -> None:
    bad = Model("DependencyLDA", parameters={"n_topics": -1})
    broken = msgspec.structs.replace(small, models={"Bad": bad, "Flat": small.models["Flat"]})
    folder = tmp_path / "results"
    results = run(broken, folder, news, progress=False)
    assert [unit.status for unit in results.units] == ["failed", "done"]
    assert "n_topics is -1" in str(results.failed[0].error)
    write_unit(folder, Unit("Bad", 0, "failed", error="an older one"))
    again = run(broken, folder, news, progress=False)
    assert "n_topics is -1" in str(again.units[0].error)


def test_python_files_of_the_current_folder_are_not_run(
    small: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "platform.py").write_text("open('ran', 'w')\nraise ImportError\n")
    monkeypatch.chdir(tmp_path)
    task = Task(title="Flat", model=small.models["Flat"], split=0, seed=0, data="no-such-set")
    assert "no-such-set" in str(run_process(task, UNIT).error)
    assert not (tmp_path / "ran").exists()
