"""A worker's journal of a shard: which documents it is at, so that its end can be explained.

It is written before each piece of work. Who finds a journal that says where its writer was knows
that the writer ended there: of several documents, each is then a piece of its own; one alone at
which two writers ended is left out from then on.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec

from deplda.data.atomic import write_whole
from deplda.data.files import read_json

_ENDS = 2


class Piece(NamedTuple):
    """Documents first, …, last − 1 of a shard; one that has crashed a worker is alone."""

    first: int
    last: int
    has_crashed: bool


class _Entry(msgspec.Struct):
    at: tuple[int, int] | None = None
    suspects: list[tuple[int, int]] = []
    """Ranges of documents at which a worker ended: they are gone through one by one."""
    ends: dict[str, int] = {}
    """Workers that ended at a document that they had alone, by its number."""


class Journal:
    """What is known of the ends of workers at one shard."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def text(self) -> str:
        """Return the journal as it stands, empty if there is none."""
        return (
            self._path.read_text(encoding="utf-8", errors="replace") if self._path.is_file() else ""
        )

    def forget(self) -> None:
        """Throw it away: the shard is done."""
        self._path.unlink(missing_ok=True)

    def pieces(self, first: int, n: int) -> Iterator[Piece]:
        """Yield the documents first, …, first + n − 1 in pieces, noted as they are taken."""
        entry, last = self._entry, first + n
        if all(end <= first or begin >= last for begin, end in entry.suspects):
            yield self._note(Piece(first, last, False))
            return
        for document in range(first, last):
            has_crashed = entry.ends.get(str(document), 0) >= _ENDS
            yield self._note(Piece(document, document + 1, has_crashed))

    def _note(self, piece: Piece) -> Piece:
        if not piece.has_crashed:  # it is passed over: nobody can end there
            self._write((piece.first, piece.last))
        return piece

    def leave(self) -> None:
        """Note that the writer stops here of its own will."""
        self._write(None)

    def _write(self, at: tuple[int, int] | None) -> None:
        self._entry.at = at
        with write_whole(self._path) as file:
            file.write(msgspec.json.encode(self._entry))

    @cached_property
    def _entry(self) -> _Entry:
        """Return the journal of those before us, with the end of the last of them in it."""
        if not self._path.is_file():
            return _Entry()
        entry = read_json(self._path, _Entry, "this is not a journal ({}); delete it")
        if entry.at is not None:
            begin, end = entry.at
            if entry.at not in entry.suspects:
                entry.suspects.append(entry.at)
            if end - begin == 1:
                entry.ends[str(begin)] = entry.ends.get(str(begin), 0) + 1
        return entry
