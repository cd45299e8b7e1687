"""Precision, recall and F1 of yes-or-no predictions, macro and micro."""

from __future__ import annotations

from typing import Any

import numpy as np

from deplda.data import checks
from deplda.evaluation.estimate import Ratio
from deplda.evaluation.matrices import Floats, Ints, read_truth, same_shape
from deplda.evaluation.ranking import PIVOTS


def binary_metrics(predicted: Any, truth: Any, *, pivot: str = "document") -> dict[str, float]:
    """Return macro and micro F1, precision and recall of predictions: documents × labels, 0 or 1.

    Macro is the mean over the documents, or the labels, that have a positive; micro counts all
    predictions together.
    """
    checks.choice("pivot", pivot, PIVOTS)
    truth, predicted = read_truth(truth), read_truth(predicted, "predicted")
    same_shape(predicted.shape, truth.shape, "predicted")
    axis = 1 if pivot == "document" else 0
    hits = predicted.multiply(truth).sum(axis=axis)
    found = binary_ratios(hits, predicted.sum(axis=axis), truth.sum(axis=axis))
    return {name: ratio.value for name, ratio in found.items()}


def binary_ratios(hits: Floats, chosen: Ints, positives: Ints) -> dict[str, Ratio]:
    """Return the six metrics of items with `hits` of `positives` among the `chosen`.

    `hits` may be expected values. An item with nothing chosen has a precision and an F1 of 0.
    """
    parts = agreement(hits, chosen, positives)
    counted = (np.asarray(positives) > 0).astype(np.float64)
    macro = {
        f"macro_{name}": Ratio(np.nan_to_num(part.items) * counted, counted)
        for name, part in parts.items()
    }
    return macro | {f"micro_{name}": part for name, part in parts.items()}


def agreement(hits: Floats | Ints, chosen: Ints, positives: Ints) -> dict[str, Ratio]:
    """Return F1, precision and recall of items with `hits` of `positives` among the `chosen`."""
    right, n_chosen, n_true = (np.asarray(n, np.float64) for n in (hits, chosen, positives))
    return {
        "f1": Ratio(2 * right, n_chosen + n_true),
        "precision": Ratio(right, n_chosen),
        "recall": Ratio(right, n_true),
    }
