"""Names of labels as words of texts: what is counted of them beside the words learned from.

A name that stands in a text is evidence for its label, whether or not a document was ever given it.
Columns of three kinds follow the words of a counter (`WordCounter.names_at_`):

- the words of names that are too rare to be learned from, as they are: ``dolmen``;
- how early each word of a name stands in a text, marked as such: ``dolmen␟@``;
- the words of a name in sequence: ``bronze age␟@``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deplda.data.vocabulary import ANY, Concept

MARK = "\x1f@"
"""Ends a column that is no word: the earliness of a word, or a sequence. A control character that
separates words is part of none."""
MOST_EARLY = 4
"""How early one of the first eight words of a text stands; twice as far is one less."""
AFTER_TITLE = 32
"""Where the second field of a document begins, however short its title is."""
_FIRST = 8
EARLY_WORDS = _FIRST << (MOST_EARLY - 1)
_IN_BRACKETS = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]")
_FACET = "::"
_TELLING = re.compile(r"\b(?:\w*\d\w*|[^\W\d_a-z])\b")
"""Numbers, and single letters in upper case."""


_MOST_WORDS = 12
"""Of a name; a longer one is hardly ever met whole."""

Analyze = Callable[[str], list[str]]
"""Turns a text into its words."""


class Name(NamedTuple):
    """The words of a name, and of what tells it from others spelt alike: Mercury (planet)."""

    words: list[str]
    qualifier: list[str]

    @classmethod
    def of(cls, text: str, analyze: Analyze) -> Name:
        """Return a name as it is looked for; a qualifier stands in brackets, or before ``::``."""
        facet, _, rest = text.rpartition(_FACET)
        bare, hints = cls.bare(text), " ".join([facet, *_IN_BRACKETS.findall(rest)])
        words = analyze(bare)
        # What is not counted may be all that tells it from others: vitamin D, Industry 4.0.
        is_whole = not any(not analyze(part) for part in _TELLING.findall(bare))
        return cls(words if is_whole and len(words) <= _MOST_WORDS else [], analyze(hints))

    @staticmethod
    def bare(text: str) -> str:
        """Return a name without its qualifier, as it is written."""
        rest = text.rpartition(_FACET)[2]
        return _IN_BRACKETS.sub("", rest).strip() or rest

    @property
    def sequence(self) -> str | None:
        """Its words in sequence, if it has several."""
        return " ".join(self.words) if len(self.words) > 1 else None


def names_of(concept: Concept, language: str | None) -> list[str]:
    """Return the name and the synonyms of a concept that may stand in texts of a language.

    They are those in the language, and those that are in no language. Where there are none, or the
    language is not known, those in all languages.
    """
    wanted: Collection[str | None] = (language, ANY)
    if language is None or not any(code in concept.names for code in wanted):
        wanted = {*concept.names, *concept.synonyms}
    names = [name for code, name in concept.names.items() if code in wanted and name.strip()]
    also = [
        name for code, several in concept.synonyms.items() if code in wanted for name in several
    ]
    return list(dict.fromkeys(names + also))


def earliness(places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return how early the places of words in a text are."""
    return MOST_EARLY - np.frexp(places // _FIRST)[1].astype(np.int64)


class NameWords(NamedTuple):
    """The words and sequences of names that are looked for in texts."""

    words: frozenset[str]
    sequences: frozenset[str]
    lengths: dict[str, tuple[int, ...]]
    """How many words the sequences have that begin with two words."""

    @classmethod
    def of_names(cls, names: Iterable[str], analyze: Analyze) -> NameWords:
        """Return those of names."""
        words, sequences = set[str](), set[str]()
        for text in names:
            name = Name.of(text, analyze)
            words.update(name.words, name.qualifier)
            if name.sequence is not None:
                sequences.add(name.sequence)
        return cls._of(words, sequences)

    @classmethod
    def of_columns(cls, columns: Iterable[str]) -> NameWords:
        """Return those that columns were made of."""
        marked = [column.removesuffix(MARK) for column in columns if column.endswith(MARK)]
        sequences = {each for each in marked if " " in each}
        return cls._of(set(marked) - sequences, sequences)

    @classmethod
    def _of(cls, words: set[str], sequences: set[str]) -> NameWords:
        lengths = dict[str, tuple[int, ...]]()
        for sequence in sequences:
            first, second, *rest = sequence.split(" ")
            begin, n = f"{first} {second}", 2 + len(rest)
            known = lengths.get(begin, ())
            if n not in known:
                lengths[begin] = tuple(sorted((*known, n)))
        return cls(frozenset(words), frozenset(sequences), lengths)

    def columns_beside(self, words: Iterable[str]) -> tuple[str, ...]:
        """Return the columns that are counted beside these words, which have theirs already."""
        return (
            *sorted(self.words.difference(words)),
            *sorted(word + MARK for word in self.words),
            *sorted(sequence + MARK for sequence in self.sequences),
        )

    def found_in(self, tokens: list[str], begins_at: int = 0) -> Iterator[tuple[str, int]]:
        """Yield how early words of names stand among the words of a text, and each sequence."""
        early, seen = tokens[: max(0, EARLY_WORDS - begins_at)], set[str]()
        for place, word in enumerate(early, start=begins_at):
            if word in self.words and word not in seen:
                seen.add(word)
                yield word + MARK, MOST_EARLY - (place // _FIRST).bit_length()
        # Most pairs of words begin no name: all are looked up at once.
        begins = list(map(" ".join, pairwise(tokens)))
        met = self.lengths.keys() & begins
        for place, begin in enumerate(begins if met else ()):
            if begin in met:
                for n in self.lengths[begin]:
                    found = begin if n == 2 else " ".join(tokens[place : place + n])
                    if place + n <= len(tokens) and found in self.sequences:
                        yield found + MARK, 1
