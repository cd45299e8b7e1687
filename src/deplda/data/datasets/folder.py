"""A folder of svmlight files as a data set: documents, names, and the splits that go with them.

| file | what |
|---|---|
| ``all.svm.gz``, or ``[X.]train.svm.gz`` and ``[X.]test.svm.gz`` | documents |
| ``labels.txt``, ``vocab.txt`` | names, one a line; after a tab where the line begins with a code |
| ``all.vocab.txt``, ``all.labels.txt``, ``all.ids.txt`` | the same as `write_svmlight` has them |
| ``all.docs.tsv``, ``train.docs.tsv``, ``test.docs.tsv`` | ids in the first column |
| ``splitK.train.idx`` and ``splitK.test.idx`` | row numbers, one a line |
| ``folds.txt``, or the last column of ``all.docs.tsv`` | fold numbers, one a line |
| ``words.json`` | how words were counted, so that texts can be counted alike |
| ``groups.txt`` | of each document of ``all.svm.gz`` what is never parted, such as its source |
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt

from deplda.data.atomic import write_folder, write_whole
from deplda.data.corpus import Corpus, concat
from deplda.data.datasets.dataset import Dataset
from deplda.data.datasets.words_file import read_counter, write_counter
from deplda.data.encodings import decode
from deplda.data.files import read_lines
from deplda.data.readers import read_corpus, write_svmlight
from deplda.data.readers.records import located
from deplda.data.splits import Split, by_fold
from deplda.errors import DataUnavailableError, ReadError

_GROUPS = "groups.txt"


def holds_svmlight(folder: Path) -> bool:
    """Return whether a folder has the files that `load_folder` looks for."""
    return (folder / "all.svm.gz").is_file() or any(folder.glob("*train.svm.gz"))


def load_folder(folder: Path, name: str) -> Dataset:
    """Return the data set in a folder laid out as above."""
    whole = folder / "all.svm.gz"
    if whole.is_file():
        corpus = _read(folder, whole)
        return Dataset(
            name, corpus, _splits(folder, len(corpus)), groups=_groups(folder, corpus),
            counter=read_counter(folder, corpus.vocabulary),
        )  # fmt: skip
    for train in sorted(folder.glob("*train.svm.gz")):
        test = train.with_name(train.name.removesuffix("train.svm.gz") + "test.svm.gz")
        if test.is_file():
            return _train_and_test(folder, name, train, test)
    raise DataUnavailableError(
        f"{folder} holds no data set: it needs all.svm.gz, or train.svm.gz and test.svm.gz; of "
        "full texts give the folder in which the .txt files lie, with --format annif"
    )


def save_folder(dataset: Dataset, folder: Path) -> None:
    """Write a data set as such a folder, which appears under its name only when complete."""
    with write_folder(folder) as new:
        write_svmlight(dataset.corpus, new / "all.svm.gz")
        if dataset.counter is not None:
            write_counter(dataset.counter, new)
        if dataset.groups:
            with write_whole(new / _GROUPS) as file:
                file.write("".join(f"{_on_a_line(g)}\n" for g in dataset.groups).encode())
        for number, split in enumerate(dataset.splits):
            for part, rows in (("train", split.train), ("test", split.test)):
                with write_whole(new / f"split{number}.{part}.idx") as file:
                    file.write("".join(f"{row}\n" for row in rows.tolist()).encode())


def _on_a_line(group: str) -> str:
    return " ".join(group.split())


def _groups(folder: Path, corpus: Corpus) -> tuple[str, ...]:
    path = folder / _GROUPS
    if not path.is_file():
        return ()
    groups = tuple(row[0] for row in _table(path))
    if len(groups) != len(corpus):
        raise ReadError(
            path, None, f"it gives {len(groups):,} groups for {len(corpus):,} documents"
        )
    return groups


def _train_and_test(folder: Path, name: str, train: Path, test: Path) -> Dataset:
    parts = [_read(folder, file) for file in (train, test)]
    named = all(_documents(file).is_file() for file in (train, test))
    # Without names the wider part decides how many words and labels there are.
    corpus = concat(parts, prefixes=None if named else ("train", "test"))
    rows = np.arange(len(corpus))
    return Dataset(name, corpus, (Split(rows[: len(parts[0])], rows[len(parts[0]) :]),))


def _read(folder: Path, file: Path) -> Corpus:
    words, labels = _names(folder / "vocab.txt"), _names(folder / "labels.txt")
    corpus = read_corpus(file, "svmlight", vocabulary=words, label_names=labels)
    documents = _documents(file)
    if not documents.is_file():
        return corpus
    ids = [row[0] for row in _table(documents)]
    with located(documents, None):
        return Corpus(corpus.counts, corpus.labels, corpus.vocabulary, corpus.label_names, ids)


def _documents(file: Path) -> Path:
    return file.with_name(file.name.removesuffix(".svm.gz") + ".docs.tsv")


def _table(path: Path) -> list[list[str]]:
    return [decode(path, number, line, "utf-8").split("\t") for number, line in read_lines(path)]


def _names(path: Path) -> tuple[str, ...] | None:
    if not path.is_file():
        return None
    rows = _table(path)
    times = Counter(row[-1] for row in rows)
    return tuple([row[-1] if times[row[-1]] == 1 else " ".join(row) for row in rows])


def _splits(folder: Path, n: int) -> tuple[Split, ...]:
    pairs = sorted(folder.glob("split*.train.idx"), key=lambda path: (len(path.name), path.name))
    if pairs:
        tests = [train.with_name(train.name.replace(".train.", ".test.")) for train in pairs]
        both = zip(pairs, tests, strict=True)
        return tuple(Split(row_numbers(train, n), row_numbers(test, n)) for train, test in both)
    for path in (folder / "folds.txt", folder / "all.docs.tsv"):
        if path.is_file():
            folds = row_numbers(path, 10**9)
            if len(folds) != n:
                raise ReadError(path, None, f"it gives {len(folds):,} folds for {n:,} documents")
            return tuple(by_fold(folds))
    return ()


def row_numbers(path: Path, below: int) -> npt.NDArray[np.int64]:
    """Return the whole numbers of a file, one a line or the last of it."""
    if path.is_fifo():  # it would be waited for
        raise ReadError(path, None, "this is a pipe; put a file there")
    values = []
    for number, row in enumerate(_table(path), start=1):
        if re.fullmatch("[0-9]{1,9}", row[-1]) is None or int(row[-1]) >= below:
            raise ReadError(path, number, f"{row[-1]!r} is not a whole number below {below:,}")
        values.append(int(row[-1]))
    return np.array(values, dtype=np.int64)
