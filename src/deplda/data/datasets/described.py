"""One's own documents as a data set: a small TOML says where they are and how they are split.

It says what the data is, never what the machine does, and names files beside it alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import numpy as np

from deplda.data.corpus import Corpus, concat
from deplda.data.datasets.dataset import Dataset
from deplda.data.datasets.folder import holds_svmlight, load_folder, row_numbers
from deplda.data.encodings import AUTO
from deplda.data.fields import Fields, Where
from deplda.data.files import StrPath, decode_toml, read_plain
from deplda.data.forms import Normalizer
from deplda.data.readers import (
    Format,
    Written,
    fields_in,
    guess_format,
    plain_row,
    read_counted,
    read_rows,
)
from deplda.data.readers.records import found, located
from deplda.data.splits import MOST_FOLDS, Split, by_values, k_fold, random_split
from deplda.data.text import MOST_NGRAMS, WordCounter
from deplda.errors import DataUnavailableError, InputError, ReadError

DESCRIPTION = "dataset.toml"
"""What a folder's own description is called."""


class DocumentFields(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which fields hold what; those left out are `Fields`' own."""

    id: str | None = None
    text: str | list[str] | None = None
    labels: str | list[str] | None = None
    separator: str | None = None
    label_columns: list[str] | None = None
    weights: dict[str, int] | None = None

    def fields(self) -> Fields:
        """Return them as readers take them."""
        given = msgspec.structs.asdict(self)
        return Fields(**{name: value for name, value in given.items() if value is not None})


class SplitFiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two files of row numbers, one a line, counted from 0."""

    train: str
    test: str


class Description(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a `dataset.toml` says."""

    documents: str | None = None
    """The file of documents; by default the folder's own svmlight files."""
    format: Format | None = None
    encoding: str = AUTO
    """This and the next three as `read_corpus` takes them."""
    delimiter: str | None = None
    sheet: str | int | None = None
    header_row: Annotated[int, msgspec.Meta(ge=1)] | None = None
    fields: DocumentFields = DocumentFields()
    language: str = "auto"
    normalize: Normalizer = "auto"
    token_pattern: Literal["words", "codes"] = "words"  # noqa: S105
    ngrams: Annotated[int, msgspec.Meta(ge=1, le=MOST_NGRAMS)] = 1
    holdout: Annotated[float, msgspec.Meta(gt=0, lt=1)] | None = None
    """The share of the documents that test, drawn at random."""
    folds: Annotated[int, msgspec.Meta(ge=2, le=MOST_FOLDS)] | None = None
    test: str | None = None
    """A second file, whose documents test."""
    split_field: str | None = None
    """A field that says "test" of those that test; or else each of its values is a fold."""
    splits: list[SplitFiles] | None = None
    groups: str | None = None
    """A field whose equal values are never parted, such as the source of an article."""
    seed: Annotated[int, msgspec.Meta(ge=0)] = 0
    generated: bool = False

    def counter(self) -> WordCounter:
        """Return what counts the words."""
        language = None if self.language == "none" else self.language
        return WordCounter(
            language=language, normalize=self.normalize, token_pattern=self.token_pattern,
            ngrams=self.ngrams,
        )  # fmt: skip


def is_described(path: Path) -> bool:
    """Return whether there is a description: a TOML file, or a folder that has one."""
    if path.is_dir():
        return (path / DESCRIPTION).is_file()
    return path.suffix == ".toml" and path.is_file()


def is_data_set(path: Path) -> bool:
    """Return whether a folder is described, or laid out as `load_folder` reads it."""
    return is_described(path) or holds_svmlight(path)


def load_own(path: Path, counter: WordCounter | None = None) -> Dataset:
    """Return the data set at a path: a description, a folder of svmlight files, or documents.

    Of a plain file of documents the fields have their usual names, and there are no splits.
    A `counter` counts the words of texts in place of what a description says.
    """
    if is_described(path):
        return load_described(path, counter)
    if path.is_dir():
        return load_folder(path, path.name)
    if not path.is_file():
        raise DataUnavailableError(f"there is no file or folder {path}")
    try:
        return _dataset(path.stem, path.parent, Description(documents=path.name), counter)
    except InputError as error:
        raise InputError(
            f"{error}; where fields have other names, write a {DESCRIPTION} beside the file: "
            f'documents = "{path.name}", fields = {{ text = "…", labels = "…" }}'
        ) from error


def load_described(path: Path, counter: WordCounter | None = None) -> Dataset:
    """Return the data set that a TOML file, or the one in a folder, describes."""
    file = path / DESCRIPTION if path.is_dir() else path
    name = file.parent.absolute().name if file.name == DESCRIPTION else file.stem
    description = read_description(file)
    with located(file):
        return _dataset(name, file.parent, description, counter)


def read_description(path: Path) -> Description:
    """Return what a TOML file says; a key that is unknown is an error that names the known ones."""
    description = decode_toml(
        path, read_plain(path), Description, "this describes no data set: {}",
        {"$.fields": DocumentFields, "$.splits": SplitFiles},
    )  # fmt: skip
    ways = ("holdout", "folds", "test", "split_field", "splits")
    given = [way for way in ways if getattr(description, way) is not None]
    with located(path):
        if len(given) > 1:
            raise InputError(f"it has {' and '.join(given)}; say one way to split, or none")
        if description.documents is None and (description.split_field or description.test):
            raise InputError(f"{given[0]} needs documents, the file that it goes with")
        for name in _files(description):
            check_inside(name)
    return description


def _files(description: Description) -> Iterable[str]:
    yield from filter(None, (description.documents, description.test))
    for split in description.splits or ():
        yield from (split.train, split.test)


def check_inside(name: str) -> None:
    """Raise if a path that stands in a file leads out of the file's folder."""
    for path in (PurePosixPath(name), PureWindowsPath(name)):
        if path.is_absolute() or path.drive or ".." in path.parts:
            raise InputError(
                f"the path {name!r} leads out of the folder; name a file in it, or put a link there"
            )


def _dataset(name: str, folder: Path, said: Description, counter: WordCounter | None) -> Dataset:
    if said.documents is None:
        base = load_folder(folder, name)
    else:
        base = _documents(name, folder, said, said.counter() if counter is None else counter)
    if said.splits is not None:
        pairs = [[folder / split.train, folder / split.test] for split in said.splits]
        parts = [[row_numbers(file, len(base.corpus)) for file in pair] for pair in pairs]
        base = replace(base, splits=tuple(Split(*part) for part in parts))
    elif said.folds is not None or said.holdout is not None:
        base = replace(
            base, splits=drawn(base, folds=said.folds, holdout=said.holdout, seed=said.seed)
        )
    return replace(base, generated=said.generated)


def drawn(
    data: Dataset, *, folds: int | None = None, holdout: float | None = None, seed: int = 0
) -> tuple[Split, ...]:
    """Return splits at random: so many folds, or this share held out; groups are not parted."""
    corpus, groups = data.corpus, data.groups
    if folds is not None:
        return tuple(k_fold(corpus, folds, seed=seed, groups=groups))
    share = 0.25 if holdout is None else holdout
    split = random_split(corpus, share, seed=seed, groups=groups)
    if not len(split.train) or not len(split.test):
        raise InputError(
            f"a share of {share:g} of {len(corpus):,} documents leaves {len(split.train):,} to "
            f"learn from and {len(split.test):,} to test with; both need one at least"
        )
    return (split,)


def _documents(name: str, folder: Path, said: Description, counter: WordCounter) -> Dataset:
    """Return the documents of the file, or of both, that a description names."""
    train = _read(folder / str(said.documents), said, counter)
    if said.test is None:
        columns = train.columns
        splits = by_values(columns[said.split_field]) if said.split_field else ()
        groups = tuple(columns[said.groups]) if said.groups else ()
        return Dataset(
            name, train.corpus, splits, train.texts, counter=train.counter, groups=groups
        )
    test = _read(folder / said.test, said, train.counter or counter)
    return train_and_test(name, train, test, said.groups)


class Part(NamedTuple):
    """A file of documents: counted, its texts if it has any, and what other fields say."""

    corpus: Corpus
    counter: WordCounter | None
    texts: tuple[str, ...]
    columns: Mapping[str, Sequence[str]]


def train_and_test(name: str, train: Part, test: Part, groups: str | None = None) -> Dataset:
    """Return two files as one data set, whose split is that of the files."""
    clash = not set(train.corpus.ids).isdisjoint(test.corpus.ids)
    # The test part is counted as the other is: what that has not is no word.
    both = [train.corpus, test.corpus.align(train.corpus.vocabulary)]
    corpus = concat(both, prefixes=("train", "test") if clash else None)
    rows, n = np.arange(len(corpus)), len(train.corpus)
    parted = (*train.columns[groups], *test.columns[groups]) if groups else ()
    return Dataset(
        name, corpus, (Split(rows[:n], rows[n:]),), train.texts + test.texts,
        counter=train.counter, groups=parted,
    )  # fmt: skip


def _read(path: Path, said: Description, counter: WordCounter) -> Part:
    if not path.is_file():
        raise DataUnavailableError(f"there is no file {path}")
    format, fields = said.format or guess_format(path), said.fields.fields()
    how = Written(said.encoding, said.delimiter, said.sheet, said.header_row)._asdict()
    corpus, fitted, *_ = read_counted(path, format, fields=fields, counter=counter, **how)
    wanted = [name for name in (said.split_field, said.groups) if name is not None]
    texts, columns = read_beside(path, format, fields, wanted, **how)
    return Part(corpus, fitted, texts if fitted is not None else (), columns)


def read_beside(
    path: StrPath, format: Format, fields: Fields, wanted: Sequence[str], **how: Any
) -> tuple[tuple[str, ...], dict[str, list[str]]]:
    """Return the documents' texts as they are written, and what `wanted` fields say of each.

    Options are those of `read_rows`.
    """
    if format == "svmlight":
        if wanted:
            raise InputError(f"it has no field {wanted[0]!r}, but words and labels alone")
        return (), {}
    # A field that a condition names is read, also of Parquet; this one is true of all documents.
    conditions = (*fields.where, *(Where(name, "\0", equal=False) for name in wanted))
    held = fields_in(format, replace(fields, where=conditions, labels=None, label_columns=()))
    texts, values = list[str](), {name: list[Any]() for name in wanted}
    names: dict[str, None] = {}
    for number, row in read_rows(path, format, held, **how):
        with located(path, number):
            texts.append(plain_row(row, held).get("text", ""))
        names.update(dict.fromkeys(row))
        for name in wanted:
            values[name].append(row.get(name))
    for name in wanted:
        if all(value is None for value in values[name]):
            raise ReadError(
                path, None, f"no document has the field {name!r} (found: {found(names)})"
            )
    shown = {
        name: ["" if value is None else str(value) for value in column]
        for name, column in values.items()
    }
    return tuple(texts), shown
