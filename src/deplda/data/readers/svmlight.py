"""svmlight and XMC text: ``1,5 3:2 7:1`` a line, ids from 0, with or without a ``D W C`` header.

A line without labels starts with a blank or with its first word; an empty line is a document
without words and labels, except at the end of the file; a line that starts with ``#`` is passed
over. Names may stand beside the file, one a line: ``x.vocab.txt``, ``x.labels.txt`` and
``x.ids.txt`` for ``x.svm`` or ``x.svm.gz``.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from deplda.data.corpus import MAX_COUNT, Corpus
from deplda.data.encodings import decode
from deplda.data.files import StrPath, read_lines
from deplda.data.readers.records import MAX_COLUMNS, BadLines, located, without_documents
from deplda.errors import InputError, ReadError

_PLAIN = re.compile(rb"((?:\d{1,9},)*+\d{1,9})?+((?:[ \t]++\d{1,9}+:\d{1,9}+)*+)[ \t]*+")
_HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t]*")


class Names(NamedTuple):
    """Names of words, labels and documents, where known."""

    vocabulary: tuple[str, ...] | None
    labels: tuple[str, ...] | None
    ids: tuple[str, ...] | None = None

    def id_of(self, row: int) -> str:
        """Return the id of a document, its number where it has none."""
        return str(row) if self.ids is None or row >= len(self.ids) else self.ids[row]


class _Ids:
    """The ids of words, or of labels: as many as there are names, or as the header promises."""

    def __init__(self, what: str, names: tuple[str, ...] | None) -> None:
        self.what, self.is_named = what, names is not None
        self.n = 0 if names is None else len(names)
        self._limit = MAX_COLUMNS if names is None else len(names)

    def promise(self, n: int) -> None:
        """Take the number in the header; raise if it is too high, or not that of the names."""
        if n > MAX_COLUMNS:
            raise InputError(
                f"the header promises {n:,} {self.what}s; the limit is {MAX_COLUMNS:,}"
            )
        if self.is_named and n != self.n:
            raise InputError(
                f"the header promises {n:,} {self.what}s but {self.n:,} names are given"
            )
        self.n = self._limit = n

    def check(self, ids: array[int]) -> None:
        """Raise if there is an id that is too high."""
        n = max(ids, default=-1) + 1
        if n > self._limit:
            raise InputError(
                f"{self.what} id {n - 1:,} is out of range; "
                f"there are {self._limit:,} {self.what}s, counted from 0"
            )
        self.n = max(self.n, n)


class _Document(NamedTuple):
    row: int
    labels: array[int]
    words: array[int]
    counts: array[int]


class _Rows:
    """Documents read so far, as flat arrays."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.words, self.counts, self.word_ends = array("i"), array("i"), array("q", [0])
        self.labels, self.label_ends = array("i"), array("q", [0])

    def add(self, document: _Document) -> None:
        self.rows.append(document.row)
        self.labels.extend(document.labels)
        self.label_ends.append(len(self.labels))
        self.words.extend(document.words)
        self.counts.extend(document.counts)
        self.word_ends.append(len(self.words))

    def corpus(self, n_words: int, n_labels: int, names: Names) -> Corpus:
        ones = array("b", bytes([1])) * len(self.labels)
        counts = _csr(self.counts, self.words, self.word_ends, n_words)
        labels = _csr(ones, self.labels, self.label_ends, n_labels)
        if not counts.has_canonical_format:
            counts = counts.astype(np.int64)  # a word that stands twice may add up to too much
        labels.sum_duplicates()
        labels.data[:] = 1  # a label that stands twice on a line is that label
        ids = [names.id_of(row) for row in self.rows]
        return Corpus(counts, labels, names.vocabulary, names.labels, ids)


def svmlight_corpora(names: Names, size: int | None, bad: BadLines) -> Iterator[Corpus]:
    """Yield the file in corpora of `size` over the same words and labels, or as one."""
    path = bad.path
    names = _with_sidecars(path, names)
    words, labels = _Ids("word", names.vocabulary), _Ids("label", names.labels)
    if size is not None:  # how many words and labels there are is known after a first pass
        for _ in _documents(names, words, labels, bad.quiet()):
            pass
    rows, is_empty = _Rows(), True
    for document in _documents(names, words, labels, bad):
        rows.add(document)
        if len(rows.rows) == size:
            with located(path):
                yield rows.corpus(words.n, labels.n, names)
            rows, is_empty = _Rows(), False
    if rows.rows:
        with located(path):
            yield rows.corpus(words.n, labels.n, names)
    elif is_empty and not bad.lines:
        raise without_documents(path)


def _documents(names: Names, words: _Ids, labels: _Ids, bad: BadLines) -> Iterator[_Document]:
    """Yield the documents, all checked; a bad line is a row, too."""
    promised: int | None = None
    blank = n = 0
    for number, line in read_lines(bad.path):
        if number == 1 and (match := _HEADER.fullmatch(line)):
            with bad.at(1):
                n_documents, n_words, n_labels = map(int, match.groups())
                words.promise(n_words)
                labels.promise(n_labels)
                promised = n_documents
            continue
        if line.startswith(b"#"):
            continue
        if not line.strip():
            blank += 1
            continue
        yield from _empty(n, n + blank)
        row, n, blank = n + blank, n + blank + 1, 0
        with bad.at(number, names.id_of(row)):
            document = _Document(row, *_parse(line))
            words.check(document.words)
            labels.check(document.labels)
            yield document
    if promised is not None and n < promised <= n + blank:
        yield from _empty(n, promised)
        n = promised
    if promised is not None and n != promised:
        with bad.at(1):
            raise InputError(
                f"the header promises {promised:,} documents but {n:,} follow; is it cut off?"
            )
    if names.ids is not None and n != len(names.ids):
        raise ReadError(
            bad.path, None, f"it has {n:,} documents but there are {len(names.ids):,} ids"
        )


def _empty(first: int, end: int) -> Iterator[_Document]:
    return (_Document(row, array("i"), array("i"), array("i")) for row in range(first, end))


def _parse(line: bytes) -> tuple[array[int], array[int], array[int]]:
    """Return the ids of the labels, those of the words, and the counts."""
    match = _PLAIN.fullmatch(line)
    if match is None:
        return _parse_carefully(line)
    labels, words = match.groups()
    pairs = array("i", map(int, words.replace(b":", b" ").split()))
    return array("i", map(int, labels.split(b",")) if labels else ()), pairs[0::2], pairs[1::2]


def _parse_carefully(line: bytes) -> tuple[array[int], array[int], array[int]]:
    """Read what is legal but unusual (``2.0``, comments, no labels), or name what is wrong."""
    tokens = line.split(b"#", 1)[0].split()
    labels, words, counts = array("i"), array("i"), array("i")
    if tokens and b":" not in tokens[0]:
        labels.extend(_whole(label, "label id", MAX_COLUMNS) for label in tokens.pop(0).split(b","))
    for token in tokens:
        word, colon, count = token.partition(b":")
        if not colon:
            raise InputError(f"{_show(token)} is not word:count; labels go first, joined by commas")
        words.append(_whole(word, "word id", MAX_COLUMNS))
        counts.append(_whole(count, f"count of word {_show(word)}", MAX_COUNT))
    return labels, words, counts


def _whole(text: bytes, what: str, limit: int) -> int:
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"the {what} is {_show(text)}, which is not a number") from None
    if not 0 <= value <= limit or value != int(value):
        raise InputError(
            f"the {what} is {_show(text)}; it must be a whole number from 0 to {limit:,}"
        )
    return int(value)


def _show(text: bytes) -> str:
    return repr(text[:40].decode("utf-8", "replace"))


def _with_sidecars(path: StrPath, names: Names) -> Names:
    files = zip(names, sidecars(path), strict=True)
    return Names(*(read_names(f) if given is None and f.is_file() else given for given, f in files))


def sidecars(path: StrPath) -> list[Path]:
    """Return where the names of words, labels and documents stand, beside an svmlight file."""
    target = Path(path)
    stem = Path(target.name.removesuffix(".gz")).stem
    return [target.parent / f"{stem}.{what}.txt" for what in ("vocab", "labels", "ids")]


def read_names(path: StrPath) -> tuple[str, ...]:
    """Return the names in a file that has one a line."""
    return tuple([decode(path, number, line, "utf-8") for number, line in read_lines(path)])


def _csr(data: array[int], indices: array[int], ends: array[int], n_columns: int) -> Any:
    return csr_array(
        (np.frombuffer(data, data.typecode), np.frombuffer(indices, "i"), np.frombuffer(ends, "q")),
        shape=(len(ends) - 1, n_columns),
        copy=True,
    )
