"""Counts of many texts: words become numbers, which are counted a few million at a time."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, islice, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from deplda.data.forms import Forms
from deplda.data.names import AFTER_TITLE, EARLY_WORDS, MARK, NameWords, earliness
from deplda.data.tokens import Tokenizer

Numbers = npt.NDArray[np.int64]
Sparse = csr_array[Any, tuple[int, int]]

WeightedText = tuple[str, int]
"""A text field of a document, and how many times each of its words counts."""

_MOST_TOKENS = 1 << 21
"""Counted at a time, in some 150 MB."""
_MOST_FORMS = 1 << 20
"""Forms of words that are remembered from one batch of documents to the next."""
_STOP = -1


class _Numbers(dict[Any, int]):
    """Numbers from 0, in the order of the first lookup."""

    def __missing__(self, key: Any) -> int:
        self[key] = number = len(self)
        return number


class WordNumbers:
    """Numbers of words, of sequences of words, and of the words and sequences of names.

    With `columns`, only these have numbers; without, words and sequences get theirs in the order of
    the texts. The key of a sequence is 2³² · (number of all but its last word) + (number of its
    last word).
    """

    def __init__(
        self, columns: Mapping[str, int] | None, ngrams: int, names: NameWords | None
    ) -> None:
        self.is_fixed, self.words = columns is not None, _Numbers()
        self.sequences = [_Numbers() for _ in range(ngrams - 1)]
        self.name_sequences, self._names = list[_Numbers](), frozenset[str]()
        if names is not None:
            self._names = names.sequences
            for word in sorted(names.words):
                self.words[word]
            longest = max((name.count(" ") for name in names.sequences), default=0)
            self.name_sequences = [_Numbers() for _ in range(longest)]
            for name in sorted(names.sequences):
                self._add(name.split(" "), self.name_sequences)
        self.n_name_words = 0 if names is None else len(names.words)
        for column in columns or ():
            if not column.endswith(MARK):
                self.words[column]
                for parts in _divided(column, ngrams):
                    self._add(parts, self.sequences)
        self.columns = columns or {}
        self.begins_name = self._first_words(self.name_sequences)
        self.begins_sequence = self._first_words(self.sequences) if self.is_fixed else None
        self._places = self._places_of(self.columns, self._texts()) if self.is_fixed else []

    def _add(self, words: Iterable[str], levels: Iterable[_Numbers]) -> None:
        number, *others = (self.words[word] for word in words)
        for level, last in zip(levels, others, strict=False):
            number = level[number << 32 | last]

    def _first_words(self, levels: Sequence[_Numbers]) -> npt.NDArray[np.bool_]:
        """Return which words are the first of a sequence."""
        begins = np.zeros(len(self.words) + 1, bool)
        for level in levels[:1]:
            begins[np.fromiter(level, np.int64, len(level)) >> 32] = True
        return begins

    @property
    def sizes(self) -> list[int]:
        """How many numbers there are of each kind; words that have none share one, the last."""
        levels = [*map(len, self.sequences)], [*map(len, self.name_sequences)]
        return [len(self.words) + self.is_fixed, *levels[0], self.n_name_words, *levels[1]]

    def of(self, word: str) -> int:
        """Return the number of a word."""
        return self.words.get(word, len(self.words)) if self.is_fixed else self.words[word]

    def columns_met(
        self, totals: Sequence[Numbers], fewest: int
    ) -> tuple[tuple[str, ...], list[Numbers]]:
        """Return the names of columns, and for each kind the columns of its numbers, or −1.

        `totals` are the tokens of each number. Without fixed columns, there is one for each word of
        the texts, and for each sequence with `fewest` tokens or more.
        """
        if self.is_fixed:
            return tuple(self.columns), self._places
        of_sequences = totals[1 : 1 + len(self.sequences)]
        texts = self._texts([np.flatnonzero(total >= fewest) for total in of_sequences])
        met = {
            text
            for part, total in zip(texts, totals, strict=True)
            for number, text in part.items()
            if total[number]
        }
        names = tuple(sorted(met))
        return names, self._places_of({name: n for n, name in enumerate(names)}, texts)

    def _texts(self, sequences: Sequence[Numbers] | None = None) -> list[dict[int, str]]:
        """Return the columns of the numbers of each kind; of `sequences`, or of all."""
        words = dict(enumerate(self.words))
        names = _sequence_texts(words, self.name_sequences)
        return [
            words,
            *_sequence_texts(words, self.sequences, sequences),
            {number: words[number] + MARK for number in range(self.n_name_words)},
            *(
                {n: text + MARK for n, text in part.items() if text in self._names}
                for part in names
            ),
        ]

    def _places_of(
        self, columns: Mapping[str, int], texts: Sequence[dict[int, str]]
    ) -> list[Numbers]:
        places = [np.full(size, -1) for size in self.sizes]
        for place, part in zip(places, texts, strict=True):
            place[list(part)] = [columns.get(text, -1) for text in part.values()]
        return places


class Passages(NamedTuple):
    """The text fields of a document: their tokens, weights, and how many words are before each."""

    rows: TextRows
    """To be added to, before the next call of its `matrix`."""
    fields: list[tuple[list[int], int, int]]


class TextRows:
    """Growing rows of counts of texts: of words, sequences of words, and words of names."""

    def __init__(
        self, tokenize: Tokenizer, stops: Collection[str], forms: Forms | None, numbers: WordNumbers
    ) -> None:
        self._tokenize, self._stops, self._forms = tokenize, stops, forms
        self._numbers = numbers
        self._forget_forms()
        self._begin()

    def _forget_forms(self) -> None:
        self._tokens, self._word_of, self._uses = _Numbers(), array("i"), np.zeros(0, np.int64)

    def _begin(self) -> None:
        self._n_rows = self._first_row = 0
        self._pending, self._passages = array("i"), list[tuple[int, int, int, int]]()
        self._chunks = list[list[Sparse]]()

    def passages(self, texts: Iterable[WeightedText]) -> Passages | None:
        """Return the text fields of a document; None if they have no words."""
        fields = []
        for number, (text, weight) in enumerate(texts):
            tokens = list[int]()
            for piece in self._tokenize.pieces(text):
                tokens.extend(map(self._tokens.__getitem__, self._tokenize(piece)))
            fields.append((tokens, weight, AFTER_TITLE if number else 0))
        return Passages(self, fields) if any(tokens for tokens, _, _ in fields) else None

    def add(self, passages: Passages | None) -> None:
        """Append a document."""
        for tokens, weight, begins_at in () if passages is None else passages.fields:
            self._pending.extend(tokens)
            self._passages.append((self._n_rows, len(tokens), weight, begins_at))
        self._n_rows += 1
        if len(self._pending) > _MOST_TOKENS:
            self._count()

    def forms(self) -> Counter[str]:
        """Return how often each token occurred, without stop words."""
        uses = zip(self._tokens, self._uses.tolist(), self._word_of, strict=True)
        return Counter({token: n for token, n, word in uses if n and word != _STOP})

    def matrix(self, fewest: Callable[[int], int] = lambda _: 1) -> tuple[Sparse, tuple[str, ...]]:
        """Return the rows added since the last call, and the names of their columns.

        Without fixed columns these are sorted, and sequences of words need `fewest(n)` tokens,
        where the texts have n words.
        """
        self._count()
        totals = self._totals()
        names, places = self._numbers.columns_met(totals, fewest(int(totals[0].sum())))
        rows = list[Sparse]()
        while self._chunks:
            rows.append(_in_columns(self._chunks.pop(0), places, len(names)))
        matrix = rows[0] if len(rows) == 1 else csr_array(vstack(rows, format="csr"))
        self._begin()
        if len(self._tokens) > _MOST_FORMS:
            self._forget_forms()
        return matrix, names

    def _count(self) -> None:
        """Count the texts added since the last time."""
        self._number_words()
        numbers = self._numbers
        rows, lengths, weights, begins = np.array(self._passages, np.int64).reshape(-1, 4).T
        tokens = np.frombuffer(self._pending, np.int32)
        self._uses = np.pad(self._uses, (0, len(self._tokens) - len(self._uses)))
        self._uses += np.bincount(tokens, minlength=len(self._tokens))
        words = np.frombuffer(self._word_of, np.int32)[tokens].astype(np.int64)
        passages = np.repeat(np.arange(len(lengths)), lengths)[words != _STOP]
        words = words[words != _STOP]
        owners, weights = rows[passages] - self._first_row, weights[passages]
        every, n_rows = np.arange(len(words)), self._n_rows - self._first_row

        def counted(at: Numbers, columns: Numbers, n: int, times: Any = 1) -> Sparse:
            entries: Any = (times * weights[at]).astype(np.int32), (owners[at], columns)
            return csr_array(entries, shape=(n_rows, n))

        places = every - np.searchsorted(passages, passages) + begins[passages]
        early = _first_of_each(
            passages, words, (words < numbers.n_name_words) & (places < EARLY_WORDS)
        )
        chunk = [counted(every, words, len(numbers.words) + numbers.is_fixed)]
        for level, at, sequences in _sequences_in(
            words, passages, numbers.sequences, numbers.begins_sequence
        ):
            chunk.append(counted(at, sequences, len(level)))
        chunk.append(counted(early, words[early], numbers.n_name_words, earliness(places[early])))
        for level, at, sequences in _sequences_in(
            words, passages, numbers.name_sequences, numbers.begins_name
        ):
            chunk.append(counted(at, sequences, len(level)))
        self._chunks.append(chunk)
        self._pending, self._passages, self._first_row = array("i"), [], self._n_rows

    def _number_words(self) -> None:
        """Give the words of new tokens their numbers."""
        n_new = len(self._tokens) - len(self._word_of)
        for token in reversed(list(islice(reversed(self._tokens), n_new))):
            word = token if self._forms is None else self._forms[token]
            self._word_of.append(_STOP if token in self._stops else self._numbers.of(word))

    def _totals(self) -> list[Numbers]:
        """Return the tokens of each number of each kind."""
        totals = [np.zeros(size, np.int64) for size in self._numbers.sizes]
        for chunk in self._chunks:
            for total, part in zip(totals, chunk, strict=True):
                np.add.at(total, part.indices, part.data)
        return totals


def _sequences_in(
    words: Numbers,
    passages: Numbers,
    levels: Iterable[_Numbers],
    begins: npt.NDArray[np.bool_] | None,
) -> Iterator[tuple[_Numbers, Numbers, Numbers]]:
    """Yield for each length, from two words, where sequences begin, and their numbers.

    `begins` are the words that those with numbers begin with; without it, new ones are numbered.
    """
    at = np.arange(len(words))
    if begins is not None:
        at = np.flatnonzero(begins[np.minimum(words, len(begins) - 1)])
    numbers = words[at]
    for n, level in enumerate(levels, start=1):
        fits = at + n < len(words)
        fits[fits] = passages[at[fits] + n] == passages[at[fits]]
        at, numbers = at[fits], numbers[fits]
        keys, which = np.unique(numbers << 32 | words[at + n], return_inverse=True)
        look_up = level.__getitem__ if begins is None else partial(_number_in, level)
        numbers = np.fromiter(map(look_up, keys.tolist()), np.int64, len(keys))[which]
        at, numbers = at[numbers >= 0], numbers[numbers >= 0]
        yield level, at, numbers


def _number_in(level: _Numbers, key: int) -> int:
    return level.get(key, -1)


def _first_of_each(passages: Numbers, words: Numbers, which: npt.NDArray[np.bool_]) -> Numbers:
    """Return the first place of each of some words in each passage."""
    at = np.flatnonzero(which)
    _, first = np.unique(passages[at] << 32 | words[at], return_index=True)
    return at[first]


def _in_columns(chunk: Iterable[Sparse], places: Iterable[Numbers], n_columns: int) -> Sparse:
    """Return the counts of all kinds in one matrix."""
    rows, columns, values = [], [], []
    for part, place in zip(chunk, places, strict=True):
        column = place[part.indices]
        rows.append(np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))[column >= 0])
        columns.append(column[column >= 0])
        values.append(part.data[column >= 0])
        shape = part.shape[0], n_columns
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return csr_array(entries, shape=shape)


def _sequence_texts(
    words: Mapping[int, str], levels: Iterable[_Numbers], kept: Sequence[Numbers] | None = None
) -> list[dict[int, str]]:
    """Return sequences by number for each length; those kept begin with one that is."""
    before, texts = words, list[dict[int, str]]()
    for n, level in enumerate(levels):
        keys = np.fromiter(level, np.int64, len(level))
        numbers = np.arange(len(keys)) if kept is None else kept[n]
        firsts, lasts = (keys[numbers] >> 32).tolist(), (keys[numbers] & 0xFFFFFFFF).tolist()
        both = zip(numbers.tolist(), firsts, lasts, strict=True)
        before = {number: f"{before[first]} {words[last]}" for number, first, last in both}
        texts.append(before)
    return texts


def _divided(column: str, most: int) -> Iterator[list[str]]:
    """Yield the ways to divide a column into 2 to `most` words, which may contain blanks."""
    words = column.split(" ")
    for n in range(2, min(most, len(words)) + 1):
        for cuts in combinations(range(1, len(words)), n - 1):
            ends = (0, *cuts, len(words))
            yield [" ".join(words[a:b]) for a, b in pairwise(ends)]
