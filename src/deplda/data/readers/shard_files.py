"""The files of a folder of shards, and reading one that has bad lines in it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from deplda.data.corpus import Corpus
from deplda.data.files import StrPath, read_lines
from deplda.data.readers import Fields, read_shards
from deplda.data.readers.svmlight import read_names, sidecars
from deplda.errors import ReadError

_FORMATS: dict[str, Any] = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet",
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight",
}  # fmt: skip
_MOST_BAD = 1_000


class BadLine(NamedTuple):
    """A line that holds no document that could be read."""

    line: int
    id: str | None
    problem: str


def names_in(folder: StrPath) -> list[str]:
    """Return the names of the shards in a folder, sorted; files of other kinds are no shards."""
    path = Path(folder)
    if not path.is_dir():
        raise ReadError(path, None, "there is no such folder; give the folder of the shards")
    names = sorted(p.name for p in path.iterdir() if not p.name.startswith(".") and format_of(p))
    if not names:
        raise ReadError(path, None, f"there is no shard in it: none ends in {', '.join(_FORMATS)}")
    return names


def format_of(path: Path) -> Any:
    """Return the format of a shard by its name, None if it is none."""
    return _FORMATS.get(Path(path.name.removesuffix(".gz")).suffix.lower())


class Shard:
    """A file of documents, from which those can be read that are good."""

    def __init__(self, path: Path, fields: Fields) -> None:
        self.path, self.fields, self.format = path, fields, format_of(path)
        self.is_numbered = self.format == "svmlight"
        """Whether words are known by their numbers: its own names, if any, stand beside it."""
        self.has_words = self.is_numbered and sidecars(path)[0].is_file()

    def corpora(self, size: int, note: Callable[[BadLine], None], **how: Any) -> Iterator[Corpus]:
        """Yield the documents in corpora of up to `size`; lines that are bad are noted instead.

        In JSONL and svmlight a bad line is taken for an empty document, which is left out here, and
        the file read again from there. Of other formats one bad document fails the shard.
        """
        bad: dict[int, int] = {}
        path, done = self.path, 0
        with tempfile.TemporaryDirectory(prefix="deplda-") as folder:
            while True:
                try:
                    end = 0
                    for corpus in read_shards(path, size, self.format, fields=self.fields, **how):
                        begin, end = end, end + len(corpus)
                        if end > done:
                            done = end
                            good = ~np.isin(np.arange(begin, end), list(bad.values()))
                            yield corpus if good.all() else corpus[good]
                    return
                except ReadError as error:
                    path = self._mended(Path(folder), error, bad, note)

    def _mended(
        self, folder: Path, error: ReadError, bad: dict[int, int], note: Callable[[BadLine], None]
    ) -> Path:
        """Write a copy with an empty document for each bad line; add the new one's row to `bad`."""
        line = error.line
        if self.format not in ("jsonl", "svmlight") or line is None or line in bad:
            raise error
        if len(bad) == _MOST_BAD:
            problem = f"more than {_MOST_BAD:,} lines hold no document; is this {self.format}?"
            raise ReadError(self.path, line, problem) from error
        target, row = folder / self.path.name.removesuffix(".gz"), 0
        with target.open("wb") as copy:
            for number, text in read_lines(self.path):
                if number == line:
                    bad[line] = row
                    note(BadLine(line, self._id(text, row), error.problem))
                row += self._is_document(number, text)
                copy.write((self._empty(number) if number in bad else text) + b"\n")
        if self.is_numbered:
            for beside in filter(Path.is_file, sidecars(self.path)):
                shutil.copy(beside, folder)
        return target

    def _empty(self, line: int) -> bytes:
        """Return a document without words, whose id is no other's."""
        if self.is_numbered:
            return b""
        id = {} if self.fields.id is None else {self.fields.id: f"\0{line}"}
        return msgspec.json.encode({**id, self.fields.counts: {}})

    def _is_document(self, number: int, text: bytes) -> bool:
        if self.is_numbered:
            is_header = number == 1 and len(text.split()) == 3 and b":" not in text
            return not (text.startswith(b"#") or is_header)
        return bool(text.strip())

    def _id(self, text: bytes, row: int) -> str | None:
        """Return the document's id if that much of it can be read."""
        if self.is_numbered:
            names = sidecars(self.path)[2]
            return read_names(names)[row] if names.is_file() else str(row)
        try:
            found = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        id = found.get(self.fields.id) if isinstance(found, dict) else None
        return None if id is None else str(id)
