"""The rows of any file with names for its fields, whatever the format, and how they are settled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import NamedTuple, get_args

from deplda.data import checks
from deplda.data.encodings import AUTO, checked_encoding
from deplda.data.fields import Fields
from deplda.data.files import StrPath
from deplda.data.languages import first_texts
from deplda.data.readers.annif import annif_rows
from deplda.data.readers.columns import csv_rows, parquet_rows
from deplda.data.readers.delimiters import checked_delimiter
from deplda.data.readers.extracted import extracted_rows
from deplda.data.readers.json_files import json_rows
from deplda.data.readers.jsonl import jsonl_rows
from deplda.data.readers.plain import line_rows, text_rows
from deplda.data.readers.records import BadLines, Row, Rows, chosen
from deplda.data.readers.separators import Separator, told_separator
from deplda.data.readers.sheets import sheet_rows
from deplda.data.readers.sniffing import WHOLE, Format


class Written(NamedTuple):
    """How a file is written, as far as it is said and not to be told by itself."""

    encoding: str = AUTO
    delimiter: str | None = None
    sheet: str | int | None = None
    header_row: int | None = None


def named_rows(format: Format, fields: Fields, written: Written, bad: BadLines) -> Rows:
    """Yield the numbers and named values of documents as they stand in a file."""
    path, encoding = bad.path, checked_encoding(written.encoding)
    delimiter = checked_delimiter(written.delimiter)
    if format == "jsonl":
        rows = jsonl_rows(fields, encoding, bad)
    elif format == "json":
        rows = json_rows(path, fields, encoding)
    elif format in ("csv", "tsv"):
        usual = "," if format == "csv" else "\t"
        rows = csv_rows(path, fields, encoding, delimiter, usual, header_row=written.header_row)
    elif format == "xlsx":
        rows = sheet_rows(path, fields, written.sheet, written.header_row)
    elif format == "parquet":
        rows = parquet_rows(path, fields)
    elif format == "annif":
        rows = annif_rows(path, fields, encoding)
    elif format == "text":
        rows = text_rows(path, fields, encoding)
    elif format in ("pdf", "docx"):
        rows = extracted_rows(path, fields, format)
    else:
        checks.choice("format", format, get_args(Format))
        rows = line_rows(path, fields, encoding)
    return chosen(path, rows, fields.where) if fields.where else rows


_NOWHERE = "\0"  # a field that no file has


def fields_in(format: Format, fields: Fields) -> Fields:
    """Return the fields as documents of this format have them."""
    if format in ("csv", "tsv", "xlsx"):  # a cell of a table holds neither lists nor objects
        return replace(fields, tokens=_NOWHERE, counts=_NOWHERE)
    if format == "annif":  # texts alone, and subjects that are named by no column
        return replace(fields, tokens=_NOWHERE, counts=_NOWHERE, label_columns=())
    if format in (*WHOLE, "lines"):  # a plain text is the whole document, and no field of one
        return replace(fields, text=fields.texts[0], weights={})
    return fields


def read_rows(
    path: StrPath,
    format: Format,
    fields: Fields | None = None,
    encoding: str = AUTO,
    delimiter: str | None = None,
    sheet: str | int | None = None,
    header_row: int | None = None,
) -> Rows:
    """Yield the line numbers and named values of documents as they stand in a file with names."""
    written = Written(encoding, delimiter, sheet, header_row)
    return named_rows(format, fields or Fields(), written, BadLines(path))


class Settled(NamedTuple):
    """Rows, what separates their labels, and the fields with it."""

    rows: Rows
    fields: Fields
    separator: Separator | None
    """None where it was said, or where there is nothing to separate."""
    first: list[tuple[int, Row]]
    """Those that were looked at."""


def settled(rows: Rows, fields: Fields, *, look: bool = False) -> Settled:
    """Return the rows, and what separates labels, by the first of them, unless it is said.

    If `look` is true, the first rows are looked at in any case.
    """
    columns = () if fields.label_columns else fields.label_fields
    is_open = fields.separator is None and bool(columns)
    first = first_rows(rows, fields) if is_open or look else []
    told = None
    if is_open:
        cells = (row.get(name) for _, row in first for name in columns)
        told = told_separator(cell for cell in cells if isinstance(cell, str))
    known = fields if told is None else replace(fields, separator=told.text)
    return Settled(chain(first, rows), known, told, first)


def read_settled(path: StrPath, format: Format, fields: Fields, written: Written) -> Settled:
    """Return the rows of a file, with what separates the labels of them."""
    return settled(named_rows(format, fields, written, BadLines(path)), fields)


def first_rows(rows: Rows, fields: Fields) -> list[tuple[int, Row]]:
    """Return the rows to tell things by: a thousand at most, and no more than fit."""
    seen: list[tuple[int, Row]] = []
    named = (*fields.texts, fields.tokens, fields.counts)

    def texts() -> Iterator[str]:
        for number, row in rows:
            seen.append((number, row))
            if not any(name in row for name in named):
                return  # it will be said that there is nothing to read
            yield text_of(row, fields)

    first_texts(texts())
    return seen


def text_of(row: Row, fields: Fields) -> str:
    """Return the texts of a row as one."""
    return "\n".join(text for text in map(row.get, fields.texts) if isinstance(text, str))
