"""Classifiers to and from their saved form, everything checked on the way in."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

import deplda
from deplda.data.corpus import Corpus
from deplda.data.files import StrPath
from deplda.data.forms import package_of
from deplda.data.languages import NAMES, languages, stop_words_of
from deplda.data.statistics import describe
from deplda.data.targets import Targets
from deplda.data.text import WordCounter
from deplda.data.vocabulary import Concept, Vocabulary
from deplda.errors import (
    IgnoredParameterWarning,
    InputError,
    OtherVersionWarning,
    ReadError,
    read_errors,
    warn,
)
from deplda.models import untrusted
from deplda.models.calibration import Calibration
from deplda.models.card import Arrays, Card, Stored
from deplda.models.cutting import check_cutoff
from deplda.models.examples import LONGEST_TITLE, Examples
from deplda.models.learned_from import LearnedFrom
from deplda.models.parameters import checked, names_of
from deplda.models.quality import LabelQuality
from deplda.training.estimates import LabelWords, TopicLabels
from deplda.training.slices import never_falls

_WORDS, _SETS, _TOPICS = "label_words", "label_sets", "topic_labels"
_WEIGHTS = f"{_SETS}.weights"
_CALIBRATION = "calibration"
_HELD_OUT = "held_out"
LEARNED_FROM = "learned_from."
_EXAMPLES = "examples"
_Title = Annotated[str, msgspec.Meta(max_length=LONGEST_TITLE)]
_VOCABULARY, _LANGUAGE = "vocabulary", "label_language"
_MOST_COLUMNS = np.iinfo(np.int32).max
_PARAMETERS = "its parameters cannot be used: {}"
_MOST_OFF = 1e-2
_LEAST_BASE = 1e-30  # a word's probability that single precision still knows from 0


def card_of(model: Any, learned: dict[str, Any], metrics: dict[str, Any] | None) -> Card:
    """Return the card of any fitted classifier; `learned` is what it knows beside its arrays."""
    labels = model.classes_.tolist()
    if len({type(label) for label in labels}) > 1 or not isinstance(
        labels[0], str | int | bool | float
    ):
        raise InputError(
            f"labels such as {labels[0]!r} cannot be saved; all must be strings, or all numbers"
        )
    if _exceed_64_bits(labels):
        raise InputError("integer labels beyond 64 bits cannot be saved; use strings as labels")
    names = getattr(model, "feature_names_in_", None)
    return Card(
        library=deplda.__version__,
        model=type(model).__name__,
        parameters={
            name: plain(name, value)
            for name, value in model.get_params().items()
            if name not in untrusted.MACHINE
        },
        learned=learned
        | calibration_numbers(model.calibration_, _CALIBRATION)
        | {_HELD_OUT: model.held_out_}
        | ({} if model.label_language_ is None else {_LANGUAGE: model.label_language_}),
        seed=model.seed_,
        kind=model._targets.kind,
        labels=labels,
        object_labels=model.classes_.dtype == object,
        words=None if names is None else [str(name) for name in names],
        n_words=int(model.n_features_in_),
        text=None if model.counter_ is None else _text_settings(model.counter_),
        fields=None if model.fields_ is None else replace(model.fields_, where=()),
        statistics=_statistics(model),
        metrics=metrics,
    )


def restore(stored: Stored, make: Callable[..., Any]) -> Any:
    """Return a classifier, made by `make(**parameters)`, with all that any classifier learns."""
    path, card, arrays, is_trusted = stored
    parameters = untrusted.without_machine(card.model, card.parameters)
    misfit = f"the card does not fit a {card.model}: {{}}"
    with (
        read_errors(path, misfit, TypeError, msgspec.ValidationError),
        read_errors(path, _PARAMETERS, InputError),
    ):
        model = make(**parameters)
        text = None if card.text is None else msgspec.convert(card.text, _Text)
        if text is not None and not is_trusted:  # before the pattern is used for anything
            untrusted.check_pattern(text.token_pattern)
        model.counter_ = None if text is None else _counter(text, card.words or [])
    if (problem := _problem(card)) is not None:
        raise ReadError(path, None, f"the card {problem}")
    classes = _classes(card)
    model._targets, model.classes_ = Targets(classes, card.kind), classes
    model.label_sets_ = Reader(path, arrays).indicator(_SETS, len(classes))
    model.document_weights_ = _document_weights(stored, model.label_sets_.shape[0])
    model.calibration_ = read_calibration(stored, _CALIBRATION)
    model.held_out_ = _held_out(stored)
    model.label_quality_ = read_label_quality(stored, _HELD_OUT)
    model._learned_from = _learned_from(stored)
    model.examples_ = _read_examples(stored, model.label_sets_.shape[0])
    model.seed_, model.metrics_ = card.seed, card.metrics
    model.fields_ = card.fields
    model.vocabulary_ = _vocabulary(stored)
    model.label_language_ = _language(stored)
    model.n_features_in_, model.n_tokens_ = card.n_words, card.statistics["n_tokens"]
    if card.words is not None:
        model.feature_names_in_ = np.array(card.words, dtype=object)
    with read_errors(path, _PARAMETERS, InputError):
        _settle_cutoff(model)
        asked = checked(parameters)
        if not is_trusted:
            untrusted.check_work(asked)
    return model


def _classes(card: Card) -> npt.NDArray[Any]:
    # NumPy would make every string as wide as the longest one.
    is_object = card.object_labels or isinstance(card.labels[0], str)
    return np.array(card.labels, dtype=object if is_object else None)


def _settle_cutoff(model: Any) -> None:
    """Check the cut-off; a score, as earlier versions had them, gives way to the default."""
    cutoff = model.cutoff
    if isinstance(cutoff, float) and math.isfinite(cutoff) and not 0 < cutoff < 1:
        default = type(model)().cutoff
        warn(
            f"the saved {type(model).__name__} cuts off at the score {cutoff:g}; a threshold is a "
            f"probability now, and cutoff={default!r} is used: set another, and save it again",
            IgnoredParameterWarning,
        )
        model.cutoff = default
    check_cutoff(model.cutoff)


class _Numbers(msgspec.Struct, forbid_unknown_fields=True):
    """What a calibration is beside its arrays."""

    threshold: Annotated[float, msgspec.Meta(gt=0, lt=1)]
    error: Annotated[float, msgspec.Meta(ge=0, le=1)]
    temperature: Annotated[float, msgspec.Meta(ge=0, le=1e6)]
    without_labels: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None


_ARRAYS = tuple(name for name in Calibration._fields if name not in _Numbers.__struct_fields__)


def calibration_numbers(calibration: Calibration | None, what: str) -> dict[str, Any]:
    """Return the numbers of a calibration as they are saved under a name."""
    if calibration is None:
        return {}
    return {what: {name: getattr(calibration, name) for name in _Numbers.__struct_fields__}}


def calibration_arrays(calibration: Calibration | None, what: str) -> Arrays:
    """Return the arrays of a calibration as they are saved under a name."""
    if calibration is None:
        return {}
    return {f"{what}.{name}": getattr(calibration, name) for name in _ARRAYS}


def read_calibration(stored: Stored, what: str) -> Calibration | None:
    """Return the calibration saved under a name; None if there is none."""
    told, read = stored.card.learned.get(what), Reader(stored.path, stored.arrays)
    if told is None:
        return None
    with read_errors(stored.path, "its calibration cannot be used: {}", msgspec.ValidationError):
        numbers = msgspec.convert(told, _Numbers)
    names, n_labels = [f"{what}.{name}" for name in _ARRAYS], len(stored.card.labels)
    first, second = read.line(*names[:2]), read.line(*names[4:6])
    slopes, offsets, shifts, thresholds = (
        read.vector(names[place], n_labels) for place in (2, 3, 6, 7)
    )
    return Calibration(
        *first, slopes, offsets, *second, shifts, thresholds, **msgspec.structs.asdict(numbers)
    )


def _held_out(stored: Stored) -> dict[str, float]:
    """Return what the model reached on documents held out."""
    with read_errors(stored.path, "its quality cannot be read: {}", msgspec.ValidationError):
        return msgspec.convert(stored.card.learned.get(_HELD_OUT, {}), dict[str, float])


def label_quality_arrays(quality: LabelQuality | None, what: str) -> Arrays:
    """Return what labels reached on documents held out as it is saved under a name."""
    if quality is None:
        return {}
    return {f"{what}.{name}": part for name, part in quality._asdict().items()}


def read_label_quality(stored: Stored, what: str) -> LabelQuality | None:
    """Return what labels reached, saved under a name; None if there is nothing, as of old."""
    documents, precision = (f"{what}.{name}" for name in LabelQuality._fields)
    if documents not in stored.arrays:
        return None
    read, n_labels = Reader(stored.path, stored.arrays), len(stored.card.labels)
    counts, values = read.take(documents, np.int64), read.vector(precision, n_labels)
    read.require(documents, len(counts) == n_labels, f"is not of {n_labels:,} labels")
    return LabelQuality(np.array(counts), values)


def _problem(card: Card) -> str | None:
    """Return what is wrong with the numbers and names on a card."""
    words, n_tokens = card.words, card.statistics.get("n_tokens")
    if len({type(label) for label in card.labels}) != 1:
        return "has no labels, or labels of several types"
    if card.n_words < 1 or (words is not None and len(words) != card.n_words):
        return f"has not {card.n_words:,} words"
    if card.text is not None and words is None:
        return "says how words are counted, but not which"
    if card.seed >= 1 << 64:
        return f"has the seed {card.seed}, which is beyond 64 bits"
    if not isinstance(n_tokens, int) or not 0 <= n_tokens < 1 << 63:
        return f"has the number of tokens {n_tokens!r}"
    return None


def _exceed_64_bits(labels: list[Any]) -> bool:
    limits = np.iinfo(np.int64)
    return isinstance(labels[0], int) and not limits.min <= min(labels) <= max(labels) <= limits.max


def common_arrays(model: Any) -> Arrays:
    """Return what any classifier saves: the labels of the documents learned from, calibration."""
    sets = sparse_arrays(_SETS, model.label_sets_)
    del sets[f"{_SETS}.data"]  # all of it is 1
    if model.document_weights_ is not None:
        sets[_WEIGHTS] = model.document_weights_
    known = {f"{LEARNED_FROM}{name}": part for name, part in model._learned_from._asdict().items()}
    known |= _examples(model.examples_)
    known |= label_quality_arrays(model.label_quality_, _HELD_OUT)
    return sets | calibration_arrays(model.calibration_, _CALIBRATION) | known | _concepts(model)


def _document_weights(stored: Stored, n: int) -> npt.NDArray[np.float64] | None:
    """Return how many documents each that was learned from counts as; None where each is one."""
    if _WEIGHTS not in stored.arrays:
        return None
    return Reader(stored.path, stored.arrays).vector(_WEIGHTS, n)


def _learned_from(stored: Stored) -> LearnedFrom:
    """Return which documents were learned from; models of earlier versions do not know."""
    bits, n_words, starts = (f"{LEARNED_FROM}{name}" for name in LearnedFrom._fields)
    if bits not in stored.arrays:
        return LearnedFrom()
    read = Reader(stored.path, stored.arrays)
    found, words = read.take(bits, np.int64), read.take(n_words, np.int64)
    return LearnedFrom(
        np.array(found), np.array(words), read.starts(starts, len(words), len(found))
    )


def _examples(examples: Examples | None) -> Arrays:
    """Return what is kept of training documents as it is saved."""
    if examples is None:
        return {}
    packed = np.frombuffer(msgspec.msgpack.encode(examples.titles), dtype=np.uint8)
    arrays = sparse_arrays(_EXAMPLES, examples.vectors)
    return arrays | {f"{_EXAMPLES}.titles": packed, f"{_EXAMPLES}.idf": examples.idf}


def _read_examples(stored: Stored, n_documents: int) -> Examples | None:
    """Return what is kept of training documents; None where nothing is."""
    if f"{_EXAMPLES}.titles" not in stored.arrays:
        return None
    read = Reader(stored.path, stored.arrays)
    kinds = (msgspec.DecodeError, UnicodeDecodeError)
    with read_errors(stored.path, "its examples cannot be read: {}", *kinds):
        packed = read.take(f"{_EXAMPLES}.titles", np.uint8).tobytes()
        titles = msgspec.msgpack.decode(packed, type=tuple[_Title, ...])
    read.require(
        f"{_EXAMPLES}.titles", len(titles) <= n_documents, f"is not of {n_documents:,} documents"
    )
    idf = np.array(read.take(f"{_EXAMPLES}.idf", np.float64))
    read.require(f"{_EXAMPLES}.idf", len(idf) <= stored.card.n_words, "is not of the model's words")
    indices, starts = read.pattern(_EXAMPLES, len(titles), len(idf))
    data = read.take(f"{_EXAMPLES}.data", np.uint8)
    read.require(_EXAMPLES, len(data) == len(indices), "has not one weight for each word")
    shape = len(titles), len(idf)
    return Examples(titles, idf, csr_array((data, indices, starts), shape=shape))


def _concepts(model: Any) -> Arrays:
    """Return the vocabulary as it is saved: MessagePack in an array of bytes."""
    if model.vocabulary_ is None:
        return {}
    packed = msgspec.msgpack.encode(model.vocabulary_.concepts)
    return {_VOCABULARY: np.frombuffer(packed, dtype=np.uint8)}


def _vocabulary(stored: Stored) -> Vocabulary | None:
    if _VOCABULARY not in stored.arrays:
        return None
    packed = Reader(stored.path, stored.arrays).take(_VOCABULARY, np.uint8)
    kinds = (msgspec.DecodeError, UnicodeDecodeError, InputError)
    with read_errors(stored.path, "its vocabulary cannot be read: {}", *kinds):
        concepts = msgspec.msgpack.decode(packed.tobytes(), type=tuple[Concept, ...])
        return Vocabulary(concepts)


def _language(stored: Stored) -> str | None:
    problem = "the language of its labels cannot be read: {}"
    with read_errors(stored.path, problem, msgspec.ValidationError):
        language: str | None = msgspec.convert(stored.card.learned.get(_LANGUAGE), str | None)
    return language


def to_store(model: Any, metrics: dict[str, Any] | None) -> tuple[Card, Arrays]:
    """Return the card and the arrays of a fitted topic model."""
    settings = {name: plain(name, value) for name, value in model.settings_.items()}
    learned = {"settings": settings, "n_topic_sets": len(model.topic_labels_)}
    arrays = sparse_arrays(_WORDS, model.label_words_.weights)
    arrays[f"{_WORDS}.base"] = model.label_words_.base
    for number, topics in enumerate(model.topic_labels_):
        arrays |= sparse_arrays(f"{_TOPICS}.{number}", topics.weights)
        arrays[f"{_TOPICS}.{number}.base"] = topics.base
    return card_of(model, learned, metrics), arrays | common_arrays(model)


def from_store(stored: Stored, make: Callable[..., Any]) -> Any:
    """Return the topic model that was saved."""
    path, card = stored.path, stored.card
    model, read = restore(stored, make), Reader(path, stored.arrays)
    with read_errors(path, _PARAMETERS, InputError, msgspec.ValidationError):
        learned = msgspec.convert(card.learned, _Learned)
        # What could not be "auto" in earlier versions was not a setting.
        earlier = {"train_eta": model.train_eta, "combine": model.combine, "word_counts": "raw"}
        if "background" in names_of(model._model):
            earlier["background"] = 0.0
        settings = earlier | learned.settings
        if settings.keys() != names_of(model._model):
            raise InputError(f"a {card.model} has no such settings as {[*learned.settings]}")
        model.settings_, model.traces_ = checked(settings), {}
        model._inference()
        if not stored.is_trusted:
            untrusted.check_work(checked(model.get_params(deep=False)), learned.n_topic_sets)
    n_labels = len(card.labels)
    n_columns = n_labels + (model._background() > 0)
    label_words = LabelWords(*read.distributions(_WORDS, card.n_words, n_columns))
    sets = [
        TopicLabels(*read.distributions(f"{_TOPICS}.{number}", n_labels, None))
        for number in range(learned.n_topic_sets)
    ]
    model._set_learned(label_words, model.label_sets_, tuple(sets))
    return model


class _Learned(msgspec.Struct):
    settings: dict[str, float | int | str]
    n_topic_sets: Annotated[int, msgspec.Meta(ge=0)]


class Reader:
    """Takes arrays out of what was loaded, and lets no array pass that a kernel could trip over."""

    def __init__(self, path: StrPath, arrays: Arrays) -> None:
        self.path, self.arrays = path, arrays

    def fail(self, name: str, problem: str) -> ReadError:
        """Return the error that names the array."""
        return ReadError(self.path, None, f"array {name!r} {problem}")

    def require(self, name: str, is_right: bool, problem: str) -> None:
        """Raise the error that names the array unless it is right."""
        if not is_right:
            raise self.fail(name, problem)

    def take(self, name: str, dtype: Any) -> npt.NDArray[Any]:
        """Return an array of one dimension and this type."""
        array = self.arrays.get(name)
        if array is None or array.dtype != dtype or array.ndim != 1:
            found = "missing" if array is None else f"{array.dtype} in {array.ndim} dimensions"
            raise self.fail(name, f"is {found}, not {dtype} in 1")
        return array

    def base(self, name: str, n: int | None) -> npt.NDArray[np.float64]:
        """Return the numbers above 0 of a matrix's columns."""
        base = self.take(f"{name}.base", np.float64)
        wanted = len(base) if n is None else n
        is_right = len(base) == wanted and 1 <= len(base) <= _MOST_COLUMNS
        self.require(name, is_right, f"has {len(base):,} columns instead of {wanted:,}")
        is_right = bool((np.isfinite(base) & (base >= _LEAST_BASE)).all())
        self.require(name, is_right, "has smoothing that is not above 0")
        return np.array(base)

    def pattern(
        self, name: str, n_rows: int | None, n_columns: int
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return column numbers and row starts, each row's columns ascending."""
        indices = self._numbers(f"{name}.indices", 0, n_columns)
        n_rows = len(self.take(f"{name}.starts", np.int64)) - 1 if n_rows is None else n_rows
        starts = self._starts(f"{name}.starts", n_rows, len(indices))
        falls = np.flatnonzero(np.diff(indices) <= 0) + 1
        self.require(name, bool(np.isin(falls, starts).all()), "has columns out of order")
        # Of one type, or SciPy would make both of the larger: a copy of the map, in each process.
        return indices, starts.astype(np.int32) if len(indices) <= _MOST_COLUMNS else starts

    def numbers(self, name: str, least: int, n: int) -> npt.NDArray[np.int32]:
        """Return whole numbers from `least`, below n, in memory."""
        return np.array(self._numbers(name, least, n))

    def _numbers(self, name: str, least: int, n: int) -> npt.NDArray[np.int32]:
        numbers = self.take(name, np.int32)
        is_right = numbers.min(initial=least) >= least and numbers.max(initial=least) < max(n, 1)
        self.require(name, is_right, f"has numbers that are not from {least} to {n - 1:,}")
        return numbers

    def starts(self, name: str, n_rows: int, n_entries: int) -> npt.NDArray[np.int64]:
        """Return where the entries of each row begin, and where the last ends, in memory."""
        return np.array(self._starts(name, n_rows, n_entries))

    def _starts(self, name: str, n_rows: int, n_entries: int) -> npt.NDArray[np.int64]:
        starts = self.take(name, np.int64)
        is_right = len(starts) == n_rows + 1 > 0 and starts[0] == 0 and starts[-1] == n_entries
        is_right = is_right and never_falls(starts)
        self.require(name, is_right, f"does not divide {n_entries:,} entries into {n_rows:,} rows")
        return starts

    def vector(self, name: str, n: int) -> npt.NDArray[np.float64]:
        """Return n finite numbers."""
        vector = self.take(name, np.float64)
        is_right = len(vector) == n and bool(np.isfinite(vector).all())
        self.require(name, is_right, f"does not hold {n:,} finite numbers")
        return np.array(vector)

    def line(self, points: str, values: str) -> tuple[Any, Any]:
        """Return points and values of a line, one at least."""
        n = max(len(self.take(points, np.float64)), 1)
        return self.vector(points, n), self.vector(values, n)

    def weights(self, name: str, n_rows: int, n_columns: int) -> Any:
        """Return a matrix of finite numbers of either sign."""
        indices, starts = self.pattern(name, n_rows, n_columns)
        data = self.arrays.get(f"{name}.data")
        if data is None or data.dtype != np.float16 or data.ndim != 1:
            data = self.take(f"{name}.data", np.float32)
        data = data.astype(np.float32, copy=False)
        is_right = len(data) == len(indices) and bool(np.isfinite(data).all())
        self.require(name, is_right, "has values that are not finite numbers")
        return csr_array((data, indices, starts), shape=(n_rows, n_columns))

    def distributions(
        self, name: str, n_rows: int, n_columns: int | None
    ) -> tuple[Any, npt.NDArray[np.float64]]:
        """Return a matrix of probabilities and one number above 0 for each column."""
        base = self.base(name, n_columns)
        indices, starts = self.pattern(name, n_rows, len(base))
        data = self.arrays.get(f"{name}.data")
        if (
            data is None
            or data.shape != indices.shape
            or data.dtype not in (np.float32, np.float64)
        ):
            raise self.fail(name, f"has no values of its {len(indices):,} entries")
        is_right = bool(((data >= 0) & (data <= 1)).all())
        self.require(name, is_right, "has values that are not probabilities")
        # Sums far from 1 become scores that are no numbers, by which nothing can be ranked.
        sums = np.bincount(indices, data, len(base)) + n_rows * base
        self.require(name, bool((abs(sums - 1) <= _MOST_OFF).all()), "has columns of other sums")
        return csr_array((data, indices, starts), shape=(n_rows, len(base))), base

    def indicator(self, name: str, n_columns: int) -> Any:
        """Return a matrix of yes and no."""
        indices, starts = self.pattern(name, None, n_columns)
        return csr_array(
            (np.ones(len(indices), bool), indices, starts), shape=(len(starts) - 1, n_columns)
        )


def weight_arrays(name: str, matrix: Any) -> Arrays:
    """Return a sparse matrix as it is saved: in half precision where that loses nothing."""
    arrays = sparse_arrays(name, matrix)
    data = arrays[f"{name}.data"]
    with np.errstate(over="ignore"):
        half = data.astype(np.float16)
    return arrays | {f"{name}.data": half if np.array_equal(half, data) else data}


def sparse_arrays(name: str, matrix: Any) -> Arrays:
    """Return a sparse matrix as the arrays it is saved in."""
    matrix = csr_array(matrix)
    matrix.sort_indices()
    return {
        f"{name}.data": matrix.data,
        f"{name}.indices": matrix.indices.astype(np.int32, copy=False),
        f"{name}.starts": matrix.indptr.astype(np.int64, copy=False),
    }


def plain(name: str, value: Any) -> Any:
    """Return a parameter as JSON has it."""
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if name == "random_state":
        return None  # the seed that was drawn from it is kept
    raise InputError(f"{name} is {value!r}, which cannot be saved; use a plain number or string")


def _statistics(model: Any) -> dict[str, Any]:
    """Return what the label sets say, and how many words were read."""
    sets = model.label_sets_[:, : model.n_learned_labels_]
    found = describe(Corpus(csr_array((sets.shape[0], 0)), sets)).to_dict()
    for name in ("n_words", "tokens_per_document", "median_tokens"):
        del found[name]
    return found | {"n_tokens": model.n_tokens_}


class _Text(msgspec.Struct, forbid_unknown_fields=True):
    """The parameters of a WordCounter; stop words by language or one by one, never by file."""

    stop_words: str | list[str] | None
    token_pattern: str
    lowercase: bool
    min_count: Annotated[int, msgspec.Meta(ge=1, le=_MOST_COLUMNS)]
    fold_accents: bool = False
    ngrams: int = 1
    ngram_range: tuple[int, int] | None = None
    """In place of `ngrams`, in models of earlier versions; shorter sequences are no words then."""
    language: str | None = None
    normalize: Literal["snowball", "lemma", "none"] = "none"
    package: Annotated[str, msgspec.Meta(max_length=100)] | None = None
    """What normalised the words, and its version."""
    surface_words: list[Annotated[str, msgspec.Meta(min_length=1)]] | None = None
    names_at: tuple[int, int] | None = None
    """Where the columns begin and end that are counted for the sake of names alone."""


def _text_settings(counter: WordCounter) -> dict[str, Any]:
    stop_words = counter.stop_words_
    if stop_words is not None and stop_words not in ("english", *languages()):
        stop_words = sorted(stop_words_of(stop_words))
    settings: dict[str, Any] = {
        "stop_words": stop_words,
        "token_pattern": counter.token_pattern_,
        "lowercase": counter.lowercase,
        "min_count": counter.min_count_,
        "fold_accents": counter.fold_accents,
        "ngrams": counter.ngrams_,
        "language": counter.language_code_,
        "normalize": counter.normalizer_,
        "package": package_of(counter.normalizer_),
    }
    if counter.names_at_:
        settings["names_at"] = (counter.names_at_.start, counter.names_at_.stop)
    is_as_counted = counter.surface_words_ == counter.vocabulary_
    return settings | ({} if is_as_counted else {"surface_words": list(counter.surface_words_)})


def _counter(text: _Text, words: list[str]) -> WordCounter:
    if isinstance(text.stop_words, str) and text.stop_words not in ("english", *languages()):
        raise msgspec.ValidationError(f"there are no stop words for {text.stop_words!r}")
    if text.language is not None and text.language not in NAMES:
        raise msgspec.ValidationError(f"there is no language {reprlib.repr(text.language)}")
    if text.surface_words is not None and len(text.surface_words) != len(words):
        raise msgspec.ValidationError(
            f"there are {len(text.surface_words):,} surface_words for {len(words):,} words"
        )
    parameters = msgspec.structs.asdict(text)
    if (earlier := parameters.pop("ngram_range")) is not None:
        parameters["ngrams"] = earlier[1]
    surface_words, package = parameters.pop("surface_words"), parameters.pop("package")
    names_at = range(*(parameters.pop("names_at") or (0, 0)))
    if not 0 <= names_at.start <= names_at.stop <= len(words):
        raise msgspec.ValidationError(f"names_at is {text.names_at} of {len(words):,} words")
    parameters.pop("min_count")
    counter = WordCounter(**parameters).with_words(
        words, text.min_count, surface_words or words, names_at
    )
    here = package_of(counter.normalizer_)
    if (package or "").partition(" ")[0] != (here or "").partition(" ")[0]:
        raise msgspec.ValidationError(f"{package!r} is not what normalises words: {here!r} is")
    if package != here:
        warn(
            f"its words were normalised by {package!r}, here it is {here!r}: a word whose form "
            "differs is not known",
            OtherVersionWarning,
        )
    try:
        counter.analyzer()
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        raise msgspec.ValidationError(str(error)) from error
    return counter
