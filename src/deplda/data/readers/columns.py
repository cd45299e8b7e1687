"""Tables: CSV and TSV with a text column, and Parquet; labels in one column or one column each."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from deplda.data.corpus import first_duplicate
from deplda.data.fields import Fields
from deplda.data.files import StrPath, open_binary, text_lines
from deplda.data.readers.delimiters import (
    likely_other,
    names_all,
    said_by_excel,
    told_delimiter,
    wanted_columns,
)
from deplda.data.readers.footer import RowGroup, row_groups
from deplda.data.readers.headers import (
    LAST_HEADER_ROW,
    MAX_HEAD_CHARACTERS,
    TableRow,
    find_header,
)
from deplda.data.readers.records import Row, Rows, found, located, no_such_field
from deplda.data.readers.spelling import Spelling
from deplda.data.sizes import max_record, max_whole, refuse_large
from deplda.data.wording import did_you_mean
from deplda.errors import InputError, ReadError, needs_extra, read_errors

ADVICE = "name the right ones with Fields(text=..., labels=...) (--text-field, --labels-field)"
ROW_ADVICE = ", or the row of the header with header_row= (--header-row)"


def csv_rows(
    path: StrPath,
    fields: Fields,
    encoding: str,
    delimiter: str | None = None,
    usual: str = ",",
    advice: str = ADVICE + ROW_ADVICE,
    header_row: int | None = None,
) -> Rows:
    """Yield the rows below the header; quoted cells may hold line breaks.

    A delimiter that is not given is told by the header, `usual` where it tells nothing. `advice` is
    given where a column is missing. `header_row` counts rows from 1, without Excel's own line.
    """
    # The module's own limit of 131,072 characters a cell is less than many documents have.
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    lines, n_before = _Lines(path, encoding), 0
    spelling, wanted = Spelling(fields), wanted_columns(fields)
    head = lines.head(wanted, header_row)
    if head and delimiter is None and (said := said_by_excel(head[0])) is not None:
        delimiter, head, n_before = said, [*head[1:], *islice(lines, 1)], 1
    if not head:
        raise ReadError(path, None, "it is empty; the first line must name the columns")
    delimiter = told_delimiter(head, wanted, usual) if delimiter is None else delimiter
    advice = likely_other(head, wanted, delimiter) + advice
    reader = csv.reader(chain(head, lines), delimiter=delimiter, strict=True)

    def numbered() -> Iterator[TableRow]:
        for number, row in enumerate(reader, start=1):
            lines.size = 0
            yield number, n_before + reader.line_num, row

    try:
        with located(path):
            (_, place, header), rows = find_header(numbered(), wanted, header_row)
        with located(path, place):
            check_columns(header, fields, spelling, advice=advice)
        for _, number, row in rows:
            if not row:
                if len(header) > 1:
                    continue
                row = [""]  # how a table of one column writes an empty cell
            with located(path, number):
                named = _csv_row(header, row, fields, spelling, delimiter)
            yield number, named
    except csv.Error as error:
        problem = f"this is not valid CSV ({error})"
        raise ReadError(path, n_before + reader.line_num, problem) from error


class _Lines:
    """The lines of a file, of which a row may have several."""

    def __init__(self, path: StrPath, encoding: str) -> None:
        self._path, self._limit = path, max_record()
        self._lines = text_lines(path, encoding)
        self.size = 0
        """Characters of the lines since this was set to 0."""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        number, line = next(self._lines)
        self.size += len(line) + 1
        if self.size > self._limit:
            refuse_large(self._path, number, "the row that ends here, or after it,")
        return f"{line}\n"

    def head(self, wanted: Collection[str], header_row: int | None) -> list[str]:
        """Return the first lines, as far as the header may be in them."""
        lines, size = list[str](), 0
        for line in islice(self, header_row or LAST_HEADER_ROW):
            self.size = 0
            lines.append(line)
            size += len(line)
            if size > MAX_HEAD_CHARACTERS or (header_row is None and names_all(line, wanted)):
                break
        return lines


def _csv_row(
    header: Sequence[str], row: Sequence[str], fields: Fields, spelling: Spelling, delimiter: str
) -> Row:
    if len(row) != len(header):
        raise InputError(
            f"this row has {len(row)} cells but the header names {len(header)} columns; "
            f"quote cells that hold the delimiter {delimiter!r}"
        )
    cells = spelling.applied(dict(zip(header, row, strict=True)))
    if fields.id is not None and cells.get(fields.id) == "":
        del cells[fields.id]
    return cells


def check_columns(
    header: Sequence[str],
    fields: Fields,
    spelling: Spelling,
    instead: tuple[str, ...] = (),
    advice: str = ADVICE,
) -> None:
    """Raise if the header names a column twice, or not those that are wanted.

    Without labels one text column is enough, and one of those that may stand there `instead`.
    """
    # A spreadsheet may write columns that have neither a name nor anything else.
    if (twice := first_duplicate([name for name in header if name])) is not None:
        raise InputError(f"the header names the column {twice!r} twice; rename one")
    names = {*header, *spelling.others(header)}
    labels = tuple(fields.label_columns) or fields.label_fields
    missing = [name for name in labels if name not in names][:1]
    missing_texts = [name for name in fields.texts if name not in names]
    has_text = len(missing_texts) < len(fields.texts)
    if (has_text and labels and missing_texts) or not (has_text or names.intersection(instead)):
        missing = missing_texts
    if missing:
        wanted = " or ".join(map(repr, missing)) + did_you_mean(missing[0], header)
        raise InputError(f"there is no column {wanted} (found: {found(header)}); {advice}")
    for field in (condition.field for condition in fields.where):
        if field not in names:
            raise InputError(no_such_field(field, header))


def parquet_rows(path: StrPath, fields: Fields) -> Rows:
    """Yield the rows of a Parquet file, a batch in memory at a time."""
    with needs_extra("reading Parquet", "pyarrow", "arrow"):
        import pyarrow.parquet
    spelling = Spelling(fields)
    with open_binary(path) as source:
        kinds = (pyarrow.ArrowException, OSError, ValueError, OverflowError)
        with read_errors(path, "this is not readable Parquet ({})", *kinds):
            table = pyarrow.parquet.ParquetFile(source, pre_buffer=False)
            header = table.schema_arrow.names
            with located(path, None):
                check_columns(header, fields, spelling, (fields.tokens, fields.counts))
            groups, wanted = row_groups(source), spelling.read_of(header)
            rows = _parquet_rows(path, table, groups, [n for n in header if n in wanted])
            # Of 1 KB, dictionaries make any number of rows; gzip unpacks to 1,000 times at most.
            n_left = max(max_whole(), 1_000 * source.seek(0, os.SEEK_END))
            for number, row in enumerate(rows, start=1):
                n_left -= sum(len(cell) for cell in row.values() if isinstance(cell, str))
                if n_left < 0:
                    refuse_large(path, number, "the text of the rows so far", whole=True)
                yield number, spelling.applied(row)


def _parquet_rows(
    path: StrPath, table: Any, groups: list[RowGroup], columns: list[str]
) -> Iterator[dict[str, Any]]:
    limit, n = max_record(), 0
    for number, group in enumerate(groups):
        size = _batch_size(path, number, group, columns)
        for batch in table.iter_batches(size, row_groups=[number], columns=columns):
            if batch.nbytes <= limit:
                yield from batch.to_pylist()
            else:
                for row in range(batch.num_rows):
                    yield _large_row(path, n + row + 1, batch.slice(row, 1), limit)
            n += batch.num_rows


def _batch_size(path: StrPath, number: int, group: RowGroup, columns: list[str]) -> int:
    """Return how many rows are decoded at a time.

    A value that stands once in the file may stand in every row; none is longer than its column.
    """
    largest = 1
    for column in group.columns:
        if column.path.split(".")[0] not in columns:
            continue
        # A list is decoded as a whole.
        size = _BYTES_A_VALUE * column.n_values
        if column.n_values > group.n_rows and size > max_whole():
            what = f"the column {column.path!r} of row group {number}"
            refuse_large(path, None, what, size=size, whole=True)
        average = column.size // max(group.n_rows, 1)
        if average > max_record():
            refuse_large(path, None, f"a row of {column.path!r} on average", size=average)
        largest = max(largest, column.size)
    return max(1, min(_MOST_ROWS, max_whole() // 2 // largest))


_BYTES_A_VALUE = 8
_MOST_ROWS = 16  # more at a time are not faster


def _large_row(path: StrPath, number: int, row: Any, limit: int) -> dict[str, Any]:
    cells = [c.dictionary_decode() if hasattr(c, "dictionary_decode") else c for c in row.columns]
    size = sum(cell.nbytes for cell in cells)
    if size > limit:
        refuse_large(path, number, "this row", size=size)
    return {name: cell[0].as_py() for name, cell in zip(row.schema.names, cells, strict=True)}
