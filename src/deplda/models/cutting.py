"""How many of its likeliest labels a document is given."""

from __future__ import annotations

from typing import Any, Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from deplda.data.targets import Indicator
from deplda.errors import InputError
from deplda.evaluation.cutoffs import proportional_for_documents

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

_Name = Literal["validated", "at-least-one", "expected-f1", "macro-f1", "proportional"]
Cutoff = _Name | int | float
CUTOFFS: tuple[_Name, ...] = get_args(_Name)


class Thresholds(Protocol):
    """Where probabilities are best cut off, as documents held out say."""

    @property
    def threshold(self) -> float:
        """The probability with the best micro-F1."""

    @property
    def label_thresholds(self) -> Floats:
        """The probability with the best F1 of each label."""


def check_cutoff(cutoff: Any) -> None:
    """Raise if this is no cut-off."""
    if isinstance(cutoff, str) and cutoff in CUTOFFS:
        return
    if isinstance(cutoff, float):
        if not 0 < cutoff < 1:
            raise InputError(
                f"cutoff is {cutoff!r}; a float must be a probability, above 0 and below 1, and is "
                "no longer a score: choose one such as 0.5, or cut off decision_function yourself"
            )
        return
    if not isinstance(cutoff, int | np.integer) or isinstance(cutoff, bool) or cutoff < 1:
        known = ", ".join(map(repr, CUTOFFS))
        raise InputError(
            f"cutoff is {cutoff!r}; it must be one of {known}, a number of labels from 1, "
            "or a probability (a float)"
        )


def read_cutoff(text: str) -> Cutoff:
    """Return the cut-off that a text says: a name, so many labels, or a probability."""
    found: Any = text
    for kind in (float, int):  # what is a whole number is one
        try:
            found = kind(text)
        except ValueError:
            continue
    check_cutoff(found)
    cutoff: Cutoff = found
    return cutoff


def needs_probabilities(cutoff: Cutoff) -> bool:
    """Return whether a model without probabilities cannot be cut off so."""
    return isinstance(cutoff, float) or (isinstance(cutoff, str) and cutoff != "proportional")


def most_labels(cutoff: Cutoff, label_sets: Indicator) -> int:
    """Return how many labels a document may be given, by the labels of training documents."""
    if needs_probabilities(cutoff):
        return int(label_sets.shape[1])
    if cutoff == "proportional":
        return proportional_for_documents(label_sets) if label_sets.nnz else 1
    return min(int(cutoff), int(label_sets.shape[1]))


def given(
    cutoff: Cutoff, numbers: Numbers, chances: Floats, thresholds: Thresholds
) -> npt.NDArray[np.bool_]:
    """Return which labels each document is given; of those it may be given, the likeliest first.

    Only the cutoff "at-least-one" gives a label to a document for which none is likely enough.
    """
    if isinstance(cutoff, float):
        return chances >= cutoff
    if cutoff == "validated":
        return chances >= thresholds.threshold
    if cutoff == "at-least-one":
        kept = chances >= thresholds.threshold
        kept[:, :1] = True
        return kept
    if cutoff == "macro-f1":
        return chances >= thresholds.label_thresholds[numbers]
    if cutoff == "expected-f1":
        # E[F1] of the k best is about 2 Σᵢ≤ₖ pᵢ/(k + Σ p): the labels' number is uncertain too.
        # Without labels it is the probability that no label is true.
        places = np.arange(1, chances.shape[1] + 1)
        f1 = 2 * np.cumsum(chances, axis=1) / (places + chances.sum(axis=1, keepdims=True))
        f1_of_none = np.prod(1 - chances, axis=1)
        n_kept = np.where(f1.max(axis=1) > f1_of_none, 1 + np.argmax(f1, axis=1), 0)
        return places <= n_kept[:, None]
    return np.ones(chances.shape, bool)
