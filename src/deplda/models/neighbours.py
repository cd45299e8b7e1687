"""Labels next to one: those that documents have beside it, and those that may have been meant."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deplda.data.targets import Indicator
from deplda.data.wording import counted, nearest
from deplda.errors import InputError
from deplda.models.base import LabelClassifier


class Beside(NamedTuple):
    """A label that stands beside another in training documents."""

    number: int
    documents: int
    share: float
    """Of the other label's documents."""


def beside(
    label_sets: Indicator, documents: npt.NDArray[np.integer[Any]], number: int, n: int
) -> list[Beside]:
    """Return the labels that most of a label's training documents have, too."""
    shared = np.bincount(label_sets[documents].indices, minlength=label_sets.shape[1])
    shared[number] = 0
    return [
        Beside(int(c), int(shared[c]), float(shared[c] / len(documents)))
        for c in np.argsort(-shared, kind="stable")[:n]
        if shared[c]
    ]


def number_of(model: LabelClassifier, label: Any) -> int:
    """Return the place of a label, given as it is or as it is shown, or as a vocabulary has it."""
    number = int(model._targets.numbers(np.array([label], dtype=object))[0])
    if number >= 0:
        return number
    shown = model.shown_labels_
    if label in shown:
        return shown.index(label)
    if model.vocabulary_ is not None:
        uris = model.vocabulary_.find(str(label))
        uris = tuple(model.vocabulary_.replacement(uri) or uri for uri in uris)
        found = model._targets.numbers(np.array(uris, dtype=object))
        known = sorted({int(number) for number in found if number >= 0})
        if len(known) == 1:
            return known[0]
        if known:
            told = ", ".join(repr(shown[number]) for number in known)
            raise InputError(f"{label!r} is a name of several labels: {told}; give one of these")
    near = _near(str(label), list(shown))
    raise InputError(f"the model does not know the label {label!r}; {near}")


def _near(name: str, known: list[str]) -> str:
    """Return the known names that may have been meant, as a question."""
    close = nearest(name, known, 5)
    close += [label for label in known if name.casefold() in label.casefold()]
    if not close:
        return f"it has {counted(len(known), 'label')}, none like it"
    return f"did you mean {', '.join(repr(each) for each in dict.fromkeys(close[:5]))}?"
