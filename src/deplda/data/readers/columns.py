"""Tables: CSV and TSV with a text column, and Parquet; labels in one column or one column each."""

from __future__ import annotations

import csv
import sys
from dataclasses import replace

from deplda.data.corpus import first_duplicate
from deplda.data.files import StrPath, decode, open_binary, read_lines
from deplda.data.readers.records import Fields, Row, Rows, found, located
from deplda.errors import InputError, ReadError


def csv_rows(path: StrPath, fields: Fields, encoding: str, delimiter: str) -> Rows:
    """Yield the rows below the header; quoted cells may hold line breaks."""
    # The module's own limit of 131,072 characters a cell is less than many documents have.
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    lines = (decode(path, number, line, encoding) + "\n" for number, line in read_lines(path))
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        header = next(rows, None)
        if header is None:
            raise ReadError(path, None, "it is empty; the first line must name the columns")
        with located(path, 1):
            _check_columns(header, fields)
        for row in rows:
            if not row:
                continue
            with located(path, rows.line_num):
                named = _csv_row(header, row, fields)
            yield rows.line_num, named
    except csv.Error as error:
        raise ReadError(path, rows.line_num, f"this is not valid CSV ({error})") from error


def _csv_row(header: list[str], row: list[str], fields: Fields) -> Row:
    if len(row) != len(header):
        raise InputError(
            f"this row has {len(row)} cells but the header names {len(header)} columns; "
            "quote cells that hold the delimiter"
        )
    cells = dict(zip(header, row, strict=True))
    if fields.id is not None and cells.get(fields.id) == "":
        del cells[fields.id]
    return cells


def _check_columns(header: list[str], fields: Fields) -> None:
    """Raise if the header names a column twice, or not those that are wanted."""
    if (twice := first_duplicate(header)) is not None:
        raise InputError(f"the header names the column {twice!r} twice; rename one")
    labels = [] if fields.label_columns or fields.labels is None else [fields.labels]
    for wanted in (fields.text, *labels, *fields.label_columns):
        if wanted not in header:
            raise InputError(
                f"there is no column {wanted!r} (found: {found(header)}); "
                "name the right ones with Fields(text=..., labels=...) "
                "(--text-field, --labels-field)"
            )


def parquet_rows(path: StrPath, fields: Fields) -> Rows:
    """Yield the rows of a Parquet file, a batch in memory at a time."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise InputError(
            "reading Parquet needs pyarrow; install it with: pip install 'deplda[arrow]'"
        ) from error
    wanted = {fields.id, fields.text, fields.tokens, fields.counts, fields.labels}
    wanted |= {*fields.label_columns, *(condition.field for condition in fields.where)}
    number = 0
    with open_binary(path) as source:
        try:
            table = pyarrow.parquet.ParquetFile(source)
            header = table.schema_arrow.names
            given = [n for n in (fields.counts, fields.tokens, fields.text) if n in header]
            with located(path, None):
                _check_columns(header, replace(fields, text=(given or [fields.text])[0]))
            for batch in table.iter_batches(1024, columns=[n for n in header if n in wanted]):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
        except ReadError:
            raise
        except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
            raise ReadError(path, None, f"this is not readable Parquet ({error})") from error
