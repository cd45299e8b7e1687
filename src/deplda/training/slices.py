"""Arrays that stay on disk, each in a file of its own, of which a part is read at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deplda.data.atomic import write_whole
from deplda.data.files import check_plain
from deplda.errors import ReadError

_PIECE = 1 << 22


def save_array(path: Path, array: npt.NDArray[Any]) -> None:
    """Write an array to a file, whole or not at all."""
    with write_whole(path) as file:
        np.save(file, array)


def join_arrays(path: Path, parts: Sequence[OnDisk]) -> None:
    """Write one array of several, one after the other, with a part in memory at a time."""
    n, dtype = sum(map(len, parts)), parts[0].mapped.dtype
    heading = {"descr": dtype.str, "fortran_order": False, "shape": (n,)}
    with write_whole(path) as file:
        np.lib.format.write_array_header_1_0(file, heading)
        for part in parts:
            for begin in range(0, len(part), _PIECE):
                file.write(part.part(begin, begin + _PIECE).data.cast("B"))


class OnDisk:
    """A one-dimensional array in a file, checked to be of a type (or one of these) and length.

    `remedy` is what an error tells the user to do. Nothing of it is in memory but what is asked
    for.
    """

    def __init__(self, path: Path, dtype: Any, n: int | None, remedy: str) -> None:
        self._path, self._remedy = path, remedy
        check_plain(path)
        try:
            # As a private copy, of which nothing is ever written: kernels are compiled for such.
            found = np.load(path, mmap_mode="c", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise self.unusable(f"it cannot be read ({error})") from error
        kinds = [np.dtype(each) for each in (dtype if isinstance(dtype, tuple) else (dtype,))]
        is_right = isinstance(found, np.ndarray) and found.ndim == 1 and found.dtype in kinds
        if not is_right or n not in (None, len(found)):
            wanted = f"{' or '.join(map(str, kinds))} ({'any' if n is None else n},)"
            raise self.unusable(f"it holds {found.dtype} {found.shape}, not {wanted}")
        self.mapped: npt.NDArray[Any] = np.asarray(found)
        """The file as an array, of which the system reads what is looked at."""

    def __len__(self) -> int:
        return len(self.mapped)

    def part(self, begin: int, end: int) -> npt.NDArray[Any]:
        """Return a part of it, in memory."""
        return np.array(self.mapped[begin:end])

    def below(self, limit: Any, begin: int = 0, end: int | None = None) -> npt.NDArray[Any]:
        """Return a part, in memory, of whole numbers from 0 and below a limit."""
        found = self.part(begin, len(self) if end is None else end)
        if not ((found >= 0) & (found < limit)).all():
            raise self.unusable("it has numbers out of range")
        return found

    def finite(self, begin: int = 0, end: int | None = None) -> npt.NDArray[Any]:
        """Return a part, in memory, of finite numbers."""
        found = self.part(begin, len(self) if end is None else end)
        if not np.isfinite(found).all():
            raise self.unusable("it has values that are not finite")
        return found

    def starts(self, end: int) -> npt.NDArray[np.int64]:
        """Return it in memory: where rows begin, never falling from 0 to `end`."""
        found = self.part(0, len(self))
        if not len(found) or found[0] != 0 or found[-1] != end or (np.diff(found) < 0).any():
            raise self.unusable(f"it does not rise from 0 to {end:,}")
        return found.astype(np.int64, copy=False)

    def unusable(self, problem: str) -> ReadError:
        """Return the error that says what is wrong with the file, and what to do."""
        return ReadError(self._path, None, f"{problem}; {self._remedy}")
