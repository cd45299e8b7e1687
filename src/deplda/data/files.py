"""Opening files: gzip seen by its content, writes that are whole or not there at all."""

from __future__ import annotations

import gzip
import io
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from deplda.data.sizes import max_record, too_large
from deplda.errors import ReadError

GZIP_MAGIC = b"\x1f\x8b"
UTF8_BOM = b"\xef\xbb\xbf"

StrPath = str | os.PathLike[str]


class StandardInput(os.PathLike[str]):
    """Standard input in the place of a path: it can be looked into, and is read once."""

    def __init__(self, stream: Any) -> None:
        # The unbuffered stream, so that what has arrived is there before all of it has.
        self.stream = io.BufferedReader(getattr(stream, "raw", stream), 1 << 16)

    def __fspath__(self) -> str:
        return "standard input"


@contextmanager
def _opened(path: StrPath) -> Iterator[io.BufferedReader]:
    if isinstance(path, StandardInput):
        yield path.stream
        return
    with open(path, "rb") as file:
        yield file


@contextmanager
def open_binary(path: StrPath) -> Iterator[IO[bytes]]:
    """Open for reading, unpacking gzip whatever the name; failures become a ReadError."""
    try:
        with _opened(path) as raw:
            if raw.peek(2)[:2] == GZIP_MAGIC:  # a pipe cannot be wound back
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    yield unpacked  # type: ignore[misc]  # GzipFile reads like any binary file
            else:
                yield raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ReadError(path, None, f"the gzip data is damaged ({error}); copy it again") from error
    except OSError as error:
        raise ReadError(path, None, error.strerror or str(error)) from error


def read_lines(path: StrPath) -> Iterator[tuple[int, bytes]]:
    """Yield each line's number, from 1, and its bytes without line end or byte-order mark.

    A file may have any number of lines, but none that is longer than the limit.
    """
    limit = max_record()
    with open_binary(path) as file:
        lines = iter(lambda: file.readline(limit + 1), b"")
        for number, line in enumerate(lines, start=1):
            if len(line) > limit:
                raise too_large(path, number, "this line")
            if number == 1:
                line = line.removeprefix(UTF8_BOM)
            yield number, line.rstrip(b"\r\n")


def decode(path: StrPath, number: int, line: bytes, encoding: str) -> str:
    """Return the line as text, or say which byte is not of this encoding."""
    try:
        return line.decode(encoding)
    except UnicodeError as error:
        start = getattr(error, "start", 0)  # a few odd codecs do not say where
        raise ReadError(
            path,
            number,
            f"byte 0x{line[start : start + 1].hex()} at column {start + 1} is not {encoding}; "
            "pass encoding='latin-1' (--encoding latin-1), or what the file is written in",
        ) from error


@contextmanager
def write_whole(path: StrPath) -> Iterator[IO[bytes]]:
    """Write a file that appears under its name only when complete; ``.gz`` names are packed."""
    with write_together([path]) as (file,):
        yield file


@contextmanager
def write_together(paths: Iterable[StrPath]) -> Iterator[list[IO[bytes]]]:
    """Write files that appear under their names only when all of them are complete."""
    targets = [Path(path) for path in paths]
    temporaries: list[str] = []
    try:
        with ExitStack() as files:
            yield [files.enter_context(_temporary(target, temporaries)) for target in targets]
        for temporary, target in zip(temporaries, targets, strict=True):
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, target)
    finally:
        for temporary in temporaries:
            Path(temporary).unlink(missing_ok=True)


@contextmanager
def write_folder(path: StrPath) -> Iterator[Path]:
    """Write a folder that appears under its name only when complete."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack, _named(target):
        # Deleting a folder takes open files, too: some are kept for that.
        reserve = stack.enter_context(ExitStack())
        for _ in range(3):
            reserve.enter_context(open(os.devnull))
        prefix = f".{target.name}."
        scratch = tempfile.TemporaryDirectory(prefix=prefix, dir=target.parent)
        stack.callback(scratch.cleanup)
        stack.callback(reserve.close)
        new = Path(scratch.name) / "new"
        new.mkdir()
        yield new
        new.rename(target)


@contextmanager
def _temporary(target: Path, temporaries: list[str]) -> Iterator[IO[bytes]]:
    with _named(target):
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        temporaries.append(temporary)
        with os.fdopen(handle, "wb") as raw:
            if target.suffix == ".gz":
                # A fixed time and no name inside, so that the same content gives the same bytes.
                with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
                    yield packed  # type: ignore[misc]
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())


@contextmanager
def _named(target: Path) -> Iterator[None]:
    """Say which file it was that could not be written, by the name that the user knows."""
    try:
        yield
    except OSError as error:
        named, hidden = error.filename, str(target.parent / f".{target.name}.")
        if named in (None, os.devnull) or os.fsdecode(named).startswith(hidden):
            raise OSError(error.errno, error.strerror or str(error), str(target)) from error
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
