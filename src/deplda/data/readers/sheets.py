"""Spreadsheets: the rows of a sheet of an .xlsx file, one in memory at a time."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from deplda.data.fields import Fields
from deplda.data.files import StrPath
from deplda.data.readers.columns import ADVICE, ROW_ADVICE, check_columns
from deplda.data.readers.delimiters import wanted_columns
from deplda.data.readers.headers import TableRow, find_header
from deplda.data.readers.records import Rows, located
from deplda.data.readers.spelling import Spelling
from deplda.data.readers.zipped import open_archive
from deplda.data.sizes import max_record, refuse_large
from deplda.data.wording import did_you_mean
from deplda.errors import InputError, Place, ReadError, needs_extra

_FAILED = {"#REF!", "#NAME?", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!", "#SPILL!", "#CALC!"}
_MISSING = "#N/A"
_MOST_ROWS = 1 << 20


def sheet_rows(
    path: StrPath,
    fields: Fields,
    sheet: str | int | None = None,
    header_row: int | None = None,
) -> Rows:
    """Yield the rows below the header, cells as texts: 12 is "12", a formula is its value.

    `sheet` is its name or its number from 1; the first by default.
    """
    with needs_extra("reading .xlsx", "openpyxl", "xlsx"):
        import openpyxl.reader.excel as openpyxl
    with open_archive(path, ".xlsx") as archive:
        with warnings.catch_warnings():  # of what it does not take up, such as validations
            warnings.simplefilter("ignore")
            reader = openpyxl.ExcelReader(
                archive.fp, read_only=True, data_only=True, keep_links=False
            )
            reader.archive = archive  # which looks at what is read
            reader.read()
        chosen = _chosen(path, reader.wb, sheet)
        chosen.reset_dimensions()  # what a sheet says of its size may be wrong
        others = [each.title for each in reader.wb.worksheets if each.title != chosen.title]
        yield from _named_rows(path, chosen, fields, others, header_row)


def _chosen(path: StrPath, book: Any, sheet: str | int | None) -> Any:
    """Return the sheet that is asked for by name or else number, or the first."""
    sheets = book.worksheets
    if not sheets:
        raise ReadError(path, None, "there is no sheet with cells in it")
    if sheet is None:
        return sheets[0]
    titles = [each.title for each in sheets]
    if sheet in titles:
        return sheets[titles.index(sheet)]
    folded = [title.casefold() for title in titles]  # no two of a book differ in case alone
    if str(sheet).casefold() in folded:
        return sheets[folded.index(str(sheet).casefold())]
    number = int(sheet) if str(sheet).isdecimal() else 0
    if 1 <= number <= len(sheets):
        return sheets[number - 1]
    known = f"{_shown(titles)}, or 1 to {len(sheets)}"
    near = did_you_mean(str(sheet), titles) or ";"
    raise ReadError(path, None, f"there is no sheet {sheet!r}{near} say one of {known}")


def _shown(titles: Sequence[str]) -> str:
    """Return the names of sheets, the first ten of many."""
    return ", ".join(map(repr, titles[:10])) + (", …" if len(titles) > 10 else "")


def _named_rows(
    path: StrPath, sheet: Any, fields: Fields, others: Sequence[str], header_row: int | None
) -> Rows:
    filled = _filled_rows(path, sheet)
    first = next(filled, None)
    if first is None:
        problem = f"the sheet {sheet.title!r} is empty; its first row must name the columns"
        raise ReadError(path, None, f"{problem} (sheet=, --sheet says another)")
    with located(path):
        (_, place, cells), rows = find_header(
            chain([first], filled), wanted_columns(fields), header_row
        )
    header = [cell.strip() for cell in cells]
    spelling = Spelling(fields)
    with located(path, place):
        advice = ADVICE + ROW_ADVICE
        if others:
            advice += f", or another sheet: {_shown(others)} (--sheet)"
        check_columns(header, fields, spelling, advice=advice)
    read = spelling.read_of(header)
    for _, number, cells in rows:
        with located(path, number):
            named = dict(zip(header, cells, strict=False))
            row = dict.fromkeys(header, "") | named
            _check_no_failure(row, read)
        row = spelling.applied(row)
        if fields.id is not None and row.get(fields.id) == "":
            del row[fields.id]
        yield number, row


def _row_of(sheet: Any) -> str:
    return f"sheet {sheet.title!r}, row"


def _filled_rows(path: StrPath, sheet: Any) -> Iterator[TableRow]:
    """Yield the rows that have a cell with something in it."""
    limit, what = max_record(), _row_of(sheet)
    for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        at = Place(number, what)
        if number > _MOST_ROWS:  # also those that are not there come one by one
            problem = f"a sheet has {_MOST_ROWS:,} rows at most; open it in Excel and save it again"
            raise ReadError(path, at, problem)
        if any(cell is not None for cell in cells):
            if sum(len(cell) for cell in cells if isinstance(cell, str)) > limit:
                refuse_large(path, at, "this row")
            yield number, at, [_text(cell) for cell in cells]


def _check_no_failure(row: dict[str, str], read: set[str]) -> None:
    for name in read:
        if row.get(name) in _FAILED:
            raise InputError(
                f"the cell of the column {name!r} is {row[name]}: its formula failed; mend it, or "
                "delete what is in the cell"
            )


def _text(cell: object) -> str:
    """Return a cell as a person reads it."""
    if cell is None or cell == _MISSING:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime.datetime):
        is_day = cell.time() == datetime.time()
        return cell.date().isoformat() if is_day else cell.isoformat(" ")
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return str(cell).replace("_x000D_", "")
