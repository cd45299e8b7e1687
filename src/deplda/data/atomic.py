"""Writes that are whole or not there at all, at whatever moment the process is killed.

What is being written lies beside its target under a hidden name, and its writer holds a lock on it.
The system lets go of the lock of a process that is killed: the next writer of the same target takes
that place over, so that nothing piles up.
"""

from __future__ import annotations

import ctypes
import errno
import glob
import gzip
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from deplda.data.files import StrPath

if sys.platform != "win32":  # where what a killed process left is not told from what is written
    import fcntl

_MARK = ".deplda-writing"
_NEW, _OLD, _LOCK = "new", "old", "lock"
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)
_FILES_TO_DELETE = 3
_LOOKS, _SECONDS_BETWEEN = 100, 0.02


@contextmanager
def write_whole(path: StrPath, *, synced: bool = True) -> Iterator[IO[bytes]]:
    """Write a file that appears under its name only when complete; ``.gz`` names are packed.

    Not `synced`, it does not wait for the disk: what is soon written anew need not outlast a power
    failure.
    """
    with write_together([path], synced=synced) as (file,):
        yield file


@contextmanager
def write_together(paths: Iterable[StrPath], *, synced: bool = True) -> Iterator[list[IO[bytes]]]:
    """Write files that appear under their names only when all of them are complete."""
    targets = [Path(path) for path in paths]
    with ExitStack() as claims:
        places, handles = [], []
        for target in targets:
            place, handle = claims.enter_context(_claimed_file(target))
            places.append(place)
            handles.append(handle)
        with ExitStack() as files:
            yield [
                files.enter_context(_packed_or_not(handle, target, synced))
                for handle, target in zip(handles, targets, strict=True)
            ]
        for place, target in zip(places, targets, strict=True):
            os.chmod(place, 0o666 & ~_umask())
            os.replace(place, target)
        for parent in {target.parent for target in targets} if synced else ():
            sync(parent)


def write_small(path: StrPath, content: bytes) -> None:
    """Write one of many small files, whole or not at all, without waiting for the disk.

    Killing the process leaves no file that is torn; for what can be made again if power fails.
    """
    target = Path(path)
    place = _place(target, 0)
    with _named(target):
        try:
            with open(place, "wb") as file:
                file.write(content)
            os.replace(place, target)
        except BaseException:
            with suppress(OSError):
                place.unlink()
            raise


@contextmanager
def write_folder(path: StrPath, *, replace: bool = False) -> Iterator[Path]:
    """Write a folder that appears under its name only when complete.

    With `replace`, a folder that is there gives way to it in one step, or, where the system cannot,
    in two: `recover` brings the old one back if the process was killed between them.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    recover(target)
    with _claimed_folder(target) as scratch:
        new = scratch / _NEW
        new.mkdir()
        yield new
        for written in (*new.rglob("*"), new):
            sync(written)
        if replace:
            _replace(new, target)
        else:
            new.rename(target)
        sync(target.parent)


def recover(target: Path) -> None:
    """Bring back a folder whose replacement was cut off; wait for one that is under way."""
    for _ in range(_LOOKS):
        if target.exists() or all(_brought_back(place, target) for place in _folders_of(target)):
            return
        time.sleep(_SECONDS_BETWEEN)


def _folders_of(target: Path) -> list[Path]:
    """Return the folders that writers of a target have, or left, beside it."""
    names = glob.escape(_place(target, 0).name) + "*"
    places = sorted(target.parent.glob(names))
    return [place for place in places if place.is_dir() and not place.is_symlink()]


def _brought_back(place: Path, target: Path) -> bool:
    """Move the old folder back if its writer is gone; return False if one may be at work."""
    try:
        handle = _open(place / _LOCK, make=0)
    except OSError:
        return not (place / _OLD).exists()
    try:
        if not lock_file(handle):
            return False
        _bring_back(place, target)
        return True
    finally:
        os.close(handle)


def _bring_back(place: Path, target: Path) -> None:
    if (place / _OLD).is_dir() and not target.exists():
        (place / _OLD).rename(target)


def is_leftover(path: Path, target: Path) -> bool:
    """Return whether this is what a writer of the target left beside it, or is writing."""
    return path.name.startswith(_place(target, 0).name)


def _replace(new: Path, target: Path) -> None:
    """Put a folder in its place, whether there is one already or not; others may do so too."""
    for _ in range(_LOOKS):
        try:
            if not target.exists():
                new.rename(target)
            elif not _exchange(new, target):
                _replace_in_two_steps(new, target)
            return
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST):
                raise
            failed = error
    raise failed


def _replace_in_two_steps(new: Path, target: Path) -> None:
    old = new.with_name(_OLD)
    target.rename(old)
    try:
        new.rename(target)
    except BaseException:
        old.rename(target)
        raise


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step; return False if this system or disk cannot."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    names = os.fsencode(one), os.fsencode(other)
    if not renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE):
        return True
    if (number := ctypes.get_errno()) in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), os.fspath(other))


# Places beside a target ---------------------------------------------------------------------------


def _place(target: Path, number: int) -> Path:
    """Return a hidden name beside a target; there are as many as there are writers at a time."""
    return target.with_name(f".{target.name}{_MARK}{number or ''}")


@contextmanager
def _claimed_file(target: Path) -> Iterator[tuple[Path, int]]:
    """Hold an empty file beside a target, which is no more there at the end."""
    with _named(target):
        place, handle = _claim(target, _open)
        try:
            os.ftruncate(handle, 0)
            yield place, handle
        finally:
            if is_at(handle, place):  # it was not moved to its target
                place.unlink()
            os.close(handle)


@contextmanager
def _claimed_folder(target: Path) -> Iterator[Path]:
    """Hold an empty folder beside a target, which is no more there at the end."""
    with _named(target), ExitStack() as reserve:
        # Deleting a folder takes open files too: some are kept for that.
        for _ in range(_FILES_TO_DELETE):
            reserve.enter_context(open(os.devnull))
        place, handle = _claim(target, _open_lock_in, _LOCK)
        try:
            _bring_back(place, target)  # its writer may have been killed since we looked
            _empty(place)
            yield place
        finally:
            reserve.close()
            _remove(place, handle)
            _remove_leftovers(target)


def _remove_leftovers(target: Path) -> None:
    """Remove what killed writers left at places that nobody has taken over."""
    for place in _folders_of(target):
        with suppress(OSError):
            handle = _open(place / _LOCK, make=0)
            if lock_file(handle) and is_at(handle, place / _LOCK):
                _bring_back(place, target)
                _remove(place, handle)
            else:
                os.close(handle)


def _remove(place: Path, handle: int) -> None:
    """Remove a folder beside a target whose lock we hold."""
    try:
        _empty(place)
        (place / _LOCK).unlink()
    finally:
        os.close(handle)
        _remove_if_empty(place)


def _claim(target: Path, open_lock: Callable[[Path], int], lock: str = "") -> tuple[Path, int]:
    """Return the first place beside a target that nobody writes to, and the handle of its lock."""
    number = 0
    while True:
        place = _place(target, number)
        handle = open_lock(place)
        # It may have been moved to its target, or removed, before it was locked.
        if lock_file(handle) and is_at(handle, place / lock):
            return place, handle
        os.close(handle)
        number += 1


def _open_lock_in(folder: Path) -> int:
    """Return the handle of the lock of a folder; both are made if they are not there."""
    look = 0
    while True:
        if folder.is_symlink():
            raise OSError(errno.ELOOP, "this is a link; remove it", str(folder))
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            return _open(folder / _LOCK)
        except (FileNotFoundError, FileExistsError):
            is_in_the_way = folder.exists() and not folder.is_dir()
            if not folder.parent.is_dir() or is_in_the_way or look == _LOOKS:
                raise
            look += 1  # its last writer removed it just now
        except OSError:
            _remove_if_empty(folder)
            raise


def _empty(place: Path) -> None:
    for name in (_NEW, _OLD):
        if (place / name).exists():
            shutil.rmtree(place / name)


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):  # another writer has it already
        folder.rmdir()


@contextmanager
def _named(target: Path) -> Iterator[None]:
    """Say which file it was that could not be written, by the name that the user knows."""
    try:
        yield
    except OSError as error:
        named, hidden = error.filename, str(_place(target, 0))
        if named in (None, os.devnull) or os.fsdecode(named).startswith(hidden):
            raise OSError(error.errno, error.strerror or str(error), str(target)) from error
        raise


def _open(path: Path, make: int = os.O_CREAT) -> int:
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return os.open(path, flags | make, 0o600)


def lock_file(handle: int) -> bool:
    """Take the lock of an open file; return False if another process has it."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
            raise
    return True  # a disk that knows no locks has no crowds of writers either


def is_at(handle: int, path: Path) -> bool:
    """Return whether an open file is the one that has this name."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False


@contextmanager
def _packed_or_not(handle: int, target: Path, synced: bool) -> Iterator[IO[bytes]]:
    with os.fdopen(os.dup(handle), "wb") as raw:
        if target.suffix == ".gz":
            # A fixed time and no name inside, so that the same content gives the same bytes.
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
                yield packed  # type: ignore[misc]
        else:
            yield raw
        raw.flush()
        if synced:
            os.fsync(raw.fileno())


def sync(path: Path) -> None:
    """Write a file, or the names in a folder, to disk itself."""
    if path.is_dir() and os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
