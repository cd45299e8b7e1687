"""read_corpus and read_shards: one door for every format."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import chain, islice, zip_longest
from typing import Literal, NamedTuple, cast

import numpy as np

from deplda.data import checks
from deplda.data.collocations import chosen_of, chosen_words, resolve_min_count
from deplda.data.corpus import Corpus
from deplda.data.encodings import AUTO
from deplda.data.fields import Fields
from deplda.data.files import StrPath
from deplda.data.languages import UNDETERMINED, detect, first_texts
from deplda.data.readers.named_rows import (
    Settled,
    Written,
    fields_in,
    named_rows,
    read_rows,
    read_settled,
    settled,
    text_of,
)
from deplda.data.readers.records import (
    BadLines,
    Counts,
    CountWords,
    OnBad,
    OnEmpty,
    Record,
    Rows,
    corpora_of,
    id_in,
    labelled_texts,
    no_text_field,
    record_of,
    with_ids,
)
from deplda.data.readers.separators import Separator
from deplda.data.readers.sniffing import Format, guess_format
from deplda.data.readers.spelling import folded
from deplda.data.readers.svmlight import Names, svmlight_corpora
from deplda.data.splits import TrainingPart
from deplda.data.text import WordCounter
from deplda.data.text_rows import TextRows, WeightedText
from deplda.data.word_settings import MOST_DOCUMENTS, Document
from deplda.data.wording import counted
from deplda.errors import (
    GuessedSeparatorWarning,
    MissingFieldWarning,
    ReadError,
    warn,
)

_MOST_FILES = 32  # that are open at a time to tell the language by


def read_corpus(
    path: StrPath,
    format: Format | None = None,
    *,
    fields: Fields | None = None,
    counter: WordCounter | None = None,
    vocabulary: Iterable[str] | None = None,
    label_names: Iterable[str] | None = None,
    encoding: str = AUTO,
    delimiter: str | None = None,
    sheet: str | int | None = None,
    header_row: int | None = None,
) -> Corpus:
    """Return the documents of a file as a corpus.

    Parameters
    ----------
    path : path
        Plain or gzip, whatever its name; of Annif's full texts the folder.
    format : {"jsonl", "json", "csv", "tsv", "xlsx", "parquet", "svmlight", "annif", "text", \
           , "lines", "pdf", "docx"}, optional
        Guessed from the name and the content, but for "text" and "lines", one unlabelled document
        a file or a line. "annif" are all of Annif's formats.
    fields : Fields, optional
        Which fields or columns hold the id, the text and the labels.
    counter : WordCounter, optional
        How raw text becomes words. If it is fitted, or has a vocabulary, its words are kept; else
        its `min_count` is applied to the words of this file, unless a `vocabulary` is given.
    vocabulary, label_names : sequences of str, optional
        Keep exactly these words and labels, in this order, and drop others. For svmlight they are
        the names of the ids instead. Without them the names found are kept, sorted.
    encoding : str, default "auto"
        Of JSONL, CSV, TSV and texts. By default a byte-order mark decides, or else UTF-8 where it
        is, or else cp1252, of which a `GuessedEncodingWarning` tells.
    delimiter : str, optional
        Between the columns of CSV and TSV; by default as the header tells.
    sheet : str or int, optional
        Of a spreadsheet, its name or number from 1; the first by default.
    header_row : int, optional
        Of CSV, TSV and spreadsheets, the row that names the columns, from 1; by default the one of
        the first 30 with most of the columns in `fields`.

    Examples
    --------
    >>> import deplda
    >>> from pathlib import Path
    >>> rows = "nr,body,subjects", "1,The judge and the jury agreed,LAW", "2,The team won,SPORT"
    >>> with Path("articles.csv").open("w", encoding="utf-8") as file:
    ...     for row in rows:
    ...         print(row, file=file)
    >>> fields = deplda.Fields(id="nr", text="body", labels="subjects")
    >>> deplda.read_corpus("articles.csv", fields=fields)
    Corpus(2 documents, 5 words, 2 labels, 5 tokens)
    """
    format = format or guess_format(path)
    count = None if format == "svmlight" else _Counting(counter, in_bulk=True)
    names = (vocabulary, label_names)
    written = Written(encoding, delimiter, sheet, header_row)
    (corpus,) = _corpora(format, fields, count, names, written, None, BadLines(path))
    if count is None or not count.used or count.vocabulary is not None or vocabulary is not None:
        return corpus
    return kept_counted(corpus, count.counter, count.counter.min_count)[0]


class Counted(NamedTuple):
    """The documents of a file, and what was found in it."""

    corpus: Corpus
    counter: WordCounter | None
    """With all words, if there were texts to count."""
    fields: Fields | None
    """As they were read, if the file has fields."""
    notes: list[str]
    """What a person should know of it."""


def read_counted(
    path: StrPath,
    format: Format | None = None,
    *,
    fields: Fields | None = None,
    counter: WordCounter | None = None,
    encoding: str = AUTO,
    delimiter: str | None = None,
    sheet: str | int | None = None,
    header_row: int | None = None,
    seen: Callable[[int], None] | None = None,
    training: TrainingPart | None = None,
    every_sequence: bool = True,
) -> Counted:
    """Return the documents of a file and, if there were texts to count, the counter of its words.

    It is `read_corpus` with all words of texts: `kept_words` chooses of them. A model that is
    fitted with the counter takes texts from then on. `seen` is told of documents as they are read,
    how many more. With `training`, the settings of the counter that are "auto" and the weights of
    text fields are chosen by the labels of the first documents that train. Without
    `every_sequence`, sequences of words that are met once are left out where words need more.
    """
    format = format or guess_format(path)
    counter = WordCounter() if counter is None else counter
    count = None
    if format != "svmlight":
        count = _Counting(counter, seen, training, warns=False, in_bulk=True)
        if not every_sequence:
            count.fewest = lambda n: min(2, resolve_min_count(counter.min_count, n))
    written, empty = Written(encoding, delimiter, sheet, header_row), set[str]()
    bad = BadLines(path, on_empty=empty.add)
    (corpus,) = _corpora(format, fields, count, (None, None), written, None, bad)
    notes = [] if count is None or count.separator is None else [count.separator.note]
    if empty:
        have = "has" if len(empty) == 1 else "have"
        notes.append(f"{len(empty):,} of {counted(len(corpus), 'document')} {have} no text")
    if count is None:
        if seen is not None:
            seen(len(corpus))
        return Counted(corpus, None, None, notes)
    fitted = counter.with_words(corpus.vocabulary) if count.used else None
    return Counted(corpus, fitted, count.fields, notes)


def read_records(
    path: StrPath,
    format: Format,
    *,
    fields: Fields | None = None,
    counter: WordCounter | None = None,
    encoding: str = AUTO,
    delimiter: str | None = None,
    sheet: str | int | None = None,
    header_row: int | None = None,
    rows: TextRows | None = None,
) -> Iterator[Record]:
    """Yield the documents of a file with names one by one, in constant memory; ids are as found.

    With `rows`, a `CorpusBuilder` counts the texts of many documents, of any files, in bulk.
    """
    written, count = Written(encoding, delimiter, sheet, header_row), _Counting(counter, rows=rows)
    return _records(format, fields or Fields(), count, written, BadLines(path))


def read_shards(
    path: StrPath,
    size: int = 10_000,
    format: Format | None = None,
    *,
    fields: Fields | None = None,
    counter: WordCounter | None = None,
    vocabulary: Iterable[str] | None = None,
    label_names: Iterable[str] | None = None,
    encoding: str = AUTO,
    delimiter: str | None = None,
    sheet: str | int | None = None,
    header_row: int | None = None,
    on_bad: OnBad | None = None,
    on_empty: OnEmpty | None = None,
) -> Iterator[Corpus]:
    """Yield the documents of a file as corpora of `size`, all over the same words and labels.

    Parameters are those of `read_corpus`, and ``concat(read_shards(path))`` equals
    ``read_corpus(path)``. Names that are not given are collected in a first pass over the file.
    A shard is in memory at a time, and the ids seen so far.

    `on_bad`, if given, is told of each line of JSONL or svmlight that holds no document: of its
    number, the document's id or None, and the problem. Reading goes on with the next line; where
    ids are numbers, the line has one. Without it, and in other formats, such a line is an error.
    `on_empty` is told the ids of documents in which nothing stands, before the shard that has them
    is there; of svmlight they are those without words.

    Examples
    --------
    >>> import deplda
    >>> deplda.write_jsonl(deplda.datasets.newsroom(50).corpus, "news.jsonl")
    >>> [len(shard) for shard in deplda.read_shards("news.jsonl", size=20)]
    [20, 20, 10]
    """
    checks.at_least_one(size=size)
    format = format or guess_format(path)
    count = None if format == "svmlight" else _Counting(counter)
    bad = BadLines(path, on_bad if format in ("jsonl", "svmlight") else None, on_empty)
    names, written = (vocabulary, label_names), Written(encoding, delimiter, sheet, header_row)
    yield from _corpora(format, fields, count, names, written, size, bad)


def _corpora(
    format: Format,
    fields: Fields | None,
    count: _Counting | None,
    names: tuple[Iterable[str] | None, Iterable[str] | None],
    written: Written,
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
        for corpus in svmlight_corpora(Names(vocabulary, label_names), size, bad):
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
        records = with_ids(_records(format, fields, count, written, quiet), quiet)
        found_words, found_labels = _collect(records, count)
        vocabulary = found_words if vocabulary is None else vocabulary
        label_names = found_labels if label_names is None else label_names
    records = _records(format, fields, count, written, bad)
    yield from corpora_of(records, bad, vocabulary, label_names, size, count.fewest)
    count.learn_forms()


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


def _once(n_words: int) -> int:
    return 1


class _Counting:
    """Counts words as the counter does, and remembers what was found in the file."""

    def __init__(
        self,
        counter: WordCounter | None,
        seen: Callable[[int], None] | None = None,
        training: TrainingPart | None = None,
        *,
        warns: bool = True,
        in_bulk: bool = False,
        rows: TextRows | None = None,
    ) -> None:
        self.counter = WordCounter() if counter is None else counter
        self.seen = seen
        self.vocabulary = getattr(self.counter, "vocabulary_", self.counter.vocabulary)
        self.used = False
        self.fields: Fields | None = None
        """As they were read."""
        self.separator: Separator | None = None
        """What separates labels, where it was not said."""
        self._training = training
        self._warns = warns
        self._in_bulk = in_bulk
        self.fewest: Callable[[int], int] = _once
        """Of what number of words, how many tokens a new sequence of them needs."""
        self._rows = rows
        self._count: CountWords | None = None if rows is None else rows.passages

    def __call__(self, texts: Iterable[WeightedText]) -> Counts | None:
        self.used = True
        if self._count is None:
            analyzer = self.counter.analyzer()
            self._count = analyzer.document_counts
            if self._in_bulk:
                self._rows = analyzer.rows(self.counter.numbers())
                self._count = self._rows.passages
        return self._count(texts)

    def learn_forms(self) -> None:
        """Tell the counter which forms of words were met."""
        if self._rows is not None and not hasattr(self.counter, "vocabulary_"):
            self.counter.forms_met_.update(self._rows.forms())

    def _is_to_detect(self) -> bool:
        return self.counter.language == "auto" and not hasattr(self.counter, "detected_")

    def settled(self, rows: Rows, held: Fields, fields: Fields) -> Settled:
        """Return the rows, by the first of which language and separator are told if need be."""
        found = settled(rows, held, look=self._is_to_detect())
        self.fields = replace(
            fields, separator=found.fields.separator, weights=fields.weights or {}
        )
        self.separator = found.separator
        if self._warns and found.separator is not None and not found.separator.is_sure:
            warn(found.separator.note, GuessedSeparatorWarning)
        if self._is_to_detect():
            self.counter.detect_language([text_of(row, held) for _, row in found.first])
        return found if self._training is None else self._with_choice(found, self._training)

    def _with_choice(self, file: Settled, training: TrainingPart) -> Settled:
        """Choose how texts become words by the first training documents; return all rows."""
        fields = file.fields
        # Which documents are held out is known only when all are counted.
        first = list(islice(file.rows, None if training.holdout else MOST_DOCUMENTS))
        numbers = training.rows(len(first))[:MOST_DOCUMENTS]
        weighted = fields.fields_to_weigh
        choice = self.counter.choose(
            labelled_texts((first[n][1] for n in numbers), fields), weighted
        )
        if choice is not None and weighted:
            fields = replace(fields, weights=dict(choice.settings.weights))
            self.fields = replace(self.fields or fields, weights=fields.weights)
        return file._replace(rows=chain(first, file.rows), fields=fields)


def language_in(paths: Sequence[StrPath], fields: Fields) -> str:
    """Return the code of the language that most of the first texts of files are in.

    Of many files some are looked at, from the first to the last of them, a text of each in turn.
    """
    with_texts = [path for path in paths if guess_format(path) != "svmlight"]
    if not with_texts:
        return UNDETERMINED
    seen = np.unique(np.linspace(0, len(with_texts) - 1, _MOST_FILES).astype(int))
    with ExitStack() as opened:
        texts = [opened.enter_context(closing(_texts(with_texts[n], fields))) for n in seen]
        in_turn = (text for each in zip_longest(*texts) for text in each if text is not None)
        first = first_texts(in_turn)
    return detect(first).code


def _texts(path: StrPath, fields: Fields) -> Generator[str]:
    """Yield the texts of a file; after a document with nothing to read there are none."""
    format = guess_format(path)
    held = fields_in(format, fields)
    for _, row in read_rows(path, format, fields):
        if not any(name in row for name in (*held.texts, held.tokens, held.counts)):
            return  # reading it will say so
        yield text_of(row, held)


def first_documents(paths: Sequence[StrPath], fields: Fields) -> Iterator[Document]:
    """Yield the texts and labels of the first documents of files that can be read."""
    for path in paths:
        if (format := guess_format(path)) != "svmlight":
            file = read_settled(path, format, fields, Written())
            yield from labelled_texts((row for _, row in file.rows), file.fields)


def separator_in(path: StrPath, fields: Fields) -> Fields:
    """Return the fields with what separates labels, as the first documents of a file tell."""
    format = guess_format(path)
    if format == "svmlight":
        return fields
    found = read_settled(path, format, fields, Written())
    if found.separator is not None and not found.separator.is_sure:
        warn(found.separator.note, GuessedSeparatorWarning)
    return found.fields


def _records(
    format: Format, fields: Fields, count: _Counting, written: Written, bad: BadLines
) -> Iterator[Record]:
    rows, held, *_ = count.settled(
        named_rows(format, fields, written, bad), fields_in(format, fields), fields
    )
    missing, names = dict.fromkeys(held.texts), dict[str, str]()
    for number, row in rows:
        if missing:
            for name in row:  # before what it is called where it is found in another case
                names.setdefault(folded(name), name)
            missing = {name: None for name in missing if name not in row}
        with bad.at(number, id_in(row, fields)):
            yield record_of(row, number, held, count)
        if count.seen is not None:
            count.seen(1)
    if 0 < len(missing) < len(held.texts):
        problem = no_text_field(list(missing), names.values())
        warn(f"{os.fspath(bad.path)}: {problem}", MissingFieldWarning)


def _collect(
    records: Iterable[Record], count: _Counting
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    totals: dict[str, int] = {}
    labels: set[str] = set()
    for record in records:
        labels.update(record.labels)
        for word, n in cast("Mapping[str, int]", record.counts).items():
            totals[word] = totals.get(word, 0) + n
    words = tuple(sorted(totals))
    if count.used:
        words, _ = chosen_of(totals, count.counter.min_count)
    return words, tuple(sorted(labels))
