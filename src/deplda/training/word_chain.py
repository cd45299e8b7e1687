"""Chains over the word tokens: the corpus as the kernels see it, and one chain of z."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from deplda.data.corpus import Corpus
from deplda.data.weighting import WordCounts, weighed
from deplda.data.wording import counted
from deplda.engine.pool import Stop, check_stop
from deplda.errors import InputError
from deplda.training.checkpoint import Arrays, SavedArrays
from deplda.training.estimates import LabelWords

# A piece of a sweep between two looks at whether to stop: about a fifth of a second.
_TOKENS_PER_PIECE = 4_000_000
_MOST_LABELS_PER_DOCUMENT = 65_535
_NO_ROWS = np.zeros(0, np.int64)


class Cells:
    """The pairs of label and word that can have a count, label by label, words ascending."""

    def __init__(
        self, starts: npt.NDArray[np.int64], words: npt.NDArray[np.int32], n_words: int, beta: float
    ) -> None:
        self.starts, self.words, self.n_words, self.beta = starts, words, n_words, beta

    def shares_of(
        self, cell_counts: npt.NDArray[Any], label_counts: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return (A, b) of φ̂, eq. 3: N_wc/(N_c + Wβ) by cell, β/(N_c + Wβ) by label."""
        scale = 1.0 / (label_counts + self.n_words * self.beta)
        return cell_counts * np.repeat(scale, np.diff(self.starts)), self.beta * scale

    def estimate(
        self, weights: npt.NDArray[np.float64], base: npt.NDArray[np.float64]
    ) -> LabelWords:
        """Return φ of (A by cell, b by label)."""
        by_word = self.by_label(weights.astype(np.float32)).T.tocsr()
        by_word.eliminate_zeros()
        return LabelWords(by_word, base)

    def by_label(self, values: npt.NDArray[Any]) -> csr_array[Any, tuple[int, int]]:
        """Return one value for each cell as a matrix, labels × words."""
        shape = (len(self.starts) - 1, self.n_words)
        return csr_array((values, self.words, self.starts), shape=shape)

    @property
    def owners(self) -> npt.NDArray[np.int64]:
        """The label of every cell."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def labels_of(self, cells: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the label that owns each cell."""
        return np.searchsorted(self.starts, cells, side="right") - 1


class Words(Cells):
    """The corpus as the kernels see it, shared by all chains."""

    def __init__(
        self,
        corpus: Corpus,
        eta: float,
        beta: float,
        word_counts: WordCounts = "raw",
        weights: npt.NDArray[np.float64] | None = None,
    ) -> None:
        self.eta, self.corpus, self.word_counts = eta, corpus, word_counts
        self.weights = np.ones(len(corpus)) if weights is None else weights
        self.layout = lay_out(corpus, word_counts)
        check_pairs(len(self.layout.cells))
        super().__init__(self.layout.cell_starts, self.layout.cell_words, corpus.n_words, beta)
        self.n_swept, self.pieces = swept_pieces(self.layout)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as the corpus alone, and be laid out again at the other end."""
        return Words, (self.corpus, self.eta, self.beta, self.word_counts, self.weights)

    @property
    def mass_swept(self) -> float:
        """How many tokens a pass of expectations updates, each by its document's weight."""
        swept, lengths = np.concatenate(self.pieces), np.diff(self.layout.token_starts)
        return float(lengths[swept] @ self.weights[swept])

    def cells_of(self, pairs: Sequence[tuple[int, int]]) -> npt.NDArray[np.int64]:
        """Return the cells of pairs (word, label)."""
        layout, cells = self.layout, []
        for word, label in pairs:
            own = np.arange(*layout.cell_starts[[label, label + 1]])
            at = own[layout.cell_words[own] == word]
            if not len(at):
                raise InputError(f"cannot watch word {word} of label {label}: they never meet")
            cells.append(at[0])
        return np.array(cells, dtype=np.int64)

    def default_watch(self, n: int = 8) -> npt.NDArray[np.int64]:
        """Return the cell of a telling word for each of n labels, from frequent to rare."""
        corpus = self.corpus
        met = np.flatnonzero(np.diff(self.layout.cell_starts))
        by_frequency = met[np.argsort(-corpus.label_counts[met], kind="stable")]
        chosen = by_frequency[np.unique(np.linspace(0, len(met) - 1, n).astype(int))]
        counts = corpus.labels[:, chosen].T.astype(np.int64) @ corpus.counts
        rarity = np.log(corpus.n_tokens / np.maximum(corpus.word_counts, 1))
        telling = (counts.multiply(rarity)).toarray().argmax(axis=1)
        return self.cells_of(list(zip(telling.tolist(), chosen.tolist(), strict=True)))

    def trace_names(self, cells: npt.NDArray[np.int64]) -> tuple[str, ...]:
        """Return what a chain traces when these cells are watched."""
        words = self.layout.cell_words[cells]
        pairs = zip(words, self.labels_of(cells), strict=True)
        names = (f"φ({self.corpus.vocabulary[w]} | {self.corpus.label_names[c]})" for w, c in pairs)
        return ("log-likelihood", *names)


def check_labels(corpus: Corpus) -> None:
    """Raise if there is no label to learn from."""
    if corpus.labels.nnz == 0:
        raise InputError(
            f"none of {counted(len(corpus), 'document')} has a label; there is nothing to learn "
            "from"
        )


def check_pairs(n_pairs: int) -> None:
    """Raise if no word meets a label."""
    if not n_pairs:
        raise InputError("no document has both words and labels; there is nothing to learn from")


def lay_out(corpus: Corpus, word_counts: WordCounts = "raw") -> Any:
    """Return the corpus as the kernels see it."""
    from deplda.kernels import train_words

    sizes = corpus.labels_per_document
    if sizes.max(initial=0) > _MOST_LABELS_PER_DOCUMENT:
        raise InputError(
            f"document {corpus.ids[int(sizes.argmax())]!r} has {sizes.max():,} labels; "
            f"at most {_MOST_LABELS_PER_DOCUMENT:,} are possible"
        )
    x, y = corpus.counts, corpus.labels
    return train_words.lay_out(
        np.array(x.indptr, dtype=np.int64), x.indices, weighed(x.data, word_counts),
        np.array(y.indptr, dtype=np.int64), y.indices, corpus.n_words, corpus.n_labels,
    )  # fmt: skip


def swept_pieces(
    layout: Any, left_out: npt.NDArray[np.int64] = _NO_ROWS
) -> tuple[int, list[npt.NDArray[np.int64]]]:
    """Return how many tokens a sweep updates, and their documents in pieces between two looks."""
    sizes, lengths = np.diff(layout.label_starts), np.diff(layout.token_starts)
    # Where there is one label there is nothing to draw.
    is_swept = (sizes > 1) & (lengths > 0)
    is_swept[left_out] = False
    swept = np.flatnonzero(is_swept)
    ends = np.cumsum(lengths[swept])
    n_swept = int(ends[-1]) if len(ends) else 0
    cuts = np.searchsorted(ends, np.arange(_TOKENS_PER_PIECE, n_swept, _TOKENS_PER_PIECE))
    return n_swept, np.split(swept, np.unique(cuts))


class WordChain:
    """One chain of z: which of its document's labels each word token has."""

    def __init__(self, data: Words, seed: int, number: int, watched: npt.NDArray[np.int64]) -> None:
        from deplda.kernels import random, train_words

        self._kernel = train_words
        self._data = data
        self._watched = watched
        self._watched_labels = data.labels_of(watched)
        self._key, self._gamma = random.stream(seed, random.WORD_CHAIN, number)
        layout = data.layout
        self._z = np.empty(layout.token_starts[-1], dtype=np.uint16)
        self._cell_counts = np.empty(len(layout.cell_words), dtype=np.int32)
        self._label_counts = np.empty(data.corpus.n_labels, dtype=np.int64)
        self._weights = np.zeros(len(layout.cell_words))
        self._base = np.zeros(data.corpus.n_labels)
        train_words.start(layout, self._z, self._key, self._gamma)
        train_words.tally(layout, self._z, self._cell_counts, self._label_counts)

    def sweep(self, number: int, stop: Stop) -> None:
        """Update every word token once, in pieces between which `stop` is seen."""
        data = self._data
        for piece in data.pieces:
            check_stop(stop)
            self._kernel.sweep(
                data.layout, piece, self._z, self._cell_counts, self._label_counts,
                data.eta, data.beta, data.n_words, self._key, self._gamma, number * len(self._z),
            )  # fmt: skip

    def trace(self) -> list[float]:
        """Return the log-likelihood and the watched entries of φ."""
        data = self._data
        level = self._kernel.log_likelihood(
            data.layout, self._z, self._cell_counts, self._label_counts,
            data.eta, data.beta, data.n_words,
        )  # fmt: skip
        counts, totals = self._cell_counts[self._watched], self._label_counts[self._watched_labels]
        return [level, *((counts + data.beta) / (totals + data.n_words * data.beta)).tolist()]

    def collect(self) -> None:
        """Add the φ of this moment to the sum of samples."""
        weights, base = self._data.shares_of(self._cell_counts, self._label_counts)
        self._weights += weights
        self._base += base

    def samples(self) -> Arrays:
        """Return the sum of samples."""
        return {"weights": self._weights, "base": self._base}

    def state(self) -> Arrays:
        """Return z and the sum of samples; the counts follow from z."""
        return {"z": self._z, **self.samples()}

    def restore(self, saved: SavedArrays) -> None:
        """Go on from such a state."""
        layout = self._data.layout
        self._z = saved.below("z", np.uint16, self._z.shape, labels_of_tokens(layout))
        self._weights = saved.counts("weights", np.float64, self._weights.shape)
        self._base = saved.counts("base", np.float64, self._base.shape)
        self._kernel.tally(layout, self._z, self._cell_counts, self._label_counts)


def labels_of_tokens(layout: Any) -> npt.NDArray[np.int32]:
    """Return how many labels the document of each token has; one token of none has z = 0."""
    sizes = np.maximum(np.diff(layout.label_starts), 1).astype(np.int32)
    return np.repeat(sizes, np.diff(layout.token_starts))


def compile_kernels() -> None:
    """Compile, or load from the cache, all that a chain calls."""
    chain = WordChain(Words(Corpus([[1, 1]], [[1, 1]]), 1.0, 1.0), 0, 0, np.array([0]))
    chain.sweep(1, Event())
    chain.trace()
