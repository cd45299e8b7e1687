"""Checkpoints: a folder that keeps running and finished chains, so that nothing is ever lost."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deplda.data.atomic import write_whole
from deplda.data.files import StrPath, check_format, check_plain, read_plain
from deplda.errors import InputError, ReadError, read_errors, warn
from deplda.training.slices import NOT_AN_ARRAY, never_falls, undisturbed

Arrays = dict[str, npt.NDArray[Any]]

RUN_AGAIN = "delete it to run that chain again"
# What the standard library raises at damaged archives.
_NOT_A_ZIP = (zipfile.BadZipFile, NotImplementedError, RuntimeError)


def save_arrays(path: Path, **arrays: npt.NDArray[Any]) -> None:
    """Write arrays to a file, whole or not at all."""
    _save(path, arrays, synced=True)


def save_state(path: Path, **arrays: npt.NDArray[Any]) -> None:
    """Write arrays that are soon written anew, whole or not at all; the disk is not waited for."""
    _save(path, arrays, synced=False)


def _save(path: Path, arrays: Arrays, *, synced: bool) -> None:
    with write_whole(path, synced=synced) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


class SavedArrays:
    """The arrays of a file, each checked when it is taken: kernels do not look where they write.

    `remedy` is what an error tells the user to do.
    """

    def __init__(self, path: Path, arrays: Arrays, remedy: str) -> None:
        self._path, self._arrays, self._remedy = path, arrays, remedy

    def take(self, name: str, dtype: Any, shape: tuple[int | None, ...]) -> npt.NDArray[Any]:
        """Return an array of this type (or one of these) and shape; None is any length."""
        array = self._arrays.get(name)
        kinds = [np.dtype(each) for each in (dtype if isinstance(dtype, tuple) else (dtype,))]
        if array is None or array.dtype not in kinds or not _has_shape(array, shape):
            found = "missing" if array is None else f"{array.dtype} {array.shape}"
            wanted = f"{' or '.join(map(str, kinds))} {tuple(n or 'any' for n in shape)}"
            raise self.unusable(f"array {name!r} is {found}, not {wanted}")
        return array

    def below(
        self, name: str, dtype: Any, shape: tuple[int | None, ...], limit: Any
    ) -> npt.NDArray[Any]:
        """Return whole numbers from 0 and below a limit, or below one limit each."""
        array = self.take(name, dtype, shape)
        is_right = bool(((array >= 0) & (array < limit)).all())
        self.require(is_right, f"array {name!r} has numbers out of range")
        return array

    def counts(self, name: str, dtype: Any, shape: tuple[int | None, ...]) -> npt.NDArray[Any]:
        """Return finite numbers from 0."""
        array = self.take(name, dtype, shape)
        is_right = bool((np.isfinite(array) & (array >= 0)).all())
        self.require(is_right, f"array {name!r} has values that are not finite, or below 0")
        return array

    def finite(
        self, name: str, shape: tuple[int | None, ...], dtype: Any = np.float64
    ) -> npt.NDArray[Any]:
        """Return finite numbers of either sign."""
        array = self.take(name, dtype, shape)
        is_right = bool(np.isfinite(array).all())
        self.require(is_right, f"array {name!r} has values that are not finite")
        return array

    def starts(self, name: str, n: int | None, end: int) -> npt.NDArray[np.int64]:
        """Return where n rows begin, and the end of the last: never falling from 0 to `end`."""
        array = self.take(name, (np.int32, np.int64), (None if n is None else n + 1,))
        is_right = len(array) > 0 and array[0] == 0 and array[-1] == end and never_falls(array)
        self.require(is_right, f"array {name!r} does not rise from 0 to {end:,}")
        return array.astype(np.int64, copy=False)

    def require(self, is_right: bool, problem: str) -> None:
        """Raise an error that says what is wrong with the file unless it is right."""
        if not is_right:
            raise self.unusable(problem)

    def unusable(self, problem: str) -> ReadError:
        """Return the error that says what is wrong with the file, and what to do."""
        return ReadError(self._path, None, f"{problem}; {self._remedy}")


def _has_shape(array: npt.NDArray[Any], shape: tuple[int | None, ...]) -> bool:
    return array.ndim == len(shape) and all(
        wanted in (None, n) for n, wanted in zip(array.shape, shape, strict=True)
    )


def load_arrays(path: Path, remedy: str) -> SavedArrays:
    """Return the arrays of a file that `save_arrays` wrote; it takes no more memory than disk."""
    check_plain(path)
    kinds = (*NOT_AN_ARRAY, *_NOT_A_ZIP)
    with read_errors(path, f"it cannot be read ({{}}); {remedy}", *kinds):
        # numpy leaves the file open when it cannot read it, so it is opened here.
        with open(path, "rb") as file, zipfile.ZipFile(file) as packed:
            if any(each.compress_type != zipfile.ZIP_STORED for each in packed.infolist()):
                raise ValueError("it is compressed, which we never do")
            file.seek(0)
            with np.load(file, allow_pickle=False) as saved:
                arrays: Arrays = undisturbed(lambda: dict(saved))
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray):  # numpy returns the bytes of what is no array
                raise ValueError(f"{name!r} is not an array")
    return SavedArrays(path, arrays, remedy)


class Checkpoint:
    """A folder in which running and finished chains are kept.

    Every file is written whole or not at all, so a run may be killed at any moment. A run goes on
    only from a folder of the same data and parameters. A full disk costs the checkpoint, not the
    run: it warns and tries again later.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    meaning : mapping
        What the chains depend on: fingerprint of the data, parameters, seed. Compared on resume.
    resume : bool
        Go on from what is there; without it a folder that holds chains is refused.
    seconds : float, default 60
        A running chain is saved when its last save is this old.
    """

    FORMAT = 1
    """A version that draws other numbers in a chain has another one."""

    def __init__(
        self, folder: Path, meaning: Mapping[str, Any], *, resume: bool, seconds: float = 60.0
    ) -> None:
        self.folder = folder
        self.seconds = seconds
        meaning = {"format": self.FORMAT, **meaning}
        manifest = folder / "manifest.json"
        if os.path.lexists(manifest):
            if not resume:
                raise InputError(
                    f"{folder} holds a checkpoint already; resume it, or name another folder"
                )
            _same_meaning(folder, _read_manifest(manifest), meaning)
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with write_whole(manifest) as file:
                file.write(json.dumps(meaning, indent=1).encode())
        except OSError as error:
            raise InputError(f"cannot write a checkpoint to {folder} ({error.strerror})") from error

    def save(self, number: int, state: Mapping[str, npt.NDArray[Any]]) -> None:
        """Write the state of one chain, or warn that it could not be written."""
        try:
            save_arrays(self._file(number), **state)
        except OSError as error:
            warn(
                f"chain {number} could not be saved in {self.folder} ({error.strerror}); "
                "it goes on, and will be saved later if there is room",
                RuntimeWarning,
            )

    def load(self, number: int) -> SavedArrays | None:
        """Return the saved state of one chain, or None if there is none."""
        path = self._file(number)
        if not os.path.lexists(path):
            return None
        return load_arrays(path, RUN_AGAIN)

    def _file(self, number: int) -> Path:
        return self.folder / f"chain-{number:04}.npz"


def _read_manifest(path: Path) -> dict[str, Any]:
    with read_errors(path, "this is not a manifest ({})", ValueError, RecursionError):
        manifest = json.loads(read_plain(path))
    if not isinstance(manifest, dict) or type(manifest.get("format")) is not int:
        raise ReadError(path, None, "this is not a manifest")
    check_format(path, manifest["format"], Checkpoint.FORMAT)
    return manifest


def _same_meaning(folder: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for name in sorted({*found, *wanted}):
        if found.get(name) != wanted.get(name):
            raise InputError(
                f"{folder} is a checkpoint of another run: its {name} is {found.get(name)!r}, "
                f"now it is {wanted.get(name)!r}; name another folder"
            )


def open_checkpoint(
    folder: StrPath | None, resume: bool, seconds: float, meaning: Mapping[str, Any]
) -> Checkpoint | None:
    """Return the checkpoint in a folder, or None where none is asked for."""
    if folder is not None:
        return Checkpoint(Path(folder), meaning, resume=resume, seconds=seconds)
    if resume:
        raise InputError("resume needs the folder of a checkpoint; pass checkpoint=")
    return None
