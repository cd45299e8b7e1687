"""JSON lines: ``{"id": …, "text" | "tokens" | "counts": …, "labels": […]}``, a document a line."""

from __future__ import annotations

from typing import Any

import msgspec

from deplda.data.fields import Fields
from deplda.data.files import StrPath, decode, read_lines
from deplda.data.readers.records import BadLines, Rows, found
from deplda.data.readers.spelling import Spelling
from deplda.data.wording import did_you_mean
from deplda.errors import InputError, ReadError


def jsonl_rows(fields: Fields, encoding: str, bad: BadLines) -> Rows:
    """Yield the documents; blank lines are passed over."""
    path = bad.path
    wanted = tuple(fields.label_columns) or (fields.labels,)
    labelled = wanted == (None,)
    names: dict[str, None] = {}
    spelling = Spelling(fields)
    for number, line in read_lines(path):
        if not line.strip():
            continue
        with bad.at(number):
            given = json_object(path, number, line, encoding)
            row = spelling.applied(given)
            labelled = labelled or any(name in row for name in wanted)
            if not labelled:
                names.update(dict.fromkeys(given))
            yield number, row
    if names and not labelled:
        raise ReadError(
            path,
            None,
            f"no document has the field {wanted[0]!r}{did_you_mean(str(wanted[0]), names)} "
            f"(found: {found(names)}); name it with "
            "Fields(labels=...) (--labels-field), or say Fields(labels=None) "
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
