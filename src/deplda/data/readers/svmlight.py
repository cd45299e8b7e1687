"""svmlight and XMC text: ``1,5 3:2 7:1`` a line, ids from 0, with or without a ``D W C`` header.

A line without labels starts with a blank or with its first word; an empty line is a document
without words and labels, except at the end of the file; a line that starts with ``#`` is passed
over. Names may stand beside the file, one a line: ``x.vocab.txt``, ``x.labels.txt`` and
``x.ids.txt`` for ``x.svm`` or ``x.svm.gz``.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from deplda.data.corpus import MAX_COUNT, Corpus
from deplda.data.files import StrPath, decode, read_lines
from deplda.data.readers.records import located
from deplda.errors import InputError, ReadError

MAX_COLUMNS = 10_000_000

_PLAIN = re.compile(rb"((?:\d{1,9},)*+\d{1,9})?+((?:[ \t]++\d{1,9}+:\d{1,9}+)*+)[ \t]*+")
_HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t]*")


class Names(NamedTuple):
    """Names of words, labels and documents, where known."""

    vocabulary: tuple[str, ...] | None
    labels: tuple[str, ...] | None
    ids: tuple[str, ...] | None


class _Rows:
    """Documents read so far, as flat arrays."""

    def __init__(self) -> None:
        self.words = array("i")
        self.counts = array("i")
        self.word_ends = array("q", [0])
        self.labels = array("i")
        self.label_ends = array("q", [0])

    def __len__(self) -> int:
        return len(self.word_ends) - 1

    def add(self, labels: Iterable[int], pairs: array[int]) -> None:
        self.labels.extend(labels)
        self.label_ends.append(len(self.labels))
        self.words.extend(pairs[0::2])
        self.counts.extend(pairs[1::2])
        self.word_ends.append(len(self.words))

    def corpus(self, n_words: int, n_labels: int, names: Names, first: int) -> Corpus:
        ids = names.ids[first : first + len(self)] if names.ids else _numbers(first, len(self))
        counts = _csr(self.counts, self.words, self.word_ends, n_words)
        labels = _csr(
            array("b", bytes([1])) * len(self.labels), self.labels, self.label_ends, n_labels
        )
        if not counts.has_canonical_format:
            counts = counts.astype(np.int64)  # a word that stands twice may add up to too much
        labels.sum_duplicates()
        labels.data[:] = 1  # a label that stands twice on a line is that label
        return Corpus(counts, labels, names.vocabulary, names.labels, ids)


def read_svmlight(path: StrPath, names: Names) -> Corpus:
    """Return the whole file as a corpus."""
    names = _with_sidecars(path, names)
    rows = _Rows()
    header: Header | None = None
    for promised, labels, pairs in _documents(path, names):
        header = promised
        rows.add(labels, pairs)
    if not len(rows):
        raise ReadError(path, None, "there is no document in it")
    widths = _widths(header, names, rows.words, rows.labels)
    with located(path, None):
        return rows.corpus(*widths, names, 0)


def svmlight_shards(path: StrPath, names: Names, size: int) -> Iterator[Corpus]:
    """Yield the file in corpora of `size` documents over the same words and labels."""
    names = _with_sidecars(path, names)
    n_words = n_labels = 0
    for header, labels, pairs in _documents(path, names):
        widths = _widths(header, names, pairs[0::2], labels)
        n_words, n_labels = max(n_words, widths[0]), max(n_labels, widths[1])
    rows, first = _Rows(), 0
    for _, labels, pairs in _documents(path, names):
        rows.add(labels, pairs)
        if len(rows) == size:
            with located(path, None):
                yield rows.corpus(n_words, n_labels, names, first)
            rows, first = _Rows(), first + size
    if not first and not len(rows):
        raise ReadError(path, None, "there is no document in it")
    if len(rows):
        with located(path, None):
            yield rows.corpus(n_words, n_labels, names, first)


Header = tuple[int, int, int]


def _documents(
    path: StrPath, names: Names
) -> Iterator[tuple[Header | None, Iterable[int], array[int]]]:
    """Yield (header, label ids, word ids and counts in turn) for each document, all checked."""
    header: Header | None = None
    blank = n = 0
    limits = _limits(names, None)
    for number, line in read_lines(path):
        if number == 1 and (match := _HEADER.fullmatch(line)):
            header = tuple(int(size) for size in match.groups())  # type: ignore[assignment]
            with located(path, 1):
                limits = _limits(names, header)
            continue
        if line.startswith(b"#"):
            continue
        if not line.strip():
            blank += 1
            continue
        for _ in range(blank):
            yield header, (), array("i")
        n, blank = n + blank + 1, 0
        with located(path, number):
            labels, pairs = _parse(line)
            _check_ids("word", pairs[0::2], limits[0])
            _check_ids("label", labels, limits[1])
        yield header, labels, pairs
    if header is not None and n < header[0] <= n + blank:
        for _ in range(header[0] - n):
            yield header, (), array("i")
        n = header[0]
    if header is not None and n != header[0]:
        raise ReadError(
            path, 1, f"the header promises {header[0]:,} documents but {n:,} follow; is it cut off?"
        )
    if names.ids is not None and n != len(names.ids):
        raise ReadError(path, None, f"it has {n:,} documents but there are {len(names.ids):,} ids")


def _parse(line: bytes) -> tuple[array[int], array[int]]:
    match = _PLAIN.fullmatch(line)
    if match is None:
        return _parse_carefully(line)
    labels, words = match.groups()
    return (
        array("i", map(int, labels.split(b","))) if labels else array("i"),
        array("i", map(int, words.replace(b":", b" ").split())),
    )


def _parse_carefully(line: bytes) -> tuple[array[int], array[int]]:
    """Read what is legal but unusual (``2.0``, comments, no labels), or name what is wrong."""
    tokens = line.split(b"#", 1)[0].split()
    labels = array("i")
    if tokens and b":" not in tokens[0]:
        labels.extend(_whole(label, "label id", MAX_COLUMNS) for label in tokens.pop(0).split(b","))
    pairs = array("i")
    for token in tokens:
        word, colon, count = token.partition(b":")
        if not colon:
            raise InputError(f"{_show(token)} is not word:count; labels go first, joined by commas")
        pairs.append(_whole(word, "word id", MAX_COLUMNS))
        pairs.append(_whole(count, f"count of word {_show(word)}", MAX_COUNT))
    return labels, pairs


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


def _limits(names: Names, header: Header | None) -> tuple[int, int]:
    """Return how many word and label ids there may be, by the header and the names."""
    limits = []
    for what, given, at in (("words", names.vocabulary, 1), ("labels", names.labels, 2)):
        promised = None if header is None else header[at]
        if promised is not None and promised > MAX_COLUMNS:
            raise InputError(
                f"the header promises {promised:,} {what}; the limit is {MAX_COLUMNS:,}"
            )
        if given is not None and promised is not None and len(given) != promised:
            raise InputError(
                f"the header promises {promised:,} {what} but {len(given):,} names are given"
            )
        known = promised if given is None else len(given)
        limits.append(MAX_COLUMNS if known is None else known)
    return limits[0], limits[1]


def _check_ids(what: str, ids: Iterable[int], limit: int) -> None:
    highest = max(ids, default=-1)
    if highest >= limit:
        raise InputError(
            f"{what} id {highest:,} is out of range; there are {limit:,} {what}s, counted from 0"
        )


def _widths(
    header: Header | None, names: Names, words: Iterable[int], labels: Iterable[int]
) -> tuple[int, int]:
    return (
        len(names.vocabulary) if names.vocabulary is not None
        else header[1] if header else max(words, default=-1) + 1,
        len(names.labels) if names.labels is not None
        else header[2] if header else max(labels, default=-1) + 1,
    )  # fmt: skip


def _with_sidecars(path: StrPath, names: Names) -> Names:
    return Names(
        *(
            given if given is not None else read_names(file) if file.is_file() else None
            for given, file in zip(names, sidecars(path), strict=True)
        )
    )


def sidecars(path: StrPath) -> list[Path]:
    """Return where the names of words, labels and documents stand, beside an svmlight file."""
    target = Path(path)
    stem = Path(target.name.removesuffix(".gz")).stem
    return [target.parent / f"{stem}.{what}.txt" for what in ("vocab", "labels", "ids")]


def read_names(path: StrPath) -> tuple[str, ...]:
    """Return the names in a file that has one a line."""
    return tuple([decode(path, number, line, "utf-8") for number, line in read_lines(path)])


def _numbers(first: int, n: int) -> list[str]:
    return [str(number) for number in range(first, first + n)]


def _csr(data: array[int], indices: array[int], ends: array[int], n_columns: int) -> Any:
    return csr_array(
        (np.frombuffer(data, data.typecode), np.frombuffer(indices, "i"), np.frombuffer(ends, "q")),
        shape=(len(ends) - 1, n_columns),
        copy=True,
    )
