"""Scores of another program for documents, by document id and label: JSON lines and tables."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from scipy.sparse import coo_array, csr_array

from deplda.data.corpus import grown, renamed_columns
from deplda.data.encodings import AUTO, decode
from deplda.data.fields import Fields
from deplda.data.files import StrPath, read_lines
from deplda.data.readers.columns import csv_rows
from deplda.data.readers.sheets import sheet_rows
from deplda.data.readers.sniffing import Format, format_by_name
from deplda.data.wording import counted
from deplda.errors import InputError, ReadError

_IDS, _LABELS, _SCORES = ("document_id", "id"), ("uri", "label"), ("score", "probability")
_LISTS = "results", "labels"
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?")

Scores = csr_array[Any, tuple[int, int]]


def read_scores(path: StrPath, ids: Iterable[Any], labels: Iterable[Any]) -> Scores:
    r"""Return the scores of a file, documents × labels, for `Documents`.

    JSON lines, plain or gzip, have ``document_id`` or ``id`` and a list of labels: ``results`` as
    Annif's ``index`` writes them, or ``labels`` as ``deplda predict`` does. Each has ``uri`` or
    ``label``, and ``score`` or ``probability``. A ``.csv``, ``.tsv`` or ``.xlsx`` file has columns
    of these names and a row for each document and label. Other documents and labels are left out;
    a document that the file lacks has no scores.

    Examples
    --------
    >>> import deplda
    >>> from pathlib import Path
    >>> rows = "id,label,score\nd1,LAW,0.9\nd1,SPORT,0.2\n"
    >>> _ = Path("mllm.csv").write_text(rows, encoding="utf-8")
    >>> deplda.read_scores("mllm.csv", ["d0", "d1"], ["LAW", "SPORT"]).toarray().tolist()
    [[0.0, 0.0], [0.9, 0.2]]
    """
    file = ScoreFile.read(path)
    documents, names = [str(id) for id in ids], [str(label) for label in labels]
    file.check(documents, names)
    return file.of(documents, names)


class ScoreFile(NamedTuple):
    """The content of a file of scores."""

    path: StrPath
    rows: dict[str, int]
    """The row of each document."""
    labels: tuple[str, ...]
    scores: Scores

    @classmethod
    def read(cls, path: StrPath) -> ScoreFile:
        """Return the scores of a file."""
        format = format_by_name(path)
        is_table = format in ("csv", "tsv", "xlsx")
        rows: dict[str, int] = {}
        columns: dict[str, int] = {}
        entries: tuple[array[Any], ...] = array("q"), array("q"), array("d")
        for id, pairs in _table_rows(path, format) if is_table else _json_rows(path):
            row = rows.setdefault(id, len(rows))
            for label, score in pairs:
                column = columns.setdefault(label, len(columns))
                for part, value in zip(entries, (row, column, score), strict=True):
                    part.append(value)
        if not rows:
            raise ReadError(path, None, "there are no scores in it")
        owners, places, values = (np.array(part) for part in entries)
        scores = csr_array(coo_array((values, (owners, places)), shape=(len(rows), len(columns))))
        if scores.nnz < len(values):
            keys, n_times = np.unique(owners * len(columns) + places, return_counts=True)
            row, column = divmod(int(keys[n_times > 1][0]), len(columns))
            raise ReadError(
                path, None, f"document {[*rows][row]!r} has label {[*columns][column]!r} twice"
            )
        return cls(path, rows, tuple(columns), scores)

    def check(self, ids: Sequence[str], labels: Sequence[str]) -> None:
        """Raise if the file has none of these documents, or none of these labels."""
        if ids and self.rows.keys().isdisjoint(ids):
            raise ReadError(
                self.path, None, f"it has none of {counted(len(ids), 'document')}, such as "
                f"{ids[0]!r}, but others, such as {next(iter(self.rows))!r}",
            )  # fmt: skip
        if self.labels and {*self.labels}.isdisjoint(labels):
            raise ReadError(
                self.path, None, f"it has none of {counted(len(labels), 'label')}, such as "
                f"{labels[0]!r}, but others, such as {self.labels[0]!r}",
            )  # fmt: skip

    def of(self, ids: Sequence[str], labels: Sequence[str]) -> Scores:
        """Return the scores of these documents and labels."""
        rows = [self.rows.get(id, -1) for id in ids]
        # The last row is for documents that the file lacks.
        every = grown(self.scores, (len(self.rows) + 1, len(self.labels)))[rows]
        scores: Scores = renamed_columns(every, self.labels, labels)
        return scores


def _json_rows(path: StrPath) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(decode(path, number, line, "utf-8"))
            if not isinstance(row, dict):
                raise InputError(f"expected a JSON object, got {type(row).__name__}")
            labels = _first_of(row, _LISTS, "a document")
            if not isinstance(labels, list) or not all(isinstance(label, dict) for label in labels):
                raise InputError("its labels are not a list of objects")
            yield str(_first_of(row, _IDS, "a document")), [*map(_pair, labels)]
        except (msgspec.DecodeError, RecursionError) as error:
            raise ReadError(path, number, f"this is not JSON ({error})") from error
        except InputError as error:
            raise ReadError(path, number, str(error)) from error


def _table_rows(
    path: StrPath, format: Format | None
) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    any_column = Fields(text=[*_IDS, *_LABELS, *_SCORES], labels=None, id=None)
    if format == "xlsx":
        rows = sheet_rows(path, any_column)
    else:
        rows = csv_rows(path, any_column, AUTO, usual="," if format == "csv" else "\t")
    for number, row in rows:
        try:
            yield str(_first_of(row, _IDS, "a row")), [_pair(row)]
        except InputError as error:
            raise ReadError(path, number, str(error)) from error


def _pair(row: Mapping[str, Any]) -> tuple[str, float]:
    label, score = _first_of(row, _LABELS, "a label"), _first_of(row, _SCORES, "a label")
    if isinstance(score, str) and _DECIMAL_COMMA.fullmatch(score.strip()):
        score = score.replace(",", ".")
    try:
        return str(label), float(score)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"the score of {label!r} is {str(score)[:40]!r}; it must be a number"
        ) from error


def _first_of(row: Mapping[str, Any], names: Sequence[str], what: str) -> Any:
    """Return the value of the first of these fields that is not empty."""
    for name in names:
        if row.get(name) not in (None, ""):
            return row[name]
    fields = ", ".join(map(repr, [*row][:8])) or "nothing"
    raise InputError(f"{what} needs {' or '.join(map(repr, names))}; got {fields}")
