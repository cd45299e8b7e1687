"""Which documents to label next: uncertain ones, of labels of few documents, unlike the others.

What the measure was chosen from, and what it is worth, is told in the how-to on queues.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack
from sklearn.utils.validation import check_is_fitted

from deplda.data import checks
from deplda.data.corpus import without_columns
from deplda.data.wording import counted
from deplda.errors import InputError
from deplda.models.base import Counts, Floats, LabelClassifier, Numbers
from deplda.models.external import counts_in
from deplda.models.linear.svm import idf_of, tfidf

N_LABELS = 50
"""Labels of a document that are looked at, the likeliest; what others add is next to nothing."""
_N_TOLD, _CERTAIN = 3, 0.05


class Doubt(NamedTuple):
    """A label that a document may have."""

    label: Any
    probability: float
    n_documents: int
    """Training documents that have it."""
    n_before: float
    """Documents before this one in the queue that have it, as far as the model can tell."""
    part: float
    """What it adds to the document's value."""


class Queued(NamedTuple):
    """A document to label, and what that would teach."""

    place: int
    """Which of the documents it is, from 0."""
    value: float
    doubts: tuple[Doubt, ...]
    """Of the labels from 5 to 95 %, those that add most to the value, the first of them most."""
    words: tuple[str, ...]
    """The words that do."""
    n_known: int
    """Its tokens of words that the model knows."""


class Candidates(NamedTuple):
    """What is kept of documents until all are known, and can be put in order."""

    numbers: Numbers
    """Of the likeliest labels; −1 where there are no more."""
    chances: Floats
    words: Counts
    n_known: Numbers
    is_new: npt.NDArray[np.bool_]
    """Whether the model has not learned from it."""


def queue(model: LabelClassifier, documents: Any, n: int | None = None) -> list[Queued]:
    """Return unlabelled documents in the order in which labelling them would teach most.

    The value of a document is Σ h(p) / √(1 + n + m) over its likeliest labels, and Σ x / √(1 + k)
    over its words, divided by √(1 + Σ p). p is the probability of a label, h(p) its entropy in
    bits, n how many training documents have it, and m how many of those before in the queue, by
    their probabilities; x is the weight of a word (tf-idf, documents of length one), and k how many
    of those before have it; Σ p is the number of labels to expect, which is the work. So what is
    uncertain counts, a label of few documents more than one of many, and what is like those before
    it less. The next document is always the one with the highest value then. Documents that the
    model has learned from are left out.

    Parameters
    ----------
    model : a fitted classifier with probabilities
    documents : what `predict` takes
    n : int, optional
        How many documents; all by default.
    """
    return in_order(model, [candidates(model, documents)], n)


def candidates(model: LabelClassifier, documents: Any) -> Candidates:
    """Return what is to be known of some documents."""
    check_is_fitted(model)
    rows = model._read_counts(documents, reset=False)
    counts = counts_in(rows)
    if not model.has_probabilities:
        raise InputError(
            "this model has no probabilities, so it cannot tell what it is uncertain of; train it "
            "again, or calibrate(X, y) it with labelled documents that it has not learned from"
        )
    k = min(N_LABELS, len(model.classes_))
    found = [(np.zeros((0, k), np.int64), np.zeros((0, k)))]
    for numbers, _, chances in model._likeliest(rows, k):
        missing = ((0, 0), (0, k - numbers.shape[1]))
        told = np.where(numbers < 0, 0.0, chances)
        found.append((np.pad(numbers, missing, constant_values=-1), np.pad(told, missing)))
    numbers, chances = (np.concatenate(part) for part in zip(*found, strict=True))
    words = counts if model.counter_ is None else without_columns(counts, model.counter_.marks_at_)
    is_new = ~model._learned_from.among(model._words_in(counts))
    return Candidates(numbers, chances, words, model._n_tokens_in(counts), is_new)


def in_order(
    model: LabelClassifier, parts: Iterable[Candidates], n: int | None = None
) -> list[Queued]:
    """Return the documents of all parts, counted on from one to the next, as `queue` does."""
    if n is not None:
        checks.at_least_one(n=n)
    every = list(parts)
    if not every:
        return []
    known = Candidates(
        np.concatenate([part.numbers for part in every]),
        np.concatenate([part.chances for part in every]),
        csr_array(vstack([part.words for part in every])),
        np.concatenate([part.n_known for part in every]),
        np.concatenate([part.is_new for part in every]),
    )
    n_documents = np.bincount(model.label_sets_.indices, minlength=len(model.classes_))
    values = _Values(known, n_documents)
    shown = model.surface_words_  # those counted for the sake of names are no part of it
    shown = (*shown, *model.words_[len(shown) :])
    n_new = int(known.is_new.sum())
    return [
        _queued(model.classes_, shown, known, n_documents, values, place)
        for place in values.next_ones(n_new if n is None else min(n, n_new))
    ]


class _Values:
    """The values of documents, which fall as others are queued before them."""

    def __init__(self, known: Candidates, n_documents: Numbers) -> None:
        self.numbers, self._chances = known.numbers, known.chances
        self._doubts, self._weights = uncertainty(known.chances), n_documents + 1.0
        self.queued, self._n_with = np.zeros(len(n_documents)), np.ones(known.words.shape[1])
        self.words = tfidf(idf_of(known.words), known.words)
        self._work, self._new = np.sqrt(1 + known.chances.sum(axis=1)), np.flatnonzero(known.is_new)

    def by_label(self, place: int) -> Floats:
        """Return what each label of a document adds."""
        own, work = self.numbers[place], self._work[place]
        known = np.sqrt(self._weights[own] + self.queued[own])
        return np.asarray(self._doubts[place] / known / work)

    def by_word(self, place: int) -> Floats:
        """Return what each word of a document adds."""
        own = self._words_at(place)
        known = np.sqrt(self._n_with[self.words.indices[own]])
        return np.asarray(self.words.data[own] / known / self._work[place])

    def _words_at(self, place: int) -> slice:
        return slice(self.words.indptr[place], self.words.indptr[place + 1])

    def words_of(self, place: int) -> Numbers:
        """Return the words of a document, in the order of `by_word`."""
        return np.asarray(self.words.indices[self._words_at(place)], np.int64)

    def of(self, place: int) -> float:
        """Return the value of a document after those that are queued."""
        return float(self.by_label(place).sum() + self.by_word(place).sum())

    def next_ones(self, n: int) -> Iterator[int]:
        """Yield the places of n documents, always that with the highest value; equals in order.

        A document that is still above all others when its value is computed anew is the next: those
        of the others can only have fallen since (Minoux's lazy greedy algorithm).
        """
        heap = [(-self.of(place), place) for place in self._new.tolist()]
        heapq.heapify(heap)
        while n:
            _, place = heapq.heappop(heap)
            now = (-self.of(place), place)
            if heap and now > heap[0]:
                heapq.heappush(heap, now)
                continue
            yield place
            is_label = self.numbers[place] >= 0
            self.queued[self.numbers[place][is_label]] += self._chances[place][is_label]
            self._n_with[self.words_of(place)] += 1
            n -= 1


def _queued(
    labels: Any,
    shown: tuple[str, ...],
    known: Candidates,
    n_documents: Numbers,
    values: _Values,
    place: int,
) -> Queued:
    """Return a document that is the next now, with what its value is made of."""
    by_label, by_word, own = values.by_label(place), values.by_word(place), known.numbers[place]
    is_open = np.abs(known.chances[place] - 0.5) <= 0.5 - _CERTAIN
    doubts = tuple(
        Doubt(
            labels[own[at]], float(known.chances[place, at]), int(n_documents[own[at]]),
            float(values.queued[own[at]]), float(by_label[at]),
        )
        for at in _largest(np.where(is_open, by_label, 0.0))
    )  # fmt: skip
    words = values.words_of(place)[_largest(by_word)].tolist()
    named = tuple(shown[word] for word in words)
    return Queued(place, values.of(place), doubts, named, int(known.n_known[place]))


def _largest(parts: Floats) -> Numbers:
    found = np.argsort(-parts, kind="stable")[:_N_TOLD]
    return np.asarray(found[parts[found] > 0])


def uncertainty(chances: Floats) -> Floats:
    """Return the entropy of each probability in bits: 1 for one half, 0 for 0 and 1."""
    inner = np.clip(chances, 1e-12, 1 - 1e-12)
    found: Floats = -(inner * np.log2(inner) + (1 - inner) * np.log2(1 - inner))
    return np.where((chances <= 0) | (chances >= 1), 0.0, found)


def told(model: LabelClassifier, one: Queued) -> dict[str, Any]:
    """Return what is said of a document: its value, the reason in words, and in numbers."""
    labels = [
        model.told_label(doubt.label)
        | {
            "probability": doubt.probability,
            "documents": doubt.n_documents,
            "queued": doubt.n_before,
            "part": doubt.part,
        }
        for doubt in one.doubts
    ]
    said = [f"perhaps {', '.join(map(_in_words, labels))}"] if labels else []
    if one.words:
        said.append(f"words that few before it have: {', '.join(one.words)}")
    if not one.n_known:
        said.append("no word that the model knows")
    return {
        "value": one.value,
        "reason": "; ".join(said),
        "uncertain_labels": labels,
        "words": list(one.words),
        "n_known": one.n_known,
    }


def _in_words(label: dict[str, Any]) -> str:
    n = label["documents"]
    learned = f"{counted(n, 'training document')}" if n else "no training document"
    return f"{label['label']} ({label['probability']:.0%}, {learned})"
