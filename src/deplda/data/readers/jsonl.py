"""JSON lines: ``{"id": …, "text" | "tokens" | "counts": …, "labels": […]}``, a document a line."""

from __future__ import annotations

from typing import Any

import msgspec

from deplda.data.encodings import decode, utf8_unless
from deplda.data.fields import Fields
from deplda.data.files import StrPath, lines_of, open_text
from deplda.data.readers.records import BadLines, Row, Rows, found
from deplda.data.readers.spelling import Spelling
from deplda.errors import InputError, ReadError


def jsonl_rows(fields: Fields, encoding: str, bad: BadLines) -> Rows:
    """Yield the documents; blank lines are passed over. Without a mark JSON is UTF-8."""
    path, spelling, labels = bad.path, Spelling(fields), LabelsSeen(fields)
    with open_text(path, utf8_unless(encoding)) as (file, known):
        for number, line in lines_of(path, file):
            if not line.strip():
                continue
            with bad.at(number):
                given = json_object(path, number, line, known)
                row = spelling.applied(given)
                labels.look_at(row)
                yield number, row
    labels.check(path)


class LabelsSeen:
    """Whether a document has the field of the labels, and which fields there are."""

    def __init__(self, fields: Fields) -> None:
        self._wanted = tuple(fields.label_columns) or (fields.labels,)
        self._is_seen = self._wanted == (None,)
        self._names: dict[str, None] = {}

    def look_at(self, row: Row) -> None:
        """Take up a document."""
        self._is_seen = self._is_seen or any(name in row for name in self._wanted)
        if not self._is_seen:
            self._names.update(dict.fromkeys(row))

    def check(self, path: StrPath) -> None:
        """Raise if no document has the field."""
        if self._names and not self._is_seen:
            raise ReadError(
                path,
                None,
                f"no document has the field {self._wanted[0]!r} (found: {found(self._names)}); "
                "name it with Fields(labels=...) (--labels-field), or say Fields(labels=None) "
                "(--labels-field '') for documents without labels",
            )


def json_object(path: StrPath, number: int, line: bytes, encoding: str) -> dict[str, Any]:
    """Return the object that a line is, or say why it is none."""
    if encoding != "utf-8":
        # A surrogate that some codecs let through is not JSON.
        line = decode(path, number, line, encoding).encode("utf-8", "surrogatepass")
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        decode(path, number, line, "utf-8")  # says which byte it is where that is the reason
        raise InputError(f"this is not JSON ({error})") from error
    except RecursionError as error:
        raise InputError("this JSON is nested too deeply for a document") from error
    if not isinstance(row, dict):
        raise InputError(f"expected a JSON object, found {type(row).__name__}")
    return row
