"""Inference: labels for new documents from φ and φ′, sampled or by expectations (paper §3.5)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from deplda.chains import Schedule
from deplda.corpus import Corpus
from deplda.engine import Stopped, map_ordered
from deplda.errors import InputError
from deplda.estimates import LabelWords, TopicLabels

Floats = npt.NDArray[np.float64]
Method = Literal["sampled", "deterministic"]
Estimate = Literal["counts", "conditionals"]
Combine = Literal["blend", "counts", "posterior"]

# A batch is never more than this many documents × labels, so that memory stays bounded.
_BATCH_CELLS = 4_000_000
_BATCH_DOCUMENTS = 256
_NEGLIGIBLE_TOKENS = 0.01


@dataclass(frozen=True, slots=True)
class Inference:
    """How labels of a new document are inferred, and how they are scored.

    Parameters
    ----------
    eta : float
        Weight of the topics' share in a document's prior over labels, η; 0 for Flat-LDA.
    alpha : float
        Σα: total weight of the flat share.
    gamma : float
        Σγ: total weight of a document's prior over topics.
    method : {"sampled", "deterministic"}
        The paper's fast inference by Gibbs sampling, or the same with expectations.
    n_chains : int
        Chains on each set of topics (sampled).
    schedule : Schedule
        When a chain gives samples; the paper's is ``Schedule(50, n_samples=15, lag=5)``.
    estimate : {"counts", "conditionals"}
        Of a sample, the drawn labels, or each token's whole conditional (θ_p): the same on average,
        with less noise.
    combine : {"blend", "counts", "posterior"}
        The score of a label: ``normalise(mean α′) + normalise(mean N)``, the paper's; N alone; or
        (N + α′)/(N_d + Σα′).
    tolerance, max_cycles : float, int
        The deterministic cycle stops when it moves less than this share of the tokens.
    """

    eta: float
    alpha: float
    gamma: float
    method: Method = "sampled"
    n_chains: int = 1
    schedule: Schedule = field(default_factory=lambda: Schedule(50, n_samples=15, lag=5))
    estimate: Estimate = "counts"
    combine: Combine = "blend"
    tolerance: float = 1e-3
    max_cycles: int = 60

    def __post_init__(self) -> None:
        for name in ("eta", "alpha", "gamma"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"{name} is {value!r}; it must be a finite number from 0")
        if self.eta + self.alpha <= 0:
            raise InputError(
                "eta and alpha are both 0; a document needs some prior over its labels"
            )
        for name, choices in (
            ("method", ("sampled", "deterministic")),
            ("estimate", ("counts", "conditionals")),
            ("combine", ("blend", "counts", "posterior")),
        ):
            if getattr(self, name) not in choices:
                known = ", ".join(repr(choice) for choice in choices)
                raise InputError(f"{name} is {getattr(self, name)!r}; it must be one of {known}")


class Inferred(NamedTuple):
    """What was inferred of some documents: expected tokens and prior of each label."""

    counts: Floats
    alpha: Floats


class Tables:
    """φ and φ′ as the kernels read them; made once for any number of documents."""

    def __init__(self, label_words: LabelWords, topic_labels: Sequence[TopicLabels]) -> None:
        self.n_words, self.n_labels = label_words.shape
        for topics in topic_labels:
            if topics.shape[0] != self.n_labels:
                raise InputError(
                    f"φ knows {self.n_labels:,} labels but φ′ {topics.shape[0]:,}; "
                    "train both on the same corpus"
                )
        self.words = _word_tables(label_words)
        self.topics = [_topic_tables(label_words, topics) for topics in topic_labels]
        self.topics = self.topics or [_topic_tables(label_words, _no_topics(self.n_labels))]


def infer(
    corpus: Corpus,
    tables: Tables,
    inference: Inference,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Iterator[Inferred]:
    """Yield what is inferred of the documents, batch by batch, in their order.

    A document's result depends on the seed and its own words alone: not on the batch it came in,
    nor on the number of workers. A document without known words has its prior.
    """
    if corpus.n_words != tables.n_words:
        raise InputError(
            f"the corpus has {corpus.n_words:,} words but the model {tables.n_words:,}; "
            "align it to the training corpus first"
        )
    size = max(1, min(_BATCH_DOCUMENTS, _BATCH_CELLS // tables.n_labels))
    starts = np.array(corpus.counts.indptr, dtype=np.int64)

    def run(start: int, stop: Event) -> Inferred:
        if stop.is_set():
            raise Stopped
        last = min(start + size, len(corpus))
        return _infer(corpus.counts, starts, start, last, tables, inference, seed)

    return map_ordered(run, range(0, len(corpus), size), n_jobs)


def scores(inferred: Inferred, combine: Combine) -> Floats:
    """Return documents × labels: how strongly each label is suggested."""
    counts, alpha = inferred
    if combine == "counts":
        return _normalised(counts)
    if combine == "posterior":
        return _normalised(counts + alpha)
    return _normalised(alpha) + _normalised(counts)


def _infer(
    x: Any,
    starts: npt.NDArray[np.int64],
    first: int,
    last: int,
    tables: Tables,
    inference: Inference,
    seed: int,
) -> Inferred:
    from deplda.kernels import documents, expected, random
    from deplda.kernels.tables import Prior

    n_sets, n_labels = len(tables.topics), tables.n_labels
    counts = np.zeros((last - first, n_labels))
    alpha = np.zeros((last - first, n_labels))
    key, stride = random.stream(seed, random.DOCUMENT, 0)
    for number, topics in enumerate(tables.topics):
        n_topics = len(topics.base)
        prior = Prior(
            float(inference.eta) if n_topics else 0.0,
            inference.alpha / n_labels,
            inference.gamma / max(n_topics, 1),
        )
        shares = np.zeros((last - first, n_topics))
        own = np.zeros((last - first, n_labels))
        if inference.method == "deterministic":
            expected.expect(
                tables.words, topics, prior, starts, x.indices, x.data, first, last,
                inference.tolerance, inference.max_cycles, _NEGLIGIBLE_TOKENS, own, shares,
            )  # fmt: skip
            n = 1
        else:
            plan = inference.schedule
            chains = np.arange(inference.n_chains) + number * inference.n_chains
            documents.sample(
                tables.words, topics, prior, starts, x.indices, x.data, first, last, key, stride,
                chains, plan.burn_in, plan.n_samples, plan.lag,
                inference.estimate == "conditionals", own, shares,
            )  # fmt: skip
            n = inference.n_chains * plan.n_samples
        counts += own / (n * n_sets)
        alpha += _prior_of(topics, shares / n, prior) / n_sets
    return Inferred(counts, alpha)


def _prior_of(topics: Any, shares: Floats, prior: Any) -> Floats:
    """Return α′ = η θ′·φ′ + Σα/C, documents × labels."""
    n_labels = len(topics.label_starts) - 1
    by_label = csr_array(
        (topics.label_values, topics.label_topics, topics.label_starts),
        shape=(n_labels, len(topics.base)),
    )
    own = np.asarray((by_label @ shares.T).T)
    return prior.alpha + prior.eta * (own + (shares @ topics.base)[:, None])


def _normalised(values: Floats) -> Floats:
    totals = values.sum(axis=1, keepdims=True)
    return values / np.where(totals > 0, totals, 1.0)


def _no_topics(n_labels: int) -> TopicLabels:
    return TopicLabels(csr_array((n_labels, 0)), np.zeros(0))


def _word_tables(label_words: LabelWords) -> Any:
    from deplda.kernels.tables import WordTables

    by_word = csr_array(label_words.weights)
    by_word.sort_indices()
    by_label = by_word.T.tocsr()
    by_label.sort_indices()
    starts = by_word.indptr.astype(np.int64)
    sums = _running_sums(by_word.data.astype(np.float64), starts)
    base = np.ascontiguousarray(label_words.base, dtype=np.float64)
    return WordTables(
        starts,
        by_word.indices.astype(np.int32),
        by_word.data.astype(np.float32),
        sums,
        _last_sums(sums, starts),
        by_label.indptr.astype(np.int64),
        by_label.indices.astype(np.int32),
        by_label.data.astype(np.float32),
        base,
        np.cumsum(base),
    )


def _topic_tables(label_words: LabelWords, topic_labels: TopicLabels) -> Any:
    from deplda.kernels.tables import TopicTables

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
        topic_labels.base,
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


def _running_sums(values: Floats, starts: npt.NDArray[np.int64]) -> Floats:
    """Return running sums that begin anew at each start."""
    sums = np.cumsum(values)
    before = np.concatenate([[0.0], sums])[starts[:-1]]
    return sums - np.repeat(before, np.diff(starts))


def _last_sums(sums: Floats, starts: npt.NDArray[np.int64]) -> Floats:
    totals = np.zeros(len(starts) - 1)
    filled = np.diff(starts) > 0
    totals[filled] = sums[starts[1:][filled] - 1]
    return totals
