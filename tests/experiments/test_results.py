"""A folder of results: of one experiment, and nobody else's."""

import os
from pathlib import Path

import pytest

from deplda import InputError, ReadError
from deplda.experiments import read_results, run
from deplda.experiments.protocol import Experiment
from deplda.experiments.results import (
    Results,
    Unit,
    new_head,
    open_results,
    read_unit,
    units_of,
    write_unit,
)


def test_a_folder_of_something_else_is_left_alone(small: Experiment, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("…", encoding="utf-8")
    with pytest.raises(InputError, match="is not empty and holds no results"):
        run(small, tmp_path / "mine", budget="quick")
    with pytest.raises(InputError, match="there are no results here"):
        read_results(tmp_path / "mine")


@pytest.mark.parametrize("left", [[], ["units/"], [".experiment.json.deplda-writing"]])
def test_a_folder_that_a_killed_run_has_only_begun_is_used(
    left: list[str], small: Experiment, tmp_path: Path
) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    for name in left:
        (folder / name).mkdir() if name.endswith("/") else (folder / name).touch()
    open_results(folder, new_head(small, "quick", [0]))
    assert read_results(folder).units == ()


def test_units_come_back_in_the_order_of_splits_and_models(
    small: Experiment, tmp_path: Path
) -> None:
    folder, head = tmp_path / "results", new_head(small, "quick", [1, 0])
    open_results(folder, head)
    units = [Unit(model, split, "done", found={"n": 1.5}) for model, split in units_of(head)]
    for unit in reversed(units):
        write_unit(folder, unit)
    assert read_results(folder) == Results(head, tuple(units))
    assert read_unit(folder, "Flat", 7) is None


def test_a_damaged_file_is_named(small: Experiment, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    open_results(folder, new_head(small, "quick", [0]))
    for name, what in {
        "units/0-flat.json": "a unit of an experiment", "data.json": "a description of data",
        "experiment.json": "the head of an experiment",
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b'{"model": \xff')
        with pytest.raises(ReadError, match=f"{name}: this is not {what}"):
            read_results(folder)
        (folder / name).unlink()


@pytest.mark.parametrize("name", ["experiment.json", "data.json", "units/0-flat.json"])
def test_pipes_and_links_in_place_of_results_are_refused(
    name: str, small: Experiment, tmp_path: Path
) -> None:
    folder = tmp_path / "results"
    open_results(folder, new_head(small, "quick", [0]))
    (folder / "units").mkdir()
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    with pytest.raises(ReadError, match="this is not a plain file"):
        read_results(folder)
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")
    with pytest.raises(ReadError, match="this is not a plain file"):
        read_results(folder)


def test_counts_that_no_data_has_are_refused(small: Experiment, tmp_path: Path) -> None:
    open_results(tmp_path / "results", new_head(small, "quick", [0]))
    (tmp_path / "results" / "data.json").write_text(
        '{"statistics": {}, "split": 0, "n_train": 1, "n_test": 1, "n_training_words": 1, '
        '"labels_by_frequency": [], "documents_by_labels": [[1000000000000, 5]], '
        '"shown_labels": {}}'
    )
    with pytest.raises(ReadError, match="this is not a description of data"):
        read_results(tmp_path / "results")
