"""JSON lines: ``{"id": …, "text" | "tokens" | "counts": …, "labels": […]}``, a document a line."""

from __future__ import annotations

from typing import Any

import msgspec

from deplda.data.encodings import decode, utf8_unless
from deplda.data.fields import Fields
from deplda.data.files import StrPath, lines_of, open_text
from deplda.data.readers.records import BadLines, Row, Rows, found, no_text_field
from deplda.data.readers.spelling import Spelling, folded
from deplda.data.wording import did_you_mean
from deplda.errors import InputError, ReadError


def jsonl_rows(fields: Fields, encoding: str, bad: BadLines) -> Rows:
    """Yield the documents; blank lines are passed over. Without a mark JSON is UTF-8."""
    path, spelling, seen = bad.path, Spelling(fields), FieldsSeen(fields)
    with open_text(path, utf8_unless(encoding)) as (file, known):
        for number, line in lines_of(path, file):
            if not line.strip():
                continue
            with bad.at(number):
                given = json_object(path, number, line, known)
                row = spelling.applied(given)
                seen.look_at(row)
                yield number, row
    # A shard may lack a text field that others have.
    seen.check(path, needs_texts=bad.on_bad is None)


class FieldsSeen:
    """Which of the fields of texts and labels no document has had, and which fields there are."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._labels = tuple(fields.label_columns) or fields.label_fields
        self._missing = dict.fromkeys((*self._labels, *fields.texts) if self._labels else ())
        self._names: dict[str, str] = {}

    def look_at(self, row: Row) -> None:
        """Take up a document."""
        if self._missing:
            for name in row:  # before what it is called where it is found in another case
                self._names.setdefault(folded(name), name)
            self._missing = {name: None for name in self._missing if name not in row}

    def check(self, path: StrPath, *, needs_texts: bool = True) -> None:
        """Raise if no document has a field of labels, or one of several texts."""
        if not self._names:
            return
        names = self._names.values()
        labels = [name for name in self._labels if name in self._missing]
        if labels and (not self._fields.label_columns or len(labels) == len(self._labels)):
            raise ReadError(
                path,
                None,
                f"no document has the field {labels[0]!r}{did_you_mean(labels[0], names)} "
                f"(found: {found(names)}); name it with Fields(labels=...) "
                "(--labels-field), or say Fields(labels=None) (--labels-field '') for documents "
                "without labels",
            )
        texts = [name for name in self._fields.texts if name in self._missing]
        if needs_texts and texts and len(texts) < len(self._fields.texts):
            raise ReadError(path, None, no_text_field(texts, names))


def json_object(path: StrPath, number: int, line: bytes, encoding: str) -> dict[str, Any]:
    """Return the object that a line is, or say why it is none."""
    if encoding != "utf-8":
        # A surrogate that some codecs let through is not JSON.
        line = decode(path, number, line, encoding).encode("utf-8", "surrogatepass")
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        decode(path, number, line, "utf-8")  # says which byte it is where that is the reason
        raise InputError(f"this is not JSON ({error})") from error
    if not isinstance(row, dict):
        raise InputError(f"expected a JSON object, found {type(row).__name__}")
    return row
