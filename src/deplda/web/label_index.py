"""The labels of a model to be searched and sorted: by name, synonym and notation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from deplda.data.tokens import without_accents
from deplda.models.base import LabelClassifier
from deplda.web.answers import LabelsAnswer, NamedLabel

_Order = Literal["frequency", "rarest", "name", "quality", "worst", "match"]
ORDERS: tuple[_Order, ...] = get_args(_Order)


class LabelIndex:
    """What labels are called, how often they occur and how well they are found."""

    def __init__(
        self, model: LabelClassifier, names: Sequence[str], frequency: npt.NDArray[np.int64]
    ) -> None:
        self._model, self._labels, self._names = model, model.classes_.tolist(), names
        self._frequency = frequency
        self._called = [[name, *self._also_called(c)] for c, name in enumerate(names)]
        self._folded = ["\n".join(called).casefold() for called in self._called]
        quality = getattr(model, "label_quality_", None)
        self._n_held_out = None if quality is None else quality.documents
        self._quality = [
            float(quality.average_precision[c]) if quality and quality.documents[c] else None
            for c in range(len(names))
        ]
        self._orders = self._sorted()

    def find(self, search: str, sort: str, page: int, size: int) -> LabelsAnswer:
        """Return one page of the labels that are called by all words of the search."""
        needles = search.casefold().split()
        found = self._matching(needles, self._folded, str)
        if not found:  # somebody's keyboard may have no accents
            needles = [without_accents(needle) for needle in needles]
            folded = [without_accents(called) for called in self._folded]
            found = self._matching(needles, folded, without_accents)
        places = self._orders["frequency" if sort == "match" else sort]
        order = sorted(found, key=places.__getitem__)
        if sort == "match":
            order.sort(key=lambda c: self._distance(c, found[c], " ".join(needles)))
        shown = order[(page - 1) * size : page * size]
        entries = [self._entry(c, found[c]) for c in shown]
        return LabelsAnswer(len(found), page, size, entries)

    def _matching(self, needles: list[str], folded: list[str], fold: Any) -> dict[int, str | None]:
        """Return the labels one name of which has all needles, and that name if it is another."""
        found: dict[int, str | None] = {}
        for c, called in enumerate(folded):
            if all(needle in called for needle in needles):
                for name in self._called[c]:
                    if all(needle in fold(name.casefold()) for needle in needles):
                        found[c] = None if name is self._names[c] else name
                        break
        return found

    def _distance(self, number: int, matched: str | None, search: str) -> int:
        """Return how far a name is from what was searched: the same, beginning with it, with it."""
        name = without_accents((matched or self._names[number]).casefold())
        search = without_accents(search)
        return 0 if name == search else 2 - name.startswith(search)

    def _also_called(self, number: int) -> list[str]:
        """Return the notation and the names of a label's concept, in every language."""
        vocabulary, label = self._model.vocabulary_, self._labels[number]
        if vocabulary is None or label not in vocabulary:
            return []
        concept = vocabulary[label]
        several = [*concept.names.values(), *(s for own in concept.synonyms.values() for s in own)]
        return [name for name in (concept.notation, *several) if name is not None]

    def _sorted(self) -> dict[str, list[int]]:
        """Return the place of each label in every order."""
        every = range(len(self._names))
        folded = [name.casefold() for name in self._names]
        by_name = sorted(every, key=lambda c: (folded[c], c))
        quality = [-1.0 if q is None else q for q in self._quality]
        orders = {
            "name": by_name,
            "frequency": sorted(by_name, key=lambda c: -self._frequency[c]),
            "rarest": sorted(by_name, key=lambda c: self._frequency[c]),
        }
        # Of labels that are found equally well, the most frequent first: more documents say so.
        orders["quality"] = sorted(orders["frequency"], key=lambda c: -quality[c])
        orders["worst"] = sorted(orders["frequency"], key=lambda c: (quality[c] < 0, quality[c]))
        return {name: np.argsort(order, kind="stable").tolist() for name, order in orders.items()}

    def _entry(self, number: int, matched: str | None) -> NamedLabel:
        told = self._model.told_label(self._labels[number])
        return NamedLabel(
            self._names[number],
            int(self._frequency[number]),
            told.get("uri"),
            told.get("notation"),
            *self.found_how_well(number),
            matched,
        )

    def found_how_well(self, number: int) -> tuple[float | None, int | None]:
        """Return a label's quality, and how many of the documents held out have it."""
        n = None if self._n_held_out is None else int(self._n_held_out[number])
        return self._quality[number], n
