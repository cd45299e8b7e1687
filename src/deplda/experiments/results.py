"""A folder of results: what was asked for, and one file for each unit that has ended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

import deplda
from deplda.data.atomic import is_leftover, write_whole
from deplda.data.files import StrPath, check_format, read_json
from deplda.errors import InputError, ReadError
from deplda.experiments.protocol import Budget, Experiment, slug

_HEAD = "experiment.json"
_DATA = "data.json"
_UNITS = "units"
_VERSION = 1


Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]
LabelsOfOne = Annotated[int, msgspec.Meta(ge=0, le=65_535)]


class Head(msgspec.Struct, frozen=True):
    """What a folder of results is of."""

    experiment: Experiment
    budget: Budget
    splits: list[int]
    library: str
    version: int = _VERSION
    data: str | None = None
    """What tells these documents, labels and splits from others; None in folders of before."""


class _Heading(msgspec.Struct):
    """What must be looked at first: a later version's head may be of another shape."""

    version: int
    library: str


class Unit(msgspec.Struct, frozen=True):
    """What is known of a unit that has ended."""

    model: str
    split: int
    status: Literal["done", "failed"]
    error: str | None = None
    found: dict[str, Any] | None = None


class TextOfOne(msgspec.Struct, frozen=True):
    """A document as it is written, and where its words stand: begin, end, the word."""

    id: str
    text: str
    spans: list[tuple[Count, Count, str]]
    is_whole: bool = True


class DataFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the data that an experiment ran on."""

    statistics: dict[str, int | float | None]
    """Of the whole corpus, as `describe` gives them; None where there is nothing to average."""
    split: int
    """The split whose training part the rest is of."""
    n_train: int
    n_test: int
    n_training_words: int
    labels_by_frequency: list[tuple[Count, Count]]
    """(training documents, labels that have so many)."""
    documents_by_labels: list[tuple[LabelsOfOne, Count]]
    """(labels, training documents that have so many)."""
    shown_labels: dict[str, int]
    """Training documents of the labels whose words are shown."""
    generated: bool = False
    """Whether a program drew the documents."""
    document: TextOfOne | None = None
    """The text of the document that is explained, if the data set has texts."""


@dataclass(frozen=True, slots=True)
class Results:
    """What was asked for, the units that have ended, and the data, if it was described."""

    head: Head
    units: tuple[Unit, ...]
    data: DataFacts | None = None

    @property
    def done(self) -> tuple[Unit, ...]:
        """The units that ended well."""
        return tuple(unit for unit in self.units if unit.status == "done")


def open_results(folder: StrPath, head: Head) -> None:
    """Make the folder, or check that it is of the same experiment."""
    path = Path(folder) / _HEAD
    if os.path.lexists(path):
        known = _read_head(path)
        for what in ("version", "library", "budget", "splits", "experiment"):
            mine, theirs = getattr(head, what), getattr(known, what)
            if mine != theirs:
                short = "another one" if what == "experiment" else f"{theirs!r}, not {mine!r}"
                verb = "are" if what == "splits" else "is"
                raise InputError(
                    f"{folder} holds results of another run (its {what} {verb} {short}); "
                    "choose another folder"
                )
        if known.data is not None and head.data is not None and known.data != head.data:
            raise InputError(
                f"{folder} holds results of other documents, labels or splits: the data has "
                "changed since; choose another folder"
            )
        return
    # The head comes first: whatever follows it, the folder is then known for what it is.
    if Path(folder).exists() and not _is_begun(Path(folder)):
        raise InputError(f"{folder} is not empty and holds no results; choose another folder")
    Path(folder).mkdir(parents=True, exist_ok=True)
    with write_whole(path) as file:
        file.write(msgspec.json.format(msgspec.json.encode(head), indent=1))


def _is_begun(folder: Path) -> bool:
    """Return whether a folder is empty, or was left so by a run that was killed at its begin."""
    return all(
        is_leftover(entry, folder / _HEAD) or (entry.name == _UNITS and not any(entry.iterdir()))
        for entry in folder.iterdir()
    )


def read_results(folder: StrPath) -> Results:
    """Return what a folder holds, units in the order of splits and models."""
    head = _read_head(Path(folder) / _HEAD)
    units = [
        unit
        for split in head.splits
        for model in head.experiment.models
        for unit in [read_unit(folder, model, split)]
        if unit is not None
    ]
    return Results(head, tuple(units), _read_data(Path(folder) / _DATA))


def has_data(folder: StrPath) -> bool:
    """Return whether the data is described already."""
    return (Path(folder) / _DATA).exists()


def write_data(folder: StrPath, facts: DataFacts) -> None:
    """Keep what is known of the data."""
    with write_whole(Path(folder) / _DATA) as file:
        file.write(msgspec.json.encode(facts))


def read_unit(folder: StrPath, model: str, split: int) -> Unit | None:
    """Return a unit that has ended, or None."""
    path = _unit_path(folder, model, split)
    if not os.path.lexists(path):
        return None
    return read_json(path, Unit, "this is not a unit of an experiment: {}")


def write_unit(folder: StrPath, unit: Unit) -> None:
    """Keep a unit that has ended."""
    path = _unit_path(folder, unit.model, unit.split)
    path.parent.mkdir(exist_ok=True)
    with write_whole(path) as file:
        file.write(msgspec.json.encode(unit))


def new_head(
    experiment: Experiment, budget: Budget, splits: list[int], data: str | None = None
) -> Head:
    """Return what a folder for this run says of itself."""
    return Head(experiment, budget, splits, deplda.__version__, data=data)


def units_of(head: Head) -> Iterator[tuple[str, int]]:
    """Yield (model, split) of every unit, split by split."""
    for split in head.splits:
        for model in head.experiment.models:
            yield model, split


def _unit_path(folder: StrPath, model: str, split: int) -> Path:
    return Path(folder) / _UNITS / f"{split}-{slug(model)}.json"


def _read_data(path: Path) -> DataFacts | None:
    if not os.path.lexists(path):
        return None
    return read_json(path, DataFacts, "this is not a description of data: {}")


def _read_head(path: Path) -> Head:
    if not os.path.lexists(path):
        raise ReadError(path, None, "there are no results here; run an experiment first")
    problem = "this is not the head of an experiment: {}"
    heading = read_json(path, _Heading, problem)
    check_format(path, heading.version, _VERSION, heading.library)
    return read_json(path, Head, problem)
