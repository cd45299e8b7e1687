"""The newsroom corpus: readable news drawn from the Dependency-LDA process itself.

Groups of descriptors that go together are the topics; each descriptor has its own words. The true
φ and φ′ come with the corpus, so that what a model learns can be compared with what is true.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from deplda.data import checks
from deplda.data.corpus import Corpus

Floats = npt.NDArray[np.float64]

# A document is mostly about one group; a label's rank in its group sets how rare it is.
_GROUP_DECAY = 0.5
_LABEL_DECAY = 2.3
_VISITORS = 0.08
_TOPIC_CONCENTRATION = 0.4
_EXTRA_LABELS = 3.2
_LABEL_CONCENTRATION = 12.0
_COMMON_SHARE = 0.35
_LENGTH_MEAN = 130.0
_LENGTH_SHAPE = 5.0

# The paper's story of a label that occurs once, among two frequent ones (its figure 2).
ONE_DOCUMENT_LABEL = "VIDEO GAMES"
ITS_COMPANIONS = ("ANTITRUST ACTIONS AND LAWS", "SUITS AND LITIGATION")
_STORY_LENGTH = 180


@dataclass(frozen=True, slots=True)
class Newsroom:
    """A generated corpus and the truth it was drawn from."""

    corpus: Corpus
    label_words: Floats
    """φ, words × labels: each column sums to 1."""
    topic_labels: Floats
    """φ′, labels × groups: each column sums to 1."""
    topic_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Lexicon:
    common: list[str]
    groups: dict[str, dict[str, list[str]]]


def newsroom(n_documents: int = 2_000, *, seed: int = 0) -> Newsroom:
    """Return `n_documents` drawn from the hand-written lexicon.

    Document 0 tells the paper's story: it alone carries ``VIDEO GAMES``, beside ``ANTITRUST ACTIONS
    AND LAWS`` and ``SUITS AND LITIGATION``, which are frequent. The word *steroids* belongs to
    ``MEDICINE AND HEALTH``, ``BASEBALL`` and ``BLACK MARKETS``. A larger corpus of the same seed
    begins with the documents of a smaller one.
    """
    checks.at_least_one(n_documents=n_documents)
    lexicon = _lexicon()
    label_names = [label for group in lexicon.groups.values() for label in group]
    vocabulary = sorted(
        {word for group in lexicon.groups.values() for words in group.values() for word in words}
        | set(lexicon.common)
    )
    label_words = _label_words(lexicon, vocabulary, label_names)
    topic_labels = _topic_labels(lexicon, label_names)
    story = [label_names.index(name) for name in (ONE_DOCUMENT_LABEL, *ITS_COMPANIONS)]
    rng = np.random.default_rng(seed)
    topic_prior = _decay(len(lexicon.groups), _GROUP_DECAY) * _TOPIC_CONCENTRATION
    counts, labels = [], []
    for document in range(n_documents):
        if document == 0:
            shares, length = _share(story, np.full(3, 1 / 3), len(label_names)), _STORY_LENGTH
        else:
            tokens = _label_tokens(rng, topic_prior, topic_labels)
            shares = _label_shares(rng, tokens, len(label_names))
            length = 1 + rng.poisson(rng.gamma(_LENGTH_SHAPE, _LENGTH_MEAN / _LENGTH_SHAPE))
        counts.append(csr_array(rng.multinomial(length, label_words @ shares)[None, :]))
        labels.append(csr_array(shares[None, :] > 0))
    return Newsroom(
        Corpus(vstack(counts), vstack(labels), vocabulary, label_names),
        label_words,
        topic_labels,
        tuple(lexicon.groups),
    )


def _label_tokens(
    rng: np.random.Generator, topic_prior: Floats, topic_labels: Floats
) -> npt.NDArray[np.int64]:
    """Draw θ′, then the label tokens: P(c) = Σ_t θ′_t φ′_ct."""
    mixture = rng.dirichlet(topic_prior)
    n_tokens = 1 + rng.poisson(_EXTRA_LABELS)
    return rng.choice(len(topic_labels), size=n_tokens, p=topic_labels @ mixture)


def _label_shares(rng: np.random.Generator, tokens: npt.NDArray[np.int64], n_labels: int) -> Floats:
    """Draw θ from a Dirichlet on the document's labels, heavier where a label has more tokens."""
    chosen, times = np.unique(tokens, return_counts=True)
    return _share(chosen, rng.dirichlet(_LABEL_CONCENTRATION * times / times.sum()), n_labels)


def _share(chosen: list[int] | npt.NDArray[np.int64], weights: Floats, n_labels: int) -> Floats:
    shares = np.zeros(n_labels)
    shares[chosen] = weights
    return shares


def _label_words(lexicon: _Lexicon, vocabulary: list[str], label_names: list[str]) -> Floats:
    places = {word: place for place, word in enumerate(vocabulary)}
    common = _decay(len(lexicon.common), 0.7) * _COMMON_SHARE
    phi = np.zeros((len(vocabulary), len(label_names)))
    phi[[places[word] for word in lexicon.common]] = common[:, None]
    for group in lexicon.groups.values():
        for label, words in group.items():
            own = _decay(len(words), 0.6) * (1 - _COMMON_SHARE)
            phi[[places[word] for word in words], label_names.index(label)] += own
    return phi / phi.sum(axis=0)


def _topic_labels(lexicon: _Lexicon, label_names: list[str]) -> Floats:
    """Return φ′: a group's own labels by rank, and visitors from everywhere by their frequency."""
    own = np.zeros((len(label_names), len(lexicon.groups)))
    for topic, group in enumerate(lexicon.groups.values()):
        own[[label_names.index(label) for label in group], topic] = _decay(len(group), _LABEL_DECAY)
    visitors = own @ _decay(len(lexicon.groups), _GROUP_DECAY)
    phi = (1 - _VISITORS) * own + _VISITORS * visitors[:, None]
    phi[label_names.index(ONE_DOCUMENT_LABEL)] = 0
    return phi / phi.sum(axis=0)


def _decay(n: int, exponent: float) -> Floats:
    """Return n weights that fall by a power law and sum to 1."""
    weights = np.arange(1, n + 1, dtype=np.float64) ** -exponent
    return weights / weights.sum()


@cache
def _lexicon() -> _Lexicon:
    text = files("deplda.data.datasets").joinpath("newsroom.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    groups = {
        group["name"]: {label: words.split() for label, words in group["labels"].items()}
        for group in content["groups"]
    }
    return _Lexicon(content["common"].split(), groups)
