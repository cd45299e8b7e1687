"""Where predictions go: standard output, a file in the format of its name, or a folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol

import click

from deplda.cli.output import as_line, check_output, printable
from deplda.data.atomic import write_small, write_whole
from deplda.data.wording import counted
from deplda.errors import InputError, ReadError

if TYPE_CHECKING:
    from deplda.data.readers import Record
    from deplda.data.readers.tables import AddRows, Answer, Stored

OUTPUT_FORMATS = ("jsonl", "csv", "tsv", "xlsx", "parquet", "annif")
_SUFFIXES = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".xlsx": "xlsx",
    ".parquet": "parquet",
}  # fmt: skip
_CHECKED = 256
"""How many documents of an output are predicted again before it is gone on with."""
_END = ".annif"
_TEXT_FILE = re.compile(r"(?:.*[/\\])?([^/\\]+)\.(?:txt|md|json)", re.IGNORECASE | re.DOTALL)


class Answered(NamedTuple):
    """A document and what is said of it."""

    id: str
    answer: Answer


Predict = Callable[["list[Record]"], "list[Answered]"]
Write = Callable[[list[Answered]], None]


class Layout(Protocol):
    """A format in which documents are written one after the other."""

    header: bytes

    def encode(self, id: str, answer: Answer) -> bytes:
        """Return what is written of a document."""

    def stored_id(self, id: str) -> str:
        """Return an id as it is stored."""

    def stored(self, path: Path) -> Iterator[Stored]:
        """Yield the documents of an output that are surely whole."""


class Output(ABC):
    """A place for predictions."""

    n_before = 0
    """Documents that an earlier run has written, and this one has passed over."""
    n_written = 0
    """Documents that this run has written completely."""
    part: Path | None = None
    """Where an unfinished run leaves what it has written; None if it leaves nothing."""

    def remaining(self, records: Iterator[Record], predict: Predict) -> Iterator[Record]:
        """Return the documents that are still to be predicted."""
        return records

    @abstractmethod
    def opened(self) -> AbstractContextManager[Write]:
        """Return what writes a batch of documents."""

    def others(self) -> str | None:
        """Return what is to be said of predictions of other documents that are there."""
        return None


def output_format(output: Path | None, asked: str | None, read_as: str | None) -> str:
    """Return the format of an output: as asked, or by its name; raise if neither says it.

    Documents that are read as Annif's are labelled in files of Annif's, if the name says nothing.
    A device or a pipe gets JSON lines.
    """
    if output is not None and output.suffix == ".gz":
        raise click.UsageError(f"{output}: predictions are not packed; pack them afterwards.")
    by_name = None if output is None else _SUFFIXES.get(output.suffix.lower())
    format = asked or by_name
    if format is None and output is not None and read_as == "annif" and not output.suffix:
        format = "annif"
    if format is None and output is not None and _is_device(output):
        format = "jsonl"
    if format is None and output is not None:
        raise click.UsageError(
            f"{output} is of no format that is known; its name must end in "
            f"{', '.join(_SUFFIXES)}, or --output-format say what it is (annif: a folder, one "
            "file a document)."
        )
    if output is None and format in ("xlsx", "parquet", "annif"):
        raise click.UsageError(f"--output-format {format} needs --output, where to write it.")
    return format or "jsonl"


def _is_device(path: Path) -> bool:
    """Return whether it is a device or a pipe, whose name says nothing of what goes through it."""
    return path.exists() and not path.is_file() and not path.is_dir()


def open_output(
    output: Path | None, format: str, *, value: str, resume: bool, force: bool
) -> Output:
    """Return where predictions go, checked before any work is done.

    `value` is what a label comes with, a probability or a score.
    """
    if resume and format in ("xlsx", "parquet"):
        raise click.UsageError(
            f"--resume goes on with .jsonl, .csv, .tsv and files of Annif's; .{format} is written "
            "as a whole at the end."
        )
    if format == "annif" and output is not None:
        return _Folder(output, value, resume, force)
    if output is None and sys.stdout is None:
        raise InputError("standard output is closed; open it, or name a file with --output")
    if output is not None:
        if output.is_dir():
            raise InputError(f"{output} is a folder; name a file, or say --output-format annif")
        check_output(output, force or resume)
        if not (force or resume) and (part := part_of(output)).exists():
            raise InputError(
                f"{part} holds the predictions of an unfinished run; add --resume to continue it, "
                "or --force to start again"
            )
    from deplda.data.readers.tables import DelimitedTable, check_can_write

    if format in ("xlsx", "parquet") and output is not None:
        check_can_write(f".{format}")
        return _Whole(output, format, value)
    layout: Layout = _JsonLines()
    if format != "jsonl":
        layout = DelimitedTable("," if format == "csv" else "\t", value)
    return _Appended(output, layout, resume)


def part_of(output: Path) -> Path:
    """Return where predictions are written until all of them can replace the output."""
    output = Path(os.path.realpath(output))
    return output.with_name(f"{output.name}.part")


class _JsonLines:
    header = b""

    def encode(self, id: str, answer: Answer) -> bytes:
        return as_line({"id": id} | dict(answer)).encode() + b"\n"

    def stored_id(self, id: str) -> str:
        return id

    def stored(self, path: Path) -> Iterator[Stored]:
        from deplda.data.readers.tables import Stored

        with open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    return
                try:
                    yield Stored(number, json.loads(line)["id"], line)
                except (ValueError, KeyError, TypeError) as error:
                    problem = "this is not a line of predictions; choose another output, or --force"
                    raise ReadError(path, number, problem) from error


class _Appended(Output):
    """Standard output, a device, or a file, which is replaced only by a complete one.

    Documents are written to a partial file beside it, where `--resume` continues.
    """

    def __init__(self, path: Path | None, layout: Layout, resume: bool) -> None:
        self._path, self._layout = path, layout
        self.part = None if path is None or _is_device(path) else part_of(path)
        written = [each for each in (self.part, path) if resume and each and each.is_file()]
        self._earlier = next(iter(written), None)
        self._n_bytes = 0

    def remaining(self, records: Iterator[Record], predict: Predict) -> Iterator[Record]:
        """Skip the documents that an earlier run wrote."""
        if self._earlier is not None:
            self.n_before, self._n_bytes = _skip_done(self._earlier, self._layout, records, predict)
        return records

    @contextmanager
    def opened(self) -> Iterator[Write]:
        if self._path is None:
            header = self._layout.header.removeprefix(b"\xef\xbb\xbf")
            sys.stdout.buffer.write(header)
            yield lambda batch: self._print(batch)
            return
        if self._earlier == self._path and self.part is not None:
            with write_whole(self.part) as copy, open(self._path, "rb") as earlier:
                shutil.copyfileobj(earlier, copy)
        # Unbuffered: a full disk is reported where lines are written, not once more at the end.
        with open(self.part or self._path, "ab" if self._earlier else "wb", buffering=0) as file:
            if self._earlier:
                file.truncate(self._n_bytes)
            try:
                if not self._n_bytes:
                    _write_all(file, self._layout.header)
                yield lambda batch: self._write(file, batch)
                if self.part is not None:
                    os.fsync(file.fileno())
            except BaseException:
                if self.part is not None and not self.n_before + self.n_written:
                    self.part.unlink()
                raise
        if self.part is not None:
            os.replace(self.part, os.path.realpath(self._path))

    def _write(self, file: IO[bytes], batch: list[Answered]) -> None:
        for answered in batch:
            _write_all(file, self._layout.encode(*answered))
            self.n_written += 1

    def _print(self, batch: list[Answered]) -> None:
        content = b"".join(self._layout.encode(*each) for each in batch)
        sys.stdout.buffer.write(printable(content.decode()).encode())
        sys.stdout.buffer.flush()


def _write_all(file: IO[bytes], content: bytes) -> None:
    """Write all of it: of a disk that gets full the system takes a part first."""
    left = memoryview(content)
    while left:
        left = left[file.write(left) :]


def _skip_done(
    path: Path, layout: Layout, records: Iterator[Record], predict: Predict
) -> tuple[int, int]:
    """Skip the documents that are stored already; return how many they are, and their bytes.

    Documents spread over the whole output are predicted again: the same model, documents and
    options give the same bytes.
    """
    n = sum(1 for _ in layout.stored(path))
    chosen = set(range(0, n, -(-n // _CHECKED) or 1)) | {n - 1}
    whole, again, expected = 0, list[Any](), list[Any]()
    for number, stored in enumerate(layout.stored(path)):
        record = next(records, None)
        if record is None or stored.id != layout.stored_id(str(record.id)):
            raise _of_other_documents(path, stored, record)
        whole += len(stored.content)
        if number in chosen:
            again.append(record)
            expected.append(stored)
    for stored, new in zip(expected, predict(again), strict=True):
        if stored.content != layout.encode(*new):
            raise _of_another_run(f"{path}, line {stored.line}")
    return n, len(layout.header) + whole if n else 0


def _of_other_documents(path: Path, stored: Stored, record: Record | None) -> InputError:
    other = "there are fewer documents" if record is None else f"document {record.id!r} is next"
    return InputError(
        f"{path}, line {stored.line}: it is of document {stored.id!r}, but {other}; the output is "
        "of other documents: choose another one, or --force to replace it"
    )


def _of_another_run(where: str) -> InputError:
    return InputError(
        f"{where}: it is not what this model and these options give for that document; resume with "
        "those it was begun with, choose another output, or --force to replace it"
    )


class _Whole(Output):
    """A file that is there when all documents are written, and not before."""

    def __init__(self, path: Path, format: str, value: str) -> None:
        self._path, self._format, self._value = path, format, value

    @contextmanager
    def opened(self) -> Iterator[Write]:
        from deplda.data.readers.tables import open_parquet, open_spreadsheet, table_rows

        opener = open_spreadsheet if self._format == "xlsx" else open_parquet

        def add(rows: AddRows, batch: list[Answered]) -> None:
            rows([row for each in batch for row in table_rows(*each, self._value)])

        with opener(self._path, self._value) as rows:
            yield lambda batch: add(rows, batch)


def _n_files(folder: Path) -> int:
    if not folder.is_dir():
        return 0
    return sum(entry.name.endswith(_END) for entry in os.scandir(folder))


class _Folder(Output):
    """A folder with a file for each document, as Annif's ``index`` writes them."""

    def __init__(self, path: Path, value: str, resume: bool, force: bool) -> None:
        if path.exists() and not path.is_dir():
            raise InputError(f"{path} is a file; Annif's files need a folder to be in")
        self._path, self._value, self._goes_on = path, value, resume
        # Suggestions that are there stay until all that replace them are written.
        staging = part_of(path)
        is_staged = staging.is_dir() if resume else force and _n_files(self._path) > 0
        self.part = self._place = staging if is_staged else path
        if is_staged and not resume:
            shutil.rmtree(staging, ignore_errors=True)
        self._named: dict[str, str] = {}
        if not (resume or force) and (n := _n_files(self._path)):
            raise InputError(
                f"{path} holds {counted(n, f'{_END} file')} already; choose another folder, "
                "--resume to go on, or --force to replace those of the same documents"
            )
        check_output(path / "any" if path.is_dir() else path, replace=True)

    def _file(self, id: str) -> Path:
        from deplda.data.readers.annif_writers import file_name

        match = _TEXT_FILE.fullmatch(id)
        return self._place / f"{file_name(match[1] if match else id)}{_END}"

    def _claimed(self, id: str) -> Path:
        """Return the file of a document; no other may have it."""
        file = self._file(id)
        if file.name in self._named:
            raise InputError(
                f"{file.name} would be of the documents {self._named[file.name]!r} and {id!r}; "
                "give them other ids, predict them into two folders, or number them (--id-field '')"
            )
        self._named[file.name] = id
        return file

    def remaining(self, records: Iterator[Record], predict: Predict) -> Iterator[Record]:
        """Yield the documents that have no file yet; some of the others are predicted again."""
        if not self._goes_on:
            yield from records
            return
        step, again = -(-_n_files(self._place) // _CHECKED) or 1, list[Any]()
        for record in records:
            if self._file(str(record.id)).exists():
                self._claimed(str(record.id))
                again += [record] if self.n_before % step == 0 else []
                self.n_before += 1
                continue
            self._check(again, predict)
            again.clear()
            yield record
        self._check(again, predict)

    def _check(self, again: list[Any], predict: Predict) -> None:
        for new in predict(again) if again else ():
            file = self._file(new.id)
            if file.read_bytes() != self._content(new):
                raise _of_another_run(str(file))

    def _content(self, answered: Answered) -> bytes:
        from deplda.data.readers.annif_writers import annif_suggestions

        return annif_suggestions(answered.answer, self._value)

    @contextmanager
    def opened(self) -> Iterator[Write]:
        self._place.mkdir(exist_ok=True)
        yield self._write
        if self._place != self._path:
            for name in os.listdir(self._place):
                os.replace(self._place / name, self._path / name)
            self._place.rmdir()

    def _write(self, batch: list[Answered]) -> None:
        for answered in batch:
            write_small(self._claimed(answered.id), self._content(answered))
            self.n_written += 1

    def others(self) -> str | None:
        n = _n_files(self._path) - len(self._named)
        files = counted(n, f"{_END} file")
        return f"{self._path} also holds {files} of other documents." if n else None
