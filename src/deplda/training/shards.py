"""A folder of labelled shards made ready for training, each in a folder of its own on disk.

A first pass reads every file and collects words and labels; of very many words the frequent ones,
in bounded memory. A second numbers the words and labels of each shard by those of all. A worker has
a shard in memory at a time, and this process the names.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from deplda.data import checks, wording
from deplda.data.atomic import write_whole
from deplda.data.collocations import chosen_of
from deplda.data.corpus import Corpus, only_columns
from deplda.data.files import StrPath, read_json
from deplda.data.frequent import TextWords
from deplda.data.readers import Fields, first_documents, language_in, read_counted, separator_in
from deplda.data.readers.shard_files import format_of, names_in
from deplda.data.text import WordCounter
from deplda.data.word_settings import MOST_DOCUMENTS
from deplda.engine.execution import HERE, Execution, Shown
from deplda.engine.pool import Stop
from deplda.errors import ApproximateCountsWarning, InputError, warn
from deplda.training.checkpoint import load_arrays, save_arrays

PREPARE_ANEW = "delete the folder of prepared shards, and prepare them anew"

_FORMAT = 1  # of what is prepared; a folder of another one is refused
WORDS, _LABELS, _READY = "words.npz", "labels.npz", "ready.json"
_RAW, _NAMES = "documents.npz", "names.json"
_WORTH_PROCESSES = 20_000_000
"""Bytes of all files from which on words are counted by processes."""


class Sizes(msgspec.Struct, frozen=True):
    """What must be known of a shard without opening it."""

    documents: int
    tokens: int


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
        "format": _FORMAT,
        "shards": names,
        "stamps": [[stamp.st_size, stamp.st_mtime_ns] for stamp in stamps],
        "fields": repr(fields),
        "counter": repr(sorted(counter.get_params().items())),
    }
    if (ready := _found(folder, meaning)) is not None:
        return ready
    if counter.language == "auto" and not hasattr(counter, "detected_"):
        code = language_in([source / name for name in names], fields)
        counter = WordCounter(**counter.get_params() | {"language": code})
    for number in range(len(names)):
        shard_folder(folder, number).mkdir(parents=True, exist_ok=True)
    counting = _for_texts(execution, sum(stamp.st_size for stamp in stamps))
    surveys = counting.map(
        _survey, list(enumerate(names)), source, folder, fields, counter,
        shown=_files("counting words of", names),
    )  # fmt: skip
    is_numbered = all(format_of(Path(name)) == "svmlight" for name in names)
    found = _names(surveys, counter, is_numbered)
    words, labels = found.words, found.labels
    numbers = range(len(names))
    shown = _files("numbering words of", names)
    sizes = list(execution.map(_number, numbers, folder, words, labels, shown=shown))
    ready = Ready(
        meaning, list(words), list(labels), found.least, sizes, counter.language_code_,
        None if found.surface_words in (None, words) else list(found.surface_words or ()),
        found.missed,
    )  # fmt: skip
    with write_whole(folder / _READY) as file:
        file.write(msgspec.json.encode(ready))
    for number in numbers:
        for name in (_RAW, _NAMES):
            (shard_folder(folder, number) / name).unlink(missing_ok=True)
    return ready


def settled_fields(source: StrPath, fields: Fields | None) -> Fields | None:
    """Return the fields with what separates labels, which one shard tells for all of them."""
    named = [name for name in names_in(source) if format_of(Path(name)) != "svmlight"]
    if not named:
        return fields
    known = fields or Fields()
    found = separator_in(Path(source) / named[0], known)
    return fields if found == known else found


def settled_words(
    source: StrPath, fields: Fields | None, counter: WordCounter | None
) -> tuple[WordCounter, Fields | None]:
    """Return how texts become words, chosen by the first labelled documents, and their fields."""
    counter = WordCounter() if counter is None else counter
    if hasattr(counter, "vocabulary_") or counter.vocabulary is not None:
        return counter, fields
    paths, read_by = [Path(source) / name for name in names_in(source)], fields or Fields()
    language = counter.language
    if language == "auto":
        language = language_in(paths, read_by)
    counter = WordCounter(**counter.get_params() | {"language": language})
    choice = counter.choose(
        islice(first_documents(paths, read_by), MOST_DOCUMENTS), read_by.fields_to_weigh
    )
    if choice is None:
        return counter, fields
    if read_by.fields_to_weigh:
        fields = replace(read_by, weights=dict(choice.settings.weights))
    chosen = {"token_pattern": counter.token_pattern_, "ngrams": counter.ngrams_}
    counter = WordCounter(**counter.get_params() | chosen)
    counter.choice_ = choice
    return counter, fields


def _for_texts(execution: Execution, n_bytes: int) -> Execution:
    """Return where words are counted: threads would take turns at it, processes do not.

    These take a second or two to start.
    """
    if not execution.is_here or execution.n_workers == 1 or n_bytes < _WORTH_PROCESSES:
        return execution
    return replace(execution, engine="processes", device="cpu")


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
    settings = {"language": counter.language_code_, "vocabulary": vocabulary}
    counter = WordCounter(**counter.get_params() | settings)
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
    found = TextWords(counter.max_words, counter.ngrams_).add(totals, counter.forms_met_)
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
    words, has_texts = TextWords(counter.max_words, counter.ngrams_), False
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
    warn(
        f"the texts have more distinct words than max_words = {max_words:,}: counts may be too "
        f"small by up to {wording.counted(missed, 'token')}, so that words with fewer than "
        f"{least + missed:,} may be left out; give more memory to it with a larger max_words "
        "(--max-words)",
        ApproximateCountsWarning,
    )


# The second pass ----------------------------------------------------------------------------------


def _number(
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
    return _save(here, corpus)


def _save(folder: Path, corpus: Corpus) -> Sizes:
    """Write the words and labels of a shard."""
    x, y = corpus.counts, corpus.labels
    save_arrays(folder / WORDS, times=x.data, words=x.indices, starts=x.indptr)
    save_arrays(
        folder / _LABELS, indices=y.indices, starts=y.indptr,
        tokens=corpus.document_lengths, n_words=np.diff(x.indptr),
    )  # fmt: skip
    return Sizes(corpus.n_documents, corpus.n_tokens)


def _nothing(words: tuple[str, ...], labels: tuple[str, ...]) -> Corpus:
    """Return a corpus without documents over these words and labels."""
    return Corpus(csr_array((0, len(words))), csr_array((0, len(labels))), words, labels)


def with_words(
    folder: Path, ready: Ready, is_kept: npt.NDArray[np.bool_], what: str
) -> tuple[Path, Ready]:
    """Prepare the same shards with some of their words alone, in a folder called `what`."""
    target, meaning = folder / what, ready.meaning | {"words": what}
    if (found := _found(target, meaning)) is not None:
        return target, found
    shards = list[Sizes]()
    for number in range(len(ready.shards)):
        corpus = read_shard(folder, (len(ready.words), len(ready.labels)), number)
        words = csr_array(only_columns(corpus.counts, is_kept))
        corpus = Corpus(words, corpus.labels, ready.words, ready.labels)
        shard_folder(target, number).mkdir(parents=True, exist_ok=True)
        shards.append(_save(shard_folder(target, number), corpus))
    prepared = msgspec.structs.replace(ready, meaning=meaning, shards=shards)
    with write_whole(target / _READY) as file:
        file.write(msgspec.json.encode(prepared))
    return target, prepared


# What is on disk ----------------------------------------------------------------------------------


def shard_folder(folder: Path, number: int) -> Path:
    """Return where all that belongs to one shard is kept."""
    return folder / f"shard-{number:05}"


class Labels(NamedTuple):
    """Of all documents their labels, documents × labels, and how many words they have."""

    matrix: Any
    tokens: npt.NDArray[np.int64]
    has_words: npt.NDArray[np.bool_]


def read_labels(folder: StrPath, ready: Ready) -> Labels:
    """Return the labels of all documents."""
    parts = [csr_array((0, len(ready.labels)), dtype=bool)]
    tokens, has_words = [np.zeros(0, np.int64)], [np.zeros(0, bool)]
    for number, sizes in enumerate(ready.shards):
        found = load_arrays(shard_folder(Path(folder), number) / _LABELS, PREPARE_ANEW)
        kinds, shape = (np.int32, np.int64), (sizes.documents, len(ready.labels))
        indices = found.below("indices", kinds, (None,), len(ready.labels))
        starts = found.starts("starts", sizes.documents, len(indices))
        parts.append(csr_array((np.ones(len(indices), bool), indices, starts), shape=shape))
        tokens.append(found.counts("tokens", np.int64, (sizes.documents,)))
        has_words.append(found.take("n_words", kinds, (sizes.documents,)) > 0)
    matrix = csr_array(vstack(parts, format="csr"))
    return Labels(matrix, np.concatenate(tokens), np.concatenate(has_words))


def without_words(ready: Ready, labels: Labels) -> Corpus:
    """Return a corpus of all documents as if they had no words: what is known of it in memory."""
    blank = csr_array((labels.matrix.shape[0], len(ready.words)))
    return Corpus(blank, labels.matrix, ready.words, ready.labels)


def read_shard(folder: Path, ready_sizes: tuple[int, int], number: int) -> Corpus:
    """Return the documents of a shard, over so many words and labels in all."""
    n_words, n_labels = ready_sizes
    here, kinds = shard_folder(folder, number), (np.int32, np.int64)
    found = load_arrays(here / _LABELS, PREPARE_ANEW)
    labels = found.below("indices", kinds, (None,), n_labels)
    label_starts = found.starts("starts", None, len(labels))
    n = len(label_starts) - 1
    found = load_arrays(here / WORDS, PREPARE_ANEW)
    words = found.below("words", kinds, (None,), n_words)
    times = found.counts("times", (np.int32, np.float32, np.float64), (len(words),))
    starts = found.starts("starts", n, len(words))
    return Corpus(
        csr_array((times, words, starts), shape=(n, n_words)),
        csr_array((np.ones(len(labels), bool), labels, label_starts), shape=(n, n_labels)),
    )
