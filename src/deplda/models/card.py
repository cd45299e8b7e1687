"""A saved model: a folder with a JSON card and a safetensors file. Loading never runs code.

Any other file in the folder, a pickle for one, is never opened.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from deplda.data.atomic import recover, write_folder
from deplda.data.fields import Fields
from deplda.data.files import StrPath, check_format, check_plain, read_plain
from deplda.errors import InputError, ReadError, read_errors

Arrays = dict[str, npt.NDArray[Any]]
Found = TypeVar("Found")

CARD, ARRAYS = "card.json", "arrays.safetensors"
FORMAT, VERSION = "deplda-model", 1
_MOST_HEADER_BYTES = 1 << 24
_MOST_CARD_BYTES = 1 << 26  # decoded JSON takes up to 30 times its size in memory
_MOST_LOOKS = 3
_DTYPES = {
    "F16": "<f2", "F32": "<f4", "F64": "<f8", "I16": "<i2", "I32": "<i4", "I64": "<i8",
    "BOOL": "|b1", "U8": "|u1",
}  # fmt: skip


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """What a saved model says of itself; everything but its arrays."""

    format: str = FORMAT
    version: int = VERSION
    library: str
    """The version of this library that saved it."""
    model: str
    """The estimator's class."""
    parameters: dict[str, Any]
    learned: dict[str, Any]
    """What this class of estimator learned and is not an array."""
    seed: Annotated[int, msgspec.Meta(ge=0)]
    kind: Literal["dense", "sparse", "classes"]
    """How labels were handed in."""
    labels: list[str | int | float | bool]
    object_labels: bool
    words: list[str] | None
    """Names of the columns; None if they had none."""
    n_words: int
    text: dict[str, Any] | None
    """How texts become counts; None if the model knows counts alone."""
    fields: Fields | None = None
    """How the training file was read; None if it had no fields, and in old files."""
    statistics: dict[str, Any]
    metrics: dict[str, Any] | None = None
    id: str | None = None
    """Fingerprint of card and arrays; the file of arrays bears the same. None in old files."""

    def __post_init__(self) -> None:
        if self.fields is not None and self.fields.where:
            raise InputError("which documents are read (where) is no part of a model")


class Stored(NamedTuple):
    """A saved model as it was found."""

    path: StrPath
    card: Card
    arrays: Arrays
    is_trusted: bool = False
    """Whether whoever loads it lets it ask for any amount of work, and any pattern of words."""


class _Heading(msgspec.Struct):
    """What must be looked at first: a later version's card may be of another shape."""

    format: str
    version: int
    library: str = ""


def save(path: StrPath, card: Card, arrays: Arrays) -> None:
    """Write a model's folder, which appears under its name only when complete.

    A model that is already there is replaced; any other file or folder is left alone.
    """
    target = Path(path)
    recover(target)
    check_target(target)
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    card = msgspec.structs.replace(card, id=_fingerprint(card, arrays))
    with write_folder(target, replace=True) as new:
        try:
            save_file(arrays, new / ARRAYS, {"id": str(card.id)})
        except SafetensorError as error:  # all of it was checked: what is left is the disk
            problem = f"the arrays cannot be written ({error})"
            raise OSError(errno.EIO, problem, str(target)) from error
        (new / CARD).write_bytes(msgspec.json.format(_encoded(card), indent=1))
        (new / ARRAYS).chmod((new / CARD).stat().st_mode)  # it was made for its owner alone


def _encoded(card: Card, order: Literal["deterministic"] | None = None) -> bytes:
    try:
        return msgspec.json.encode(card, enc_hook=_plain, order=order)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(f"the card cannot be written: {error}") from error


def _fingerprint(card: Card, arrays: Arrays) -> str:
    """Return what tells a model from others, wherever and whenever it is saved."""
    digest = blake2b(
        _encoded(msgspec.structs.replace(card, id=None), "deterministic"), digest_size=16
    )
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {len(array)}".encode())
        digest.update(array.data.cast("B") if array.size else b"")
    return digest.hexdigest()


def check_target(target: Path) -> None:
    """Raise if something is there that is not a saved model: it is not replaced."""
    if target.is_symlink() or (target.exists() and not _is_model(target)):
        raise InputError(f"{target} exists and is not a saved model; choose another name")


def read_card(path: StrPath, *, trusted: bool = False) -> Card:
    """Return the card of a saved model alone."""
    return _unreplaced(Path(path), partial(_card_in, trusted=trusted))


def load(path: StrPath, *, trusted: bool = False) -> Stored:
    """Return the card and the arrays of a saved model, which are read-only maps of its file."""
    read = partial(_card_and_arrays_in, trusted=trusted)
    return Stored(path, *_unreplaced(Path(path), read), trusted)


def _unreplaced(folder: Path, read: Callable[[Path], Found]) -> Found:
    """Return what is read in a folder that was not replaced by another save meanwhile."""
    for _ in range(_MOST_LOOKS):
        before = _identity(folder)
        try:
            found = read(folder)
        except ReadError:
            if _identity(folder) == before:
                raise
        else:
            if _identity(folder) == before:
                return found
    raise ReadError(folder, None, "it is replaced again and again; load it when that is over")


def _identity(folder: Path) -> tuple[int, int]:
    """Return which folder has this name now."""
    if not folder.exists():
        recover(folder)
    try:
        status = folder.stat()
    except OSError as error:
        problem = "there is no such folder; give the folder of a saved model"
        raise ReadError(folder, None, problem) from error
    if not stat.S_ISDIR(status.st_mode):
        raise ReadError(folder, None, "this is a file; give the folder of a saved model")
    return status.st_ino, status.st_ctime_ns


def _card_in(folder: Path, *, trusted: bool) -> Card:
    return _read_card(_plain_file(folder / CARD), trusted)


def _card_and_arrays_in(folder: Path, *, trusted: bool) -> tuple[Card, Arrays]:
    card = _card_in(folder, trusted=trusted)
    arrays, id = _map_arrays(_plain_file(folder / ARRAYS))
    if card.id != id:
        raise ReadError(
            folder, None, f"{CARD} and {ARRAYS} are of two different models; copy the folder again"
        )
    return card, arrays


def _is_model(folder: Path) -> bool:
    """Return whether it is a folder that may be replaced: one of ours, or an empty one."""
    if not folder.is_dir():
        return False
    names = {entry.name for entry in folder.iterdir()}
    if not names <= {CARD, ARRAYS}:
        return False
    try:
        return not names or _heading(read_plain(folder / CARD)).format == FORMAT
    except (ReadError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def _heading(card: bytes) -> _Heading:
    return msgspec.json.decode(card, type=_Heading)


def _plain(value: Any) -> Any:
    """Return a number or an array of NumPy's as JSON has it."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} {value!r} is neither a number nor a string")


def _plain_file(path: Path) -> Path:
    """Return the path if it is a file of its own."""
    if not os.path.lexists(path):
        problem = "the file is missing: this is no saved model, or one that was not copied whole"
        raise ReadError(path, None, problem)
    check_plain(path)
    return path


def _read_card(path: Path, trusted: bool) -> Card:
    if not trusted and (size := path.stat().st_size) > _MOST_CARD_BYTES:
        raise ReadError(
            path, None, f"the card has {size:,} bytes, more than {_MOST_CARD_BYTES:,}; if you made "
            "this model yourself, load it with trusted=True (--trust-model)",
        )  # fmt: skip
    kinds = (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError)
    with read_errors(path, "the card cannot be read: {}", *kinds):
        data = read_plain(path)
        heading = _heading(data)
        if heading.format != FORMAT:
            raise ReadError(path, None, f"this is not the card of a {FORMAT}")
        check_format(path, heading.version, VERSION, heading.library)
        return msgspec.json.decode(data, type=Card)


def _map_arrays(path: Path) -> tuple[Arrays, str | None]:
    """Return the arrays of a safetensors file, which the library has found sound, and its id."""
    kinds = (OSError, SafetensorError, ValueError, RecursionError)
    with read_errors(path, "the arrays cannot be read: {}", *kinds), path.open("rb") as file:
        n = int.from_bytes(file.read(8), "little")
        if n > _MOST_HEADER_BYTES:
            problem = f"its header says it has {n:,} bytes, more than {_MOST_HEADER_BYTES:,}"
            raise ReadError(path, None, problem)
        with safe_open(path, framework="numpy"):
            header = msgspec.json.decode(file.read(n), type=dict[str, Any])
        marks = header.pop("__metadata__", None) or {}
        arrays = {name: _map(path, file, 8 + n, name, entry) for name, entry in header.items()}
    return arrays, marks.get("id")


def _map(path: Path, file: Any, offset: int, name: str, entry: dict[str, Any]) -> npt.NDArray[Any]:
    """Return an array as a read-only map of its place in the file."""
    if entry["dtype"] not in _DTYPES or len(entry["shape"]) != 1:
        raise ReadError(
            path, None,
            f"array {name!r} is {entry['dtype']} in {len(entry['shape'])} dimensions, "
            "which no saved model has",
        )  # fmt: skip
    dtype, (first, last) = np.dtype(_DTYPES[entry["dtype"]]), entry["data_offsets"]
    if first == last:
        return np.zeros(0, dtype)
    return np.asarray(np.memmap(file, dtype, "r", offset + first, tuple(entry["shape"])))
