"""Suggestions of any program for documents, by their ids: JSON lines, and tables of scores."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from scipy.sparse import csr_array

from deplda.data.corpus import check_distinct, grown, renamed_columns
from deplda.data.encodings import AUTO, decode
from deplda.data.fields import Fields
from deplda.data.files import StrPath, read_lines
from deplda.data.readers.columns import csv_rows
from deplda.data.readers.sheets import sheet_rows
from deplda.data.readers.sniffing import Format, format_by_name
from deplda.errors import InputError, ReadError

_IDS, _LABELS, _SCORES = ("document_id", "id"), ("uri", "label"), ("score", "probability")
_LISTS = "results", "labels"
MOST_SCORE = 1e5
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, eq=False)
class Suggestions:
    r"""Scores of labels for documents, by name: what was not suggested is not stored.

    Examples
    --------
    >>> import deplda
    >>> from pathlib import Path
    >>> _ = Path("expert.csv").write_text("id,label,score\nd1,LAW,0.9\n", encoding="utf-8")
    >>> deplda.read_suggestions("expert.csv").labels
    ('LAW',)
    """

    ids: tuple[str, ...]
    labels: tuple[str, ...]
    scores: csr_array[Any, tuple[int, int]]

    def of(
        self, ids: Sequence[str], labels: Sequence[Any]
    ) -> tuple[csr_array[Any, tuple[int, int]], list[bool]]:
        """Return the scores of these documents and labels, and which of the documents are here.

        Labels that are not asked for are left out.
        """
        rows = [self.places.get(id, -1) for id in ids]
        # One row more, without anything, for documents that are not here.
        every = grown(self.scores, (len(self.ids) + 1, len(self.labels)))[rows]
        found = renamed_columns(every, self.labels, [str(label) for label in labels])
        return found, [row >= 0 for row in rows]

    @cached_property
    def places(self) -> dict[str, int]:
        """The row of each document."""
        return {id: row for row, id in enumerate(self.ids)}


def suggestions(rows: Mapping[str, Iterable[tuple[str, float]]]) -> Suggestions:
    """Return suggestions, given as pairs of label and score by document."""
    found = _Growing()
    for id, own in rows.items():
        found.add(id, own)
    return found.whole()


def read_suggestions(path: StrPath) -> Suggestions:
    r"""Return the suggestions of a file for documents, plain or gzip.

    JSON lines have ``document_id`` or ``id`` and a list of suggestions: ``results`` as Annif's
    ``index`` writes them, or ``labels`` as ``deplda predict`` does. Each has ``uri`` or ``label``,
    and ``score`` or ``probability``. A ``.csv``, ``.tsv`` or ``.xlsx`` file has columns of these
    names and a row for each document and label; a document's rows follow each other.

    Examples
    --------
    >>> import deplda
    >>> from pathlib import Path
    >>> rows = "id,label,score\nd1,LAW,0.9\nd1,SPORT,0.2\n"
    >>> _ = Path("expert.csv").write_text(rows, encoding="utf-8")
    >>> found = deplda.read_suggestions("expert.csv")
    >>> found.ids, found.scores.toarray().round(1).tolist()
    (('d1',), [[0.9, 0.2]])
    """
    found, format = _Growing(), format_by_name(path)
    is_table = format in ("csv", "tsv", "xlsx")
    for number, id, own in _table_rows(path, format) if is_table else _json_rows(path):
        try:
            found.add(id, own)
        except InputError as error:
            raise ReadError(path, number, str(error)) from error
    if not found.ids:
        raise ReadError(path, None, "there are no suggestions in it")
    return found.whole()


class _Growing:
    """Suggestions that grow a document at a time."""

    def __init__(self) -> None:
        self.ids: dict[str, None] = {}
        self._labels: dict[str, int] = {}
        self._numbers, self._scores, self._ends = array("q"), array("d"), array("q", [0])

    def add(self, id: str, own: Iterable[tuple[str, float]]) -> None:
        if id in self.ids:
            raise InputError(f"document {id!r} is here a second time; keep one of them")
        pairs = list(own)
        check_distinct([label for label, _ in pairs], f"labels of document {id!r}")
        for label, score in pairs:
            if not abs(score) <= MOST_SCORE:  # which NaN is not
                raise InputError(
                    f"the score of {label!r} is {score}; it must be from {-MOST_SCORE:g} to "
                    f"{MOST_SCORE:g}: divide all scores alike"
                )
            self._numbers.append(self._labels.setdefault(label, len(self._labels)))
            self._scores.append(score)
        self.ids[id] = None
        self._ends.append(len(self._numbers))

    def whole(self) -> Suggestions:
        parts = np.array(self._scores), np.array(self._numbers), np.array(self._ends)
        scores = csr_array(parts, shape=(len(self.ids), len(self._labels)))
        return Suggestions(tuple(self.ids), tuple(self._labels), scores)


def _json_rows(path: StrPath) -> Iterator[tuple[int, str, list[tuple[str, float]]]]:
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(decode(path, number, line, "utf-8"))
            if not isinstance(row, dict):
                raise InputError(f"expected a JSON object, found {type(row).__name__}")
            listed = _named(row, _LISTS, "a document")
            if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
                raise InputError("its suggestions are not a list of objects")
            yield number, str(_named(row, _IDS, "a document")), [*map(_pair, listed)]
        except (msgspec.DecodeError, RecursionError) as error:
            raise ReadError(path, number, f"this is not JSON ({error})") from error
        except InputError as error:
            raise ReadError(path, number, str(error)) from error


def _table_rows(
    path: StrPath, format: Format | None
) -> Iterator[tuple[int, str, list[tuple[str, float]]]]:
    """Yield the rows of each document together, which follow each other."""
    own: list[tuple[str, float]] = []
    last: str | None = None
    number = 1
    any_column = Fields(text=[*_IDS, *_LABELS, *_SCORES], labels=None, id=None)
    if format == "xlsx":
        rows = sheet_rows(path, any_column)
    else:
        rows = csv_rows(path, any_column, AUTO, usual="," if format == "csv" else "\t")
    for number, row in rows:
        try:
            id, pair = str(_named(row, _IDS, "a row")), _pair(row)
        except InputError as error:
            raise ReadError(path, number, str(error)) from error
        if id != last and last is not None:
            yield number - 1, last, own
            own = []
        last = id
        own.append(pair)
    if last is not None:
        yield number, last, own


def _pair(given: Mapping[str, Any]) -> tuple[str, float]:
    """Return the label and the score of a suggestion."""
    label, score = _named(given, _LABELS, "a suggestion"), _named(given, _SCORES, "a suggestion")
    if isinstance(score, str) and _DECIMAL_COMMA.fullmatch(score.strip()):
        score = score.replace(",", ".")
    try:
        return str(label), float(score)
    except (TypeError, ValueError, OverflowError) as error:
        told = str(score)[:40]
        raise InputError(f"the score of {label!r} is {told!r}; it must be a number") from error


def _named(given: Mapping[str, Any], names: Sequence[str], what: str) -> Any:
    """Return the value of the first of these names that is there."""
    for name in names:
        if given.get(name) not in (None, ""):
            return given[name]
    found = ", ".join(map(repr, [*given][:8])) or "nothing"
    raise InputError(f"{what} needs {' or '.join(map(repr, names))}; found {found}")
