"""Which words of a document are lit, and how brightly: as on the page (static/lighting.js).

A word counts by what it adds to a label, all its occurrences and forms together. Of the words that
speak for a label the fewest are lit that make up most of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from deplda.models.reasons import Word

_MOST = 0.8


class Lit(NamedTuple):
    """The label that a word argues most for, and how brightly it is lit, up to 1."""

    label: int
    how: float


def lit_words(words: Sequence[Word], label: int) -> dict[str, float]:
    """Return the words that are lit for one label, the strongest is brightest."""
    speaking = sorted(
        (word for word in words if word.added[label] > 0), key=lambda word: -word.added[label]
    )
    whole = sum(word.added[label] for word in speaking)
    lit, total = dict[str, float](), 0.0
    for word in speaking:
        if total >= _MOST * whole:
            break
        total += word.added[label]
        lit[word.word] = word.added[label] / speaking[0].added[label]
    return lit


def lit_by_labels(words: Sequence[Word], chances: Sequence[float]) -> dict[str, Lit]:
    """Return the words that are lit for any label, each for the one that it argues most for.

    A word counts by the label's probability, too: plain words of unlikely labels stay pale.
    """
    added, found = {word.word: word.added for word in words}, dict[str, Lit]()
    for label, chance in enumerate(chances):
        for word in lit_words(words, label):
            how = added[word][label] * chance
            if how > (found[word].how if word in found else 0.0):
                found[word] = Lit(label, how)
    most = max((lit.how for lit in found.values()), default=1.0)
    return {word: Lit(lit.label, lit.how / most) for word, lit in found.items()}
