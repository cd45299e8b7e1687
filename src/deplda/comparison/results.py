"""A folder of results: one file for each finished unit, that is one model on one split."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from deplda.comparison.comparison import Comparison, slug
from deplda.data.atomic import is_leftover, write_whole
from deplda.data.files import StrPath, check_format, read_json
from deplda.errors import InputError, ReadError

_HEAD = "experiment.json"
_DATA = "data.json"
_UNITS = "units"
_VERSION = 1

Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder of results contains."""

    experiment: Comparison
    splits: list[int]
    library: str
    version: int = _VERSION
    data: str | None = None
    """Fingerprint of the documents, labels and splits; None in folders of old versions."""


class _Heading(msgspec.Struct):
    """The part of a head that every version has; it is read first."""

    version: int
    library: str


class Unit(msgspec.Struct, frozen=True):
    """A finished unit."""

    model: str
    split: int
    status: Literal["done", "failed"]
    error: str | None = None
    results: dict[str, Any] | None = msgspec.field(default=None, name="found")
    """See `unit.measure`."""


class ShownText(msgspec.Struct, frozen=True):
    """A document's text, and where its words are: begin, end, the word."""

    id: str
    text: str
    spans: list[tuple[Count, Count, str]]
    is_whole: bool = True


class DataFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The data of a comparison, described."""

    statistics: dict[str, int | float | None]
    """Of the whole corpus, by `describe`; None where there is nothing to average."""
    split: int
    """The split that the following numbers describe."""
    n_train: int
    n_test: int
    generated: bool = False
    """Whether a program generated the documents."""
    document: ShownText | None = None
    """The text of the explained document, if the data set has texts."""


@dataclass(frozen=True, slots=True)
class Results:
    """The contents of a folder of results."""

    head: Head
    units: tuple[Unit, ...]
    data: DataFacts | None = None

    @property
    def done(self) -> tuple[Unit, ...]:
        """The units that succeeded."""
        return tuple(unit for unit in self.units if unit.status == "done")

    @property
    def failed(self) -> tuple[Unit, ...]:
        """The units that failed."""
        return tuple(unit for unit in self.units if unit.status == "failed")


def open_results(folder: StrPath, head: Head) -> None:
    """Create the folder, or check that it has the same head."""
    path = Path(folder) / _HEAD
    if os.path.lexists(path):
        _read_head(path, Head)  # checks the version
        _check_same(folder, head, read_json(path, dict[str, Any], "this is not a head: {}"))
        return
    # The head is written first: it identifies the folder even if the run is killed.
    if Path(folder).exists() and not _is_begun(Path(folder)):
        raise InputError(f"{folder} is not empty and holds no results; choose another folder")
    Path(folder).mkdir(parents=True, exist_ok=True)
    with write_whole(path) as file:
        file.write(msgspec.json.format(msgspec.json.encode(head), indent=1))


def _check_same(folder: StrPath, head: Head, stored: dict[str, Any]) -> None:
    for name, value in msgspec.to_builtins(head).items():
        if name != "data" and value != stored.get(name):
            raise InputError(
                f"{folder} holds results of another run (another {name}); choose another folder"
            )
    if stored.get("data", head.data) != head.data:
        raise InputError(
            f"{folder} holds results of other documents, labels or splits: the data has "
            "changed since; choose another folder"
        )


def _is_begun(folder: Path) -> bool:
    """Return whether a folder is empty, or has only what a killed run leaves."""
    return all(
        is_leftover(entry, folder / _HEAD) or (entry.name == _UNITS and not any(entry.iterdir()))
        for entry in folder.iterdir()
    )


def read_results(
    folder: StrPath, head_type: type[Head] = Head, facts_type: type[DataFacts] = DataFacts
) -> Results:
    """Return the contents of a folder, units in the order of splits and models."""
    head = _read_head(Path(folder) / _HEAD, head_type)
    units = (read_unit(folder, model, split) for model, split in units_of(head))
    path, facts = Path(folder) / _DATA, None
    if os.path.lexists(path):
        facts = read_json(path, facts_type, "this is not a description of data: {}")
    return Results(head, tuple(unit for unit in units if unit is not None), facts)


def write_data(folder: StrPath, describe: Callable[[], DataFacts]) -> None:
    """Store the description of the data, unless it is there."""
    path = Path(folder) / _DATA
    if not path.exists():
        facts = describe()
        with write_whole(path) as file:
            file.write(msgspec.json.encode(facts))


def read_unit(folder: StrPath, model: str, split: int) -> Unit | None:
    """Return a finished unit, or None."""
    path = _unit_path(folder, model, split)
    if not os.path.lexists(path):
        return None
    return read_json(path, Unit, "this is not a unit of a comparison: {}")


def write_unit(folder: StrPath, unit: Unit) -> None:
    """Store a finished unit."""
    path = _unit_path(folder, unit.model, unit.split)
    path.parent.mkdir(exist_ok=True)
    with write_whole(path) as file:
        file.write(msgspec.json.encode(unit))


def units_of(head: Head) -> Iterator[tuple[str, int]]:
    """Yield (model, split) of every unit, split by split."""
    for split in head.splits:
        for model in head.experiment.models:
            yield model, split


def _unit_path(folder: StrPath, model: str, split: int) -> Path:
    return Path(folder) / _UNITS / f"{split}-{slug(model)}.json"


def _read_head(path: Path, head_type: type[Head]) -> Head:
    if not os.path.lexists(path):
        raise ReadError(path, None, "there are no results here; run a comparison first")
    problem = "this is not the head of a comparison: {}"
    heading = read_json(path, _Heading, problem)
    check_format(path, heading.version, _VERSION, heading.library)
    return read_json(path, head_type, problem)
