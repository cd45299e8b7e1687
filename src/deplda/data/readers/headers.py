"""Which row of a table names its columns; others, such as a title, may stand above it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from deplda.data.checks import whole
from deplda.data.readers.spelling import folded
from deplda.errors import InputError

LAST_HEADER_ROW = 30
"""The last row in which the header is looked for."""
MAX_HEAD_CHARACTERS = 1 << 20
"""Of the rows that are kept in memory until the header is known."""

TableRow = tuple[int, int, Sequence[str]]
"""The number of a row as a spreadsheet shows it, its place in the file, and its cells."""


def n_named(cells: Sequence[str], names: Collection[str]) -> int:
    """Return how many of the names are those of cells."""
    return len({folded(name) for name in names}.intersection(map(folded, cells)))


def find_header(
    rows: Iterator[TableRow], wanted: Collection[str], header_row: int | None = None
) -> tuple[TableRow, Iterator[TableRow]]:
    """Return the row that names the columns, and the rows below it.

    It is the row `header_row`, or else the one with the most of the `wanted` names; of equal ones
    the first with more than one filled cell, which a title does not have.
    """
    last = LAST_HEADER_ROW if header_row is None else whole("header_row", header_row)
    head, size = list[TableRow](), 0
    for row in rows:
        number, _, cells = row
        head.append(row)
        size += sum(map(len, cells))
        has_all = header_row is None and n_named(cells, wanted) == len(wanted)
        if number >= last or has_all or size > MAX_HEAD_CHARACTERS:
            break
    if header_row is not None and (not head or head[-1][0] != header_row):
        raise InputError(
            f"row {header_row:,} is empty or does not exist; it must name the columns "
            "(header_row=, --header-row)"
        )
    place = len(head) - 1
    if header_row is None:
        evidence = [(n_named(cells, wanted), sum(map(bool, cells)) > 1) for *_, cells in head]
        place = evidence.index(max(evidence))
    return head[place], chain(head[place + 1 :], rows)
