"""HybridLDA to and from its saved form: the topic model's arrays and card within its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
import numpy as np

from deplda.data.targets import Indicator
from deplda.errors import IgnoredParameterWarning, ReadError, read_errors, warn
from deplda.models import codec
from deplda.models.candidates import Centroids, Index
from deplda.models.card import Arrays, Card, Stored
from deplda.models.dependency import DependencyLDA
from deplda.models.external import (
    MOST_DIMENSIONS,
    OF_EMBEDDINGS,
    ExternalSignal,
    LabelledEmbeddings,
)
from deplda.models.hybrid_scorer import Names, is_taught
from deplda.models.mixture import BASE, GIVEN, LEAST_SCALE, Alone, FloorAndSum, Mixture, Terms
from deplda.models.name_evidence import FEATURES, NameIndex, NameWeights
from deplda.models.signals import NAME_SIGNALS, SIGNALS

_WEIGHTS, _CENTROIDS, _LENGTHS, _IDF = "weights", "centroids", "centroids.lengths", "idf"
_LAST_STAGE = "last_stage"
_TOPICS, _LABEL_SETS = "topic_model.", "label_sets."

_LARGEST, _MOST_TERMS = 1e6, 250


_NAMES = "names."
_VECTORS = "vectors"
_ALONE = "without_experts"


class _TopicModel(msgspec.Struct):
    parameters: dict[str, Any]
    learned: dict[str, Any]


class _Learned(msgspec.Struct):
    C: Annotated[float, msgspec.Meta(gt=0)]
    candidates: Annotated[int, msgspec.Meta(ge=1)]
    mixture: Mixture
    measures: dict[str, dict[str, float]]
    topic_model: _TopicModel
    n_learned: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """How many labels were learned; those behind them are known by name alone."""
    n_known_by_name: int | None = None
    """How many of the others have a name that can be found in texts; None in older models."""
    names: NameWeights | None = None
    external: tuple[ExternalSignal, ...] = ()
    experts: tuple[ExternalSignal, ...] = ()
    """External signals as 1.0.0 named them: of other programs, and of embeddings."""
    without_experts: _Alone | None = None


class _Alone(msgspec.Struct):
    """How a model of 1.0.0 with experts decides by words alone."""

    mixture: Mixture
    held_out: dict[str, float]
    names: NameWeights | None = None


def to_store(model: Any, metrics: dict[str, Any] | None) -> tuple[Card, Arrays]:
    """Return the card and the arrays of a fitted hybrid; the labels of documents are saved once."""
    card, own = model.topic_model_._to_store(None)
    arrays = codec.weight_arrays(_WEIGHTS, model.weights_)
    arrays |= codec.weight_arrays(_CENTROIDS, model._centroids.nearby.matrix)
    arrays |= {_IDF: model.idf_, _LENGTHS: model._centroids.lengths} | codec.common_arrays(model)
    arrays |= codec.calibration_arrays(model._last_stage, _LAST_STAGE)
    arrays |= {
        f"{_TOPICS}{name}": array
        for name, array in own.items()
        if not name.startswith((_LABEL_SETS, codec.LEARNED_FROM))
    }
    learned = {
        "C": model.C_, "candidates": model.n_candidates_, "measures": model.measures_,
        "mixture": msgspec.to_builtins(model.mixture_),
        "topic_model": {"parameters": card.parameters, "learned": card.learned},
    }  # fmt: skip
    learned |= codec.calibration_numbers(model._last_stage, _LAST_STAGE)
    if model._n_learned < len(model.classes_):
        learned["n_learned"] = model._n_learned
        learned["n_known_by_name"] = model.n_known_by_name_
    if model._external:
        learned["external"] = msgspec.to_builtins(model._external)
    if model._embedded is not None:
        arrays[_VECTORS] = model._embedded.directions.ravel()
    if (names := model._names) is not None:
        learned["names"] = msgspec.to_builtins(names.weights)
        arrays |= {f"{_NAMES}{name}": getattr(names.finder, name) for name in _SAVED}
    return codec.card_of(model, learned, metrics), arrays


_SAVED = tuple(name for name in NameIndex._fields if not name.startswith("key_"))
"""What is saved of names; by which word each is found can be told from it."""


def _check_weights(read: codec.Reader, weights: NameWeights) -> None:
    """Raise if names cannot be weighed so."""
    if len(weights.weights) != len(FEATURES):
        raise ReadError(read.path, None, f"its names have not {len(FEATURES)} weights")


def _finder(read: codec.Reader, n_labels: int, n_columns: int) -> NameIndex:
    """Return the names that are looked for in documents."""
    at = {name: f"{_NAMES}{name}" for name in _SAVED}
    labels = read.numbers(at["labels"], 0, n_labels)
    words, early = read.numbers(at["words"], 0, n_columns), read.numbers(at["early"], -1, n_columns)
    sequences = read.numbers(at["sequences"], -1, n_columns)
    qualifiers, n = read.numbers(at["qualifiers"], 0, n_columns), len(labels)
    starts = read.starts(at["starts"], n, len(words))
    is_right = (np.diff(starts) >= 1).all() and len(words) == len(early)
    read.require(at["words"], bool(is_right), "has a name without words, or without their places")
    is_synonym = np.array(read.take(at["is_synonym"], np.bool_))
    is_right = len(sequences) == len(is_synonym) == n
    read.require(at["sequences"], is_right, f"is not of {n:,} names")
    idf = read.vector(at["idf"], n)
    return NameIndex(
        labels, starts, words, early, sequences,
        read.starts(at["qualifier_starts"], n, len(qualifiers)), qualifiers, is_synonym, idf,
    ).keyed(n_columns)  # fmt: skip


def from_store(stored: Stored, make: Callable[..., Any]) -> Any:
    """Return the hybrid that was saved."""
    path, card, arrays, _ = stored
    model = codec.restore(stored, make)
    with read_errors(path, "its parameters cannot be used: {}", msgspec.ValidationError):
        learned = msgspec.convert(card.learned, _Learned)
    last_stage = _LAST_STAGE
    if learned.experts:
        learned, last_stage = _as_saved_by_1_0(model, stored, learned)
    problem = _problem(learned.mixture, learned.names is not None, learned.external)
    if problem is not None:
        raise ReadError(path, None, f"its mixture {problem}")
    read, n_labels = codec.Reader(path, arrays), learned.n_learned or len(card.labels)
    is_right = n_labels <= len(card.labels) and model.label_sets_.indices.max(initial=0) < n_labels
    read.require(_LABEL_SETS, is_right, f"has labels beyond the {n_labels:,} learned")
    model._n_learned = n_labels
    n_words = card.n_words - len(model._names_at)
    model._names, model._external = None, learned.external
    if learned.names is not None:
        _check_weights(read, learned.names)
        finder = _finder(read, len(card.labels), card.n_words)
        model._names = Names(finder, learned.names, is_taught(model.label_sets_))
    model._embedded = _embedded(read, learned.external, model._learned(model.label_sets_))
    sets = {name: array for name, array in arrays.items() if name.startswith(_LABEL_SETS)}
    own = {
        name.removeprefix(_TOPICS): array
        for name, array in arrays.items()
        if name.startswith(_TOPICS)
    }
    topics = DependencyLDA._from_store(
        stored._replace(
            card=msgspec.structs.replace(
                card, model="DependencyLDA", parameters=learned.topic_model.parameters,
                learned=learned.topic_model.learned, labels=card.labels[:n_labels], words=None,
                n_words=n_words, text=None,
            ),
            arrays=own | sets,
        )
    )  # fmt: skip
    model.C_, model.n_candidates_ = learned.C, min(learned.candidates, n_labels)
    model.mixture_, model.measures_ = learned.mixture, learned.measures
    model._last_stage = codec.read_calibration(stored, last_stage)
    idf, near = read.vector(_IDF, n_words), read.weights(_CENTROIDS, n_words, n_labels)
    read.require(_LABEL_SETS, model.label_sets_.shape[0] > 0, "holds no document")
    model._set_learned(
        idf,
        Centroids(Index(near), read.vector(_LENGTHS, n_labels)),
        read.weights(_WEIGHTS, n_labels, n_words),
        topics,
        model.label_sets_,
    )
    return model


def _as_saved_by_1_0(model: Any, stored: Stored, learned: _Learned) -> tuple[_Learned, str]:
    """Return what a model of 1.0.0 with experts learned, and where its last stage is.

    Embeddings are read as they are now. With other experts it decides by words alone.
    """
    if tuple(expert.name for expert in learned.experts) == OF_EMBEDDINGS:
        return msgspec.structs.replace(learned, external=learned.experts), _LAST_STAGE
    if (alone := learned.without_experts) is None:
        raise ReadError(stored.path, None, "it has experts, but no mixture without them")
    warn(
        "the saved HybridLDA was trained with experts, which are left out: it predicts by words "
        "alone; to use scores of other programs, train it again with Documents(X, scores=...)",
        IgnoredParameterWarning,
    )
    model.calibration_ = codec.read_calibration(stored, f"{_ALONE}.calibration")
    model.held_out_ = alone.held_out
    model.label_quality_ = codec.read_label_quality(stored, f"{_ALONE}.held_out")
    by_words = msgspec.structs.replace(learned, mixture=alone.mixture, names=alone.names)
    return by_words, f"{_ALONE}.last_stage"


def _embedded(
    read: codec.Reader, signals: tuple[ExternalSignal, ...], labels: Indicator
) -> LabelledEmbeddings | None:
    """Return the embeddings of the training documents; None where there are none."""
    names = tuple(signal.name for signal in signals)
    if names[-2:] != OF_EMBEDDINGS:
        return None
    values, n = read.take(_VECTORS, np.int16), labels.shape[0]
    is_right = n > 0 and len(values) % n == 0 and n <= len(values) <= n * MOST_DIMENSIONS
    read.require(_VECTORS, is_right, f"has {len(values):,} numbers, no vectors of {n:,} documents")
    return LabelledEmbeddings.of(values.reshape(n, -1), labels)


def _problem(mixture: Mixture, has_names: bool, signals: tuple[ExternalSignal, ...]) -> str | None:
    """Return what is wrong with a mixture that a file holds."""
    known = {signal.name for signal in (*SIGNALS, *(NAME_SIGNALS if has_names else ()))}
    known |= {name for signal in signals for name in (signal.name, signal.name + GIVEN)}
    numbers: list[float] = []
    match mixture:
        case Alone():
            names, numbers = {mixture.signal}, [mixture.weight, mixture.intercept, mixture.mean]
        case FloorAndSum():
            names, numbers = (
                known,
                [*mixture.weights, mixture.floor, mixture.share, mixture.mean_share],
            )
            if mixture.floor < 0:
                return f"has the floor {mixture.floor}, which is below 0"
        case Terms():
            names = {*mixture.most, *(name for term in mixture.terms for name in term)}
            told = (mixture.means, mixture.scales, mixture.most)
            numbers = [*mixture.weights, *(number for each in told for number in each.values())]
            if not mixture.means.keys() == mixture.scales.keys() == known:
                return f"has means and scales of other signals than {', '.join(sorted(known))}"
            if len(mixture.weights) != len(mixture.terms):
                return "has not one weight for each term"
            if min(mixture.scales.values()) < LEAST_SCALE:
                return f"has a signal whose scale is below {LEAST_SCALE:g}"
            if max([len(mixture.terms), *map(len, mixture.terms)]) > _MOST_TERMS:
                return f"has more than {_MOST_TERMS} terms, or one of as many factors"
    if not names <= known or BASE in names:
        return f"has signals that are unknown here: {', '.join(sorted(names - known))}"
    if not all(abs(number) <= _LARGEST for number in numbers):  # which NaN is not
        return f"has a weight that is no number from {-_LARGEST:g} to {_LARGEST:g}"
    return None
