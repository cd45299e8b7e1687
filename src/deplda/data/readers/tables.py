"""What documents are given → tables with a row a label: CSV, TSV, spreadsheets and Parquet."""

from __future__ import annotations

import csv
import errno
import io
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import IO, Any, NamedTuple

from deplda.data.atomic import write_whole
from deplda.data.encodings import UTF8_BOM
from deplda.errors import InputError, ReadError, needs_extra

Answer = Mapping[str, Any]
"""What is said of a document, as `answers_of` has it."""
Cells = tuple[str | int | float | None, ...]
AddRows = Callable[[list[Cells]], None]

_RANK = 1
_FORMULA = re.compile(r"(^|[;,|\t\r\n])('*[=+\-@＝＋－＠])")
_SHEET_ROWS, _CELL = 1 << 20, 32_767
"""Rows of a sheet and characters of a cell that Excel takes."""
_NO_TIME = datetime(2000, 1, 1)
"""In place of the time at which a workbook was made: the same labels give the same bytes."""
_WIDTHS = (16, 6, 36, 44, 12, 12, 9, 18)


def columns(value: str) -> tuple[str, ...]:
    """Return the names of the columns; `value` is "probability" or "score"."""
    return ("id", "rank", "label", "uri", "notation", value, "n_known", "flags")


def table_rows(id: str, answer: Answer, value: str) -> list[Cells]:
    """Return a row for each label, the likeliest first; one without a label where there is none."""
    of_document = " ".join(flag for flag in ("out_of_vocabulary", "empty") if answer.get(flag))
    rows: list[Cells] = []
    for rank, told in enumerate(answer["labels"], start=1):
        flags = " ".join(filter(None, ("by_name" if told.get("by_name") else "", of_document)))
        rows.append(
            (id, rank, str(told["label"]), told.get("uri"), told.get("notation"), told[value],
             answer["n_known"], flags or None)
        )  # fmt: skip
    return rows or [(id, *[None] * 5, answer["n_known"], of_document or None)]


def csv_line(cells: Cells, delimiter: str = ",") -> bytes:
    r"""Return a line of CSV.

    Cells are written with line ends of ``\r\n``, which has both of these quoted in cells.
    """
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter).writerow(cells)
    return buffer.getvalue().removesuffix("\r\n").encode() + b"\n"


def header_line(names: Sequence[str], delimiter: str) -> bytes:
    """Return a table's first line; by the mark Excel knows that CSV is UTF-8, of TSV it asks."""
    return (UTF8_BOM if delimiter == "," else b"") + csv_line(tuple(names), delimiter)


def row_line(cells: Cells, delimiter: str) -> bytes:
    """Return a line of a table in which a spreadsheet finds no formula."""
    return csv_line(tuple(map(_harmless, cells)), delimiter)


# CSV and TSV --------------------------------------------------------------------------------------


class Stored(NamedTuple):
    """A document in an output of an earlier run."""

    line: int
    id: str
    content: bytes


class DelimitedTable:
    """CSV or TSV, written a document after the other; a part of it can be gone on with.

    A cell that a spreadsheet would take for a formula is preceded by an apostrophe, and so is what
    would be one if a spreadsheet split the cell at another separator than ours.
    """

    def __init__(self, delimiter: str, value: str) -> None:
        self._delimiter, self._value = delimiter, value
        self.header = header_line(columns(value), delimiter)

    def encode(self, id: str, answer: Answer) -> bytes:
        """Return the lines of a document."""
        return b"".join(
            row_line(row, self._delimiter) for row in table_rows(id, answer, self._value)
        )

    def stored_id(self, id: str) -> str:
        """Return an id as it stands in the table."""
        return str(_harmless(id))

    def stored(self, path: Path) -> Iterator[Stored]:
        """Yield the documents of a table but the last, of which rows may be missing."""
        document: Stored | None = None
        for line, row, content in self._rows(path):
            if document is not None and row[0] == document.id and row[_RANK] not in ("", "1"):
                document = document._replace(content=document.content + content)
                continue
            if document is not None:
                yield document
            document = Stored(line, row[0], content)

    def _rows(self, path: Path) -> Iterator[tuple[int, list[str], bytes]]:
        """Yield the whole rows below the header: line, cells, bytes."""
        with open(path, "rb") as file:
            header = file.read(len(self.header))
            if len(header) < len(self.header) and self.header.startswith(header):
                return
            if header != self.header:
                problem = "this is no table of such predictions; choose another output, or --force"
                raise ReadError(path, 1, problem)
            lines = _WholeLines(file)
            rows = csv.reader(lines, delimiter=self._delimiter, strict=True)
            number = 2
            while True:
                try:
                    row = next(rows, None)
                except (csv.Error, UnicodeDecodeError) as error:
                    if lines.is_at_end:
                        return
                    raise ReadError(path, number, f"this is no row of a table ({error})") from error
                if row is None:
                    return
                if len(row) != len(columns(self._value)):
                    raise ReadError(path, number, "this is no row of predictions")
                yield number, row, b"".join(lines.taken)
                number += len(lines.taken)
                lines.taken.clear()


class _WholeLines:
    """The lines of a file that have an end, and those that were read since the last look."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.taken: list[bytes] = []
        self.is_at_end = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._file.readline()
        if not line.endswith(b"\n"):
            self.is_at_end = True
            raise StopIteration
        self.taken.append(line)
        return line.decode()


def _harmless(cell: str | int | float | None) -> str | int | float | None:
    return _FORMULA.sub(r"\1'\2", cell) if isinstance(cell, str) else cell


# Spreadsheets and Parquet -------------------------------------------------------------------------


def check_can_write(suffix: str) -> None:
    """Raise, before any work is done, if what writes such files is not installed."""
    package, extra = ("XlsxWriter", "xlsx") if suffix == ".xlsx" else ("pyarrow", "arrow")
    with needs_extra(f"writing {suffix}", package, extra):
        if suffix == ".xlsx":
            import xlsxwriter  # noqa: F401
        else:
            import pyarrow.parquet  # noqa: F401


@contextmanager
def open_spreadsheet(path: Path, value: str) -> Iterator[AddRows]:
    """Write a workbook of texts and numbers, no formulas; more rows than a sheet has go on."""
    import xlsxwriter
    from xlsxwriter.exceptions import FileCreateError

    with write_whole(path) as file, _temporary_folder(path) as scratch:
        book = xlsxwriter.Workbook(file, {"constant_memory": True, "tmpdir": scratch})
        book.set_properties({"created": _NO_TIME})
        sheets = _Sheets(book, value)
        try:
            yield sheets.add
            sheets.finish()
            book.close()
        except FileCreateError as error:
            raise error.args[0] from error
        finally:
            for sheet in book.worksheets():
                sheet.row_data_fh.close()


@contextmanager
def _temporary_folder(target: Path) -> Iterator[str]:
    """Yield a temporary folder; of two disks, the one with less free space is reported as full."""
    with TemporaryDirectory() as scratch:
        try:
            yield scratch
        except OSError as error:
            free = [
                shutil.disk_usage(folder).free for folder in (scratch, target.absolute().parent)
            ]
            if error.errno != errno.ENOSPC or free[0] >= free[1]:
                raise
            problem = f"{error.strerror} for temporary files (TMPDIR sets another folder)"
            raise OSError(error.errno, problem, gettempdir()) from error


class _Sheets:
    """The sheets of a workbook, filled one after the other."""

    def __init__(self, book: Any, value: str) -> None:
        self._book, self._names = book, columns(value)
        self._bold = book.add_format({"bold": True})
        self._number = book.add_format({"num_format": "0.0000"})
        self._sheet: Any = None
        self._row = 0
        self._begin()

    def add(self, rows: list[Cells]) -> None:
        for cells in rows:
            if self._row == _SHEET_ROWS:
                self._begin()
            for place, cell in enumerate(cells):
                self._write(place, cell)
            self._row += 1

    def _begin(self) -> None:
        self.finish()
        number = len(self._book.worksheets()) + 1
        self._sheet = self._book.add_worksheet(f"labels {number}" if number > 1 else "labels")
        self._sheet.freeze_panes(1, 0)
        for place, width in enumerate(_WIDTHS):
            self._sheet.set_column(place, place, width)
        for place, name in enumerate(self._names):
            self._sheet.write_string(0, place, name, self._bold)
        self._row = 1

    def finish(self) -> None:
        """Let the rows of the sheet be filtered by the header."""
        if self._sheet is not None:
            self._sheet.autofilter(0, 0, max(self._row - 1, 1), len(self._names) - 1)

    def _write(self, place: int, cell: str | int | float | None) -> None:
        if isinstance(cell, float):
            self._sheet.write_number(self._row, place, cell, self._number)
        elif isinstance(cell, int):
            self._sheet.write_number(self._row, place, cell)
        elif cell is not None:
            if len(cell) > _CELL:
                raise InputError(
                    f"the {self._names[place]} {cell[:40]!r}… has {len(cell):,} characters, but a "
                    f"cell of a spreadsheet {_CELL:,} at most; write .csv or .jsonl instead"
                )
            self._sheet.write_string(self._row, place, cell)


@contextmanager
def open_parquet(path: Path, value: str) -> Iterator[AddRows]:
    """Write a Parquet file, a batch of rows after the other."""
    import pyarrow
    import pyarrow.parquet

    text, number, real = pyarrow.string(), pyarrow.int32(), pyarrow.float64()
    types = (text, number, text, text, text, real, pyarrow.int64(), text)
    schema = pyarrow.schema(list(zip(columns(value), types, strict=True)))

    with write_whole(path) as file, pyarrow.parquet.ParquetWriter(file, schema) as writer:

        def add(rows: list[Cells]) -> None:
            given = zip(*rows, strict=True)
            arrays = [pyarrow.array(cells, type) for cells, type in zip(given, types, strict=True)]
            writer.write_batch(pyarrow.RecordBatch.from_arrays(arrays, schema=schema))

        yield add
