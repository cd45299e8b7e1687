"""The labels of a model: how often they are, how well they are found, and their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array

from deplda.data import checks
from deplda.models.base import LabelClassifier
from deplda.models.registry import can

Order = Literal["frequency", "rarest", "quality", "worst", "name"]
ORDERS: tuple[str, ...] = get_args(Order)


class LabelEntry(NamedTuple):
    """What is known of a label."""

    label: str
    uri: str | None
    """The address and the notation of its concept, where the model has a vocabulary."""
    notation: str | None
    documents: int
    """Training documents that have it; 0 if it is known by name alone."""
    held_out: int | None
    """Documents held out in training that have it; None where the model does not know."""
    average_precision: float | None
    """Of the ranking of the documents held out, 0 to 1; None where none has it."""
    words: tuple[str, ...]
    """Its likeliest words, in a model that has words of labels."""


class LabelTable(NamedTuple):
    """Some labels of a model, in an order."""

    entries: list[LabelEntry]
    n_found: int
    """Labels that were looked for, of which the entries are the first."""
    n_labels: int
    is_measured: bool
    """Whether documents were held out, and labels judged by them."""


def label_table(
    model: LabelClassifier,
    order: Order = "frequency",
    *,
    search: str = "",
    limit: int | None = None,
    n_words: int = 5,
) -> LabelTable:
    """Return the labels of a model whose names contain all words of the search.

    Parameters
    ----------
    order : "frequency", "rarest", "quality", "worst" or "name"
        Labels of most training documents first, or of fewest; those that are found best in
        documents held out first, or worst, and after them those that were not measured. Labels
        known by name alone come after all others, but by name. Equals are ordered by name.
    search : str
        Also found in notations, synonyms and names in other languages, in any case.
    limit : int, optional
        How many labels at most.
    n_words : int
        Words of each label; 0 for none.
    """
    checks.choice("order", order, ORDERS)
    names, quality = model.shown_labels_, model.label_quality_
    frequency = np.bincount(model.label_sets_.indices, minlength=len(names))
    needles = search.casefold().split()
    texts = searched_texts(model)
    numbers = [c for c, text in enumerate(texts) if all(needle in text for needle in needles)]
    numbers.sort(key=lambda c: (texts[c], c))
    if order != "name":
        rank = _ranks(model, order, frequency)
        numbers.sort(key=rank.__getitem__)
    shown = numbers[:limit]
    told = [model.told_label(label) for label in model.classes_[shown].tolist()]
    held_out: Sequence[int | None] = [None] * len(shown)
    if quality is not None:
        held_out = quality.documents[shown].tolist()
    entries = [
        LabelEntry(
            names[c], own.get("uri"), own.get("notation"), int(frequency[c]), n_held_out,
            float(quality.average_precision[c]) if quality is not None and n_held_out else None,
            words,
        )
        for c, own, n_held_out, words in zip(
            shown, told, held_out, _likeliest_words(model, shown, n_words), strict=True
        )
    ]  # fmt: skip
    return LabelTable(entries, len(numbers), len(names), quality is not None)


def searched_texts(model: LabelClassifier) -> list[str]:
    """Return what labels are searched in: names, and synonyms and notations of concepts."""
    folded = [name.casefold() for name in model.shown_labels_]
    vocabulary = model.vocabulary_
    if vocabulary is None:
        return folded
    found = []
    for label, name in zip(model.classes_.tolist(), folded, strict=True):
        more: list[str] = []
        if label in vocabulary:
            concept = vocabulary[label]
            more = [concept.notation or "", *concept.names.values()]
            more += [each for several in concept.synonyms.values() for each in several]
        found.append("\n".join([name, *(each.casefold() for each in more)]))
    return found


def _ranks(model: LabelClassifier, order: str, frequency: npt.NDArray[Any]) -> list[float]:
    """Return a number for each label, the first's the least."""
    if order in ("frequency", "rarest"):
        own = np.where(frequency > 0, frequency if order == "rarest" else -frequency, np.inf)
        return np.asarray(own, np.float64).tolist()
    quality = model.label_quality_
    if quality is None:
        return [0.0] * len(frequency)
    values = quality.average_precision if order == "worst" else -quality.average_precision
    return np.where(quality.is_measured, values, np.inf).tolist()


def _likeliest_words(
    model: LabelClassifier, numbers: Sequence[int], n: int
) -> list[tuple[str, ...]]:
    """Return the likeliest words of each of the labels, but for what smoothing alone gives."""
    if not n or not numbers or not can(model, "explain"):
        return [()] * len(numbers)
    explainer: Any = model
    weights, shown, found = csc_array(explainer.label_words_.weights), model.surface_words_, []
    for c in numbers:
        own = slice(*weights.indptr[c : c + 2]) if c < model.n_learned_labels_ else slice(0)
        values, places = weights.data[own], weights.indices[own]
        order = np.lexsort((places, -values))[:n]
        found.append(tuple(shown[place] for place in places[order]))
    return found
