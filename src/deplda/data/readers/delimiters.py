"""What stands between the columns of a table: told by its header, or by Excel's own line."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Sequence

from deplda.data.fields import Fields
from deplda.data.readers.headers import n_named
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
    """Return the columns that must be there; a column of ids need not."""
    labels = tuple(fields.label_columns) or fields.label_fields
    return {*fields.texts, *labels, *(each.field for each in fields.where)}


def names_all(line: str, wanted: Collection[str]) -> bool:
    """Return whether the line has all wanted columns with one of the delimiters."""
    return any(_n_columns(line, each, wanted)[0] == len(wanted) for each in DELIMITERS)


def _n_columns(line: str, delimiter: str, wanted: Collection[str]) -> tuple[int, int]:
    """Return how many wanted columns, and how many columns, the line has with a delimiter."""
    try:
        names = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return 0, 0
    return n_named(names, wanted), len(names)


def told_delimiter(head: Sequence[str], wanted: Collection[str], usual: str) -> str:
    """Return what gives a line the most columns that are wanted, of equal ones the most columns.

    Where none are wanted, the first line tells: others may be documents.
    """

    def evidence(delimiter: str) -> tuple[tuple[int, int], bool]:
        first, *others = (_n_columns(line, delimiter, wanted) for line in head)
        return max([first, *(each for each in others if each[0])]), delimiter == usual

    return max((usual, *DELIMITERS), key=evidence)


def likely_other(head: Sequence[str], wanted: Collection[str], delimiter: str) -> str:
    """Return what to say where columns are missing, and another delimiter would give them."""
    other = told_delimiter(head, wanted, delimiter)
    if other == delimiter:
        return ""
    header = max(head, key=lambda line: _n_columns(line, other, wanted))
    shown = {"\t": "tab"}.get(other, other)
    return (
        f"the header {header.strip()[:60]!r} looks as if its columns were separated by {other!r}: "
        f"delimiter={other!r} (--delimiter '{shown}'); or "
    )
