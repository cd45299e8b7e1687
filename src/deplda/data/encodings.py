"""Which encoding a text is in: told by its mark, or by its first line that is not plain ASCII."""

from __future__ import annotations

import codecs
import io
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import IO

from deplda.data.wording import did_you_mean
from deplda.errors import GuessedEncodingWarning, InputError, ReadError, warn

AUTO = "auto"
WESTERN = "cp1252"
"""What Excel on Windows writes CSV in, in most of Europe and America."""
_USUAL = ("utf-8", "utf-16", "latin-1", "iso-8859-15", "cp1250", "windows-1250", "windows-1252")
UTF8_BOM = codecs.BOM_UTF8
_MARKS = {
    UTF8_BOM: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",  # before UTF-16, whose mark begins it
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
LONGEST_MARK = 4
# What other code pages look like in this one: signs, or capitals, in the middle of a word.
_GARBLED = re.compile("[a-zß-ÿ][\u0160\u017d\u0178¡£¤¥¦¨¬¯¸¹³¼½¾¿‚„†‡ˆ‰‹›˜][a-zß-ÿ]")
_LETTERS = 20  # fewer tell nothing
# Of 2,300 German records in cp1252 one looks garbled, by broken hyphenation (sach¬gerecht); of
# records in another code page at least 7 % do (English in cp850; German: 98 %).
_MAX_GARBLED = 0.02
_LINES_AHEAD, _BYTES_AHEAD = 1_000, 1 << 20
_WORD = re.compile(r"\w*[^\W\x00-\x7f]\w*")


def told_by_mark(head: bytes) -> tuple[bytes, str] | None:
    """Return the byte-order mark that a text begins with, and the encoding it stands for."""
    return next(((mark, name) for mark, name in _MARKS.items() if head.startswith(mark)), None)


def utf8_unless(encoding: str) -> str:
    """Return the encoding of what is UTF-8 by definition, as JSON is, unless another is said."""
    return "utf-8" if encoding == AUTO else encoding


def checked_encoding(encoding: str) -> str:
    """Return the name of an encoding as Python has it, or say that it has none."""
    if encoding == AUTO:
        return AUTO
    try:
        name = codecs.lookup(encoding).name
        "\n".encode(name)
        codecs.getincrementaldecoder(name)
    except (LookupError, ValueError):
        raise InputError(
            f"the encoding {encoding!r} is unknown to Python; use one such as utf-8 or {WESTERN} "
            f"(Western European Windows){did_you_mean(encoding, _USUAL)}"
        ) from None
    return "utf-8" if name in ("utf-8", "utf-8-sig") else encoding


def has_plain_lines(encoding: str) -> bool:
    """Return whether lines end as in ASCII, so that they can be told before they are decoded."""
    return encoding == AUTO or "{,\n".encode(encoding) == b"{,\n"


class Recoded(io.RawIOBase):
    """A text in UTF-16, or another encoding whose lines cannot be told, as a stream of UTF-8."""

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._left = b""
        self._is_first = True

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fill the buffer, and return with how many bytes."""
        block = b"more"
        while not self._left and block:
            block = self._file.read(1 << 16)
            text = self._decoder.decode(block, final=not block)
            if self._is_first and text:  # a mark is no letter
                text, self._is_first = text.removeprefix("\ufeff"), False
            self._left = text.encode("utf-8", "surrogatepass")
        n = min(len(buffer), len(self._left))
        buffer[:n], self._left = self._left[:n], self._left[n:]
        return n


class Decoder:
    """Decodes the lines of a file; where the encoding is `AUTO`, the first that can tell decides.

    That is the first line with a byte beyond ASCII. Where it is UTF-8, all lines must be; where it
    is not, the file is taken for `WESTERN`, unless too many of its lines look garbled. If one does,
    the next lines are read to see whether it is an exception.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        encoding: str,
        lines: Iterable[tuple[int, bytes]] = (),
    ) -> None:
        self._path, self.encoding, self._lines = path, encoding, iter(lines)
        self._ahead = deque[tuple[int, str]]()
        self._is_guessed = False
        self._n_western = self._n_garbled = 0

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Yield the numbers and texts of the lines."""
        for number, line in self._lines:
            yield number, self(number, line)
            while self._ahead:
                yield self._ahead.popleft()

    def __call__(self, number: int, line: bytes) -> str:
        """Return the line as text."""
        if self.encoding == AUTO:
            if 3 * line.count(0) > len(line) > 1:
                problem = "every other byte is zero: this may be UTF-16 without a mark; say it"
                raise ReadError(self._path, number, f"{problem} (--encoding utf-16-le)")
            if line.isascii():
                return line.decode("ascii")
            if not _is_utf8(line):
                return self._guess(number, line)
            self.encoding = "utf-8"
        if self._is_guessed and not line.isascii():
            return self._western(number, line)
        return decode(self._path, number, line, self.encoding)

    def _guess(self, number: int, line: bytes) -> str:
        text = self._western(number, line)
        self.encoding, self._is_guessed = WESTERN, True
        word = _WORD.search(text)
        shown = f", with words such as {word[0][:40]!r}" if word else ""
        warn(
            f"{os.fspath(self._path)} is not UTF-8: it is read as {WESTERN}{shown} "
            "(encoding=, --encoding says another)",
            GuessedEncodingWarning,
        )
        return text

    def _western(self, number: int, line: bytes) -> str:
        """Return the line as text, unless the file is likely to be something else."""
        text, odd = self._count_western(number, line)
        if odd and self._n_garbled > _MAX_GARBLED * self._n_western:
            self._look_ahead()
            if self._n_garbled > _MAX_GARBLED * self._n_western:
                problem = (
                    f"this is not UTF-8, and as {WESTERN} it would be {odd!r} (garbled: "
                    f"{self._n_garbled:,} of {self._n_western:,} lines that are not ASCII)"
                )
                remedy = f"pass encoding={WESTERN!r} (--encoding {WESTERN}) if that is right, or"
                raise ReadError(self._path, number, f"{problem}; {remedy} {_OTHERS}")
        return text

    def _look_ahead(self) -> None:
        size = 0
        for number, line in islice(self._lines, _LINES_AHEAD):
            is_ascii = line.isascii()
            text = line.decode() if is_ascii else self._count_western(number, line)[0]
            self._ahead.append((number, text))
            size += len(line)
            if size > _BYTES_AHEAD:
                return

    def _count_western(self, number: int, line: bytes) -> tuple[str, str]:
        """Return the line as text and the part of it that looks garbled, and count both."""
        if _is_utf8(line):
            problem = f"this line is UTF-8, and one before it is not: it was taken for {WESTERN}"
            remedy = f"if all of it is, pass encoding={WESTERN!r} (--encoding {WESTERN})"
            raise ReadError(self._path, number, f"{problem}; {remedy}, or what it is written in")
        try:
            text = line.decode(WESTERN)
        except UnicodeDecodeError:
            return decode(self._path, number, line, "utf-8"), ""  # says which byte is not
        odd = _odd_part(text)
        self._n_western += 1
        self._n_garbled += bool(odd)
        return text, odd


def _odd_part(text: str) -> str:
    """Return what shows that a text is of another code page, if something does."""
    if match := _GARBLED.search(text):
        return text[max(match.start() - 5, 0) : match.end() + 5]
    letters = [letter for letter in text if letter.isalpha()]
    n_foreign = sum(not letter.isascii() for letter in letters)
    return text.strip()[:30] if len(letters) >= _LETTERS and 2 * n_foreign > len(letters) else ""


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


_OTHERS = (
    "encoding='latin-1' (--encoding latin-1), or what the file is written in, such as cp1250 or "
    "cp1251; Excel writes UTF-8 as 'CSV UTF-8'"
)


def decode(path: str | os.PathLike[str], number: int, line: bytes, encoding: str) -> str:
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
