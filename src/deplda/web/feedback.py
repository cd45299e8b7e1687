"""What people decided: labelled documents, appended to a file that ``deplda learn`` reads."""

from __future__ import annotations

import errno
import logging
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec
from msgspec import Struct

from deplda.data.atomic import is_at, lock_file, sync
from deplda.data.files import StrPath
from deplda.errors import InputError

log = logging.getLogger("deplda.web")

MOST_BYTES = 1 << 30
_BLOCK = 1 << 16
_LOOKS, _SECONDS_BETWEEN = 500, 0.01


class Labelled(Struct):
    """A document and the labels that it was given: addresses, notations or names."""

    text: str
    labels: list[str]
    id: str | None = None
    """Of a document that may be sent again, what `version_id` says."""


class Feedback:
    """A file of JSON lines with ``text``, ``labels`` and ``received``, a document a line.

    What `append` has returned from is on disk, whatever becomes of the process then. Several
    processes may append at once. The file may be moved away at any time, to be learned from: the
    next document begins a new one. A line that was cut off by a crash, which nobody was told is
    kept, is removed: when the file is opened, and before the next one is written.
    """

    def __init__(self, path: StrPath, most_bytes: int = MOST_BYTES) -> None:
        self.path, self.most_bytes = Path(path).absolute(), most_bytes
        self._one_at_a_time = Lock()
        try:
            with self._locked() as handle:
                _check_lines(handle, self.path)
                self._heal(handle)
        except OSError as error:
            raise InputError(
                f"{self.path} cannot be written to ({error.strerror}); give a file in a folder "
                "that may be written to"
            ) from error

    def append(self, documents: Sequence[Labelled]) -> None:
        """Write documents to disk, none of them if it fails, which is an OSError."""
        received = datetime.now(UTC).isoformat(timespec="seconds")
        lines = b"".join(
            msgspec.json.encode(_fields(document) | {"received": received}) + b"\n"
            for document in documents
        )
        with self._locked() as handle:
            if _last_byte(handle) not in (b"", b"\n"):  # another process was killed meanwhile
                self._heal(handle)
            size = os.fstat(handle).st_size
            if size + len(lines) > self.most_bytes:
                problem = f"it would have more than {self.most_bytes:,} bytes; move it away"
                raise OSError(errno.EFBIG, problem, str(self.path))
            try:
                _write(handle, lines)
                os.fsync(handle)
            except BaseException:
                os.ftruncate(handle, size)
                raise

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """Hold the file that has the name now, alone."""
        with self._one_at_a_time:
            handle = self._claim()
            try:
                yield handle
            finally:
                os.close(handle)  # which lets go of the lock

    def _claim(self) -> int:
        for _ in range(_LOOKS):
            handle = _open(self.path)
            is_ours = False
            try:
                is_ours = lock_file(handle) and is_at(handle, self.path)
            finally:
                if not is_ours:
                    os.close(handle)
            if is_ours:  # or else another process writes, or it was moved away just now
                return handle
            time.sleep(_SECONDS_BETWEEN)
        raise OSError(errno.EBUSY, "another process holds its lock", str(self.path))

    def _heal(self, handle: int) -> None:
        """Remove the last line if it is not whole; end it if it only lacks its end."""
        start, line = _last_line(handle)
        if _is_document(line):
            if not line.endswith(b"\n"):  # another program wrote it
                _write(handle, b"\n")
                os.fsync(handle)
        elif line:
            os.ftruncate(handle, start)
            os.fsync(handle)
            log.warning(
                "%s: the last line, of %d bytes, was cut off by a crash and is removed; "
                "whoever sent it was not told that it is kept", self.path, len(line),
            )  # fmt: skip


def _fields(document: Labelled) -> dict[str, Any]:
    found = msgspec.structs.asdict(document)
    return {name: value for name, value in found.items() if value is not None}


def _open(path: Path) -> int:
    """Return the handle of a plain file to append to; it is made, for its owner alone, if new."""
    # Without O_NONBLOCK, opening a pipe would wait for its reader.
    flags = os.O_RDWR | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        handle = os.open(path, flags)
    except FileNotFoundError:
        handle = os.open(path, flags | os.O_CREAT, 0o600)
        sync(path.parent)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "this is not a plain file", str(path))
    return handle


def _check_lines(handle: int, path: Path) -> None:
    """Raise if the file is something else than JSON lines: no line of it is to be removed."""
    os.lseek(handle, 0, os.SEEK_SET)
    first = os.read(handle, 1)
    if first not in (b"", b"{"):
        raise InputError(f"{path} is not a file of JSON lines; choose another name")


def _last_byte(handle: int) -> bytes:
    size = os.lseek(handle, 0, os.SEEK_END)
    os.lseek(handle, max(0, size - 1), os.SEEK_SET)
    return os.read(handle, 1)


def _last_line(handle: int) -> tuple[int, bytes]:
    """Return where the last line begins, and the line with its end if it has one."""
    size = os.lseek(handle, 0, os.SEEK_END)
    start = place = max(0, size - 1)
    while place:
        begin = max(0, place - _BLOCK)
        os.lseek(handle, begin, os.SEEK_SET)
        found = os.read(handle, place - begin).rfind(b"\n")
        start = begin + found + 1
        if found >= 0:
            break
        place = begin
    os.lseek(handle, start, os.SEEK_SET)
    return start, os.read(handle, size - start)


def _is_document(line: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(line), dict)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def _write(handle: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]
