"""Checkpoints: a folder that keeps running and finished chains, so that nothing is ever lost."""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deplda.data.atomic import write_whole
from deplda.data.files import StrPath
from deplda.errors import InputError, ReadError

Arrays = dict[str, npt.NDArray[Any]]


def save_arrays(path: Path, **arrays: npt.NDArray[Any]) -> None:
    """Write arrays to a file, whole or not at all."""
    with write_whole(path) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def load_arrays(path: Path, problem: str) -> Arrays:
    """Return the arrays of a file; `problem` says what it means if they cannot be read."""
    try:
        # numpy leaves the file open when it cannot read it, so it is opened here.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as saved:
            return dict(saved)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ReadError(path, None, problem.format(error)) from error


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

    def __init__(
        self, folder: Path, meaning: Mapping[str, Any], *, resume: bool, seconds: float = 60.0
    ) -> None:
        self.folder = folder
        self.seconds = seconds
        meaning = {"format": self.FORMAT, **meaning}
        manifest = folder / "manifest.json"
        if manifest.is_file():
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
            warnings.warn(
                f"chain {number} could not be saved in {self.folder} ({error.strerror}); "
                "it goes on, and will be saved later if there is room",
                RuntimeWarning,
                stacklevel=2,
            )

    def load(self, number: int) -> Arrays | None:
        """Return the saved state of one chain, or None if there is none."""
        path = self._file(number)
        if not path.is_file():
            return None
        return load_arrays(path, "this is not a chain ({}); delete it to run that chain again")

    def _file(self, number: int) -> Path:
        return self.folder / f"chain-{number:04}.npz"


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ReadError(path, None, f"this is not a manifest ({error})") from error
    if not isinstance(manifest, dict):
        raise ReadError(path, None, "this is not a manifest")
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
