"""Names of labels as evidence: which stand in a document, and what that says.

A label whose name stands in a text may be right though no document was ever given it. How far to
trust a name is learned from documents held out, as if none of its labels had been learned: a
logistic regression over how it stands there (`FEATURES`), with the label's frequency beside it, and
an offset for labels that no other document has. Its log-odds are those of labels never learned; for
all others they are a signal of the mixture (`mixture.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from deplda.data.names import MARK, MOST_EARLY, Analyze, Name, names_of
from deplda.data.text import WordCounter
from deplda.data.vocabulary import Vocabulary
from deplda.kernels.name_finder import find_names
from deplda.models.candidates import Labels, Sparse
from deplda.models.mixture import Bools, logistic

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

MOST_NAMED = 32
"""Labels of a document that its names bring up beside its other candidates."""
_RIDGE = 3.0
_LEAST_TRUE = 5
"""Pairs of a name and a document that has the label, from which on something can be learned."""

_MOST_FOUND = 500
"""Names of a document that are looked at; the others are those of the commonest words."""
_MOST_PLACES = 20
_MOST_ALIKE = 16
"""Labels that may have the same name."""

FEATURES = (
    "idf", "idf²", "two words", "three words", "log count", "log count × idf", "log length",
    "in sequence", "in sequence × idf", "early", "early × idf", "has qualifier", "qualifier",
    "synonym",
)  # fmt: skip
"""What is known of a name that stands in a document."""


class WordDocuments(NamedTuple):
    """How many documents there are, and how many have each word."""

    n: int
    n_with: Numbers

    @classmethod
    def of(cls, counts: Sparse) -> WordDocuments:
        """Return those of some documents."""
        n, n_words = counts.shape
        return cls(n, np.bincount(counts.indices, minlength=n_words))


class NameIndex(NamedTuple):
    """The names of labels as columns of counts, found by the rarest of their words."""

    labels: Labels
    """Of each name the label."""
    starts: Numbers
    words: Labels
    """The columns of name j are words[starts[j] : starts[j + 1]], the rarest first …"""
    early: Labels
    """… and those that say how early each of them stands; −1 where that is not counted."""
    sequences: Labels
    """Of each name the column of its words in sequence; −1 where that is not counted."""
    qualifier_starts: Numbers
    qualifiers: Labels
    is_synonym: npt.NDArray[np.bool_]
    idf: Floats
    """Of each name the mean idf of its words."""
    key_starts: Numbers = np.zeros(1, np.int64)
    """The names whose rarest word is column w are from key_starts[w] to key_starts[w + 1]."""

    def find(self, counts: Sparse, lengths: Floats) -> Mentions:
        """Return the labels whose names stand in documents, which have so many words."""
        sizes = np.diff(self.starts)
        ends, names, rows, weights = find_names(
            counts.indptr.astype(np.int64), counts.indices.astype(np.int32),
            counts.data.astype(np.float32), self.key_starts, self.starts,
            self.words, self.early, self.sequences, self.qualifier_starts, self.qualifiers,
            self.idf * sizes, _MOST_FOUND,
        )  # fmt: skip
        documents = np.repeat(np.arange(counts.shape[0]), np.diff(ends))
        n_words = sizes[names]
        least, early, in_sequence, qualified = rows.T.astype(np.float64)
        idf, times = self.idf[names], np.log(np.maximum(least, 1.0))
        together = (in_sequence > 0) & (n_words > 1)
        early = np.minimum(early, MOST_EARLY) / MOST_EARLY
        features = np.stack(
            [
                idf, (idf / 4) ** 2, n_words > 1, n_words > 2, times, times * idf,
                np.log1p(lengths)[documents], together, together * idf, early, early * idf,
                np.diff(self.qualifier_starts)[names] > 0, qualified, self.is_synonym[names],
            ],
            axis=1,
        )  # fmt: skip
        found = documents, self.labels[names], names, features, weights
        return Mentions.best_of(*found, counts.shape[0])

    def words_of(self, name: int) -> Labels:
        """Return the columns of a name's words."""
        return self.words[self.starts[name] : self.starts[name + 1]]

    def keyed(self, n_columns: int) -> NameIndex:
        """Return it in the order of the first word of each name, for counts of so many columns."""
        first = self.words[self.starts[:-1]]
        order = np.argsort(first, kind="stable")
        starts, of_words = _taken(self.starts, order)
        qualifier_starts, of_qualifiers = _taken(self.qualifier_starts, order)
        sums = np.cumsum(np.bincount(first, minlength=n_columns))
        return NameIndex(
            self.labels[order], starts, self.words[of_words], self.early[of_words],
            self.sequences[order], qualifier_starts, self.qualifiers[of_qualifiers],
            self.is_synonym[order], self.idf[order],
            np.concatenate([[0], sums]).astype(np.int64),
        )  # fmt: skip

    def rarest_first(self, documents: WordDocuments) -> NameIndex:
        """Return it by the word of each name that the fewest of these documents have.

        The order of a name's words is of no other use: `sequences` know that of the text.
        """
        n_documents = documents.n_with
        owner = np.repeat(np.arange(len(self.labels)), np.diff(self.starts))
        order = np.lexsort((self.words, n_documents[self.words], owner))
        ordered = self._replace(words=self.words[order], early=self.early[order])
        return ordered.keyed(len(n_documents)).with_idf(documents)

    def with_idf(self, documents: WordDocuments) -> NameIndex:
        """Return it with the idf of words by these documents."""
        idf = np.log((1 + documents.n) / (1 + documents.n_with))
        sums = np.add.reduceat(idf[self.words], self.starts[:-1]) if len(self.labels) else idf[:0]
        return self._replace(idf=sums / np.maximum(np.diff(self.starts), 1))


class Mentions(NamedTuple):
    """Labels whose names stand in documents, by document and label; of each its heaviest name."""

    documents: Numbers
    labels: Numbers
    names: Numbers
    """Their numbers in the index."""
    features: Floats
    weights: Floats
    """By which they are chosen where there are too many: the sum of idf, half if not in order."""
    n_documents: int

    @classmethod
    def best_of(
        cls, documents: Numbers, labels: Any, names: Any, features: Floats, weights: Floats,
        n_documents: int,
    ) -> Mentions:  # fmt: skip
        """Return those of names, of which a label may have several."""
        n_labels = int(labels.max(initial=0)) + 1
        keys = documents * n_labels + labels
        order = np.argsort(keys, kind="stable")
        is_first = np.ones(len(order), bool)
        is_first[1:] = np.diff(keys[order]) != 0
        if not is_first.all():
            order = np.lexsort((-weights, keys))
        kept = order[is_first]
        return cls(
            documents[kept], labels[kept].astype(np.int64), names[kept].astype(np.int64),
            features[kept], weights[kept], n_documents,
        )  # fmt: skip

    def at(self, candidates: Labels) -> Numbers:
        """Return the place here of each document's candidates; −1 where the name is not there."""
        if not len(self.labels):
            return np.full(candidates.shape, -1)
        n = max(int(self.labels.max()), int(candidates.max(initial=0))) + 1
        keys = self.documents * n + self.labels
        wanted = np.arange(len(candidates))[:, None] * n + candidates
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where((keys[found] == wanted) & (candidates >= 0), found, -1)

    def beside(self, at: Numbers, k: int = MOST_NAMED) -> Numbers:
        """Return the places of up to k labels a document that have none among `at`; −1 for none.

        The heaviest come first, equals in the order of their numbers.
        """
        found = np.full((self.n_documents, k), -1)
        is_new = np.ones(len(self.labels), bool)
        is_new[at[at >= 0]] = False
        new = np.flatnonzero(is_new)
        own, heavy = self.documents[new], self.weights[new]
        new = new[np.argsort(own - heavy / (heavy.max(initial=0.0) + 1.0), kind="stable")]
        rank = np.arange(len(new)) - np.searchsorted(own, own)
        kept = rank < k
        found[own[kept], rank[kept]] = new[kept]
        return found

    def labels_at(self, places: Numbers) -> Labels:
        """Return the labels at these places; −1 where there is none."""
        return np.append(self.labels, -1)[places].astype(np.int32)


class NameWeights(msgspec.Struct, frozen=True):
    """How far a name that stands in a document speaks for its label."""

    intercept: float
    weights: tuple[float, ...]
    """Of the features."""
    unseen: float
    """What is added for a label that no training document has."""
    centre: float
    """The mean of the labels that have been learned, from which their signal is counted."""

    def scores(self, features: Floats) -> Floats:
        """Return the log-odds of a label of mean frequency, by its name alone."""
        found = np.full(len(features), self.intercept)
        for weight, column in zip(self.weights, features.T, strict=True):
            found += weight * column  # a product of matrices may depend on the documents beside it
        return found


class NamePairs(NamedTuple):
    """Labels whose names stand in documents held out."""

    features: Floats
    truth: Bools
    log_frequencies: Floats
    is_unseen: Bools
    """Whether no other document has the label."""


def learn_weights(pairs: NamePairs) -> NameWeights | None:
    """Return how far names are to be trusted; None where too few of them were right, or wrong."""
    n_true, n = int(pairs.truth.sum()), len(pairs.truth)
    if not _LEAST_TRUE <= n_true <= n - _LEAST_TRUE:
        return None
    often, unseen = pairs.log_frequencies, pairs.is_unseen
    table = np.column_stack([pairs.features, often])
    means, scales = table.mean(axis=0), table.std(axis=0)
    scales = np.where(scales > 1e-9, scales, 1.0)
    terms = np.column_stack([np.ones(n), (table - means) / scales, unseen])
    ridge = [0.0, *[_RIDGE] * (terms.shape[1] - 1)]
    found = logistic(terms, pairs.truth, np.ones(n), ridge)
    weights = found[1:-1] / scales
    intercept = float(found[0] - weights[:-1] @ means[:-1])
    seen = ~unseen if not unseen.all() else unseen
    scores = intercept + pairs.features @ weights[:-1]
    least = often[unseen].mean() if unseen.any() else often.min(initial=0.0)
    return NameWeights(
        intercept,
        tuple(weights[:-1].tolist()),
        float(found[-1] + weights[-1] * (least - means[-1])),
        float(scores[seen].mean()),
    )


def index_of(
    names: Iterable[tuple[int, Sequence[str]]],
    columns: Sequence[str],
    analyze: Analyze,
) -> NameIndex:
    """Return the index of labels' names, the preferred one of each first.

    `columns` are the words of counts, `analyze` turns a name into its words. A name of which a word
    has no column is left out, and so is one that is like another of its label, or like those of
    very many labels, of which it tells none from the others.
    """
    places = {word: place for place, word in enumerate(columns)}
    found = list[tuple[int, tuple[str, ...], Name, bool]]()
    for label, several in names:
        known = set[tuple[str, ...]]()
        for number, text in enumerate(several):
            name = Name.of(text, analyze)
            own = tuple(dict.fromkeys(name.words))
            if own and own not in known and all(word in places for word in own):
                known.add(own)
                found.append((label, own, name, number > 0))
    times = Counter(own for _, own, _, _ in found)
    labels, words, early, sequences = [], list[list[int]](), list[int](), list[int]()
    qualifiers, is_synonym = list[list[int]](), list[bool]()
    for label, own, name, is_other in found:
        if times[own] <= _MOST_ALIKE:
            labels.append(label)
            words.append([places[word] for word in own])
            early += [places.get(word + MARK, -1) for word in own]
            sequences.append(places.get(f"{name.sequence}{MARK}", -1))
            qualifiers.append([places[word] for word in name.qualifier if word in places])
            is_synonym.append(is_other)
    return NameIndex(
        np.array(labels, np.int32), _starts(words), _flat(words), np.array(early, np.int32),
        np.array(sequences, np.int32), _starts(qualifiers), _flat(qualifiers),
        np.array(is_synonym, bool), np.zeros(len(labels)),
    ).keyed(len(columns))  # fmt: skip


def names_by_label(
    labels: Sequence[Any], vocabulary: Vocabulary | None, language: str | None
) -> list[tuple[int, list[str]]]:
    """Return the names of labels, by number: those of the vocabulary, or else the labels."""
    found = []
    for number, label in enumerate(labels):
        if vocabulary is not None and label in vocabulary:
            found.append((number, names_of(vocabulary[label], language)))
        elif isinstance(label, str):
            found.append((number, [label]))
    return found


def places_of(
    name: str, text: str, counter: WordCounter
) -> tuple[tuple[tuple[int, int], ...], bool]:
    """Return where a name stands in a text, begin and end, and whether its words stand together.

    Where they do not, it is where each of them stands first.
    """
    wanted, places = Name.of(name, counter.name_analyzer()).words, list(counter.places(text))
    words, n = [word for _, _, word in places], len(wanted)
    runs = [at for at in range(len(words) - n + 1) if words[at : at + n] == wanted]
    if runs:
        found = [(places[at][0], places[at + n - 1][1]) for at in runs]
    else:
        found = [places[words.index(word)][:2] for word in wanted if word in words]
    return tuple(sorted(found[:_MOST_PLACES])), bool(runs)


def _taken(starts: Numbers, rows: Numbers) -> tuple[Numbers, Numbers]:
    """Return where rows begin that are put in this order, and the places of their entries."""
    sizes = np.diff(starts)[rows]
    begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return begin, np.repeat(starts[:-1][rows] - begin[:-1], sizes) + np.arange(begin[-1])


def _starts(lists: Sequence[Sequence[int]]) -> Numbers:
    return np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)


def _flat(lists: Sequence[Sequence[int]]) -> Labels:
    return np.array([value for each in lists for value in each], np.int32)
