"""What stands between the columns of a table: told by its header, or by Excel's own line."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection

from deplda.data.fields import Fields
from deplda.errors import InputError

DELIMITERS = (",", ";", "\t", "|")
_NAMED = {"tab": "\t", "\\t": "\t"}
_EXCELS_LINE = re.compile(r'"?sep=(.)"?', re.IGNORECASE)


def checked_delimiter(delimiter: str | None) -> str | None:
    """Return the character that is meant, or say that it is none."""
    if delimiter is None:
        return None
    delimiter = _NAMED.get(delimiter, delimiter)
    if len(delimiter) != 1 or delimiter in '\r\n"':
        raise InputError(
            f"delimiter is {delimiter!r}; it must be one character, such as ';', ',' or 'tab'"
        )
    return delimiter


def said_by_excel(line: str) -> str | None:
    """Return the delimiter of a first line such as ``sep=;``, which Excel obeys and hides."""
    match = _EXCELS_LINE.fullmatch(line.strip("\r\n "))
    return None if match is None else match[1]


def wanted_columns(fields: Fields) -> set[str]:
    """Return the columns that are asked for."""
    named = (*fields.texts, *fields.label_columns, *(each.field for each in fields.where))
    return {name for name in (fields.id, fields.labels, *named) if name is not None}


def told_delimiter(header: str, wanted: Collection[str], usual: str) -> str:
    """Return what gives the most columns that are wanted, of equal ones the most columns."""
    sought = {name.casefold() for name in wanted}

    def found(delimiter: str) -> tuple[int, int, bool]:
        try:
            names = next(csv.reader([header], delimiter=delimiter), [])
        except csv.Error:
            return 0, 0, False
        return len(sought & {name.casefold() for name in names}), len(names), delimiter == usual

    return max((usual, *DELIMITERS), key=found)


def likely_other(header: str, wanted: Collection[str], delimiter: str) -> str:
    """Return what to say where columns are missing, and another delimiter would give them."""
    other = told_delimiter(header, wanted, delimiter)
    if other == delimiter:
        return ""
    shown = {"\t": "tab"}.get(other, other)
    return (
        f"the header {header.strip()[:60]!r} looks as if its columns were separated by {other!r}: "
        f"delimiter={other!r} (--delimiter '{shown}'); or "
    )
