"""φ and φ′ laid out as the test-time kernels read them, made once for any number of documents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, hstack, vstack

from deplda.data.corpus import canonical
from deplda.engine.execution import Execution
from deplda.errors import InputError
from deplda.training.estimates import LabelWords, TopicLabels

Floats = npt.NDArray[np.float64]

# With so few labels, a draw over all of them is faster than one from buckets.
TINY = 64

_PART = 1 << 20


class Tables:
    """φ and all φ′ as the kernels read them.

    With a `background`, the last label of φ is not a label but what all documents share. Each topic
    gives it that share of its labels: with η/(1 − share) for η, the prior of all others is as
    before, and the background's η · share/(1 − share).
    """

    def __init__(
        self,
        label_words: LabelWords,
        topic_labels: Sequence[TopicLabels],
        background: float = 0.0,
    ) -> None:
        self._given = label_words, topic_labels, background
        self.n_words, self.n_labels = label_words.shape
        self.n_ranked = self.n_labels - (background > 0)
        if background > 0:
            topic_labels = [_with_background(topics, background) for topics in topic_labels]
        for topics in topic_labels:
            if topics.shape[0] != self.n_labels:
                raise InputError(
                    f"φ knows {self.n_labels:,} labels but φ′ {topics.shape[0]:,}; "
                    "train both on the same corpus"
                )
        self._label_words = label_words
        self._topic_labels = topic_labels or [_no_topics(self.n_labels)]
        self.is_tiny = self.n_labels <= TINY

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as φ and φ′ alone, and be laid out again at the other end."""
        return Tables, self._given

    # Each way of inference reads some of these; they are laid out when first asked for.

    @cached_property
    def words(self) -> Any:
        """φ by word and by label, for all but dense draws."""
        known = self.expected_words
        sums = _running_sums(known.row_values.astype(np.float64), known.row_starts)
        return known._replace(row_sums=sums)

    @cached_property
    def expected_words(self) -> Any:
        """The same for expectations, which read no running sums of rows: half the memory."""
        return _word_tables(self._label_words)

    def forget(self) -> None:
        """Take no more memory than φ and φ′ do, until something is asked for again."""
        for name in ("words", "expected_words", "topics", "sets", "dense", "_side_by_side"):
            self.__dict__.pop(name, None)

    @cached_property
    def topics(self) -> list[Any]:
        """φ′ of each set, for draws from buckets."""
        return [_topic_tables(self._label_words, topics) for topics in self._topic_labels]

    def lay_out_topics(self, execution: Execution) -> None:
        """Have `topics` laid out by several threads: a set takes a tenth of a second."""
        if "topics" not in self.__dict__:
            work = partial(_topic_tables, self._label_words)
            self.topics = execution.map_here(work, self._topic_labels)

    @cached_property
    def sets(self) -> Any:
        """φ′ of all sets side by side, for expectations."""
        return _topic_sets(self.topic_starts, *self._side_by_side)

    @cached_property
    def dense(self) -> list[tuple[Floats, Floats]]:
        """φ, and φ′ of each set, as ordinary arrays, for draws over all labels."""
        phi = self._label_words.dense()
        return [(phi, topics.dense()) for topics in self._topic_labels]

    @cached_property
    def topic_starts(self) -> npt.NDArray[np.int64]:
        """The first topic of each set when those of all sets are numbered through, and the end."""
        return np.cumsum([0, *(len(topics.base) for topics in self._topic_labels)])

    @cached_property
    def _side_by_side(self) -> tuple[Any, Floats]:
        """P of all sets, labels × all topics, and b′."""
        weights = csr_array(hstack([topics.weights for topics in self._topic_labels], format="csr"))
        weights.sort_indices()
        return weights, np.concatenate([topics.base for topics in self._topic_labels])

    def mean_prior(self, shares: Floats, eta: float, flat: float) -> Floats:
        """Return α′ = η θ′·φ′ + Σα/C, eq. 12, on average over the sets; documents × labels.

        `shares` is θ′ of all sets side by side, `flat` Σα/C.
        """
        n_sets = len(self._topic_labels)
        weights, base = self._side_by_side
        # By rows, and not as shares @ base: a document's last bits do not depend on the others.
        own = np.ascontiguousarray((weights @ shares.T).T)
        smooth = (shares * base).sum(axis=1, keepdims=True)
        return flat + eta / n_sets * (own + smooth)


def _with_background(topics: TopicLabels, share: float) -> TopicLabels:
    """Return the topics with one label more, which has the same share of each."""
    base = topics.base * (1 - share)
    own = csr_array(np.maximum(share - base, 0.0)[None, :])
    return TopicLabels(csr_array(vstack([topics.weights * (1 - share), own])), base)


def _no_topics(n_labels: int) -> TopicLabels:
    return TopicLabels(csr_array((n_labels, 0)), np.zeros(0))


def _word_tables(label_words: LabelWords) -> Any:
    from deplda.kernels.layouts import WordTables

    by_word = canonical(label_words.weights)
    by_label = by_word.T.tocsr()
    by_label.sort_indices()
    starts = by_word.indptr.astype(np.int64)
    base = np.array(label_words.base, dtype=np.float64)
    values = _writable(by_word.data, np.float32)
    return WordTables(
        starts,
        _writable(by_word.indices, np.int32),
        values,
        np.zeros(0),
        _row_totals(values, starts),
        by_label.indptr.astype(np.int64),
        _writable(by_label.indices, np.int32),
        _writable(by_label.data, np.float32),
        base,
        np.cumsum(base),
    )


def _writable(array: npt.NDArray[Any], dtype: Any) -> npt.NDArray[Any]:
    """Return the array, or a copy where it is read-only: kernels are compiled for writable ones."""
    return np.require(array, dtype, "W")


def _topic_tables(label_words: LabelWords, topic_labels: TopicLabels) -> Any:
    from deplda.kernels.layouts import TopicTables

    by_label = csr_array(topic_labels.weights).astype(np.float64)
    by_topic = by_label.T.tocsr()
    starts = by_topic.indptr.astype(np.int64)
    labels, values = _largest_first(by_topic)
    label_topics, label_values = _largest_first(by_label)
    base = label_words.base
    totals = np.asarray(label_words.weights.sum(axis=1)).ravel()
    word_topics = (label_words.weights @ by_label).toarray() + np.outer(totals, topic_labels.base)
    label_base = base @ by_label + base.sum() * topic_labels.base
    return TopicTables(
        starts,
        labels.astype(np.int32),
        values,
        _running_sums(values, starts),
        _running_sums(base[labels] * values, starts),
        by_label.indptr.astype(np.int64),
        label_topics.astype(np.int32),
        label_values,
        np.array(topic_labels.base),  # one that comes from another process may be read-only
        np.cumsum(topic_labels.base),
        word_topics.astype(np.float32),
        word_topics.astype(np.float32).sum(axis=1, dtype=np.float64),
        np.asarray(label_base).ravel(),
        np.array([np.sum(label_base)]),
    )


def _largest_first(matrix: Any) -> tuple[npt.NDArray[Any], Floats]:
    """Return the indices and values of each row, the largest first: a walk down it ends early."""
    row_of = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((-matrix.data, row_of))
    return matrix.indices[order], matrix.data[order]


def _topic_sets(starts: npt.NDArray[np.int64], by_label: Any, base: Floats) -> Any:
    from deplda.kernels.layouts import TopicSets

    n_labels, n_sets = by_label.shape[0], len(starts) - 1
    set_of = np.searchsorted(starts, by_label.indices, side="right") - 1
    places = np.repeat(np.arange(n_labels), np.diff(by_label.indptr)) * n_sets + set_of
    return TopicSets(
        starts,
        np.concatenate([[0], np.cumsum(np.bincount(places, minlength=n_labels * n_sets))]),
        by_label.indices.astype(np.int32),
        by_label.data.astype(np.float64),
        base,
    )


def _running_sums(values: Floats, starts: npt.NDArray[np.int64]) -> Floats:
    """Return running sums that begin anew at each start."""
    sums = np.cumsum(values)
    before = np.concatenate([[0.0], sums])[starts[:-1]]
    return sums - np.repeat(before, np.diff(starts))


def _row_totals(values: npt.NDArray[np.float32], starts: npt.NDArray[np.int64]) -> Floats:
    """Return the last of the running sums of each row, with a part of them in memory at a time."""
    upto, total = np.empty(len(starts)), 0.0
    done, begin = 0, 0
    while begin < len(values) or done < len(starts):
        end = min(begin + _PART, len(values))
        sums = np.cumsum(np.concatenate([[total], values[begin:end].astype(np.float64)]))
        last = int(np.searchsorted(starts, end, side="right"))
        upto[done:last] = sums[starts[done:last] - begin]
        done, begin, total = last, end, float(sums[-1])
    return np.diff(upto)
