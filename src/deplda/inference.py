"""Inference: labels for new documents from φ and φ′, sampled or by expectations (paper §3.5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from deplda.chains import Schedule
from deplda.corpus import Corpus
from deplda.engine import Engine, Stop, Stopped, map_ordered
from deplda.errors import InputError
from deplda.progress import compiling, documents
from deplda.tables import Tables
from deplda.word_counts import WORD_COUNTS, WordCounts, weighed, whole

if TYPE_CHECKING:
    from deplda.kernels.cuda.card import Card

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]
Method = Literal["sampled", "proper", "deterministic"]
Estimate = Literal["counts", "conditionals"]
Combine = Literal["blend", "counts", "posterior"]
Device = Literal["cpu", "cuda", "auto"]
COMBINES: tuple[Combine, ...] = ("blend", "counts", "posterior")
Result = TypeVar("Result")

# A batch is never more than this many documents × labels, so that memory stays bounded.
_BATCH_CELLS = 2_000_000
_BATCH_DOCUMENTS = 256
_MATRIX_CELLS = 500_000_000


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
    word_counts : {"raw", "log"}
        What a word that occurs n times in a document counts: n, or 1 + ln n (less than once: n).
        Expectations take fractions as they are; sampling draws whole tokens, the nearest number.
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
    word_counts: WordCounts = "raw"
    tolerance: float = 1e-2
    max_cycles: int = 60

    def __post_init__(self) -> None:
        for name in ("eta", "alpha", "gamma", "tolerance"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"{name} is {value!r}; it must be a finite number from 0")
        if self.gamma == 0:
            raise InputError("gamma is 0; it must be above 0, or a topic could never begin")
        for name in ("n_chains", "n_label_tokens", "max_cycles"):
            count = getattr(self, name)
            if not isinstance(count, int) or count < 1:
                raise InputError(f"{name} is {count!r}; it must be a whole number from 1")
        for name, choices in (
            ("method", ("sampled", "proper", "deterministic")),
            ("estimate", ("counts", "conditionals")),
            ("combine", COMBINES),
            ("word_counts", WORD_COUNTS),
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
    """What was inferred of some documents; documents × labels but for the topics."""

    counts: Floats
    """N: the expected tokens of each label."""
    alpha: Floats
    """α′: the document's prior over labels."""
    topics: Floats
    """θ′: the document's topics, documents × the topics of all sets side by side."""


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
    engine: Engine = "threads",
    device: Device = "cpu",
    progress: bool | None = None,
) -> Iterator[Inferred]:
    """Yield what is inferred of the documents, batch by batch, in their order.

    A document's result depends on the seed and its own words alone: not on the batch it came in,
    nor on the number of workers. A document without known words has its prior.

    With ``device="cuda"`` the work is done on a CUDA card, with other random numbers than on the
    CPU; with ``"auto"`` it is, if there is one that can do it.
    """
    card = _card(device, engine, corpus, tables, inference)
    work = partial(_infer, tables, inference, seed, card)
    return _by_batches(work, corpus, tables, None, n_jobs, engine, progress, card)


def rank(
    corpus: Corpus,
    tables: Tables,
    inference: Inference,
    k: int,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    engine: Engine = "threads",
    device: Device = "cpu",
    progress: bool | None = None,
) -> Iterator[Ranking]:
    """Yield the k best labels of the documents, batch by batch, in their order.

    Memory is that of a few batches, whatever the number of documents. Labels of the same score are
    in the order of their numbers.
    """
    if k < 1:
        raise InputError(f"k is {k}; a ranking needs at least 1 label")
    card = _card(device, engine, corpus, tables, inference)
    work = partial(_rank, tables, inference, seed, card, k)
    return _by_batches(work, corpus, tables, None, n_jobs, engine, progress, card)


def _rank(
    tables: Tables,
    inference: Inference,
    seed: int,
    card: Card | None,
    k: int,
    documents: Documents,
) -> Ranking:
    return best(_score(tables, inference, seed, card, documents), k)


def score_matrix(
    corpus: Corpus,
    tables: Tables,
    inference: Inference,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    engine: Engine = "threads",
    device: Device = "cpu",
    progress: bool | None = None,
) -> Floats:
    """Return the scores of all labels, documents × labels; for problems where that is not large."""
    if len(corpus) * tables.n_labels > _MATRIX_CELLS:
        gigabytes = len(corpus) * tables.n_labels * 8 / 1e9
        raise InputError(
            f"scores of {len(corpus):,} documents × {tables.n_labels:,} labels would take "
            f"{gigabytes:,.0f} GB; ask for the best labels of each document instead"
        )
    card = _card(device, engine, corpus, tables, inference)
    work = partial(_score, tables, inference, seed, card)
    batches = _by_batches(work, corpus, tables, None, n_jobs, engine, progress, card)
    return np.concatenate([np.zeros((0, tables.n_ranked)), *batches])


def _score(
    tables: Tables, inference: Inference, seed: int, card: Card | None, documents: Documents
) -> Floats:
    found = _infer(tables, inference, seed, card, documents)
    return scores(found, inference.combine, tables.n_ranked)


def attribute(
    corpus: Corpus,
    tables: Tables,
    inference: Inference,
    labels: npt.ArrayLike,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    engine: Engine = "threads",
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
    work = partial(_attribute, tables, inference, seed)
    for batch in _by_batches(work, corpus, tables, chosen, n_jobs, engine, progress):
        yield from batch


def _attribute(
    tables: Tables, inference: Inference, seed: int, documents: Documents
) -> list[Floats]:
    words = _infer_batch(tables, inference, seed, documents)[1]
    return np.split(words, documents.starts[1:-1])


def scores(inferred: Inferred, combine: Combine, n_ranked: int | None = None) -> Floats:
    """Return documents × labels: how strongly each of the labels to be ranked is suggested."""
    counts, alpha = inferred.counts[:, :n_ranked], inferred.alpha[:, :n_ranked]
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


def _card(
    device: Device, engine: Engine, corpus: Corpus, tables: Tables, inference: Inference
) -> Card | None:
    """Return the card to work on, or None for the CPU; nothing of CUDA is imported for that."""
    if device == "cpu":
        return None
    from deplda.inference_cuda import card_for

    _check_words(corpus, tables)
    return card_for(device, engine, corpus, tables, inference)


def _check_words(corpus: Corpus, tables: Tables) -> None:
    if corpus.n_words != tables.n_words:
        raise InputError(
            f"the corpus has {corpus.n_words:,} words but the model {tables.n_words:,}; "
            "align it to the training corpus first"
        )


class Documents(NamedTuple):
    """Some documents as they are sent to a worker, and the labels whose words are asked for."""

    starts: npt.NDArray[np.int64]
    types: npt.NDArray[np.int32]
    times: npt.NDArray[np.int32]
    chosen: Labels

    @classmethod
    def of(cls, corpus: Corpus, first: int, last: int, chosen: Labels | None) -> Documents:
        """Return the documents first:last of a corpus."""
        counts = corpus.counts
        begin, end = counts.indptr[first], counts.indptr[last]
        return cls(
            counts.indptr[first : last + 1].astype(np.int64) - begin,
            counts.indices[begin:end],
            counts.data[begin:end],
            np.zeros((last - first, 0), np.int64) if chosen is None else chosen[first:last],
        )


def _by_batches(
    work: Callable[[Documents], Result],
    corpus: Corpus,
    tables: Tables,
    chosen: Labels | None,
    n_jobs: int | None,
    engine: Engine,
    progress: bool | None,
    card: Card | None = None,
) -> Iterator[Result]:
    """Check the corpus now; then yield work(documents) for batches of them, in order."""
    _check_words(corpus, tables)
    size = max(1, min(_BATCH_DOCUMENTS, _BATCH_CELLS // tables.n_labels))
    if card is not None:
        from deplda.inference_cuda import documents_at_a_time

        size, n_jobs = documents_at_a_time(card, tables), 1
    firsts = range(0, len(corpus), size)

    def batch(first: int) -> Documents:
        return Documents.of(corpus, first, min(first + size, len(corpus)), chosen)

    def results() -> Iterator[Result]:
        if engine == "threads":
            with compiling(progress):
                work(Documents.of(corpus, 0, 0, chosen))
        with documents("inferring labels", len(corpus), progress) as done:
            found = map_ordered(_work_on, map(batch, firsts), n_jobs, engine=engine, shared=(work,))
            for first, result in zip(firsts, found, strict=True):
                done(min(size, len(corpus) - first))
                yield result

    return results()


def _work_on(work: Callable[[Documents], Result], documents: Documents, stop: Stop) -> Result:
    if stop.is_set():
        raise Stopped
    return work(documents)


class _Batch(NamedTuple):
    """Some documents, the labels whose words are asked for, and what is found of them."""

    starts: npt.NDArray[np.int64]
    types: npt.NDArray[np.int32]
    times: npt.NDArray[np.int32] | npt.NDArray[np.float32]
    chosen: Labels
    counts: Floats
    topics: Floats
    words: Floats


def _infer(
    tables: Tables, inference: Inference, seed: int, card: Card | None, documents: Documents
) -> Inferred:
    if card is not None:
        from deplda.inference_cuda import infer_on

        return infer_on(card, tables, inference, seed, documents)
    return _infer_batch(tables, inference, seed, documents)[0]


def _infer_batch(
    tables: Tables, inference: Inference, seed: int, documents: Documents
) -> tuple[Inferred, Floats]:
    """Return what is inferred of the documents, averaged over chains and topic sets.

    And, entry by entry, the tokens that words give to the `chosen` labels.
    """
    times = weighed(documents.times, inference.word_counts)
    n, k = documents.chosen.shape
    batch = _Batch(
        np.array(documents.starts),
        _read_only(documents.types),
        _read_only(times if inference.method == "deterministic" else whole(times)),
        np.array(documents.chosen),
        np.zeros((n, tables.n_labels)),
        np.zeros((n, tables.topic_starts[-1])),
        np.zeros((len(documents.types), k)),
    )
    run = _expect if inference.method == "deterministic" else _sample
    alpha = run(batch, tables, inference, seed)
    return Inferred(batch.counts, alpha, batch.topics), batch.words


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array as those of a corpus are: kernels are compiled for such ones."""
    view = array.view()
    view.flags.writeable = False
    return view


def _expect(batch: _Batch, tables: Tables, inference: Inference, seed: int) -> Floats:
    """Fill the batch with expectations; return α′. There is no chance in it: no seed is used."""
    from deplda.kernels.expected import expect

    eta, flat = weights_of(tables, inference)
    alpha = np.empty_like(batch.counts)
    expect(
        tables.words, tables.sets, eta, flat, float(inference.gamma), batch.starts, batch.types,
        batch.times, float(inference.tolerance), inference.max_cycles, batch.chosen, batch.counts,
        alpha, batch.topics, batch.words,
    )  # fmt: skip
    return alpha


def _sample(batch: _Batch, tables: Tables, inference: Inference, seed: int) -> Floats:
    """Fill the batch with means over all samples of all topic sets; return α′."""
    eta, flat = weights_of(tables, inference)
    is_proper = inference.method == "proper" and tables.topic_starts[-1] > 0
    label_tokens = np.zeros_like(batch.counts) if is_proper else None
    n_sets = len(tables.topic_starts) - 1
    for number in range(n_sets):
        _sample_set(batch, tables, number, inference, seed, label_tokens)
    n_samples = inference.n_chains * inference.schedule.n_samples
    batch.topics[:] /= n_samples
    batch.counts[:] /= n_samples * n_sets
    batch.words[:] /= n_samples * n_sets
    if label_tokens is not None:
        return flat + eta * label_tokens / (n_samples * n_sets)
    return tables.mean_prior(batch.topics, eta, flat)


def _sample_set(
    batch: _Batch,
    tables: Tables,
    number: int,
    inference: Inference,
    seed: int,
    label_tokens: Floats | None,
) -> None:
    """Add one topic set's samples to the batch, and in proper inference to the label tokens."""
    from deplda.kernels import dense, documents, proper, random
    from deplda.kernels.tables import Prior

    eta, flat = weights_of(tables, inference)
    begin, end = tables.topic_starts[number : number + 2]
    key, stride = random.stream(seed, random.DOCUMENT, 0)
    plan = inference.schedule
    asked = (
        Prior(eta, flat, inference.gamma / max(end - begin, 1)), batch.starts, batch.types,
        batch.times, key, stride, np.arange(inference.n_chains) + number * inference.n_chains,
        plan.burn_in, plan.n_samples, plan.lag, inference.estimate == "conditionals",
    )  # fmt: skip
    shares = np.zeros((len(batch.counts), end - begin))
    results = (batch.chosen, batch.counts, shares, batch.words)
    if label_tokens is not None:
        proper.sample(
            tables.words, tables.topics[number], *asked, inference.n_label_tokens, *results,
            label_tokens,
        )  # fmt: skip
    elif tables.is_tiny:
        dense.sample(*tables.dense[number], *asked, *results)
    else:
        documents.sample(tables.words, tables.topics[number], *asked, *results)
    batch.topics[:, begin:end] = shares


def weights_of(tables: Tables, inference: Inference) -> tuple[float, float]:
    """Return η, which is 0 where there are no topics, and Σα/C."""
    eta = float(inference.eta) if tables.topic_starts[-1] else 0.0
    return eta, inference.alpha / tables.n_ranked


def _normalised(values: Floats) -> Floats:
    totals = values.sum(axis=1, keepdims=True)
    return values / np.where(totals > 0, totals, 1.0)
