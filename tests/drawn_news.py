"""News drawn from the Dependency-LDA process itself, to compare what is learned with what is true.

Groups of subjects that go together are the topics; each subject has its own words.
"""

import re
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from deplda import Corpus
from deplda.data.datasets.newsroom_lexicon import (
    ITS_COMPANIONS,
    ONE_DOCUMENT_LABEL,
    Words,
    read_lexicon,
)

Floats = npt.NDArray[np.float64]

_COMMON_SHARE = 0.35
_VISITORS = 0.08


class DrawnNews(NamedTuple):
    corpus: Corpus
    label_words: Floats
    """φ, words × labels: each column sums to 1."""
    topic_labels: Floats
    """φ′, labels × groups: each column sums to 1."""


@cache
def own_words() -> dict[str, list[str]]:
    """Return the words that the lexicon gives to each subject, the strongest first."""
    return {subject.label: _flat(subject.words) for subject in read_lexicon().subjects}


@cache
def common_words() -> list[str]:
    """Return words that belong to no label."""
    scenes = [_flat(words) for writer in read_lexicon().writers for words in writer.scenes]
    owned = {word for words in own_words().values() for word in words}
    return sorted({word for words in scenes for word in words} - owned)


def groups() -> list[list[str]]:
    """Return the names of the subjects, group by group."""
    found: dict[int, list[str]] = {}
    for subject in read_lexicon().subjects:
        found.setdefault(subject.group, []).append(subject.label)
    return list(found.values())


def drawn_news(n_documents: int, *, seed: int = 0) -> DrawnNews:
    """Return documents of the process and the φ and φ′ that they were drawn from.

    Document 0 alone carries VIDEO GAMES, beside two frequent labels.
    """
    names = list(own_words())
    vocabulary = sorted({w for words in own_words().values() for w in words} | {*common_words()})
    label_words, topic_labels = _label_words(vocabulary), _topic_labels(names)
    rng = np.random.default_rng(seed)
    prior = _decay(len(groups()), 0.5) * 0.4
    counts, labels = [], []
    for document in range(n_documents):
        if document == 0:
            chosen = [names.index(name) for name in (ONE_DOCUMENT_LABEL, *ITS_COMPANIONS)]
            weights, length = np.full(3, 1 / 3), 180
        else:
            mixture = topic_labels @ rng.dirichlet(prior)
            tokens = rng.choice(len(names), size=1 + rng.poisson(3.2), p=mixture)
            chosen, times = map(np.ndarray.tolist, np.unique(tokens, return_counts=True))
            weights = rng.dirichlet(12.0 * np.array(times) / len(tokens))
            length = 1 + rng.poisson(rng.gamma(5.0, 130.0 / 5.0))
        shares = np.zeros(len(names))
        shares[chosen] = weights
        counts.append(csr_array(rng.multinomial(length, label_words @ shares)[None, :]))
        labels.append(csr_array(shares[None, :] > 0))
    return DrawnNews(
        Corpus(vstack(counts), vstack(labels), vocabulary, names), label_words, topic_labels
    )


def _flat(words: Words) -> list[str]:
    phrases = [phrase for kind in (words.things, words.people, *words[2:]) for phrase in kind]
    return list(dict.fromkeys(w for p in phrases for w in re.findall("[a-z]{4,}", p.lower())))


def _label_words(vocabulary: list[str]) -> Floats:
    places = {word: place for place, word in enumerate(vocabulary)}
    phi = np.zeros((len(vocabulary), len(own_words())))
    common = _decay(len(common_words()), 0.7) * _COMMON_SHARE
    phi[[places[word] for word in common_words()]] = common[:, None]
    for label, words in enumerate(own_words().values()):
        own = _decay(len(words), 0.6) * (1 - _COMMON_SHARE)
        phi[[places[word] for word in words], label] += own
    return phi


def _topic_labels(names: list[str]) -> Floats:
    """Return φ′: a group's own labels by rank, and visitors from everywhere by their frequency."""
    own = np.zeros((len(names), len(groups())))
    for topic, group in enumerate(groups()):
        own[[names.index(label) for label in group], topic] = _decay(len(group), 2.3)
    visitors = own @ _decay(len(groups()), 0.5)
    phi = (1 - _VISITORS) * own + _VISITORS * visitors[:, None]
    phi[names.index(ONE_DOCUMENT_LABEL)] = 0
    return phi / phi.sum(axis=0)


def _decay(n: int, exponent: float) -> Floats:
    """Return n weights that fall by a power law and sum to 1."""
    weights = np.arange(1, n + 1, dtype=np.float64) ** -exponent
    return weights / weights.sum()
