"""The labels of a model: how often they are, how well they are found, and their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array

from deplda.data import checks
from deplda.models.base import LabelClassifier
from deplda.models.label_index import ORDERS, LabelIndex, Order
from deplda.models.registry import can


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
    """Return the labels of a model one name of which has all words of the search.

    Parameters
    ----------
    order : "frequency", "rarest", "quality", "worst", "name" or "match"
        Labels of most training documents first, or of fewest; those that are found best in
        documents held out first, or worst, and after them those that were not measured; those
        whose name is what is searched, or begins with it. Labels known by name alone come after
        all others, but by name.
    search : str
        Also found in notations, synonyms and names in other languages, in any case; without
        accents where nothing is found with them.
    limit : int, optional
        How many labels at most.
    n_words : int
        Words of each label; 0 for none.
    """
    checks.choice("order", order, ORDERS)
    index = LabelIndex(model)
    found = [*index.find(search, order)]
    shown = found[:limit]
    told = [model.told_label(label) for label in model.classes_[shown].tolist()]
    words = _likeliest_words(model, shown, n_words)
    entries = []
    for c, own, likeliest in zip(shown, told, words, strict=True):
        average_precision, n_held_out = index.quality(c)
        entries.append(
            LabelEntry(
                index.names[c], own.get("uri"), own.get("notation"), int(index.frequency[c]),
                n_held_out, average_precision, likeliest,
            )
        )  # fmt: skip
    is_measured = model.label_quality_ is not None
    return LabelTable(entries, len(found), len(index.names), is_measured)


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
