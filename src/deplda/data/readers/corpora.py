"""read_corpus and read_shards: one door for every format."""

from __future__ import annotations

import codecs
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Literal, get_args

import numpy as np

from deplda.data.collocations import chosen_of, chosen_words
from deplda.data.corpus import Corpus, check_distinct
from deplda.data.fields import Fields
from deplda.data.files import StrPath
from deplda.data.languages import UNDETERMINED, detect, first_texts
from deplda.data.readers.annif import annif_rows
from deplda.data.readers.columns import csv_rows, parquet_rows
from deplda.data.readers.jsonl import jsonl_rows
from deplda.data.readers.mat import read_mat
from deplda.data.readers.plain import line_rows, text_rows
from deplda.data.readers.records import (
    BadLines,
    CountWords,
    OnBad,
    OnEmpty,
    Record,
    Row,
    Rows,
    chosen,
    corpora_of,
    found,
    id_in,
    record_of,
    with_ids,
    without_documents,
)
from deplda.data.readers.sniffing import Format, guess_format
from deplda.data.readers.svmlight import Names, svmlight_corpora
from deplda.data.text import WordCounter
from deplda.errors import InputError, MissingFieldWarning, ReadError

_NUMBERED = ("svmlight", "mat")  # formats without texts


def read_corpus(
    path: StrPath,
    format: Format | None = None,
    *,
    fields: Fields | None = None,
    counter: WordCounter | None = None,
    vocabulary: Iterable[str] | None = None,
    label_names: Iterable[str] | None = None,
    encoding: str = "utf-8",
) -> Corpus:
    """Return the documents of a file as a corpus.

    Parameters
    ----------
    path : path
        Plain or gzip, whatever its name; of Annif's full texts the folder.
    format : {"jsonl", "csv", "tsv", "parquet", "svmlight", "mat", "annif", "text", "lines"}, \
            optional
        Guessed from the name and the content; the last two, one unlabelled document a file or a
        line, are never guessed. "annif" are all of Annif's formats.
    fields : Fields, optional
        Which fields or columns hold the id, the text and the labels.
    counter : WordCounter, optional
        How raw text becomes words. If it is fitted, or has a vocabulary, its words are kept; else
        its `min_count` is applied to the words of this file, unless a `vocabulary` is given.
    vocabulary, label_names : sequences of str, optional
        Keep exactly these words and labels, in this order, and drop others. For svmlight they are
        the names of the ids instead. Without them the names found are kept, sorted.
    encoding : str, default "utf-8"
        Of JSONL, CSV and TSV; a byte-order mark is passed over.
    """
    format = format or guess_format(path)
    count = None if format in _NUMBERED else _Counting(counter)
    names = (vocabulary, label_names)
    (corpus,) = _corpora(format, fields, count, names, encoding, None, BadLines(path))
    if count is None or not count.used or count.vocabulary is not None or vocabulary is not None:
        return corpus
    return kept_counted(corpus, count.counter, count.counter.min_count)[0]


def read_counted(
    path: StrPath,
    format: Format | None = None,
    *,
    fields: Fields | None = None,
    counter: WordCounter | None = None,
    encoding: str = "utf-8",
    on_empty: OnEmpty | None = None,
) -> tuple[Corpus, WordCounter | None]:
    """Return the documents of a file and, if there were texts to count, the counter of its words.

    It is `read_corpus` with all words of texts: `kept_words` chooses of them. A model that is
    fitted with the counter takes texts from then on. `on_empty` is as in `read_shards`.
    """
    format = format or guess_format(path)
    counter = WordCounter() if counter is None else counter
    count = None if format in _NUMBERED else _Counting(counter)
    bad = BadLines(path, on_empty=on_empty)
    (corpus,) = _corpora(format, fields, count, (None, None), encoding, None, bad)
    was_counted = count is not None and count.used
    return corpus, counter.with_words(corpus.vocabulary) if was_counted else None


def read_records(
    path: StrPath,
    format: Format,
    *,
    fields: Fields | None = None,
    counter: WordCounter | None = None,
    encoding: str = "utf-8",
) -> Iterator[Record]:
    """Yield the documents of a file with names one by one, in constant memory; ids are as found."""
    return _records(format, fields or Fields(), _Counting(counter), encoding, BadLines(path))


def read_shards(
    path: StrPath,
    size: int = 10_000,
    format: Format | None = None,
    *,
    fields: Fields | None = None,
    counter: WordCounter | None = None,
    vocabulary: Iterable[str] | None = None,
    label_names: Iterable[str] | None = None,
    encoding: str = "utf-8",
    on_bad: OnBad | None = None,
    on_empty: OnEmpty | None = None,
) -> Iterator[Corpus]:
    """Yield the documents of a file as corpora of `size`, all over the same words and labels.

    Parameters are those of `read_corpus`, and ``concat(read_shards(path))`` equals
    ``read_corpus(path)``. Names that are not given are collected in a first pass over the file.
    A shard is in memory at a time, and the ids seen so far (a .mat file can only be read whole).

    `on_bad`, if given, is told of each line of JSONL or svmlight that holds no document: of its
    number, the document's id or None, and the problem. Reading goes on with the next line; where
    ids are numbers, the line has one. Without it, and in other formats, such a line is an error.
    `on_empty` is told the ids of documents in which nothing stands, before the shard that has them
    is there; of svmlight and .mat they are those without words.
    """
    if size < 1:
        raise InputError(f"size is {size}; a shard needs at least 1 document")
    format = format or guess_format(path)
    count = None if format in _NUMBERED else _Counting(counter)
    bad = BadLines(path, on_bad if format in ("jsonl", "svmlight") else None, on_empty)
    yield from _corpora(format, fields, count, (vocabulary, label_names), encoding, size, bad)


def _corpora(
    format: Format,
    fields: Fields | None,
    count: _Counting | None,
    names: tuple[Iterable[str] | None, Iterable[str] | None],
    encoding: str,
    size: int | None,
    bad: BadLines,
) -> Iterator[Corpus]:
    """Yield the documents of a file as corpora of `size`, or as one; `names` are those to keep."""
    fields = Fields() if fields is None else fields
    vocabulary, label_names = (None if given is None else tuple(given) for given in names)
    if count is None:
        if fields.where:
            field = fields.where[0].field
            raise ReadError(
                bad.path, None, f"it has no field {field!r}, but words and labels alone"
            )
        if format == "svmlight":
            corpora = svmlight_corpora(Names(vocabulary, label_names), size, bad)
        else:
            corpora = _mat_corpora(bad.path, vocabulary, label_names, size)
        for corpus in corpora:
            if bad.on_empty is not None:
                for row in np.flatnonzero(corpus.document_lengths == 0):
                    bad.on_empty(corpus.ids[row])
            yield corpus
        return
    if vocabulary is None and count.vocabulary is not None:
        vocabulary = tuple(count.vocabulary)
    are_known = vocabulary is not None and label_names is not None
    if size is not None and not are_known:
        quiet = bad.quiet()
        records = with_ids(_records(format, fields, count, encoding, quiet), quiet)
        found_words, found_labels = _collect(records, count)
        vocabulary = found_words if vocabulary is None else vocabulary
        label_names = found_labels if label_names is None else label_names
    records = _records(format, fields, count, encoding, bad)
    yield from corpora_of(records, bad, vocabulary, label_names, size)


def kept_words(corpus: Corpus, min_count: int | Literal["auto"]) -> tuple[Corpus, int]:
    """Return the corpus with the words to keep of texts, and the tokens that a word must have."""
    kept, least = chosen_words(corpus.vocabulary, corpus.word_counts, min_count)
    return corpus.take_words(kept), least


def kept_counted(
    corpus: Corpus, counter: WordCounter, min_count: int | Literal["auto"]
) -> tuple[Corpus, WordCounter]:
    """Return the corpus with the words to keep, and the counter of them.

    What the counter counts for the sake of names follows them.
    """
    kept, least = kept_words(corpus, min_count)
    chosen = counter.with_words_and_names(kept.vocabulary, least)
    return (corpus.align(chosen.vocabulary_) if chosen.names_at_ else kept), chosen


def _mat_corpora(
    path: StrPath,
    vocabulary: tuple[str, ...] | None,
    label_names: tuple[str, ...] | None,
    size: int | None,
) -> Iterator[Corpus]:
    for names, what in ((vocabulary, "vocabulary"), (label_names, "label_names")):
        check_distinct(names or (), what)
    corpus = read_mat(path).align(vocabulary, label_names)
    if not len(corpus):
        raise without_documents(path)
    size = len(corpus) if size is None else size
    return (corpus[start : start + size] for start in range(0, len(corpus), size))


class _Counting:
    """Counts words as the counter does, and remembers whether there was any text to count."""

    def __init__(self, counter: WordCounter | None) -> None:
        self.counter = WordCounter() if counter is None else counter
        self.vocabulary = getattr(self.counter, "vocabulary_", self.counter.vocabulary)
        self.used = False
        if not self._is_to_detect():
            self._count: CountWords = self.counter.analyzer().counts

    def __call__(self, text: str, begins_at: int = 0) -> Mapping[str, int]:
        self.used = True
        return self._count(text, begins_at)

    def _is_to_detect(self) -> bool:
        return self.counter.language == "auto" and not hasattr(self.counter, "detected_")

    def first_seen(self, rows: Rows, fields: Fields) -> Rows:
        """Return the rows, by the first of which the language is told if it is to be."""
        if not self._is_to_detect():
            return rows
        first: list[tuple[int, Row]] = []
        self.counter.detect_language(_first_texts(rows, fields, first))
        self._count = self.counter.analyzer().counts
        return chain(first, rows)


def _first_texts(rows: Rows, fields: Fields, seen: list[tuple[int, Row]]) -> list[str]:
    """Return the texts of the first rows; the rows go to `seen`."""

    def texts() -> Iterator[str]:
        for number, row in rows:
            seen.append((number, row))
            if not any(name in row for name in (*fields.texts, fields.tokens, fields.counts)):
                return  # it will be said that there is none
            yield "\n".join(text for text in map(row.get, fields.texts) if isinstance(text, str))

    return first_texts(texts())


def language_in(path: StrPath, fields: Fields) -> str:
    """Return the code of the language that most of the first texts of a file are in."""
    format = guess_format(path)
    if format in _NUMBERED:
        return UNDETERMINED
    rows = _rows(format, fields, "utf-8", BadLines(path))
    return detect(_first_texts(rows, fields_in(format, fields), [])).code


def read_rows(
    path: StrPath, format: Format, fields: Fields | None = None, encoding: str = "utf-8"
) -> Rows:
    """Yield the line numbers and named values of documents as they stand in a file with names."""
    return _rows(format, fields or Fields(), encoding, BadLines(path))


def _rows(format: Format, fields: Fields, encoding: str, bad: BadLines) -> Rows:
    path, encoding = bad.path, _line_encoding(encoding)
    if format == "jsonl":
        rows = jsonl_rows(fields, encoding, bad)
    elif format in ("csv", "tsv"):
        rows = csv_rows(path, fields, encoding, "," if format == "csv" else "\t")
    elif format == "parquet":
        rows = parquet_rows(path, fields)
    elif format == "annif":
        rows = annif_rows(path, fields, encoding)
    elif format == "text":
        rows = text_rows(path, fields, encoding)
    elif format == "lines":
        rows = line_rows(path, fields, encoding)
    else:
        known = ", ".join(get_args(Format))
        raise InputError(f"the format {format!r} is unknown; use one of {known}")
    return chosen(path, rows, fields.where) if fields.where else rows


_NOWHERE = "\0"  # a field that no file has


def fields_in(format: Format, fields: Fields) -> Fields:
    """Return the fields as documents of this format have them."""
    if format in ("csv", "tsv"):  # a cell of a table of text holds neither lists nor objects
        return replace(fields, tokens=_NOWHERE, counts=_NOWHERE)
    if format == "annif":  # texts alone, and subjects that are named by no column
        return replace(fields, tokens=_NOWHERE, counts=_NOWHERE, label_columns=())
    if format in ("text", "lines"):  # a plain text is the whole document, and no field of one
        return replace(fields, text=fields.texts[0], weights={})
    return fields


def _records(
    format: Format, fields: Fields, count: _Counting, encoding: str, bad: BadLines
) -> Iterator[Record]:
    held = fields_in(format, fields)
    rows = count.first_seen(_rows(format, fields, encoding, bad), held)
    missing, names = dict.fromkeys(held.texts), dict[str, None]()
    for number, row in rows:
        if missing:
            names.update(dict.fromkeys(row))
            missing = {name: None for name in missing if name not in row}
        with bad.at(number, id_in(row, fields)):
            yield record_of(row, number, held, count)
    if missing and len(held.texts) > 1 and names:
        warnings.warn(
            f"{os.fspath(bad.path)}: no document has the text field "
            f"{', '.join(map(repr, missing))} (found: {found(names)})",
            MissingFieldWarning,
            stacklevel=2,
        )


def _collect(
    records: Iterable[Record], count: _Counting
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    totals: dict[str, int] = {}
    labels: set[str] = set()
    for record in records:
        labels.update(record.labels)
        for word, n in record.counts.items():
            totals[word] = totals.get(word, 0) + n
    words = tuple(sorted(totals))
    if count.used:
        words, _ = chosen_of(totals, count.counter.min_count)
    return words, tuple(sorted(labels))


def _line_encoding(encoding: str) -> str:
    """Return what single lines are decoded with, or say why they cannot be."""
    try:
        if codecs.lookup(encoding).name == "utf-8-sig":
            return "utf-8"  # the mark is not part of a line: read_lines passes over it
        ascii_alike = "{,\n".encode(encoding) == b"{,\n"
    except (LookupError, ValueError):
        raise InputError(
            f"the encoding {encoding!r} is unknown to Python; use one such as utf-8 or latin-1"
        ) from None
    if not ascii_alike:
        raise InputError(
            f"files in {encoding} cannot be read line by line; convert them to UTF-8 first, "
            f"for example with: iconv -f {encoding} -t utf-8"
        )
    return encoding
