"""Where documents come from: the options that say how files are read, and the reading itself."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from deplda.data.files import StandardInput, StrPath
from deplda.errors import InputError, ReadError

if TYPE_CHECKING:
    from deplda.data.corpus import Corpus
    from deplda.data.readers import Fields, Record
    from deplda.data.splits import Split
    from deplda.data.text import WordCounter

FORMATS = ("jsonl", "csv", "tsv", "parquet", "svmlight", "mat", "text", "lines")


class Reading(NamedTuple):
    """How files are to be read."""

    format: Any
    text_field: str
    labels_field: str
    id_field: str
    separator: str
    label_column: tuple[str, ...]
    where: tuple[str, ...]
    encoding: str
    data_dir: Path | None

    def fields(self, *, labelled: bool = True) -> Fields:
        """Return which fields hold what."""
        from deplda.data.readers import Fields

        return Fields(
            id=self.id_field or None,
            text=self.text_field,
            labels=self.labels_field or None if labelled else None,
            separator=self.separator,
            label_columns=self.label_column if labelled else (),
            where=[_condition(text) for text in self.where],
        )


class Words(NamedTuple):
    """How texts become words."""

    min_count: Any
    stop_words: str
    token_pattern: str | None
    ngrams: int

    def counter(self, **others: Any) -> WordCounter:
        """Return what counts words so."""
        from deplda.data.text import LETTERS, WordCounter

        return WordCounter(
            stop_words=None if self.stop_words == "none" else self.stop_words,
            token_pattern=self.token_pattern or LETTERS,
            ngram_range=(1, self.ngrams),
            **{"min_count": self.min_count} | others,
        )


def _min_count(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
    return value if value == "auto" else click.IntRange(1).convert(value, parameter, ctx)


corpus_argument = click.argument("corpus", type=click.Path(allow_dash=True))

_READING = [
    click.option("--format", type=click.Choice(FORMATS), help="By default by name or content."),
    click.option("--text-field", default="text", help="Where the text is."),
    click.option("--labels-field", default="labels", help="And the labels."),
    click.option("--id-field", default="id", help="'' numbers the documents."),
    click.option("--separator", default=";", help="Between labels in one string."),
    click.option("--label-column", multiple=True, help="A label's own column; can be repeated."),
    click.option(
        "--where", multiple=True, metavar="FIELD=VALUE", help="Only such documents; also !=."
    ),
    click.option("--encoding", default="utf-8", help="Such as latin-1."),
    click.option(
        "--data-dir",
        type=click.Path(file_okay=False, path_type=Path),
        help="Folder of data sets, for those known by name.",
    ),
]
_WORDS = [
    click.option(
        "--min-count",
        callback=_min_count,
        metavar="auto|INTEGER",
        default="auto",
        help="Drop words with fewer tokens.",
    ),
    click.option("--stop-words", default="english", help="Language, .txt file or none."),
    click.option("--token-pattern", help="Regular expression of a word."),
    click.option(
        "--ngrams",
        type=click.IntRange(1, 5),
        default=1,
        help="Longest sequence that counts as a word.",
    ),
]


def reading_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of `Reading`, as one value."""
    return _gathered(verb, "reading", Reading, _READING)


def word_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of `Words`, as one value."""
    return _gathered(verb, "words", Words, _WORDS)


def _gathered(verb: Callable[..., None], name: str, kind: Any, options: list[Any]) -> Any:
    @functools.wraps(verb)
    def call(*args: Any, **given: Any) -> None:
        gathered = kind(**{field: given.pop(field) for field in kind._fields})
        verb(*args, **{name: gathered}, **given)

    return functools.reduce(lambda function, option: option(function), reversed(options), call)


def _condition(text: str) -> Any:
    from deplda.data.readers import Where

    field, equals, value = text.partition("=")
    if not equals or not field.strip("!"):
        raise click.UsageError(f"--where is {text!r}; it must be FIELD=VALUE or FIELD!=VALUE.")
    return Where(field.removesuffix("!"), value, not field.endswith("!"))


# Corpora ------------------------------------------------------------------------------------------


class Loaded(NamedTuple):
    """A corpus, its splits if it has any, and the counter of its words if it was text."""

    corpus: Corpus
    splits: tuple[Split, ...]
    counter: WordCounter | None


def as_path(source: str) -> Path | StandardInput:
    """Return the path, or standard input for ``-``."""
    return StandardInput(sys.stdin.buffer) if source == "-" else Path(source)


def is_readable(path: Path) -> bool:
    """Return whether there is something to read: a file, a pipe or a device, but not a folder."""
    return path.exists() and not path.is_dir()


def load_corpus(source: str, reading: Reading, counter: WordCounter) -> Loaded:
    """Return the documents of a file, a folder, standard input or a data set known by name."""
    from deplda.data import datasets
    from deplda.data.readers import read_counted

    path = as_path(source)
    if isinstance(path, StandardInput) or is_readable(path):
        how: Any = {"fields": reading.fields(), "encoding": reading.encoding}
        corpus, fitted = read_counted(path, reading.format, counter=counter, **how)
        return Loaded(corpus, (), fitted)
    if reading.where:
        raise InputError(f"--where is for files with fields; {source} is none")
    if path.is_dir():
        found = datasets.load_folder(path, path.name)
        return Loaded(found.corpus, found.splits, None)
    names = [entry.name for entry in datasets.list()]
    if source not in names:
        known = ", ".join(names)
        problem = "there is no such file or folder, and no data set of this name; data sets are"
        raise ReadError(source, None, f"{problem} {known}")
    found = datasets.load(source, reading.data_dir)
    return Loaded(found.corpus, found.splits, None)


def part_of(loaded: Loaded, split: str, part: str) -> Corpus:
    """Return the training or test documents, or all where there are no splits or none is wanted."""
    from deplda.cli.output import note

    if not loaded.splits or split == "none":
        return loaded.corpus
    if not split.isdecimal() or int(split) >= len(loaded.splits):
        last = len(loaded.splits) - 1
        raise InputError(f"there is no split {split}; they are 0 to {last}, or none for all")
    rows = getattr(loaded.splits[int(split)], part)
    note(
        f"{part} part of split {split}: {len(rows):,} of {len(loaded.corpus):,} documents "
        "(--split none takes all)"
    )
    return loaded.corpus[rows]


# Single documents ---------------------------------------------------------------------------------


def format_of(path: StrPath, reading: Reading) -> Any:
    """Return the format of documents to predict: plain text too, told by name or first byte."""
    from deplda.data.readers import guess_format

    if reading.format is not None:
        return reading.format
    if isinstance(path, StandardInput):
        return "jsonl" if path.stream.peek().lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" else "lines"
    return "text" if Path(path).suffix.lower() in (".txt", ".md") else guess_format(path)


def records_of(sources: tuple[str, ...], reading: Reading, model: Any) -> Iterator[Record]:
    """Yield the documents of all sources, one in memory at a time; all of them have an id."""
    from deplda.data.readers import Record, read_records
    from deplda.data.text import CountsOnly

    counter, number = model.counter_ or CountsOnly(), 0
    for source in sources:
        for path in _files(source):
            format = format_of(path, reading)
            if format in ("svmlight", "mat"):
                records = _numbered(path, format)
            else:
                how: Any = {"fields": reading.fields(labelled=False), "encoding": reading.encoding}
                records = read_records(path, format, counter=counter, **how)
            first = number
            for record in records:
                id = str(number) if record.id is None else record.id
                number += 1
                yield Record(record.line, id, record.counts, ())
            if number == first:
                raise ReadError(path, None, "there is no document in it")


def _files(source: str) -> list[StrPath]:
    path = as_path(source)
    if isinstance(path, StandardInput) or not path.is_dir():
        return [path]
    texts = sorted(path.glob("*.txt"))
    if not texts:
        raise ReadError(path, None, "there are no .txt files in this folder")
    return list(texts)


def _numbered(path: StrPath, format: Any) -> Iterator[Record]:
    """Yield the documents of files that have numbers instead of names."""
    from deplda.data.readers import Record, read_shards, rows_of

    for shard in read_shards(path, 1000, format):
        for row in rows_of(shard):
            yield Record(0, row["id"], row["counts"], ())
