"""A folder of labelled shards made ready for training, each in a folder of its own on disk.

A first pass reads every file and collects words and labels; of very many words the frequent ones,
in bounded memory. A second lays the documents of each shard out over all of them, as the kernels
read them. A worker has a shard in memory at a time, and this process the names.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from deplda.data import checks, wording
from deplda.data.atomic import write_whole
from deplda.data.collocations import chosen_of
from deplda.data.corpus import Corpus
from deplda.data.files import StrPath, check_plain, read_json
from deplda.data.frequent import TextWords
from deplda.data.readers import Fields, language_in, read_counted, separator_in
from deplda.data.readers.shard_files import format_of, names_in
from deplda.data.text import WordCounter
from deplda.engine.execution import HERE, Execution, Shown
from deplda.engine.pool import Stop
from deplda.errors import ApproximateCountsWarning, InputError, ReadError
from deplda.training.checkpoint import load_arrays, save_arrays
from deplda.training.word_chain import lay_out, swept_pieces

PREPARE_ANEW = "delete the folder of prepared shards, and prepare them anew"

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
    language: str | None = None
    surface_words: list[str] | None = None
    """The words as people read them, where they are normalised."""
    missed: int = 0
    """By how many tokens counts of words may have been too small when words were chosen."""


class _Survey(NamedTuple):
    labels: tuple[str, ...]
    words: TextWords | dict[str, int]
    """Those of texts; or all that a file without texts names, with their tokens."""


def prepare(
    source: StrPath,
    folder: StrPath,
    execution: Execution = HERE,
    *,
    fields: Fields | None = None,
    counter: WordCounter | None = None,
) -> Ready:
    """Make the shards in `source` ready in `folder`, or find that they are.

    Words and labels come out as those of `read_corpus` of all documents in one file, as long as
    texts have no more distinct words than the counter's `max_words`. Beyond that no word with fewer
    than `min_count` tokens is kept, and every word with `missed` more than that.
    """
    source, folder = Path(source).absolute(), Path(folder).absolute()
    counter, names = counter or WordCounter(), names_in(source)
    checks.whole("max_words", counter.max_words)
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
    if counter.language == "auto":
        code = language_in([source / name for name in names], fields)
        counter = WordCounter(**counter.get_params() | {"language": code})
    for number in range(len(names)):
        shard_folder(folder, number).mkdir(parents=True, exist_ok=True)
    surveys = execution.map(
        _survey, list(enumerate(names)), source, folder, fields, counter,
        shown=_files("counting words of", names),
    )  # fmt: skip
    is_numbered = all(format_of(Path(name)) == "svmlight" for name in names)
    found = _names(surveys, counter, is_numbered)
    words, labels = found.words, found.labels
    numbers = range(len(names))
    shown = _files("laying out", names)
    sizes = list(execution.map(_lay_out, numbers, folder, words, labels, shown=shown))
    _unite_cells(folder, len(names), len(words))
    shown = _files("indexing", names)
    for _ in execution.map(_place_cells, numbers, folder, len(words), shown=shown):
        pass
    ready = Ready(
        meaning, list(words), list(labels), found.least, sizes, counter.language_code_,
        None if found.surface_words in (None, words) else list(found.surface_words or ()),
        found.missed,
    )  # fmt: skip
    with write_whole(folder / _READY) as file:
        file.write(msgspec.json.encode(ready))
    return ready


def settled_fields(source: StrPath, fields: Fields | None) -> Fields | None:
    """Return the fields with what separates labels, which one shard tells for all of them."""
    named = [name for name in names_in(source) if format_of(Path(name)) != "svmlight"]
    if not named:
        return fields
    known = fields or Fields()
    found = separator_in(Path(source) / named[0], known)
    return fields if found == known else found


def _files(what: str, names: list[str]) -> Shown:
    return Shown(f"{what} {wording.counted(len(names), 'file')}", len(names), lambda _: 1)


def _found(folder: Path, meaning: dict[str, Any]) -> Ready | None:
    path = folder / _READY
    if not os.path.lexists(path):
        return None
    ready = read_json(path, Ready, "this is not what it should be ({})")
    if ready.meaning != meaning:
        raise InputError(
            f"{folder} holds other shards, or the same ones read otherwise; name another folder"
        )
    return ready


def fitted(counter: WordCounter, ready: Ready) -> WordCounter | None:
    """Return the counter with the words that were found; None if there were no texts to count."""
    if ready.least is None:
        return None
    again = WordCounter(**counter.get_params() | {"language": ready.language})
    return again.with_words(ready.words, ready.least, ready.surface_words)


# The first pass -----------------------------------------------------------------------------------


def _survey(
    source: Path, folder: Path, fields: Fields, counter: WordCounter, item: tuple[int, str],
    stop: Stop,
) -> _Survey:  # fmt: skip
    number, name = item
    vocabulary = getattr(counter, "vocabulary_", counter.vocabulary)
    counter = WordCounter(**counter.get_params() | {"vocabulary": vocabulary})
    corpus, counted, *_ = read_counted(source / name, fields=fields, counter=counter)
    words, labels = tuple(corpus.vocabulary), tuple(corpus.label_names)
    x, y = corpus.counts, corpus.labels
    save_arrays(
        shard_folder(folder, number) / _RAW, data=x.data, indices=x.indices, starts=x.indptr,
        labels=y.indices, label_starts=y.indptr,
    )  # fmt: skip
    with write_whole(shard_folder(folder, number) / _NAMES) as file:
        file.write(msgspec.json.encode([words, labels]))
    totals = dict(zip(words, corpus.word_counts.tolist(), strict=True))
    if counted is None:
        return _Survey(labels, totals)
    found = TextWords(counter.max_words, counter.ngrams).add(totals, counter.forms_met_)
    return _Survey(labels, found)


class _Found(NamedTuple):
    words: tuple[str, ...]
    labels: tuple[str, ...]
    least: int | None = None
    surface_words: tuple[str, ...] | None = None
    missed: int = 0


def _names(surveys: Iterable[_Survey], counter: WordCounter, is_numbered: bool) -> _Found:
    """Return all words and labels, and how many tokens a word of texts must have."""
    labels: dict[str, None] = {}
    named: Counter[str] = Counter()
    words, has_texts = TextWords(counter.max_words, counter.ngrams), False
    for survey in surveys:
        labels.update(dict.fromkeys(survey.labels))
        if isinstance(survey.words, TextWords):
            words.merge(survey.words)
            has_texts = True
        else:
            named.update(survey.words)
    if not has_texts:
        order: Any = tuple if is_numbered else lambda names: tuple(sorted(names))
        return _Found(order(named), order(labels))
    words.add(named, {})
    counter.forms_met_.update(words.forms.counts)
    kept, least = getattr(counter, "vocabulary_", counter.vocabulary), 1
    missed = words.missed if kept is None else 0
    if kept is None:
        kept, least = chosen_of(words.totals(), counter.min_count, words.n_tokens)
    if missed:
        _warn(missed, least, counter.max_words)
    full = counter.with_words(kept, getattr(counter, "min_count_", least))
    return _Found(
        full.vocabulary_, tuple(sorted(labels)), full.min_count_, full.surface_words_, missed
    )


def _warn(missed: int, least: int, max_words: int) -> None:
    warnings.warn(
        f"the texts have more distinct words than max_words = {max_words:,}: counts may be too "
        f"small by up to {wording.counted(missed, 'token')}, so that words with fewer than "
        f"{least + missed:,} may be left out; give more memory to it with a larger max_words "
        "(--max-words)",
        ApproximateCountsWarning,
        stacklevel=4,
    )


# The second pass ----------------------------------------------------------------------------------


def _lay_out(
    folder: Path, words: tuple[str, ...], labels: tuple[str, ...], number: int, stop: Stop
) -> Sizes:
    here = shard_folder(folder, number)
    raw = load_arrays(here / _RAW, PREPARE_ANEW)
    own_words, own_labels = msgspec.json.decode((here / _NAMES).read_bytes())
    entries, own = (raw.take(name, (np.int32, np.int64), (None,)) for name in ("indices", "labels"))
    starts, label_starts = (
        raw.take(name, (np.int32, np.int64), (None,)) for name in ("starts", "label_starts")
    )
    data, n = raw.take("data", (np.int32, np.float32, np.float64), (len(entries),)), len(starts) - 1
    corpus = Corpus(
        csr_array((data, entries, starts), shape=(n, len(own_words))),
        csr_array((np.ones(len(own), bool), own, label_starts), shape=(n, len(own_labels))),
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
    here, keys = shard_folder(folder, number), read_keys(folder)
    places = np.searchsorted(keys, _keys(folder, number, n_words))
    save_arrays(here / PLACES, places=places.astype(narrow(len(keys))))
    for name in (_RAW, _NAMES):
        (here / name).unlink(missing_ok=True)


def _keys(folder: Path, number: int, n_words: int) -> npt.NDArray[np.int64]:
    layout = load_arrays(shard_folder(folder, number) / LAYOUT, PREPARE_ANEW)
    words = layout.below("cell_words", np.int32, (None,), n_words)
    starts = layout.starts("cell_starts", None, len(words))
    labels = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return labels * n_words + words


def read_keys(folder: Path) -> npt.NDArray[np.int64]:
    """Return the cells of all shards, ascending."""
    keys = _mapped_keys(folder)
    if (np.diff(keys) <= 0).any() or (keys[:1] < 0).any():
        raise ReadError(folder / KEYS, None, f"its numbers do not rise from 0; {PREPARE_ANEW}")
    return keys


def count_keys(folder: Path) -> int:
    """Return how many cells there are in all shards."""
    return len(_mapped_keys(folder))


def _mapped_keys(folder: Path) -> npt.NDArray[np.int64]:
    path = folder / KEYS
    check_plain(path)
    try:
        keys = np.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError) as error:
        raise ReadError(path, None, f"it cannot be read ({error}); {PREPARE_ANEW}") from error
    if not isinstance(keys, np.ndarray) or keys.dtype != np.int64 or keys.ndim != 1:
        raise ReadError(path, None, f"these are not the cells of shards; {PREPARE_ANEW}")
    return np.asarray(keys)


def read_layout(path: Path, n_words: int, n_labels: int) -> Any:
    """Return a layout, checked as far as kernels rely on it."""
    from deplda.kernels.train_words import Layout, document_lengths

    saved = load_arrays(path, PREPARE_ANEW)
    times = saved.counts("times", (np.int32, np.float32), (None,))
    labels = saved.below("labels", np.int32, (None,), n_labels)
    entries = saved.starts("entry_starts", None, len(times))
    n = len(entries) - 1
    label_starts = saved.starts("label_starts", n, len(labels))
    lengths = document_lengths(entries, times)
    tokens = saved.starts("token_starts", n, int(lengths.sum()))
    words = saved.below("cell_words", np.int32, (None,), n_words)
    cells = saved.below("cells", np.int32, (None,), len(words))
    grids = saved.starts("grid_starts", n, len(cells))
    sizes = np.diff(entries) * np.diff(label_starts)
    if not (np.array_equal(np.diff(grids), sizes) and np.array_equal(np.diff(tokens), lengths)):
        raise saved.unusable("arrays 'grid_starts' and 'token_starts' do not fit the documents")
    for array in (times, labels):  # as in a corpus: kernels are compiled for read-only ones
        array.flags.writeable = False
    return Layout(
        entries, times, label_starts, labels, tokens, grids, cells,
        saved.starts("cell_starts", n_labels, len(words)), words,
    )  # fmt: skip


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
        found = load_arrays(shard_folder(Path(folder), number) / _LABELS, PREPARE_ANEW)
        kinds, shape = (np.int32, np.int64), (sizes.documents, len(ready.labels))
        indices = found.below("indices", kinds, (None,), len(ready.labels))
        starts = found.starts("starts", sizes.documents, len(indices))
        parts.append(csr_array((np.ones(len(indices), bool), indices, starts), shape=shape))
    return csr_array(vstack(parts, format="csr"))
