"""Counts of very many words in bounded memory: the frequent ones are kept, with a bound of error.

This is the summary of Misra and Gries (1982), as Agarwal et al. (2012) merge those of parts: the
counts of two parts add up, and where too many words are held, all lose the same number of tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np

from deplda.data.names import MARK


class Frequent:
    """Counts of at most `most` words; exact as long as there are no more.

    Beyond that a count is up to `missed` too small, and never too large: all words with more than
    `missed` tokens are held. Of N tokens counted, `missed` is at most N / (most // 2 + 1).
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.counts: dict[str, int] = {}
        """Of the words held, in the order in which they were first met."""
        self.missed = 0
        self.n_tokens = 0
        """Of all words, held or not."""

    def add(self, counts: Mapping[str, int]) -> Self:
        """Count the words of a part."""
        self.n_tokens += sum(counts.values())
        return self._add(counts)

    def merge(self, other: Frequent) -> Self:
        """Count what another one has counted; what both may have missed adds up."""
        self.n_tokens += other.n_tokens
        self.missed += other.missed
        return self._add(other.counts)

    def _add(self, counts: Mapping[str, int]) -> Self:
        held = self.counts
        for word, count in counts.items():
            held[word] = held.get(word, 0) + count
        if len(held) > self.most:
            self._shrink()
        return self

    def _shrink(self) -> None:
        """Take as many tokens from each word as leave half of `most` words.

        At least most // 2 + 1 words lose as many tokens as are added to `missed`, which is the
        bound. It is half of them so that it is seldom done, not at every new word.
        """
        kept = self.most // 2
        totals = np.fromiter(self.counts.values(), np.int64, len(self.counts))
        taken = int(np.partition(totals, len(totals) - kept - 1)[len(totals) - kept - 1])
        self.counts = {w: count - taken for w, count in self.counts.items() if count > taken}
        self.missed += taken


class TextWords:
    """The words of texts, their sequences, and the forms they were met in, each a `Frequent`."""

    def __init__(self, most: int, ngrams: int) -> None:
        self.words, self.sequences, self.forms = (Frequent(most) for _ in range(3))
        self._has_sequences = ngrams > 1

    def add(self, words: Mapping[str, int], forms: Mapping[str, int]) -> Self:
        """Count the words of a part, and their forms."""
        longer = {word: n for word, n in words.items() if self._is_sequence(word)}
        self.words.add({word: n for word, n in words.items() if word not in longer})
        self.sequences.add(longer)
        self.forms.add(forms)
        return self

    def merge(self, other: TextWords) -> None:
        """Count what another one has counted."""
        self.words.merge(other.words)
        self.sequences.merge(other.sequences)
        self.forms.merge(other.forms)

    @property
    def missed(self) -> int:
        """By how many tokens the count of a word or sequence may be too small; 0: all are exact."""
        return max(self.words.missed, self.sequences.missed)

    @property
    def n_tokens(self) -> int | None:
        """How many words were counted, where the counts do not add up to it."""
        return self.words.n_tokens if self.missed else None

    def totals(self) -> dict[str, int]:
        """Return the counts of words and sequences; of these only such as are known with parts."""
        if not self.missed:
            return self.words.counts | self.sequences.counts
        found = dict(self.words.counts)
        for word in sorted(self.sequences.counts, key=lambda word: word.count(" ")):
            before, _, last = word.rpartition(" ")
            if before in found and last in found:  # else it would be taken for a word
                found[word] = self.sequences.counts[word]
        return found

    def _is_sequence(self, word: str) -> bool:
        return (self._has_sequences and " " in word) or word.endswith(MARK)
