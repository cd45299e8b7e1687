"""A folder of labelled shards made ready for training, each in a folder of its own on disk.

A first pass reads every file and collects words and labels. A second lays the documents of each
shard out over all of them, as the kernels read them. A shard is in memory at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from deplda.data.corpus import Corpus
from deplda.data.files import StrPath, write_whole
from deplda.data.readers import Fields, read_corpus
from deplda.data.readers.shard_files import format_of, names_in
from deplda.data.text import WordCounter, resolve_min_count
from deplda.engine.execution import HERE, Execution
from deplda.engine.pool import Stop
from deplda.errors import InputError, ReadError
from deplda.training.checkpoint import load_arrays, save_arrays
from deplda.training.word_chain import lay_out, swept_pieces

UNREADABLE = "it cannot be read ({}); prepare the shards anew"

KEYS = "cells.npy"
LAYOUT, PLACES = "layout.npz", "places.npz"
_READY, _LABELS, _RAW, _NAMES = "ready.json", "labels.npz", "documents.npz", "names.json"


class Sizes(msgspec.Struct, frozen=True):
    """What must be known of a shard without opening it."""

    documents: int
    tokens: int
    swept: int
    """Tokens of documents with several labels."""


class Ready(msgspec.Struct, frozen=True):
    """A prepared folder: names of words and labels, and its shards."""

    meaning: dict[str, Any]
    words: list[str]
    labels: list[str]
    least: int | None
    """Words of texts with fewer tokens were dropped; None if there were no texts."""
    shards: list[Sizes]


class _Survey(NamedTuple):
    words: tuple[str, ...]
    totals: npt.NDArray[np.int64]
    labels: tuple[str, ...]
    had_texts: bool


def prepare(
    source: StrPath,
    folder: StrPath,
    execution: Execution = HERE,
    *,
    fields: Fields | None = None,
    counter: WordCounter | None = None,
) -> Ready:
    """Make the shards in `source` ready in `folder`, or find that they are.

    Words and labels come out as those of `read_corpus` of all documents in one file.
    """
    source, folder = Path(source).absolute(), Path(folder).absolute()
    counter, names = counter or WordCounter(), names_in(source)
    fields = fields or Fields()
    stamps = [(source / name).stat() for name in names]
    meaning = {
        "shards": names,
        "stamps": [[stamp.st_size, stamp.st_mtime_ns] for stamp in stamps],
        "fields": repr(fields),
        "counter": repr(sorted(counter.get_params().items())),
    }
    if (ready := _found(folder, meaning)) is not None:
        return ready
    for number in range(len(names)):
        shard_folder(folder, number).mkdir(parents=True, exist_ok=True)
    surveys = execution.map(_survey, list(enumerate(names)), source, folder, fields, counter)
    is_numbered = all(format_of(Path(name)) == "svmlight" for name in names)
    words, labels, least = _names(surveys, counter, is_numbered)
    numbers = range(len(names))
    sizes = list(execution.map(_lay_out, numbers, folder, words, labels))
    _unite_cells(folder, len(names), len(words))
    for _ in execution.map(_place_cells, numbers, folder, len(words)):
        pass
    ready = Ready(meaning, list(words), list(labels), least, sizes)
    with write_whole(folder / _READY) as file:
        file.write(msgspec.json.encode(ready))
    return ready


def _found(folder: Path, meaning: dict[str, Any]) -> Ready | None:
    path = folder / _READY
    if not path.is_file():
        return None
    try:
        ready = msgspec.json.decode(path.read_bytes(), type=Ready)
    except msgspec.DecodeError as error:
        raise ReadError(path, None, f"this is not what it should be ({error})") from error
    if ready.meaning != meaning:
        raise InputError(
            f"{folder} holds other shards, or the same ones read otherwise; name another folder"
        )
    return ready


def fitted(counter: WordCounter, ready: Ready) -> WordCounter | None:
    """Return the counter with the words that were found; None if there were no texts to count."""
    if ready.least is None:
        return None
    again = WordCounter(**counter.get_params())
    again.vocabulary_, again.min_count_ = tuple(ready.words), ready.least
    return again


# The first pass -----------------------------------------------------------------------------------


class _Noting(WordCounter):
    """A counter that drops no word, and notes whether there was any text to count."""

    had_texts = False

    def analyzer(self) -> Callable[[str], list[str]]:
        analyze = super().analyzer()

        def noted(text: str) -> list[str]:
            self.had_texts = True
            return analyze(text)

        return noted


def _survey(
    source: Path, folder: Path, fields: Fields, counter: WordCounter, item: tuple[int, str],
    stop: Stop,
) -> _Survey:  # fmt: skip
    number, name = item
    vocabulary = getattr(counter, "vocabulary_", counter.vocabulary)
    parameters = counter.get_params() | {"min_count": 1, "vocabulary": vocabulary}
    noting = _Noting(**parameters)
    corpus = read_corpus(source / name, fields=fields, counter=noting)
    words, labels = tuple(corpus.vocabulary), tuple(corpus.label_names)
    x, y = corpus.counts, corpus.labels
    save_arrays(
        shard_folder(folder, number) / _RAW, data=x.data, indices=x.indices, starts=x.indptr,
        labels=y.indices, label_starts=y.indptr,
    )  # fmt: skip
    with write_whole(shard_folder(folder, number) / _NAMES) as file:
        file.write(msgspec.json.encode([words, labels]))
    return _Survey(words, corpus.word_counts, labels, noting.had_texts)


def _names(
    surveys: Iterable[_Survey], counter: WordCounter, is_numbered: bool
) -> tuple[tuple[str, ...], tuple[str, ...], int | None]:
    """Return all words and labels, and how many tokens a word of texts must have."""
    labels: dict[str, None] = {}
    words: Counter[str] = Counter()
    had_texts = False
    for survey in surveys:
        labels.update(dict.fromkeys(survey.labels))
        had_texts = had_texts or survey.had_texts
        for word, total in zip(survey.words, survey.totals.tolist(), strict=True):
            words[word] += total
    if not had_texts:
        order: Any = tuple if is_numbered else lambda names: tuple(sorted(names))
        return order(words), order(labels), None
    vocabulary = getattr(counter, "vocabulary_", counter.vocabulary)
    if vocabulary is not None:
        return tuple(vocabulary), tuple(sorted(labels)), getattr(counter, "min_count_", 1)
    least = resolve_min_count(counter.min_count, sum(words.values()))
    kept = sorted(word for word, total in words.items() if total >= least)
    return tuple(kept), tuple(sorted(labels)), least


# The second pass ----------------------------------------------------------------------------------


def _lay_out(
    folder: Path, words: tuple[str, ...], labels: tuple[str, ...], number: int, stop: Stop
) -> Sizes:
    here = shard_folder(folder, number)
    raw = load_arrays(here / _RAW, UNREADABLE)
    own_words, own_labels = msgspec.json.decode((here / _NAMES).read_bytes())
    n = len(raw["starts"]) - 1
    corpus = Corpus(
        csr_array((raw["data"], raw["indices"], raw["starts"]), shape=(n, len(own_words))),
        csr_array(
            (np.ones(len(raw["labels"]), bool), raw["labels"], raw["label_starts"]),
            shape=(n, len(own_labels)),
        ),
        own_words,
        own_labels,
    ).align(_nothing(words, labels))
    layout = lay_out(corpus)
    save_arrays(here / LAYOUT, **layout._asdict())
    save_arrays(here / _LABELS, indices=corpus.labels.indices, starts=corpus.labels.indptr)
    return Sizes(n, corpus.n_tokens, swept_pieces(layout)[0])


def _nothing(words: tuple[str, ...], labels: tuple[str, ...]) -> Corpus:
    """Return a corpus without documents over these words and labels."""
    return Corpus(csr_array((0, len(words))), csr_array((0, len(labels))), words, labels)


def _unite_cells(folder: Path, n_shards: int, n_words: int) -> None:
    """Write the cells of all shards, each as label · W + word, sorted."""
    keys, others = np.empty(0, np.int64), list[npt.NDArray[np.int64]]()
    for number in range(n_shards):
        others.append(_keys(folder, number, n_words))
        # Seldom, so that the time does not grow with the number of shards.
        if number == n_shards - 1 or sum(map(len, others)) > len(keys):
            keys, others = np.unique(np.concatenate([keys, *others])), []
    with write_whole(folder / KEYS) as file:
        np.save(file, keys)


def _place_cells(folder: Path, n_words: int, number: int, stop: Stop) -> None:
    """Write where the cells of a shard stand among all cells."""
    here, keys = shard_folder(folder, number), np.load(folder / KEYS, mmap_mode="r")
    places = np.searchsorted(keys, _keys(folder, number, n_words))
    save_arrays(here / PLACES, places=places.astype(narrow(len(keys))))
    for name in (_RAW, _NAMES):
        (here / name).unlink(missing_ok=True)


def _keys(folder: Path, number: int, n_words: int) -> npt.NDArray[np.int64]:
    layout = load_arrays(shard_folder(folder, number) / LAYOUT, UNREADABLE)
    starts = layout["cell_starts"]
    labels = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return labels * n_words + layout["cell_words"]


def narrow(n: int) -> Any:
    """Return the type of numbers below n."""
    return np.int32 if n <= np.iinfo(np.int32).max else np.int64


# What is on disk ----------------------------------------------------------------------------------


def shard_folder(folder: Path, number: int) -> Path:
    """Return where all that belongs to one shard is kept."""
    return folder / f"shard-{number:05}"


def label_matrix(folder: StrPath, ready: Ready) -> Any:
    """Return the labels of all documents, documents × labels."""
    parts = [csr_array((0, len(ready.labels)), dtype=bool)]
    for number, sizes in enumerate(ready.shards):
        found = load_arrays(shard_folder(Path(folder), number) / _LABELS, UNREADABLE)
        data = np.ones(len(found["indices"]), bool)
        parts.append(
            csr_array(
                (data, found["indices"], found["starts"]),
                shape=(sizes.documents, len(ready.labels)),
            )
        )
    return csr_array(vstack(parts, format="csr"))
