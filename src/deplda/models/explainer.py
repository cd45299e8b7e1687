"""What a model that explains itself can be asked: why a label, its words, its topics, its like."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal

import numpy as np
from msgspec import structs
from scipy.sparse import csc_array, issparse
from sklearn.utils.validation import check_is_fitted

from deplda.data import checks
from deplda.errors import InputError
from deplda.inference.scores import best
from deplda.models import reasons
from deplda.models.base import Counts, Floats, LabelClassifier, Numbers
from deplda.models.explanation import Explanation
from deplda.models.external import counts_in
from deplda.models.neighbours import number_of
from deplda.models.reasons import Topic, Weighted
from deplda.training.estimates import LabelWords, TopicLabels

_N_EXAMPLES = 3


class Explainer(LabelClassifier):
    """A classifier that is a topic model, or has one."""

    label_words_: LabelWords
    topic_labels_: tuple[TopicLabels, ...]

    @abstractmethod
    def _explain(
        self, document: Any, counts: Counts, numbers: Numbers, chances: Floats | None, n_words: int
    ) -> Explanation:
        """Return why these labels, 1 × k numbers, are suggested for one document.

        `chances` are their probabilities, where the model has any.
        """

    def explain(self, document: Any, k: int = 5, *, n_words: int = 8) -> Explanation:
        """Return why the k likeliest labels of one document are suggested.

        `document` is a row of counts, a Corpus of one document, or a text (see `fit`). With each
        label come its probability, its `n_words` strongest words, and the parts that its score is
        the sum of. In a model without probabilities the k best are those of the highest scores. A
        document without vocabulary words gets no labels, and no reasons.
        """
        check_is_fitted(self)
        checks.at_least_one(k=k, n_words=n_words)
        counts = self._read_counts(_one_row(document), reset=False)
        if counts.shape[0] != 1:
            raise InputError(f"{counts.shape[0]:,} documents were given; explain one at a time")
        if not self.has_probabilities:
            scorer, _ = self._scorer(counts, self._here())
            numbers = self._suggestable(counts, best(scorer.scores(counts), k).labels)
            found = self._explain(document, counts, numbers, None, n_words)
            return self._with_names(self._with_examples(found, counts, numbers))
        numbers, _, chances = next(self._likeliest(counts, k, self._here()))
        numbers = self._suggestable(counts, numbers[:, numbers[0] >= 0])
        chances = chances[:, : numbers.shape[1]]
        found = self._explain(document, counts, numbers, chances, n_words)
        found = self._with_examples(found, counts, numbers)
        told = zip(found.reasons, chances[0].tolist(), strict=True)
        return self._with_names(
            structs.replace(
                found, reasons=tuple(structs.replace(each, probability=p) for each, p in told)
            )
        )

    def _suggestable(self, counts: Any, numbers: Numbers) -> Numbers:
        """Return the labels of a document, or none if there is nothing to suggest labels by."""
        return numbers if self._has_evidence(counts)[0] else numbers[:, :0]

    def _with_examples(self, found: Explanation, counts: Any, numbers: Numbers) -> Explanation:
        """Return the explanation with the most similar training documents of each label."""
        if self.examples_ is None:
            return found
        row, by_label = self._words_in(counts_in(counts)), csc_array(self.label_sets_)
        told = []
        for reason, c in zip(found.reasons, numbers[0].tolist(), strict=True):
            documents = by_label.indices[slice(*by_label.indptr[c : c + 2])]
            similar = self.examples_.similar(row, documents, _N_EXAMPLES)
            told.append(structs.replace(reason, examples=similar))
        return structs.replace(found, reasons=tuple(told))

    def _with_names(self, found: Explanation) -> Explanation:
        """Return the explanation with the names of labels that are concepts of a vocabulary."""
        if self.vocabulary_ is None:
            return found
        named = (reasons.with_names(each, self.told_label) for each in found.reasons)
        return structs.replace(found, reasons=tuple(named))

    def top_words(self, label: Any, n: int = 20) -> list[Weighted]:
        """Return the likeliest words of a label with their probabilities, φ; none if unlearned."""
        check_is_fitted(self)
        checks.at_least_one(n=n)
        number = self._number(label)
        if number >= self.n_learned_labels_:
            return []
        return reasons.top_words(self.label_words_, number, self.surface_words_, n)

    def topics(self, n: int = 10) -> list[Topic]:
        """Return every topic with its n likeliest labels, φ′; none in Flat-LDA."""
        check_is_fitted(self)
        checks.at_least_one(n=n)
        return reasons.topics_of(self.topic_labels_, self._shown(), n)

    def similar_labels(
        self, label: Any, n: int = 10, *, by: Literal["words", "topics"] = "words"
    ) -> list[Weighted]:
        """Return the labels that share a label's words, or those it goes with (``by="topics"``)."""
        check_is_fitted(self)
        checks.at_least_one(n=n)
        checks.choice("by", by, ("words", "topics"))
        number, shown = self._number(label), self._shown()[: self.n_learned_labels_]
        if number >= len(shown):
            return []
        if by == "words":
            return reasons.similar_by_words(self.label_words_, number, shown, n)
        return reasons.similar_by_topics(self.topic_labels_, number, shown, n)

    def _shown(self) -> Any:
        """Return the labels as they are shown."""
        if self.vocabulary_ is None:
            return self.classes_
        return np.array(self.shown_labels_, dtype=object)

    def _number(self, label: Any) -> int:
        return number_of(self, label)


def _one_row(document: Any) -> Any:
    """Return one document as X has it: a text in a list, counts in a row."""
    if isinstance(document, str):
        return [document]
    if getattr(document, "ndim", 2) != 1:
        return document
    row: Any = document if issparse(document) else np.asarray(document)
    return row.reshape((1, -1))
