"""Inference: labels for new documents from φ and φ′, sampled or by expectations (paper §3.5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from deplda.chains import Schedule
from deplda.corpus import Corpus
from deplda.engine import Stopped, map_ordered
from deplda.errors import InputError
from deplda.progress import compiling, documents
from deplda.tables import Tables

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]
Method = Literal["sampled", "proper", "deterministic"]
Estimate = Literal["counts", "conditionals"]
Combine = Literal["blend", "counts", "posterior"]
Result = TypeVar("Result")

# A batch is never more than this many documents × labels, so that memory stays bounded.
_BATCH_CELLS = 2_000_000
_BATCH_DOCUMENTS = 256
_MATRIX_CELLS = 500_000_000
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
    method : {"sampled", "proper", "deterministic"}
        The paper's fast inference by Gibbs sampling; Gibbs sampling of the whole model, its label
        tokens too; or fast inference with expectations instead of draws.
    n_chains : int
        Chains on each set of topics (sampled, proper).
    schedule : Schedule
        When a chain gives samples; the paper's is ``Schedule(50, n_samples=15, lag=5)``.
    estimate : {"counts", "conditionals"}
        Of a sample, the drawn labels, or each token's whole conditional (θ_p): the same on average,
        with less noise.
    combine : {"blend", "counts", "posterior"}
        The score of a label: ``normalise(mean α′) + normalise(mean N)``, the paper's; N alone; or
        (N + α′)/(N_d + Σα′).
    n_label_tokens : int
        M, the label tokens of a document (proper). Flat-LDA has none.
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
    n_label_tokens: int = 1000
    tolerance: float = 1e-3
    max_cycles: int = 60

    def __post_init__(self) -> None:
        for name, least in (("eta", 0.0), ("alpha", 0.0), ("gamma", None), ("tolerance", None)):
            value = getattr(self, name)
            if not (math.isfinite(value) and (value > 0 if least is None else value >= least)):
                bound = "above 0" if least is None else "from 0"
                raise InputError(f"{name} is {value!r}; it must be a finite number {bound}")
        for name in ("n_chains", "n_label_tokens", "max_cycles"):
            count = getattr(self, name)
            if not isinstance(count, int) or count < 1:
                raise InputError(f"{name} is {count!r}; it must be a whole number from 1")
        for name, choices in (
            ("method", ("sampled", "proper", "deterministic")),
            ("estimate", ("counts", "conditionals")),
            ("combine", ("blend", "counts", "posterior")),
        ):
            if getattr(self, name) not in choices:
                known = ", ".join(repr(choice) for choice in choices)
                raise InputError(f"{name} is {getattr(self, name)!r}; it must be one of {known}")
        if self.eta + self.alpha <= 0:
            raise InputError(
                "eta and alpha are both 0; a document needs some prior over its labels"
            )
        if self.method == "proper" and self.alpha == 0:
            raise InputError(
                "alpha is 0; proper inference needs it above 0, or a word could never take a label "
                "that has no label token"
            )


class Inferred(NamedTuple):
    """What was inferred of some documents, documents × labels."""

    counts: Floats
    """N: the expected tokens of each label."""
    alpha: Floats
    """α′: the document's prior over labels."""


class Ranking(NamedTuple):
    """The best labels of some documents, documents × k, the best first."""

    labels: Labels
    scores: Floats


def infer(
    corpus: Corpus,
    tables: Tables,
    inference: Inference,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Iterator[Inferred]:
    """Yield what is inferred of the documents, batch by batch, in their order.

    A document's result depends on the seed and its own words alone: not on the batch it came in,
    nor on the number of workers. A document without known words has its prior.
    """

    def work(first: int, last: int) -> Inferred:
        return _infer(corpus, first, last, tables, inference, seed)[0]

    return _by_batches(work, corpus, tables, n_jobs, progress)


def rank(
    corpus: Corpus,
    tables: Tables,
    inference: Inference,
    k: int,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Iterator[Ranking]:
    """Yield the k best labels of the documents, batch by batch, in their order.

    Memory is that of a few batches, whatever the number of documents. Labels of the same score are
    in the order of their numbers.
    """
    if k < 1:
        raise InputError(f"k is {k}; a ranking needs at least 1 label")

    def work(first: int, last: int) -> Ranking:
        inferred, _ = _infer(corpus, first, last, tables, inference, seed)
        return best(scores(inferred, inference.combine), k)

    return _by_batches(work, corpus, tables, n_jobs, progress)


def score_matrix(
    corpus: Corpus,
    tables: Tables,
    inference: Inference,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Floats:
    """Return the scores of all labels, documents × labels; for problems where that is not large."""
    if len(corpus) * tables.n_labels > _MATRIX_CELLS:
        gigabytes = len(corpus) * tables.n_labels * 8 / 1e9
        raise InputError(
            f"scores of {len(corpus):,} documents × {tables.n_labels:,} labels would take "
            f"{gigabytes:,.0f} GB; ask for the best labels of each document instead"
        )

    def work(first: int, last: int) -> Floats:
        inferred, _ = _infer(corpus, first, last, tables, inference, seed)
        return scores(inferred, inference.combine)

    batches = _by_batches(work, corpus, tables, n_jobs, progress)
    return np.concatenate([np.zeros((0, tables.n_labels)), *batches])


def attribute(
    corpus: Corpus,
    tables: Tables,
    inference: Inference,
    labels: npt.ArrayLike,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Iterator[Floats]:
    """Yield for each document how many of its tokens each word gives to some labels, words × k.

    `labels` are k different label numbers for each document, documents × k. The rows are the words
    of the document, in the order of its entries in `corpus.counts`; each column sums to the
    label's N as `infer` gives it with the same seed.
    """
    chosen = np.ascontiguousarray(labels, dtype=np.int64)
    if chosen.ndim != 2 or len(chosen) != len(corpus):
        raise InputError(
            f"labels have the shape {chosen.shape}; {len(corpus):,} documents need a row each"
        )
    if chosen.size and not (chosen.min() >= 0 and chosen.max() < tables.n_labels):
        raise InputError(
            f"labels go from {chosen.min()} to {chosen.max()}; "
            f"the model's are 0 to {tables.n_labels - 1}"
        )
    if (np.diff(np.sort(chosen, axis=1), axis=1) == 0).any():
        raise InputError("a document's labels must differ from each other")

    def work(first: int, last: int) -> list[Floats]:
        starts = corpus.counts.indptr[first : last + 1]
        _, words = _infer(corpus, first, last, tables, inference, seed, chosen[first:last])
        return np.split(words, starts[1:-1] - starts[0])

    for batch in _by_batches(work, corpus, tables, n_jobs, progress):
        yield from batch


def scores(inferred: Inferred, combine: Combine) -> Floats:
    """Return documents × labels: how strongly each label is suggested."""
    counts, alpha = inferred
    if combine == "counts":
        return _normalised(counts)
    if combine == "posterior":
        return _normalised(counts + alpha)
    return _normalised(alpha) + _normalised(counts)


def best(values: Floats, k: int) -> Ranking:
    """Return the k best of each row (all if there are fewer), equals in the order of columns."""
    k = min(k, values.shape[1])
    labels = np.empty((len(values), k), dtype=np.int64)
    for d, row in enumerate(values):
        least = np.partition(row, len(row) - k)[len(row) - k]
        among = np.flatnonzero(row >= least)
        labels[d] = among[np.argsort(-row[among], kind="stable")[:k]]
    return Ranking(labels, np.take_along_axis(values, labels, axis=1))


def _by_batches(
    work: Callable[[int, int], Result],
    corpus: Corpus,
    tables: Tables,
    n_jobs: int | None,
    progress: bool | None,
) -> Iterator[Result]:
    """Check the corpus now; then yield work(first, last) for batches of documents, in order."""
    if corpus.n_words != tables.n_words:
        raise InputError(
            f"the corpus has {corpus.n_words:,} words but the model {tables.n_words:,}; "
            "align it to the training corpus first"
        )
    size = max(1, min(_BATCH_DOCUMENTS, _BATCH_CELLS // tables.n_labels))

    def run(first: int, stop: Event) -> Result:
        if stop.is_set():
            raise Stopped
        return work(first, min(first + size, len(corpus)))

    def results() -> Iterator[Result]:
        with compiling(progress):
            work(0, 0)
        with documents("inferring labels", len(corpus), progress) as done:
            firsts = range(0, len(corpus), size)
            for first, result in zip(firsts, map_ordered(run, firsts, n_jobs), strict=True):
                done(min(size, len(corpus) - first))
                yield result

    return results()


class _Batch(NamedTuple):
    """Some documents, and what is summed up of them over chains and topic sets."""

    starts: npt.NDArray[np.int64]
    types: npt.NDArray[np.int32]
    times: npt.NDArray[np.int32]
    chosen: Labels
    counts: Floats
    words: Floats


def _infer(
    corpus: Corpus,
    first: int,
    last: int,
    tables: Tables,
    inference: Inference,
    seed: int,
    chosen: Labels | None = None,
) -> tuple[Inferred, Floats]:
    """Return what is inferred of the documents first:last, averaged over chains and topic sets.

    And with `chosen` labels, documents × k, the tokens that each word gives to them.
    """
    begin, end = corpus.counts.indptr[first], corpus.counts.indptr[last]
    chosen = np.zeros((last - first, 0), dtype=np.int64) if chosen is None else chosen
    batch = _Batch(
        corpus.counts.indptr[first : last + 1].astype(np.int64) - begin,
        corpus.counts.indices[begin:end],
        corpus.counts.data[begin:end],
        chosen,
        np.zeros((last - first, tables.n_labels)),
        np.zeros((end - begin, chosen.shape[1])),
    )
    expected = inference.method == "deterministic"
    alpha = np.zeros((last - first, tables.n_labels))
    for number in range(len(tables.topics)):
        if expected:
            alpha += _expect(batch, tables, number, inference)
        else:
            alpha += _sample(batch, tables, number, inference, seed)
    n_sets = len(tables.topics)
    n = n_sets * (1 if expected else inference.n_chains * inference.schedule.n_samples)
    return Inferred(batch.counts / n, alpha / n_sets), batch.words / n


def _expect(batch: _Batch, tables: Tables, number: int, inference: Inference) -> Floats:
    """Add one topic set's expectations to the batch; return α′."""
    from deplda.kernels.expected import expect

    topics, prior = tables.topics[number], _prior(tables, number, inference)
    shares = np.zeros((len(batch.counts), len(topics.base)))
    expect(
        tables.words, topics, prior, batch.starts, batch.types, batch.times, inference.tolerance,
        inference.max_cycles, _NEGLIGIBLE_TOKENS, batch.chosen, batch.counts, shares, batch.words,
    )  # fmt: skip
    return _prior_of(topics, shares, prior)


def _sample(batch: _Batch, tables: Tables, number: int, inference: Inference, seed: int) -> Floats:
    """Add one topic set's samples to the batch; return the mean α′ of its samples."""
    from deplda.kernels import dense, documents, proper, random

    topics, prior, plan = (
        tables.topics[number], _prior(tables, number, inference), inference.schedule
    )  # fmt: skip
    n_topics, n_samples = len(topics.base), inference.n_chains * plan.n_samples
    chains = np.arange(inference.n_chains) + number * inference.n_chains
    key, stride = random.stream(seed, random.DOCUMENT, 0)
    asked = (
        prior, batch.starts, batch.types, batch.times, key, stride, chains,
        plan.burn_in, plan.n_samples, plan.lag, inference.estimate == "conditionals",
    )  # fmt: skip
    if inference.method == "proper" and n_topics:
        label_tokens = np.zeros(batch.counts.shape)
        proper.sample(
            tables.words, topics, *asked, inference.n_label_tokens, batch.chosen, batch.counts,
            label_tokens, batch.words,
        )  # fmt: skip
        return prior.alpha + prior.eta * label_tokens / n_samples
    shares = np.zeros((len(batch.counts), n_topics))
    results = (batch.chosen, batch.counts, shares, batch.words)
    if tables.phi is not None and tables.phi_prime is not None:
        dense.sample(tables.phi, tables.phi_prime[number], *asked, *results)
    else:
        documents.sample(tables.words, topics, *asked, *results)
    return _prior_of(topics, shares / n_samples, prior)


def _prior(tables: Tables, number: int, inference: Inference) -> Any:
    """Return the weights of the prior as kernels read them: η, Σα/C, Σγ/T."""
    from deplda.kernels.tables import Prior

    n_topics = len(tables.topics[number].base)
    return Prior(
        float(inference.eta) if n_topics else 0.0,
        inference.alpha / tables.n_labels,
        inference.gamma / max(n_topics, 1),
    )


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
