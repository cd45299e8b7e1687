"""Arrays that stay on disk, each in a file of its own, of which a part is read at a time."""

from __future__ import annotations

import tokenize
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from deplda.data.atomic import write_whole
from deplda.data.files import check_plain
from deplda.errors import ReadError

_PIECE = 1 << 22
# What numpy raises at a file that is no array, or at a header that is damaged.
Result = TypeVar("Result")
_ATTEMPTS = 10
NOT_AN_ARRAY = (
    OSError, ValueError, EOFError, MemoryError, OverflowError, TypeError, LookupError, SyntaxError,
    RecursionError, tokenize.TokenError,
)  # fmt: skip


def never_falls(array: npt.NDArray[Any]) -> bool:
    """Return whether numbers never fall, in each row; differences would overflow."""
    return bool((array[..., :-1] <= array[..., 1:]).all())


def save_array(path: Path, array: npt.NDArray[Any], *, synced: bool = True) -> None:
    """Write an array to a file, whole or not at all."""
    with write_whole(path, synced=synced) as file:
        np.save(file, array)


def join_arrays(path: Path, parts: Sequence[OnDisk]) -> None:
    """Write one array of several, one after the other, with a part in memory at a time."""
    n, dtype = sum(map(len, parts)), parts[0].mapped.dtype
    heading = {"descr": dtype.str, "fortran_order": False, "shape": (n,)}
    with write_whole(path) as file:
        np.lib.format.write_array_header_1_0(file, heading)
        for part in parts:
            for begin, end in part.pieces():
                file.write(part.part(begin, end).data.cast("B"))


def undisturbed(read: Callable[[], Result]) -> Result:
    """Return what is read, again where another thread disturbed it.

    NumPy has Python parse the header of an array, and Python 3.11 may fail to while another thread
    parses one too (SystemError, python/cpython#106905).
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return read()
        except SystemError:
            continue
    return read()


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
            with np.errstate(over="ignore"):  # an absurd length, which the file is too short for
                found = undisturbed(lambda: np.lib.format.open_memmap(path, mode="c"))
        except NOT_AN_ARRAY as error:
            raise self.unusable(f"it cannot be read ({error})") from error
        kinds = [np.dtype(each) for each in (dtype if isinstance(dtype, tuple) else (dtype,))]
        if found.ndim != 1 or found.dtype not in kinds or n not in (None, len(found)):
            wanted = f"{' or '.join(map(str, kinds))} ({'any' if n is None else n},)"
            raise self.unusable(f"it holds {found.dtype} {found.shape}, not {wanted}")
        self.mapped: npt.NDArray[Any] = np.asarray(found)
        """The file as an array, of which the system reads what is looked at."""

    def __len__(self) -> int:
        return len(self.mapped)

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Yield where parts of it begin and end, each small enough for memory."""
        for begin in range(0, len(self), _PIECE):
            yield begin, min(begin + _PIECE, len(self))

    def part(self, begin: int = 0, end: int | None = None) -> npt.NDArray[Any]:
        """Return a part of it, in memory."""
        end = len(self) if end is None else end
        is_right = 0 <= begin <= end <= len(self)
        self.require(is_right, f"it has {len(self):,} numbers, none from {begin:,} to {end:,}")
        return np.array(self.mapped[begin:end])

    def below(self, limit: Any, begin: int = 0, end: int | None = None) -> npt.NDArray[Any]:
        """Return a part, in memory, of whole numbers from 0 and below a limit."""
        return self.checked_below(limit, self.part(begin, end))

    def finite(self, begin: int = 0, end: int | None = None) -> npt.NDArray[Any]:
        """Return a part, in memory, of finite numbers."""
        return self.checked_finite(self.part(begin, end))

    def counts(self, begin: int = 0, end: int | None = None) -> npt.NDArray[Any]:
        """Return a part, in memory, of finite numbers from 0."""
        return self.checked_counts(self.part(begin, end))

    def all_below(self, limit: int) -> npt.NDArray[Any]:
        """Return all of it, mapped: whole numbers from 0 and below a limit."""
        return self.checked_below(limit, self.mapped)

    def all_counts(self) -> npt.NDArray[Any]:
        """Return all of it, mapped: finite numbers from 0."""
        return self.checked_counts(self.mapped)

    def checked_below(self, limit: Any, found: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return numbers that were found in it, whole ones from 0 and below a limit, or one each.

        Of one limit the least and the largest number tell; many would be compared one by one.
        """
        if not len(found):
            return found
        is_below = found.max() < limit if np.ndim(limit) == 0 else (found < limit).all()
        self.require(bool(found.min() >= 0 and is_below), "it has numbers out of range")
        return found

    def checked_finite(self, found: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return numbers that were found in it, finite ones."""
        self.require(bool(np.isfinite(found).all()), "it has values that are not finite")
        return found

    def checked_counts(self, found: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return numbers that were found in it, finite ones from 0."""
        self.require(bool((self.checked_finite(found) >= 0).all()), "it has values below 0")
        return found

    def starts(self, end: int) -> npt.NDArray[np.int64]:
        """Return it in memory: where rows begin, never falling from 0 to `end`."""
        found = self.part()
        is_right = len(found) > 0 and found[0] == 0 and found[-1] == end and never_falls(found)
        self.require(is_right, f"it does not rise from 0 to {end:,}")
        return found.astype(np.int64, copy=False)

    def require(self, is_right: bool, problem: str) -> None:
        """Raise an error that says what is wrong with the file unless it is right."""
        if not is_right:
            raise self.unusable(problem)

    def unusable(self, problem: str) -> ReadError:
        """Return the error that says what is wrong with the file, and what to do."""
        return ReadError(self._path, None, f"{problem}; {self._remedy}")
