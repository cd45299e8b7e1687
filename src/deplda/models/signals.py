"""What is known of a pair of document and label, each thing by name: a signal.

A signal is a class with a name, a value for every pair, and a sentence for people. What decides is
a mixture of them (`mixture.py`); a new signal is one class here and one line in `SIGNALS`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from deplda.models.candidates import Labels

Floats = npt.NDArray[np.float64]

LEAST_SHARE = 1e-6


class Candidates(NamedTuple):
    """Some documents' candidate labels, documents × candidates, and what was found of each."""

    labels: Labels
    """−1 where a document has fewer candidates."""
    margins: Floats
    shares: Floats
    likeness: Floats
    log_frequencies: Floats
    names: Floats | None = None
    """How far the label's name speaks for it, NaN where it does not stand in the document; None
    where names are not looked at."""


class Signal(Protocol):
    """A value for each pair of document and label."""

    name: str
    sentence: str
    """What it says, for people."""

    @staticmethod
    def values(candidates: Candidates) -> Floats:
        """Return the value of each pair."""


class Margin:
    """w·x − 1 of the label's SVM."""

    name = "margin"
    sentence = "its words, weighed against labels that it is confused with"

    @staticmethod
    def values(candidates: Candidates) -> Floats:
        """Return the margins."""
        return candidates.margins


class TopicShare:
    """log P, the label's share of the document in the topic model."""

    name = "share"
    sentence = "the words that are left to it, and the labels it goes with"

    @staticmethod
    def values(candidates: Candidates) -> Floats:
        """Return the logarithms of the shares."""
        return np.log(candidates.shares + LEAST_SHARE)


class Likeness:
    """The cosine of the document and the label's mean document."""

    name = "likeness"
    sentence = "how like the document is to those that have it"

    @staticmethod
    def values(candidates: Candidates) -> Floats:
        """Return the cosines."""
        return candidates.likeness


class LogFrequency:
    """ln f, f the label's share of the training documents."""

    name = "frequency"
    sentence = "how often the label is given at all"

    @staticmethod
    def values(candidates: Candidates) -> Floats:
        """Return ln f."""
        return candidates.log_frequencies


class Named:
    """Whether the label's name stands in the document."""

    name = "named"
    sentence = "its name stands in the text"

    @staticmethod
    def values(candidates: Candidates) -> Floats:
        """Return 1 where it does."""
        return name_values(_names(candidates))[Named.name]


class NameScore:
    """How far the name speaks for the label, compared to those of other labels."""

    name = "name"
    sentence = "how its name stands in the text"

    @staticmethod
    def values(candidates: Candidates) -> Floats:
        """Return the scores of names (`name_evidence.py`); 0 where there is none."""
        return name_values(_names(candidates))[NameScore.name]


def name_values(names: Floats) -> dict[str, Floats]:
    """Return the values of both signals by the scores of names, NaN where there is none."""
    return {
        Named.name: np.isfinite(names).astype(np.float64),
        NameScore.name: np.nan_to_num(names),
    }


def _names(candidates: Candidates) -> Floats:
    if candidates.names is None:
        raise ValueError("names were not looked at")
    return candidates.names


SIGNALS: tuple[Signal, ...] = (Margin(), TopicShare(), Likeness(), LogFrequency())
NAME_SIGNALS: tuple[Signal, ...] = (Named(), NameScore())
"""Of models that look at names."""


def values_of(candidates: Candidates) -> dict[str, Floats]:
    """Return the values of all signals by name."""
    known = SIGNALS if candidates.names is None else (*SIGNALS, *NAME_SIGNALS)
    return {signal.name: signal.values(candidates) for signal in known}
