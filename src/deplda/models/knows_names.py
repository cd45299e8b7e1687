"""A classifier that knows labels by name too: those that no document has follow the learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from deplda.data.corpus import grown
from deplda.data.names import Name, names_of
from deplda.data.targets import Indicator, Targets, extended
from deplda.data.text import WordCounter
from deplda.data.vocabulary import Vocabulary
from deplda.errors import InputError
from deplda.models.base import LabelClassifier
from deplda.models.hybrid_scorer import Names
from deplda.models.name_evidence import NameIndex, WordDocuments, index_of, names_by_label


class KnowsNames(LabelClassifier):
    """A classifier that looks for the names of its labels in documents."""

    _looks_for_names = True
    _n_learned: int
    _never_learned: frozenset[Any]
    _names: Names | None

    def _with_concepts(self, labels: Indicator, vocabulary: Vocabulary | None) -> Indicator:
        """Return the labels of documents with columns for concepts that none of them has."""
        self.vocabulary_ = vocabulary
        if vocabulary is None or self._targets.kind == "classes":
            return labels
        known = set(self.classes_.tolist())
        if not all(isinstance(label, str) for label in known):
            raise InputError(
                f"labels are such as {next(iter(known))!r}, but those of a vocabulary are its "
                "addresses; give y as lists of these, or a Corpus with label_names"
            )
        code = self._name_counter().language_code_
        new = [
            concept.uri
            for concept in vocabulary
            if not concept.deprecated and concept.uri not in known and names_of(concept, code)
        ]
        if not new:
            return labels
        self.classes_ = extended(self.classes_, np.array(new, dtype=object))
        self._targets = Targets(self.classes_, self._targets.kind)
        found: Indicator = grown(labels, (labels.shape[0], len(self.classes_)))
        return found

    @property
    def n_learned_labels_(self) -> int:
        """How many labels were learned, the first of `classes_`; others are known by name alone."""
        return self._n_learned

    @property
    def n_known_by_name_(self) -> int:
        """How many labels that were never learned can be suggested by their names."""
        if self._names is None:
            return 0
        labels = self._names.finder.labels
        return len(np.unique(labels[labels >= self._n_learned]))

    @property
    def is_known_(self) -> npt.NDArray[np.bool_]:
        """Which labels can be suggested: those of training documents, or known by name."""
        known = super().is_known_
        if self._names is not None:
            known[self._names.finder.labels] = True
        return known

    @property
    def _names_at(self) -> range:
        return range(0) if self.counter_ is None else self.counter_.names_at_

    def _index_names(self, documents: WordDocuments) -> NameIndex | None:
        """Return the names of labels as they are looked for; None where none can be found."""
        if not hasattr(self, "feature_names_in_"):
            return None
        counter = self._name_counter()
        names = names_by_label(self.classes_.tolist(), self.vocabulary_, counter.language_code_)
        index = index_of(names, self.words_, counter.name_analyzer())
        return index.rarest_first(documents) if len(index.labels) else None

    def _learned(self, labels: Indicator) -> Indicator:
        """Return the labels that are learned, without those that are known by name alone."""
        if labels.shape[1] == self._n_learned:
            return labels
        shape = labels.shape[0], self._n_learned  # the others are empty
        return csr_array((labels.data, labels.indices, labels.indptr), shape=shape)

    def told_label(self, label: Any) -> dict[str, Any]:
        """Return a label as it is told; `by_name` says that no training document has it."""
        told = super().told_label(label)
        return told | ({"by_name": True} if label in self._never_learned else {})

    def _name_of(self, label: int, name: int) -> str:
        """Return a label's name as it is written, by the place of its words in the index."""
        counter, own = self._name_counter(), set[str]()
        if self._names is not None:
            own = {*self.feature_names_in_[self._names.finder.words_of(name)].tolist()}
        labels = self.classes_.tolist()[label : label + 1]
        named = names_by_label(labels, self.vocabulary_, counter.language_code_)
        names = [name for _, several in named for name in several]
        analyze = counter.name_analyzer()
        found = [each for each in names if {*Name.of(each, analyze).words} == own]
        return Name.bare(next(iter([*found, *names]), str(labels[0])))

    def _name_counter(self) -> WordCounter:
        """Return what tells the words of names."""
        return (
            WordCounter(language=None, stop_words=None) if self.counter_ is None else self.counter_
        )
