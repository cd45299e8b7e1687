"""read_corpus and read_shards: one door for every format."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

from deplda.data.corpus import Corpus
from deplda.data.files import UTF8_BOM, StandardInput, StrPath, open_binary
from deplda.data.readers import svmlight
from deplda.data.readers.columns import csv_rows, parquet_rows
from deplda.data.readers.jsonl import jsonl_rows
from deplda.data.readers.mat import read_mat
from deplda.data.readers.plain import line_rows, text_rows
from deplda.data.readers.records import (
    CorpusBuilder,
    Fields,
    Record,
    Rows,
    build,
    chosen,
    located,
    record_of,
    with_ids,
)
from deplda.data.text import LETTERS, WordCounter, resolve_min_count
from deplda.errors import InputError, ReadError

Format = Literal["jsonl", "csv", "tsv", "parquet", "svmlight", "mat", "text", "lines"]

_SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".mat": "mat",
}


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
        Plain or gzip, whatever its name.
    format : {"jsonl", "csv", "tsv", "parquet", "svmlight", "mat", "text", "lines"}, optional
        Guessed from the name, or else from the content; the last two, one unlabelled document a
        file or a line, are never guessed.
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
    if format == "svmlight":
        _check_no_where(path, fields)
        return svmlight.read_svmlight(path, _numbered_names(vocabulary, label_names))
    if format == "mat":
        _check_no_where(path, fields)
        return _whole_mat(path, vocabulary, label_names)
    tokenize = _Tokenizer(counter)
    vocabulary = tokenize.vocabulary if vocabulary is None else vocabulary
    return _build(path, format, fields, tokenize, vocabulary, label_names, encoding)


def read_counted(
    path: StrPath,
    format: Format | None = None,
    *,
    fields: Fields | None = None,
    counter: WordCounter | None = None,
    encoding: str = "utf-8",
) -> tuple[Corpus, WordCounter | None]:
    """Return `read_corpus` of a file and, if there were texts to count, the counter of its words.

    A model that is fitted with this counter takes texts from then on.
    """
    format = format or guess_format(path)
    counter = WordCounter() if counter is None else counter
    if format in ("svmlight", "mat"):
        return read_corpus(path, format, fields=fields), None
    tokenize = _Tokenizer(counter)
    corpus = _build(path, format, fields, tokenize, tokenize.vocabulary, None, encoding)
    return corpus, counter.with_words(corpus.vocabulary) if tokenize.used else None


def read_records(
    path: StrPath,
    format: Format,
    *,
    fields: Fields | None = None,
    counter: WordCounter | None = None,
    encoding: str = "utf-8",
) -> Iterator[Record]:
    """Yield the documents of a file with names one by one, in constant memory; ids are as found."""
    return _records(path, format, fields, _Tokenizer(counter), encoding)


def _build(
    path: StrPath,
    format: Format,
    fields: Fields | None,
    tokenize: _Tokenizer,
    vocabulary: Iterable[str] | None,
    label_names: Iterable[str] | None,
    encoding: str,
) -> Corpus:
    records = _records(path, format, fields, tokenize, encoding)
    corpus = build(path, records, vocabulary, label_names)
    if tokenize.used and vocabulary is None:
        return corpus.keep_words(resolve_min_count(tokenize.min_count, corpus.n_tokens))
    return corpus


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
) -> Iterator[Corpus]:
    """Yield the documents of a file as corpora of `size`, all over the same words and labels.

    Parameters are those of `read_corpus`, and ``concat(read_shards(path))`` equals
    ``read_corpus(path)``. Names that are not given are collected in a first pass over the file.
    A shard is in memory at a time, and the ids seen so far (a .mat file can only be read whole).
    """
    if size < 1:
        raise InputError(f"size is {size}; a shard needs at least 1 document")
    format = format or guess_format(path)
    if format == "svmlight":
        _check_no_where(path, fields)
        names = _numbered_names(vocabulary, label_names)
        yield from svmlight.svmlight_shards(path, names, size)
        return
    if format == "mat":
        _check_no_where(path, fields)
        corpus = _whole_mat(path, vocabulary, label_names)
        yield from (corpus[start : start + size] for start in range(0, len(corpus), size))
        return
    tokenize = _Tokenizer(counter)
    vocabulary = tokenize.vocabulary if vocabulary is None else vocabulary
    if vocabulary is None or label_names is None:
        words, labels = _collect(_records(path, format, fields, tokenize, encoding), tokenize)
        vocabulary = words if vocabulary is None else vocabulary
        label_names = labels if label_names is None else label_names
    yield from _named_shards(
        path,
        _records(path, format, fields, tokenize, encoding),
        tuple(vocabulary),
        tuple(label_names),
        size,
    )


def _named_shards(
    path: StrPath,
    records: Iterator[Record],
    vocabulary: tuple[str, ...],
    label_names: tuple[str, ...],
    size: int,
) -> Iterator[Corpus]:
    builder, empty = CorpusBuilder(vocabulary, label_names), True
    for record in with_ids(path, records):
        empty = False
        with located(path, record.line):
            builder.add(record.counts, record.labels, record.id)
        if len(builder) == size:
            with located(path, None):
                yield builder.corpus()
            builder = CorpusBuilder(vocabulary, label_names)
    if empty:
        raise ReadError(path, None, "there is no document in it")
    if len(builder):
        with located(path, None):
            yield builder.corpus()


class _Tokenizer:
    """Calls the counter's analyzer, and remembers whether there was any text to call it for."""

    def __init__(self, counter: WordCounter | None) -> None:
        counter = WordCounter() if counter is None else counter
        self.min_count = counter.min_count
        self.vocabulary = getattr(counter, "vocabulary_", counter.vocabulary)
        self.used = False
        self._analyze = counter.analyzer()

        # At a blank no word is cut in two, unless a pattern of the user's has words with blanks.
        self._can_cut = counter.ngram_range == (1, 1) and counter.token_pattern == LETTERS

    def __call__(self, text: str) -> Iterable[str]:
        self.used = True
        if not self._can_cut or len(text) <= _PIECE:
            return self._analyze(text)
        return (word for piece in _pieces(text) for word in self._analyze(piece))


_PIECE = 1 << 20  # the words of a longer text are not all in memory at a time
_BLANK = re.compile(r"\s")


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        blank = _BLANK.search(text, start + _PIECE)
        end = len(text) if blank is None else blank.start()
        yield text[start:end]
        start = end


def read_rows(
    path: StrPath, format: Format, fields: Fields | None = None, encoding: str = "utf-8"
) -> Rows:
    """Yield the line numbers and named values of documents as they stand in a file with names."""
    fields = Fields() if fields is None else fields
    encoding = _line_encoding(encoding)
    if format == "jsonl":
        rows = jsonl_rows(path, fields, encoding)
    elif format in ("csv", "tsv"):
        rows = csv_rows(path, fields, encoding, "," if format == "csv" else "\t")
    elif format == "parquet":
        rows = parquet_rows(path, fields)
    elif format == "text":
        rows = text_rows(path, fields, encoding)
    elif format == "lines":
        rows = line_rows(path, fields, encoding)
    else:
        known = ", ".join(get_args(Format))
        raise InputError(f"the format {format!r} is unknown; use one of {known}")
    return chosen(path, rows, fields.where) if fields.where else rows


_NOWHERE = "\0"  # a field that no file has


def _records(
    path: StrPath, format: Format, fields: Fields | None, tokenize: _Tokenizer, encoding: str
) -> Iterator[Record]:
    fields = Fields() if fields is None else fields
    # A cell of a table of text holds neither lists nor objects.
    held = replace(fields, tokens=_NOWHERE, counts=_NOWHERE) if format in ("csv", "tsv") else fields
    for number, row in read_rows(path, format, fields, encoding):
        with located(path, number):
            record = record_of(row, number, held, tokenize)
        yield record


def _check_no_where(path: StrPath, fields: Fields | None) -> None:
    if fields is not None and fields.where:
        field = fields.where[0].field
        raise ReadError(path, None, f"it has no field {field!r}, but words and labels alone")


def _collect(
    records: Iterable[Record], tokenize: _Tokenizer
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    totals: dict[str, int] = {}
    labels: set[str] = set()
    for record in records:
        labels.update(record.labels)
        for word, count in record.counts.items():
            totals[word] = totals.get(word, 0) + count
    least = 0
    if tokenize.used:
        least = resolve_min_count(tokenize.min_count, sum(totals.values()))
    return tuple(sorted(w for w, n in totals.items() if n >= least)), tuple(sorted(labels))


def _whole_mat(
    path: StrPath, vocabulary: Iterable[str] | None, label_names: Iterable[str] | None
) -> Corpus:
    corpus = read_mat(path)
    if not len(corpus):
        raise ReadError(path, None, "there is no document in it")
    if vocabulary is None and label_names is None:
        return corpus
    words = corpus.vocabulary if vocabulary is None else tuple(vocabulary)
    labels = corpus.label_names if label_names is None else tuple(label_names)
    return corpus.align(CorpusBuilder(words, labels).corpus())


def _numbered_names(
    vocabulary: Iterable[str] | None, label_names: Iterable[str] | None
) -> svmlight.Names:
    return svmlight.Names(
        None if vocabulary is None else tuple(vocabulary),
        None if label_names is None else tuple(label_names),
        None,
    )


def _line_encoding(encoding: str) -> str:
    """Return what single lines are decoded with, or say why they cannot be."""
    try:
        if codecs.lookup(encoding).name == "utf-8-sig":
            return "utf-8"  # the mark is no part of a line: read_lines passes over it
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


def guess_format(path: StrPath) -> Format:
    """Return the format of a file by its name, or else by its content."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    if suffixes and suffixes[-1] in _SUFFIXES:
        return _SUFFIXES[suffixes[-1]]
    if isinstance(path, StandardInput):
        head = path.stream.peek()
    elif Path(path).is_fifo():
        raise ReadError(path, None, "a pipe is read only once; say its format= (--format)")
    else:
        with open_binary(path) as file:
            head = file.read(65_536)
    return _guess_by_content(path, head)


def _guess_by_content(path: StrPath, head: bytes) -> Format:
    lines = head.removeprefix(UTF8_BOM).lstrip().splitlines()
    if not lines:
        raise ReadError(path, None, "it is empty")
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"MATLAB"):
        return "mat"
    if lines[0].startswith(b"{"):
        return "jsonl"
    # The last line may be cut off by the end of the sample, so only the first ones are looked at.
    if all(re.fullmatch(rb"[-+\d.,: \te]*(#.*)?", line) for line in lines[:5]):
        return "svmlight"
    if b"\t" in lines[0]:
        return "tsv"
    if b"," in lines[0]:
        return "csv"
    raise ReadError(
        path,
        None,
        f"cannot tell its format; pass format= (--format) one of {', '.join(get_args(Format))}",
    )
