"""Where documents come from: the options that say how files are read, and the reading itself."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from deplda.cli.options import OneOf
from deplda.cli.output import note, waiting
from deplda.data.files import StandardInput, StrPath, check_plain, head_of
from deplda.data.forms import NORMALIZERS
from deplda.data.wording import counted, did_you_mean
from deplda.errors import InputError, ReadError

if TYPE_CHECKING:
    from deplda.data.corpus import Corpus
    from deplda.data.datasets import Dataset
    from deplda.data.readers import Fields, Record, Written
    from deplda.data.splits import Split, TrainingPart
    from deplda.data.text import WordCounter

FORMATS = (
    "jsonl", "json", "csv", "tsv", "xlsx", "parquet", "svmlight", "annif", "text", "lines",
    "pdf", "docx",
)  # fmt: skip


class Reading(NamedTuple):
    """How files are to be read."""

    format: Any
    text_field: tuple[str, ...]
    field_weight: dict[str, int]
    labels_field: tuple[str, ...]
    id_field: str | None
    separator: str | None
    label_column: tuple[str, ...]
    where: tuple[str, ...]
    encoding: str
    delimiter: str | None
    sheet: str | None
    header_row: int | None
    data_dir: Path | None

    @property
    def written(self) -> Written:
        """How files are written, as far as options say it."""
        from deplda.data.readers import Written

        return Written(self.encoding, self.delimiter, self.sheet, self.header_row)

    def fields(self, remembered: Fields | None = None, *, labelled: bool = True) -> Fields:
        """Return which fields hold what: as given, or else as a model remembers it."""
        from dataclasses import replace

        from deplda.data.readers import Fields

        usual = remembered or Fields()
        texts = self.text_field or usual.texts
        weights = usual.weights
        if weights is not None:
            weights = {name: n for name, n in weights.items() if name in texts}
        found = replace(
            usual,
            id=usual.id if self.id_field is None else self.id_field or None,
            text=texts if len(texts) > 1 else texts[0],
            weights=self.field_weight or weights,
            separator=usual.separator if self.separator is None else self.separator,
            where=[_condition(text) for text in self.where],
        )
        if not labelled:
            return replace(found, labels=None, label_columns=())
        if not self.labels_field and not self.label_column:
            return found
        labels = tuple(filter(None, self.labels_field or ("labels",)))
        return replace(
            found,
            labels=labels if len(labels) > 1 else next(iter(labels), None),
            label_columns=self.label_column,
        )


class Words(NamedTuple):
    """How texts become words."""

    language: str
    normalize: Any
    min_count: Any
    stop_words: str
    token_pattern: str
    fold_accents: bool
    ngrams: Any

    def as_written(self) -> Words:
        """Return the same with words as they are, unless it is asked to normalise them."""
        return self._replace(normalize="none") if self.normalize == "auto" else self

    def counter(self, **others: Any) -> WordCounter:
        """Return what counts words so."""
        from deplda.data.text import WordCounter

        return WordCounter(
            language=None if self.language == "none" else self.language,
            normalize=self.normalize,
            stop_words=None if self.stop_words == "none" else self.stop_words,
            token_pattern=self.token_pattern,
            fold_accents=self.fold_accents,
            ngrams=self.ngrams,
            **{"min_count": self.min_count} | others,
        )


def _auto_or_whole(least: int, most: int | None = None) -> Callable[..., Any]:
    def converted(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        whole = click.IntRange(least, most)
        return value if value == "auto" else whole.convert(value, parameter, ctx)

    return converted


def _weights(
    ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> dict[str, int]:
    found: dict[str, int] = {}
    for text in given:
        field, equals, weight = text.rpartition("=")
        if not equals or not field or not weight.strip().isdecimal():
            raise click.UsageError(
                f"--field-weight is {text!r}; it must be FIELD=N, N a whole number from 1."
            )
        found[field] = int(weight)
    return found


def _separator(ctx: click.Context, parameter: click.Parameter, given: str | None) -> str | None:
    return {"\\n": "\n", "\\t": "\t"}.get(given, given) if given is not None else None


def _or_the_models(usual: str) -> str:
    """Return what is used where an option is not given, in words."""
    return f"{usual}, or as the model was trained"


corpus_argument = click.argument("corpus", type=click.Path(allow_dash=True))

_READING = [
    click.option(
        "--format",
        type=OneOf(FORMATS),
        help="Format of the input; detected by default. annif: Annif's TSV, CSV, JSON and folders "
        "of full texts.",
    ),
    click.option(
        "--text-field",
        multiple=True,
        show_default=_or_the_models("text"),
        help="Field of the text; repeat it for several.",
    ),
    click.option(
        "--field-weight",
        multiple=True,
        callback=_weights,
        metavar="FIELD=N",
        show_default=_or_the_models("1"),
        help="Count the words of this text field N times; can be repeated.",
    ),
    click.option(
        "--labels-field",
        multiple=True,
        show_default=_or_the_models("labels"),
        help="Field of the labels; repeat it for several, such as 'Subject 1' and 'Subject 2'.",
    ),
    click.option(
        "--id-field",
        show_default=_or_the_models("id"),
        help="Field of the document's id; '' numbers the documents.",
    ),
    click.option(
        "--separator",
        callback=_separator,
        show_default=_or_the_models("as the first documents tell"),
        help="Separator between labels in one string, such as ';'.",
    ),
    click.option(
        "--label-column",
        multiple=True,
        help="Column named as a label, which holds 1 or 0 (yes or no); can be repeated.",
    ),
    click.option(
        "--where",
        multiple=True,
        metavar="FIELD=VALUE",
        help="Read only the documents that match; also !=.",
    ),
    click.option(
        "--encoding",
        default="auto",
        help="Encoding, such as latin-1; auto: by a byte-order mark, else UTF-8, else cp1252.",
    ),
    click.option(
        "--delimiter",
        metavar="CHARACTER",
        show_default="as the header tells",
        help="Delimiter between the columns of CSV, such as ';' or tab.",
    ),
    click.option(
        "--sheet",
        metavar="NAME|NUMBER",
        show_default="the first",
        help="Sheet of a spreadsheet, by name or number.",
    ),
    click.option(
        "--header-row",
        type=click.IntRange(1),
        metavar="NUMBER",
        show_default="as the requested columns tell",
        help="Row of a table that names the columns, from 1; rows above it are skipped.",
    ),
    click.option(
        "--data-dir",
        type=click.Path(file_okay=False, path_type=Path),
        help="Folder where data sets are looked up by name.",
    ),
]
_WORDS = [
    click.option(
        "--language",
        default="auto",
        metavar="auto|none|LANGUAGE",
        help="Language of the texts, such as fi or finnish; auto: detected from the "
        "first, at most a thousand. It sets stop words and normaliser; none: English stop words, "
        "words as they are.",
    ),
    click.option(
        "--normalize",
        type=OneOf(NORMALIZERS),
        default="auto",
        help="Merge the forms of a word: by the language's stemmer (snowball; the default where "
        "there is one), by a dictionary (lemma), or not.",
    ),
    click.option(
        "--min-count",
        callback=_auto_or_whole(1),
        metavar="auto|INTEGER",
        default="auto",
        help="Drop words with fewer tokens.",
    ),
    click.option(
        "--stop-words",
        default="auto",
        help="Stop words: a language, a .txt file or none; by default those of --language, or "
        "English.",
    ),
    click.option(
        "--token-pattern",
        default="auto",
        metavar="auto|words|codes|REGEX",
        help="What counts as a word: words; codes too, such as covid-19, B12 or 2007/49/EC; or "
        "matches of a regular expression. auto: codes, or what labels training documents best.",
    ),
    click.option("--fold-accents", is_flag=True, help="Count é as e."),
    click.option(
        "--ngrams",
        callback=_auto_or_whole(1, 5),
        metavar="auto|INTEGER",
        default="auto",
        help="Longest sequence of words counted as one, if more frequent than by chance. auto: 1 "
        "or 2, whichever labels training documents best.",
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
    splits: tuple[Split, ...] = ()
    counter: WordCounter | None = None
    fields: Fields | None = None
    """Those that were read, if it was a file that has fields."""
    texts: tuple[str, ...] = ()
    """The documents as they are written, of data sets that have them."""


def as_path(source: str) -> Path | StandardInput:
    """Return the path, or standard input for ``-``."""
    if source != "-":
        return Path(source)
    if sys.stdin is None:
        raise InputError("standard input is closed; open it, or name a file")
    return StandardInput(sys.stdin.buffer)


def is_readable(path: StrPath, reading: Reading) -> bool:
    """Return whether there are documents to read: a file, a pipe, a device, a folder of Annif's."""
    from deplda.data.readers.annif import has_full_texts

    if isinstance(path, StandardInput):
        return True
    place = Path(path)
    if place.is_dir():
        return reading.format == "annif" or (reading.format is None and has_full_texts(place))
    return place.exists()


def load_corpus(
    source: str,
    reading: Reading,
    counter: WordCounter,
    remembered: Fields | None = None,
    training: TrainingPart | None = None,
) -> Loaded:
    """Return the documents of a file, a folder, standard input or a data set known by name.

    `remembered` are the fields of a model, by which a file is read unless options say otherwise.
    `training` are the documents by whose labels it is chosen how texts become words.
    """
    from deplda.data import datasets
    from deplda.data.readers import guess_format, read_counted

    path = as_path(source)
    if not isinstance(path, StandardInput) and datasets.is_described(path):
        return _own(path, reading, counter)
    if isinstance(path, StandardInput) or is_readable(path, reading):
        format, fields = reading.format or guess_format(path), reading.fields(remembered)
        with waiting(f"reading {'standard input' if source == '-' else Path(source).name}") as seen:
            read = read_counted(
                path, format, fields=fields, counter=counter, seen=seen, training=training,
                every_sequence=False, **reading.written._asdict(),
            )  # fmt: skip
        if read.counter is not None:
            _note_settings(counter)
        for each in read.notes:
            note(each)
        return Loaded(read.corpus, (), read.counter, read.fields)
    if reading.where:
        raise InputError(f"--where is for files with fields; {source} is none")
    if path.is_dir():
        with waiting(f"reading {path.name}"):
            return _own(path, reading, counter)
    names = [entry.name for entry in datasets.list()]
    if source not in names:
        near, known = did_you_mean(source, names), ", ".join(names)
        problem = f"there is no such file, folder or data set{near} (data sets: {known})"
        raise ReadError(source, None, problem)
    if not datasets.is_here(source, reading.data_dir):  # which draws progress of its own
        fetched(source, reading.data_dir)
    with waiting(f"reading {source}"):
        found = datasets.load(source, reading.data_dir)
    return recounted(found, counter, training)


def _note_settings(counter: WordCounter) -> None:
    """Report the language and how texts become words, if they were detected and chosen."""
    if (told := getattr(counter, "detected_", None)) is not None:
        note(f"language: {told} (--language sets another)")
    if counter.choice_ is not None:
        note(str(counter.choice_))


def recounted(found: Dataset, counter: WordCounter, training: TrainingPart | None = None) -> Loaded:
    """Return a data set with its words counted as they are to be, if it has texts."""
    from deplda.data.readers import CorpusBuilder
    from deplda.data.text import CountsOnly, label_sets
    from deplda.data.word_settings import MOST_DOCUMENTS

    corpus = found.corpus
    if not found.texts or isinstance(counter, CountsOnly):
        return Loaded(corpus, found.splits, texts=found.texts)
    counter.detect_language(found.texts)
    labels = label_sets(corpus.labels)
    if training is not None:
        rows = training.rows(len(corpus), found.splits)
        counter.choose(({"text": found.texts[row]}, labels[row]) for row in rows[:MOST_DOCUMENTS])
    _note_settings(counter)
    count = counter.analyzer().counts
    builder = CorpusBuilder(getattr(counter, "vocabulary_", None), corpus.label_names)
    for text, numbers, id in zip(found.texts, labels, corpus.ids, strict=True):
        builder.add(count(text), [corpus.label_names[n] for n in numbers], id)
    corpus = builder.corpus()
    fitted = counter.with_words(corpus.vocabulary)
    return Loaded(corpus, found.splits, fitted, texts=found.texts)


def fetched(name: str, data_dir: Path | None, *, anew: bool = False) -> list[Path]:
    """Return the files of a data set, made if they are missing."""
    from deplda.data.datasets import fetch

    with waiting(f"fetching {name}"):
        return list(fetch(name, data_dir, anew=anew).values())


def _own(path: Path, reading: Reading, counter: WordCounter) -> Loaded:
    """Return the data set of a folder, or of its description; a model's counter counts texts."""
    from deplda.data import datasets
    from deplda.data.datasets.described import is_data_set
    from deplda.data.text import CountsOnly

    has_fields = bool(reading.text_field or reading.labels_field)
    if has_fields and is_data_set(path):
        raise InputError(f"--text-field and --labels-field are for files; {path} says it itself")
    is_told = hasattr(counter, "vocabulary_") or isinstance(counter, CountsOnly)
    found = datasets.load_own(path, counter if is_told else None)
    return Loaded(found.corpus, found.splits, found.counter, texts=found.texts)


def with_kept_words(loaded: Loaded, words: Words) -> Corpus:
    """Return the corpus without rare words, where it was counted from texts."""
    from deplda.data.readers import kept_words

    is_text = loaded.counter is not None
    return kept_words(loaded.corpus, words.min_count)[0] if is_text else loaded.corpus


def part_of(loaded: Loaded, split: str, part: str) -> Corpus:
    """Return the training or test documents, or all where there are no splits or none is wanted."""
    if not loaded.splits or split == "none":
        return loaded.corpus
    from deplda.data.splits import split_at

    rows = getattr(split_at(loaded.splits, split), part)
    note(
        f"{part} part of split {split}: {len(rows):,} of "
        f"{counted(len(loaded.corpus), 'document')} (--split none takes all)"
    )
    return loaded.corpus[rows]


# Single documents ---------------------------------------------------------------------------------


def format_of(path: StrPath, reading: Reading, fields: Fields | None = None) -> Any:
    """Return the format of documents to predict: plain text too, told by name or first byte."""
    from deplda.data.readers import guess_format
    from deplda.data.readers.headers import n_named
    from deplda.data.readers.sniffing import BINARY, HEAD, is_annif_tsv

    if reading.format is not None:
        return reading.format
    if isinstance(path, StandardInput):
        head = head_of(path, HEAD)
        if head.lstrip()[:1] in (b"{", b"[") or head.startswith(BINARY):
            return guess_format(path)
        return "annif" if is_annif_tsv(head) else "lines"
    if Path(path).suffix.lower() not in (".txt", ".md"):
        return guess_format(path)
    # What Excel calls Unicode text is a table.
    header = head_of(path, HEAD).partition(b"\n")[0].decode("utf-8", "replace").strip()
    names, texts = header.split("\t"), (fields or reading.fields()).texts
    is_table = len(names) > 1 and n_named(names, texts) > 0
    return "tsv" if is_table else "text"


def records_of(
    sources: tuple[str, ...], reading: Reading, model: Any, *, in_bulk: bool = False
) -> Iterator[Record]:
    """Yield the documents of all sources, one in memory at a time; all of them have an id.

    Texts are counted in bulk where a `CorpusBuilder` counts those of many documents together.
    """
    from deplda.data.readers import read_records
    from deplda.data.text import CountsOnly

    counter, number = model.counter_ or CountsOnly(), 0
    rows = counter.analyzer().rows(counter.numbers()) if in_bulk else None
    fields = reading.fields(model.fields_, labelled=False)
    for source in sources:
        for path in _files(source, reading):
            format = format_of(path, reading, fields)
            if format == "svmlight":
                records = _numbered(path, format)
            else:
                how: Any = {"fields": fields, **reading.written._asdict(), "rows": rows}
                records = read_records(path, format, counter=counter, **how)
            first = number
            for record in records:
                id = str(number) if record.id is None else record.id
                number += 1
                yield record._replace(id=id, labels=())
            if number == first:
                raise ReadError(path, None, "there is no document in it")


def _files(source: str, reading: Reading) -> list[StrPath]:
    path = as_path(source)
    if not isinstance(path, StandardInput) and not path.exists():
        raise ReadError(
            path,
            None,
            "there is no such file or folder; a text by itself is given on standard input, named -",
        )
    if isinstance(path, StandardInput) or not path.is_dir() or is_readable(path, reading):
        return [path]
    files = sorted(file for file in path.iterdir() if file.is_file())
    texts = [file for file in files if file.suffix.lower() in _TEXTS]
    if not texts:
        raise ReadError(
            path,
            None,
            f"there are no {', '.join(_TEXTS)} files in this folder, and no documents as Annif has "
            "them",
        )
    for file in texts:
        check_plain(file)
    beside = {file.name for file in texts}
    _tell_left_out(
        [file for file in files if file.name not in beside and file.suffix not in _BESIDE_TEXTS]
    )
    return list(texts)


def _tell_left_out(files: list[Path]) -> None:
    """Say which files of a folder of texts are none, but for hidden ones."""
    names = [file.name for file in files if not file.name.startswith(".")]
    if names:
        shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        note(
            f"left out, as in a folder {', '.join(_TEXTS)} are read: "
            f"{counted(len(names), 'other file')} ({shown})"
        )


_TEXTS = (".txt", ".pdf", ".docx")
_BESIDE_TEXTS = (".annif", ".key", ".tsv")


def _numbered(path: StrPath, format: Any) -> Iterator[Record]:
    """Yield the documents of files that have numbers instead of names."""
    from deplda.data.readers import Record, read_shards, rows_of

    for shard in read_shards(path, 1000, format):
        for row in rows_of(shard):
            yield Record(0, row["id"], row["counts"], (), not row["counts"])
