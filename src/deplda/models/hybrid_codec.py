"""HybridLDA to and from its saved form: both parents' arrays and cards within its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from deplda.errors import ReadError
from deplda.models import codec
from deplda.models.card import Arrays, Card, Stored
from deplda.models.dependency import DependencyLDA
from deplda.models.linear import TfidfSVM
from deplda.models.mixture import Mixture, Probabilities

_PARENTS: dict[str, Any] = {"svm": TfidfSVM, "topic_model": DependencyLDA}
_LABEL_SETS = "label_sets."
_SCORES, _VALUES = "probabilities.scores", "probabilities.values"


class _Parent(msgspec.Struct):
    parameters: dict[str, Any]
    learned: dict[str, Any]


class _Learned(msgspec.Struct):
    svm: _Parent
    topic_model: _Parent
    mixture: Mixture
    qualities: dict[str, float]


def to_store(model: Any, metrics: dict[str, Any] | None) -> tuple[Card, Arrays]:
    """Return the card and the arrays of a fitted hybrid; the labels of documents are saved once."""
    arrays = codec.common_arrays(model)
    learned: dict[str, Any] = {
        "mixture": msgspec.to_builtins(model.mixture_), "qualities": model.qualities_,
    }  # fmt: skip
    for name in _PARENTS:
        card, own = getattr(model, f"{name}_")._to_store(None)
        learned[name] = {"parameters": card.parameters, "learned": card.learned}
        arrays |= {
            f"{name}.{key}": array for key, array in own.items() if not key.startswith(_LABEL_SETS)
        }
    arrays |= {_SCORES: model._probabilities.scores, _VALUES: model._probabilities.values}
    return codec.card_of(model, learned, metrics), arrays


def from_store(stored: Stored, make: Callable[..., Any]) -> Any:
    """Return the hybrid that was saved."""
    path, card, arrays, _ = stored
    model = codec.restore(stored, make)
    try:
        learned = msgspec.convert(card.learned, _Learned)
    except msgspec.ValidationError as error:
        raise ReadError(path, None, f"its parameters cannot be used: {error}") from error
    weights = msgspec.structs.astuple(learned.mixture)[1:]
    if not all(math.isfinite(weight) for weight in weights) or learned.mixture.floor < 0:
        raise ReadError(path, None, "its mixture has weights that are not finite numbers")
    sets = {name: array for name, array in arrays.items() if name.startswith(_LABEL_SETS)}
    parents = []
    for name, kind in _PARENTS.items():
        part: _Parent = getattr(learned, name)
        own = msgspec.structs.replace(
            card, model=kind.__name__, parameters=part.parameters, learned=part.learned
        )
        mine = {
            key.removeprefix(f"{name}."): array
            for key, array in arrays.items()
            if key.startswith(f"{name}.")
        }
        parents.append(kind._from_store(stored._replace(card=own, arrays=mine | sets)))
    model._set_learned(*parents, model.label_sets_)
    model.mixture_, model.qualities_ = learned.mixture, learned.qualities
    model._probabilities = _probabilities(codec.Reader(path, arrays))
    return model


def _probabilities(read: codec.Reader) -> Probabilities:
    scores = read.take(_SCORES, np.float64)
    values = read.vector(_VALUES, len(scores))
    if not len(scores) or not np.isfinite(scores).all() or (np.diff(scores) <= 0).any():
        raise read.fail(_SCORES, "does not rise")
    if values.min() < 0 or values.max() > 1 or (np.diff(values) < 0).any():
        raise read.fail(_VALUES, "has values that are not rising probabilities")
    return Probabilities(np.array(scores), values)
