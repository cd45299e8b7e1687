"""A folder of results: of one experiment, and nobody else's."""

import os
from pathlib import Path

import pytest
from msgspec import structs

from deplda import InputError, ReadError
from deplda.comparison import Comparison, read_results, run
from deplda.comparison.results import (
    Head,
    Results,
    Unit,
    open_results,
    read_unit,
    units_of,
    write_unit,
)
from deplda.data.datasets import Dataset


def head_of(comparison: Comparison, splits: list[int]) -> Head:
    return Head(experiment=comparison, splits=splits, library="1.0")


def test_a_folder_of_something_else_is_left_alone(
    small: Comparison, news: Dataset, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("…", encoding="utf-8")
    with pytest.raises(InputError, match="is not empty and holds no results"):
        run(small, tmp_path / "mine", news)
    with pytest.raises(InputError, match="there are no results here"):
        read_results(tmp_path / "mine")


@pytest.mark.parametrize("left", [[], ["units/"], [".experiment.json.deplda-writing"]])
def test_a_folder_that_a_killed_run_has_only_begun_is_used(
    left: list[str], small: Comparison, tmp_path: Path
) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    for name in left:
        (folder / name).mkdir() if name.endswith("/") else (folder / name).touch()
    open_results(folder, head_of(small, [0]))
    assert read_results(folder).units == ()


def test_units_come_back_in_the_order_of_splits_and_models(
    small: Comparison, tmp_path: Path
) -> None:
    folder, head = tmp_path / "results", head_of(small, [1, 0])
    open_results(folder, head)
    units = [Unit(model, split, "done", results={"n": 1.5}) for model, split in units_of(head)]
    for unit in reversed(units):
        write_unit(folder, unit)
    assert read_results(folder) == Results(head, tuple(units))
    assert read_unit(folder, "Flat", 7) is None


def test_a_damaged_file_is_named(small: Comparison, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    open_results(folder, head_of(small, [0]))
    for name, what in {
        "units/0-flat.json": "a unit of a comparison", "data.json": "a description of data",
        "experiment.json": "the head of a comparison",
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b'{"model": \xff')
        with pytest.raises(ReadError, match=f"{name}: this is not {what}"):
            read_results(folder)
        (folder / name).unlink()


@pytest.mark.parametrize("name", ["experiment.json", "data.json", "units/0-flat.json"])
def test_pipes_and_links_in_place_of_results_are_refused(
    name: str, small: Comparison, tmp_path: Path
) -> None:
    folder = tmp_path / "results"
    open_results(folder, head_of(small, [0]))
    (folder / "units").mkdir()
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    with pytest.raises(ReadError, match="this is not a plain file"):
        read_results(folder)
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")
    with pytest.raises(ReadError, match="this is not a plain file"):
        read_results(folder)


def test_a_folder_of_another_comparison_is_refused(small: Comparison, tmp_path: Path) -> None:
    head = head_of(small, [0])
    open_results(tmp_path / "results", head)
    open_results(tmp_path / "results", head)
    for other in (head_of(small, [1]), Head(experiment=small, splits=[0], library="2.0")):
        with pytest.raises(InputError, match="holds results of another run"):
            open_results(tmp_path / "results", other)
    stored = structs.replace(head, data="one")
    open_results(tmp_path / "b", stored)
    with pytest.raises(InputError, match="holds results of other documents, labels or splits"):
        open_results(tmp_path / "b", structs.replace(head, data="two"))
