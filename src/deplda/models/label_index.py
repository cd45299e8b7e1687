"""The labels of a model to be searched by whatever they are called, and sorted."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from deplda.data.tokens import without_accents
from deplda.models.base import LabelClassifier

Order = Literal["frequency", "rarest", "quality", "worst", "name", "match"]
ORDERS: tuple[Order, ...] = get_args(Order)
_SEPARATOR = "\n"


class LabelIndex:
    """What labels are called, how often they occur and how well they are found."""

    def __init__(self, model: LabelClassifier) -> None:
        self.names, labels = model.shown_labels_, model.classes_.tolist()
        self.frequency = np.bincount(model.label_sets_.indices, minlength=len(labels))
        self._called = [
            tuple(_on_one_line(each) for each in (name, *_also_called(model, label)))
            for name, label in zip(self.names, labels, strict=True)
        ]
        self._folded = [_SEPARATOR.join(called).casefold() for called in self._called]
        self._measured = model.label_quality_
        self._ranks = self._every_rank()

    def find(self, search: str, order: Order) -> dict[int, str | None]:
        """Return the labels one name of which has all words of the search, in an order.

        With each comes that name, where it is not the label's own but a synonym or its notation.
        Case is ignored; if nothing is found, accents are too.
        """
        needles = search.casefold().split()
        found = self._matching(needles, self._folded)
        if not found:
            needles = [without_accents(needle) for needle in needles]
            found = self._matching(needles, self._without_accents)
        ranks = self._ranks["frequency" if order == "match" else order]
        numbers = sorted(found, key=ranks.__getitem__)
        if order == "match":
            meant = without_accents(" ".join(needles))
            numbers.sort(key=lambda c: _distance(found[c] or self.names[c], meant))
        return {c: found[c] for c in numbers}

    def quality(self, number: int) -> tuple[float | None, int | None]:
        """Return a label's average precision on documents held out, and how many of these have it.

        The first is None where none has it, both where nothing was held out.
        """
        if self._measured is None:
            return None, None
        n = int(self._measured.documents[number])
        return float(self._measured.average_precision[number]) if n else None, n

    @cached_property
    def _without_accents(self) -> list[str]:
        """What labels are called, made when it is first searched in."""
        return [without_accents(called) for called in self._folded]

    def _matching(self, needles: list[str], folded: list[str]) -> dict[int, str | None]:
        """Return the labels one name of which has all needles, and that name unless it is the own.

        A search may have a hundred words, and a model a million labels: what is found by the first
        words alone is looked at again, and each name is made ready once.
        """
        needles, numbers = _telling(needles), list(range(len(folded)))
        for needle in needles:
            numbers = [c for c in numbers if needle in folded[c]]
        found: dict[int, str | None] = {}
        for c in numbers:
            called = self._called[c]
            names = [folded[c]] if len(called) == 1 else folded[c].split(_SEPARATOR)
            for place, name in enumerate(names):
                if all(needle in name for needle in needles):
                    found[c] = called[place] if place else None
                    break
        return found

    def _every_rank(self) -> dict[str, list[int]]:
        """Return the place of each label in every order; equals are ordered by name.

        Labels known by name alone come after all others, but by name. Of labels that are found
        equally well, the most frequent is first: more documents say so.
        """
        folded, frequency = [name.casefold() for name in self.names], self.frequency
        quality = [self.quality(c)[0] for c in range(len(folded))]
        by_name = sorted(range(len(folded)), key=lambda c: (folded[c], c))
        by_frequency = sorted(by_name, key=lambda c: -frequency[c])
        orders = {
            "name": by_name,
            "frequency": by_frequency,
            "rarest": sorted(by_name, key=lambda c: (not frequency[c], frequency[c])),
            "quality": sorted(by_frequency, key=lambda c: _first(quality[c], -1)),
            "worst": sorted(by_frequency, key=lambda c: _first(quality[c], 1)),
        }
        return {name: np.argsort(order, kind="stable").tolist() for name, order in orders.items()}


def _telling(needles: list[str]) -> list[str]:
    """Return the needles that are in no other, the longest, which fewest names have, first."""
    found: list[str] = []
    for needle in sorted(set(needles), key=lambda needle: (-len(needle), needle)):
        if not any(needle in other for other in found):
            found.append(needle)
    return found


def _distance(name: str, search: str) -> int:
    """Return how far a name is from a search: the same 0, beginning with it 1, having it 2."""
    name = without_accents(name.casefold())
    return 0 if name == search else 2 - name.startswith(search)


def _first(quality: float | None, sign: int) -> tuple[bool, float]:
    """Return by what labels are sorted: those that were measured are first."""
    return quality is None, sign * (quality or 0.0)


def _on_one_line(name: str) -> str:
    """Return a name that has no separator in it; hardly any has."""
    return name.replace(_SEPARATOR, " ")


def _also_called(model: LabelClassifier, label: Any) -> list[str]:
    """Return the notation of a label's concept, and its names and synonyms in every language."""
    vocabulary = model.vocabulary_
    if vocabulary is None or label not in vocabulary:
        return []
    concept = vocabulary[label]
    names = [concept.notation, *concept.names.values()]
    names += [each for several in concept.synonyms.values() for each in several]
    return [name for name in names if name is not None]
