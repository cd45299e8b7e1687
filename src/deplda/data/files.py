"""Opening files: gzip and UTF-16 seen by their content, errors that name the place."""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, TypeVar

import deplda
from deplda.data.encodings import (
    AUTO,
    LONGEST_MARK,
    UTF8_BOM,
    Decoder,
    Recoded,
    checked_encoding,
    has_plain_lines,
    told_by_mark,
)
from deplda.data.sizes import max_record, max_whole, refuse_large
from deplda.errors import ReadError, read_errors

if TYPE_CHECKING:
    import msgspec

GZIP_MAGIC = b"\x1f\x8b"
MOST_BYTES = 1 << 29
"""Of a file that we wrote ourselves and read as a whole, such as the card of a model."""
MOST_TOML, _MOST_PARTS = 1 << 20, 16
# Python keeps every beginning of a key such as a.b.c: one of 200,000 parts would fill any memory.
_LONG_KEY = re.compile(
    rb"""(?<![\w-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){%d}"""
    % _MOST_PARTS
)
_RELEASE = re.compile(r"\d[\w.+!-]{0,40}", re.ASCII)

StrPath = str | os.PathLike[str]
Decoded = TypeVar("Decoded")


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
    damaged = (EOFError, zlib.error, gzip.BadGzipFile)
    with (
        read_errors(path, "{}", OSError),
        read_errors(path, "the gzip data is damaged ({}); copy it again", *damaged),
        _opened(path) as raw,
    ):
        if raw.peek(2)[:2] == GZIP_MAGIC:  # a pipe cannot be wound back
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield unpacked  # type: ignore[misc]  # GzipFile reads like any binary file
        else:
            yield raw


@contextmanager
def open_text(path: StrPath, encoding: str = AUTO) -> Iterator[tuple[IO[bytes], str]]:
    """Open a text after its byte-order mark, and say what its lines are in.

    What has other line ends than ASCII, such as UTF-16, is read as UTF-8.
    """
    encoding = checked_encoding(encoding)
    with open_binary(path) as file:
        mark, marked = told_by_mark(file.peek(LONGEST_MARK)) or (b"", encoding)  # type: ignore[attr-defined]
        if encoding in (AUTO, "utf-8") or mark == UTF8_BOM:
            file.read(len(mark))
            encoding = marked if encoding in (AUTO, "utf-8") else encoding
        if has_plain_lines(encoding):
            yield file, encoding
            return
        try:
            yield io.BufferedReader(Recoded(file, encoding), 1 << 16), "utf-8"
        except UnicodeError as error:
            problem = f"this is not {encoding} ({getattr(error, 'reason', error)})"
            raise ReadError(path, None, f"{problem}; copy it again, or say its encoding") from error


def read_lines(path: StrPath) -> Iterator[tuple[int, bytes]]:
    """Yield each line's number, from 1, and its bytes without line end or byte-order mark.

    A file may have any number of lines, but none that is longer than the limit.
    """
    with open_text(path) as (file, _):
        yield from lines_of(path, file)


def text_lines(path: StrPath, encoding: str = AUTO) -> Iterator[tuple[int, str]]:
    """Yield each line's number, from 1, and its text without line end or byte-order mark."""
    with open_text(path, encoding) as (file, known):
        yield from Decoder(path, known, lines_of(path, file))


def lines_of(path: StrPath, file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the numbered lines of a file that is open."""
    limit = max_record()
    lines = iter(lambda: file.readline(limit + 1), b"")
    for number, line in enumerate(lines, start=1):
        if len(line) > limit:
            refuse_large(path, number, "this line")
        yield number, line.rstrip(b"\r\n")


def head_of(path: StrPath, size: int) -> bytes:
    """Return what a file begins with, a text in UTF-8; of standard input what has arrived."""
    if not isinstance(path, StandardInput):
        with open_text(path) as (file, _):
            return file.read(size)
    head = path.stream.peek()
    mark, encoding = told_by_mark(head) or (b"", "utf-8")
    head = head.removeprefix(mark)
    return head if encoding == "utf-8" else head.decode(encoding, "ignore").encode()


def read_unpacked(path: StrPath) -> bytearray:
    """Return the content of a file that cannot be read record by record, gzip unpacked."""
    limit, content = max_whole(), bytearray()
    with open_binary(path) as file:
        while block := file.read(1 << 20):
            content += block
            if len(content) > limit:
                refuse_large(path, None, "this file, unpacked,", whole=True)
    return content


def check_plain(path: StrPath, most: int | None = None) -> None:
    """Raise if it is not a file of its own (a link, a pipe, a device), or is too large."""
    with read_errors(path, "{}", OSError):
        status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode):
        raise ReadError(path, None, "this is not a plain file; links and pipes are not followed")
    if most is not None and status.st_size > most:
        raise ReadError(path, None, f"{status.st_size:,} bytes are more than {most:,}")


def read_plain(path: StrPath, most: int = MOST_BYTES) -> bytes:
    """Return the content of a plain file of our own making."""
    check_plain(path, most)
    with read_errors(path, "{}", OSError), open(path, "rb") as file:
        return file.read(most)


def read_json(path: StrPath, kind: type[Decoded], problem: str) -> Decoded:
    """Return a JSON file of our own making; `problem` is what an error says that it is."""
    import msgspec

    kinds = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
    with read_errors(path, problem, *kinds):
        return msgspec.json.decode(read_plain(path), type=kind)


def check_format(path: StrPath, found: int, newest: int, library: str = "") -> None:
    """Raise if a file of ours has a format that this version does not know.

    `library` is the version that says it wrote the file, if it says so.
    """
    if 1 <= found <= newest:
        return
    known = "format 1" if newest == 1 else f"formats 1 to {newest}"
    by, step = "", "a newer deplda reads it; install that"
    if found < 1:
        step = "it was damaged or written by another program; copy it again"
    elif _RELEASE.fullmatch(library):
        by, step = f", of deplda {library}", f"install deplda {library} or newer"
    problem = f"it has format {found}{by}; deplda {deplda.__version__} reads {known}: {step}"
    raise ReadError(path, None, problem)


def decode_toml(
    path: StrPath,
    content: bytes,
    kind: type[Decoded],
    problem: str,
    parts: Mapping[str, type[msgspec.Struct]] | None = None,
) -> Decoded:
    """Return what TOML of anybody's making says; `problem` is what an error says that it is.

    A key that is unknown is answered with those of `kind`, or of the `parts` of it by their places.
    """
    import msgspec

    if len(content) > MOST_TOML:
        raise ReadError(path, None, f"this TOML has more than {MOST_TOML:,} bytes")
    if found := _LONG_KEY.search(content):
        line = content.count(b"\n", 0, found.start()) + 1
        raise ReadError(path, line, f"a key has more than {_MOST_PARTS} parts; name it shorter")
    try:
        return msgspec.toml.decode(content, type=kind)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        known = ""
        if "unknown field" in str(error):
            at = (part for place, part in (parts or {}).items() if place in str(error))
            meant: Any = next(at, kind)
            known = f"; known: {', '.join(meant.__struct_fields__)}"
        raise ReadError(path, None, f"{problem.format(error)}{known}") from error
