"""The files of a folder of shards, and reading one that has bad lines in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from deplda.data.corpus import Corpus
from deplda.data.fields import Fields
from deplda.data.files import StrPath
from deplda.data.readers.corpora import read_shards
from deplda.data.readers.named_rows import Written, read_settled
from deplda.data.readers.records import OnBad
from deplda.data.readers.separators import Separator
from deplda.data.readers.sniffing import SUFFIXES, Format, format_by_name, guess_format
from deplda.data.readers.svmlight import sidecars
from deplda.errors import ReadError

_NO_SHARDS = ("pdf", "docx")
_SUFFIXES = [suffix for suffix, format in SUFFIXES.items() if format not in _NO_SHARDS]
_MOST_BAD = 1_000
_MOST_ASKED = 32  # files that tell what separates labels


def names_in(folder: StrPath) -> list[str]:
    """Return the names of the shards in a folder, sorted; files of other kinds are not shards."""
    path = Path(folder)
    if not path.is_dir():
        raise ReadError(path, None, "there is no such folder; give the folder of the shards")
    names = sorted(p.name for p in path.iterdir() if not p.name.startswith(".") and format_of(p))
    if not names:
        raise ReadError(path, None, f"there is no shard in it: none ends in {', '.join(_SUFFIXES)}")
    return names


def format_of(path: Path) -> Format | None:
    """Return the format of a shard by its name, None if it is not a shard."""
    format = format_by_name(path)
    return None if format in _NO_SHARDS else format


def separators_in(folder: StrPath, fields: Fields) -> dict[str, Separator]:
    """Return what separates the labels of each file, as its first documents tell.

    Of many files some are looked at, from the first to the last of them. Those are left out that
    have nothing to separate; there are none if `fields` say the separator.
    """
    named = [name for name in names_in(folder) if format_of(Path(name)) != "svmlight"]
    places = np.unique(np.linspace(0, len(named) - 1, _MOST_ASKED).astype(int)) if named else ()
    found = {}
    for name in (named[place] for place in places):
        path = Path(folder) / name
        told = read_settled(path, guess_format(path), fields, Written()).separator
        if told is not None:
            found[name] = told
    return found


class Shard:
    """A file of documents, from which those can be read that are good."""

    def __init__(self, path: Path, fields: Fields) -> None:
        self.path, self.fields, self.format = path, fields, format_of(path)
        self.is_numbered = self.format == "svmlight"
        """Whether words are known by their numbers: its own names, if any, stand beside it."""
        self.has_words = self.is_numbered and sidecars(path)[0].is_file()

    def corpora(self, size: int, note: OnBad, **how: Any) -> Iterator[Corpus]:
        """Yield the documents in corpora of up to `size`; lines that are bad are noted instead.

        That is of JSONL and svmlight; of other formats one bad document fails the shard.
        """
        n = 0

        def on_bad(line: int, id: str | None, problem: str) -> None:
            nonlocal n
            n += 1
            if n > _MOST_BAD:
                problem = f"more than {_MOST_BAD:,} lines hold no document; is this {self.format}?"
                raise ReadError(self.path, line, problem)
            note(line, id, problem)

        return read_shards(self.path, size, self.format, fields=self.fields, on_bad=on_bad, **how)
