"""HybridLDA to and from its saved form: the topic model's arrays and card within its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec

from deplda.errors import ReadError
from deplda.models import codec
from deplda.models.candidates import Centroids, Index
from deplda.models.card import Arrays, Card, Stored
from deplda.models.dependency import DependencyLDA
from deplda.models.mixture import BASE, LEAST_SCALE, Alone, FloorAndSum, Mixture, Terms
from deplda.models.signals import SIGNALS

_WEIGHTS, _CENTROIDS, _LENGTHS, _IDF = "weights", "centroids", "centroids.lengths", "idf"
_LAST_STAGE = "last_stage"
_TOPICS, _LABEL_SETS = "topic_model.", "label_sets."

_LARGEST, _MOST_TERMS = 1e6, 100


class _TopicModel(msgspec.Struct):
    parameters: dict[str, Any]
    learned: dict[str, Any]


class _Learned(msgspec.Struct):
    C: Annotated[float, msgspec.Meta(gt=0)]
    candidates: Annotated[int, msgspec.Meta(ge=1)]
    mixture: Mixture
    measures: dict[str, dict[str, float]]
    topic_model: _TopicModel


def to_store(model: Any, metrics: dict[str, Any] | None) -> tuple[Card, Arrays]:
    """Return the card and the arrays of a fitted hybrid; the labels of documents are saved once."""
    card, own = model.topic_model_._to_store(None)
    arrays = codec.sparse_arrays(_WEIGHTS, model.weights_)
    arrays |= codec.sparse_arrays(_CENTROIDS, model._centroids.nearby.matrix)
    arrays |= {_IDF: model.idf_, _LENGTHS: model._centroids.lengths} | codec.common_arrays(model)
    arrays |= codec.calibration_arrays(model._last_stage, _LAST_STAGE)
    arrays |= {
        f"{_TOPICS}{name}": array for name, array in own.items() if not name.startswith(_LABEL_SETS)
    }
    learned = {
        "C": model.C_, "candidates": model.n_candidates_, "measures": model.measures_,
        "mixture": msgspec.to_builtins(model.mixture_),
        "topic_model": {"parameters": card.parameters, "learned": card.learned},
    }  # fmt: skip
    learned |= codec.calibration_numbers(model._last_stage, _LAST_STAGE)
    return codec.card_of(model, learned, metrics), arrays


def from_store(stored: Stored, make: Callable[..., Any]) -> Any:
    """Return the hybrid that was saved."""
    path, card, arrays, _ = stored
    if "svm" in card.learned:
        raise ReadError(
            path, None, f"it was saved by deplda {card.library}, whose hybrid had one-vs-rest SVMs "
            "over all labels; this version cannot read those: train it again",
        )  # fmt: skip
    model = codec.restore(stored, make)
    try:
        learned = msgspec.convert(card.learned, _Learned)
    except msgspec.ValidationError as error:
        raise ReadError(path, None, f"its parameters cannot be used: {error}") from error
    if (problem := _problem(learned.mixture)) is not None:
        raise ReadError(path, None, f"its mixture {problem}")
    read, n_labels = codec.Reader(path, arrays), len(card.labels)
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
                learned=learned.topic_model.learned,
            ),
            arrays=own | sets,
        )
    )  # fmt: skip
    model.C_, model.n_candidates_ = learned.C, min(learned.candidates, n_labels)
    model.mixture_, model.measures_ = learned.mixture, learned.measures
    model._last_stage = codec.read_calibration(stored, _LAST_STAGE)
    idf, near = read.vector(_IDF, card.n_words), read.weights(_CENTROIDS, card.n_words, n_labels)
    for name, values in ((_IDF, idf), (_CENTROIDS, near.data)):
        if ((values < 0) | (values > _LARGEST)).any():
            raise read.fail(name, f"holds a number that is not from 0 to {_LARGEST:g}")
    if not model.label_sets_.shape[0]:
        raise read.fail(_LABEL_SETS, "holds no document")
    model._set_learned(
        idf,
        Centroids(Index(near), read.vector(_LENGTHS, n_labels)),
        read.weights(_WEIGHTS, n_labels, card.n_words),
        topics,
        model.label_sets_,
    )
    return model


def _problem(mixture: Mixture) -> str | None:
    """Return what is wrong with a mixture that a file holds."""
    known = {signal.name for signal in SIGNALS}
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
            names = {name for term in mixture.terms for name in term}
            numbers = [*mixture.weights, *mixture.means.values(), *mixture.scales.values()]
            if not mixture.means.keys() == mixture.scales.keys() == known:
                return f"has means and scales of other signals than {', '.join(sorted(known))}"
            if len(mixture.weights) != len(mixture.terms):
                return "has not one weight for each term"
            if min(mixture.scales.values()) < LEAST_SCALE:
                return f"has a signal whose scale is below {LEAST_SCALE:g}"
            if max(len(mixture.terms), *map(len, mixture.terms)) > _MOST_TERMS:
                return f"has more than {_MOST_TERMS} terms, or one of as many factors"
    if not names <= known or BASE in names:
        return f"has signals that are unknown here: {', '.join(sorted(names - known))}"
    if not all(abs(number) <= _LARGEST for number in numbers):  # which NaN is not
        return f"has a weight that is no number from {-_LARGEST:g} to {_LARGEST:g}"
    return None
