"""How texts become words, chosen by what ranks labels best for held-out training documents.

Each setting is judged by ridge regression from words to labels on a sample of the documents. It
takes a second where a model takes a minute, and it prefers the settings that the models prefer
(docs/how-to/languages.md has both, set by set).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array, diags_array, hstack
from threadpoolctl import threadpool_limits

Floats = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int64]
Sparse = csr_array[Any, tuple[int, int]]
Tokenize = Callable[[str], list[str]]
Document = tuple[Mapping[str, str], Collection[Any]]
"""The texts of a document by field, and its labels."""

MOST_DOCUMENTS = 3_000
_FEWEST_DOCUMENTS = 200
_MOST_CHARACTERS = 4_000
"""Of a text; the subjects of a long one are clear from its beginning."""
_PARTS = 4
"""One document in four is held out."""
_RIDGE = 0.1
"""Chosen of .03, .1, .3 and 1 so that pairs of words are taken where the hybrid gains from them, on
six real sets."""
_FEWEST_WITH_WORD = 2
_WEIGHTS = (2, 3, 5)
_SHORT = 3
"""A field is short if the longest one has this many times its words."""


class WordSettings(NamedTuple):
    """How texts become words."""

    token_pattern: str
    ngrams: int
    weights: Mapping[str, int] = MappingProxyType({})
    """How many times the words of each text field count, if not once."""


class Candidates(NamedTuple):
    """The values of each setting that are tried."""

    patterns: Collection[str]
    ngrams: Collection[int]
    weighted_fields: Collection[str]


class Choice(NamedTuple):
    """The best settings, and the average precision by document with and without them."""

    settings: WordSettings
    average_precision: float
    default_average_precision: float
    n_held_out: int

    def __str__(self) -> str:
        chosen = self.settings
        has_codes = chosen.token_pattern == "codes"  # noqa: S105
        parts = ["words and codes" if has_codes else "words"]
        if chosen.ngrams > 1:
            parts.append("pairs of words")
        parts += [f"{name} counts {n} times" for name, n in chosen.weights.items()]
        test = f"in a quick test on {self.n_held_out:,} training documents"
        if self.average_precision == self.default_average_precision:
            return f"counted: {', '.join(parts)}; nothing else ranked labels better {test}"
        return (
            f"counted: {', '.join(parts)}; average precision {self.average_precision:.2f} instead "
            f"of {self.default_average_precision:.2f} {test}"
        )


def choose(
    documents: Iterable[Document],
    tokenize: Tokenize,
    default: WordSettings,
    candidates: Candidates,
) -> Choice | None:
    """Return the best settings; None if there are too few labelled documents to choose by.

    One setting after the other gets the best of its values. A value replaces the default if the
    average precision of held-out documents is higher by more than its standard error.
    """
    labelled = (
        ({name: text[:_MOST_CHARACTERS] for name, text in texts.items()}, labels)
        for texts, labels in documents
        if len(labels) and any(map(str.strip, texts.values()))
    )
    sample = list(islice(labelled, MOST_DOCUMENTS))
    if len(sample) < _FEWEST_DOCUMENTS:
        return None
    judge = _Judge.of([labels for _, labels in sample])
    if not any(map(len, judge.truth)):
        return None
    words = _Words([texts for texts, _ in sample], tokenize)
    best, scores = default, judge.average_precisions(words.counts(default))
    default_scores = scores

    def take_best(values: Iterable[WordSettings]) -> None:
        nonlocal best, scores
        for settings in values:
            others = judge.average_precisions(words.counts(settings))
            gain = others - scores
            if gain.mean() > gain.std() / np.sqrt(len(gain)):
                best, scores = settings, others

    for name in words.short_fields(candidates.weighted_fields):
        weights = [{**best.weights, name: weight} for weight in _WEIGHTS]
        take_best([best._replace(weights=each) for each in weights])
    patterns = [each for each in candidates.patterns if each != default.token_pattern]
    take_best([best._replace(token_pattern=each) for each in patterns])
    ngrams = [n for n in candidates.ngrams if n != default.ngrams]
    take_best([best._replace(ngrams=n) for n in ngrams])
    return Choice(best, float(scores.mean()), float(default_scores.mean()), len(scores))


class _Words:
    """The words of documents by field, as numbers."""

    def __init__(self, texts: Sequence[Mapping[str, str]], tokenize: Tokenize) -> None:
        numbers: dict[str, int] = {}

        def numbered(text: str) -> Numbers:
            tokens = tokenize(text)
            return np.array([numbers.setdefault(token, len(numbers)) for token in tokens], np.int64)

        self._fields = {
            name: [numbered(each.get(name, "")) for each in texts]
            for name in dict.fromkeys(name for each in texts for name in each)
        }
        self._n_words = len(numbers)
        self._is_code = np.array([any(map(str.isdecimal, word)) for word in numbers], bool)

    def short_fields(self, names: Iterable[str]) -> list[str]:
        """Return those of the fields that have much fewer words than the longest one."""
        lengths = {name: sum(map(len, rows)) for name, rows in self._fields.items()}
        longest = max(lengths.values())
        return [name for name in names if lengths.get(name, longest) * _SHORT <= longest]

    def counts(self, settings: WordSettings) -> Sparse:
        """Return the counts of words and of sequences of words, documents × words."""
        fields = self._fields
        if settings.token_pattern == "words":  # noqa: S105
            fields = {
                name: [row[~self._is_code[row]] for row in rows] for name, rows in fields.items()
            }
        weights = [settings.weights.get(name, 1) for name in fields]
        parts, sequences = [], list(fields.values())
        for n in range(settings.ngrams):
            parts.append(_matrix(sequences, weights))
            if n + 1 < settings.ngrams:
                sequences = [
                    [a[:-1] * self._n_words + b[n + 1 :] for a, b in zip(rows, words, strict=True)]
                    for rows, words in zip(sequences, fields.values(), strict=True)
                ]
        return csr_array(hstack(parts))


def _matrix(fields: Sequence[Sequence[Numbers]], weights: Sequence[int]) -> Sparse:
    """Return the weighted counts of the numbers that two documents or more have."""
    n = len(fields[0])
    lengths = np.array([[len(row) for row in rows] for rows in fields])
    numbers = np.concatenate([row for rows in fields for row in rows])
    owners = np.concatenate([np.repeat(np.arange(n), each) for each in lengths])
    values = np.repeat(np.array(weights, np.float32), lengths.sum(axis=1))
    distinct, columns = np.unique(numbers, return_inverse=True)
    counts = csr_array((values, (owners, columns)), shape=(n, len(distinct)))
    n_documents = np.bincount(counts.indices, minlength=len(distinct))
    return csr_array(counts[:, np.flatnonzero(n_documents >= _FEWEST_WITH_WORD)])


class _Judge(NamedTuple):
    """The labels of documents, some of which are held out."""

    is_held_out: npt.NDArray[np.bool_]
    labels: Sparse
    """Of the documents that are not."""
    truth: list[Numbers]
    """The labels of each held-out document that others have, too."""

    @classmethod
    def of(cls, labels: Sequence[Collection[Any]]) -> _Judge:
        """Return the judge for documents with these labels."""
        is_held_out = np.arange(len(labels)) % _PARTS == _PARTS - 1
        learned = [each for each, held in zip(labels, is_held_out, strict=True) if not held]
        number = {label: n for n, label in enumerate(dict.fromkeys(x for y in learned for x in y))}
        owners = np.repeat(np.arange(len(learned)), list(map(len, learned)))
        columns = [number[label] for each in learned for label in each]
        ones = np.ones(len(columns), np.float32)
        matrix = csr_array((ones, (owners, columns)), shape=(len(learned), len(number)))
        truth = [
            np.array([number[label] for label in each if label in number], np.int64)
            for each, held in zip(labels, is_held_out, strict=True)
            if held
        ]
        return cls(is_held_out, matrix, truth)

    def average_precisions(self, counts: Sparse) -> Floats:
        """Return the average precision of each held-out document, ranked by ridge regression."""
        learned = counts[~self.is_held_out]
        n_documents = np.bincount(learned.indices, minlength=learned.shape[1])
        idf = np.log(learned.shape[0] / np.maximum(n_documents, 1)) * (n_documents > 0)
        learned, held = (_tfidf(rows, idf) for rows in (learned, counts[self.is_held_out]))
        alike = (learned @ learned.T).toarray()
        alike[np.diag_indices_from(alike)] += _RIDGE
        with threadpool_limits(1):  # last bits depend on the number of threads
            shares = cho_solve(cho_factor(alike), (learned @ held.T).toarray())
        scores = self.labels.T @ shares  # labels × held-out documents
        both = zip(scores.T, self.truth, strict=True)
        return np.array([_average_precision(*each) for each in both if len(each[1])], np.float32)


def _tfidf(counts: Sparse, idf: Any) -> Sparse:
    logs = counts.astype(np.float32)
    logs.data = 1 + np.log(logs.data)
    rows = csr_array(logs @ diags_array(idf.astype(np.float32)))
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return csr_array(diags_array(1 / np.where(lengths == 0, 1, lengths)) @ rows)


def _average_precision(scores: Floats, truth: Numbers) -> float:
    ranks = np.sort([(scores >= scores[label]).sum() for label in truth])
    return float(np.mean(np.arange(1, len(truth) + 1) / ranks))
