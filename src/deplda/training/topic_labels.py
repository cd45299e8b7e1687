"""φ′, the labels of each topic: LDA with labels as words (paper §3.4.2, eq. 5 and 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

from deplda.data import checks
from deplda.data.corpus import Corpus
from deplda.data.files import StrPath
from deplda.data.weighting import label_frequencies
from deplda.engine.execution import Execution, Where
from deplda.engine.pool import Stop
from deplda.engine.progress import compiling, sweeps
from deplda.training.chains import Schedule, run_chains
from deplda.training.checkpoint import Arrays, SavedArrays, open_checkpoint
from deplda.training.diagnostics import Traces
from deplda.training.estimates import TopicLabels
from deplda.training.word_chain import check_labels

if TYPE_CHECKING:
    from deplda.kernels.cuda.device import Gpu


class TopicChain:
    """One chain of z′: the topic of each label token."""

    def __init__(
        self, corpus: Corpus, n_topics: int, gamma: float, beta: float, seed: int, number: int
    ) -> None:
        from deplda.kernels import random, train_labels

        self._kernel = train_labels
        self._starts = np.array(corpus.labels.indptr, dtype=np.int64)
        self._labels = corpus.labels.indices
        self._prior, self._beta = gamma, beta
        self._key, self._gamma = random.stream(seed, random.TOPIC_CHAIN, number)
        self._z = np.empty(len(self._labels), dtype=np.uint16)
        self._topics = train_labels.no_topics(corpus.label_counts, n_topics)
        self._samples = np.empty((0, len(self._z)), dtype=np.uint16)
        train_labels.start(self._z, n_topics, self._key, self._gamma)
        train_labels.tally(self._labels, self._z, self._topics)

    def sweep(self, number: int, stop: Stop) -> None:
        """Update every label token once; the sweeps are short, so `stop` is seen between them."""
        self._kernel.sweep(
            self._starts, self._labels, self._z, self._topics, self._prior, self._beta,
            self._key, self._gamma, number * len(self._z),
        )  # fmt: skip

    def trace(self) -> list[float]:
        """Return the log-likelihood."""
        level: float = self._kernel.log_likelihood(
            self._starts, self._labels, self._z, self._topics, self._prior, self._beta
        )
        return [level]

    def collect(self) -> None:
        """Keep z′ as a sample."""
        self._samples = np.vstack([self._samples, self._z])

    def samples(self) -> Arrays:
        """Return z′ of every sample."""
        return {"samples": self._samples}

    def state(self) -> Arrays:
        """Return z′, its counts and the samples."""
        # The order of a label's slots decides what a draw means, so it is kept as it is.
        return {"z": self._z, **self.samples(), **self._topics._asdict()}

    def restore(self, saved: SavedArrays) -> None:
        """Go on from such a state."""
        n, topics = len(self._z), self._topics
        n_topics = len(topics.topic_counts)
        self._z = saved.below("z", np.uint16, (n,), n_topics)
        self._samples = saved.below("samples", np.uint16, (None, n), n_topics)
        self._kernel.tally(self._labels, self._z, topics)
        mine = topics._replace(
            slots=saved.take("slots", np.int32, topics.slots.shape),
            used=saved.take("used", np.int32, topics.used.shape),
        )
        saved.require(_same_topics(topics, mine), "array 'slots' does not say what array 'z' says")
        self._topics = mine


def _same_topics(one: Any, other: Any) -> bool:
    """Return whether labels have the same topics and counts, in whatever order of slots."""
    if not np.array_equal(one.used, other.used):
        return False
    label_of_slot = np.repeat(np.arange(len(one.used)), np.diff(one.slot_starts))
    place = np.arange(len(label_of_slot)) - one.slot_starts[label_of_slot]
    is_used = place < one.used[label_of_slot]
    pairs = []
    for topics in (one, other):
        slots = topics.slots.reshape(-1, 2)[is_used]
        pairs.append(slots[np.lexsort((slots[:, 0], label_of_slot[is_used]))])
    return np.array_equal(*pairs)


def topic_sets(
    samples: npt.NDArray[np.uint16], corpus: Corpus, n_topics: int, beta: float
) -> Iterator[TopicLabels]:
    """Yield φ′ of each sample, eq. 6: (N_ct + β)/(N_t + Cβ)."""
    shape = (corpus.n_labels, n_topics)
    for z in samples:
        totals = np.bincount(z, minlength=n_topics).astype(np.float64)
        scale = 1.0 / (totals + corpus.n_labels * beta)
        counts = coo_array((np.ones(len(z)), (corpus.labels.indices, z)), shape=shape).tocsr()
        counts.data *= scale[counts.indices]
        yield TopicLabels(counts, beta * scale)


def compile_kernels() -> None:
    """Compile, or load from the cache, all that a chain calls."""
    chain = TopicChain(Corpus([[1]], [[1, 1]]), 2, 1.0, 1.0, 0, 0)
    chain.sweep(1, Event())
    chain.trace()


@dataclass(frozen=True, slots=True, eq=False)
class TrainedTopicLabels:
    """φ′ of every chain, and how they went."""

    topic_labels: tuple[TopicLabels, ...]
    traces: Traces


def train_topic_labels(
    corpus: Corpus,
    n_topics: int,
    *,
    gamma: float = 0.01,
    beta: float = 0.01,
    n_chains: int = 1,
    schedule: Schedule | None = None,
    seed: int = 0,
    checkpoint: StrPath | None = None,
    checkpoint_seconds: float = 60.0,
    resume: bool = False,
    **where: Unpack[Where],
) -> TrainedTopicLabels:
    """Return φ′ of every sample of every chain: LDA with a document's labels as its words.

    Parameters
    ----------
    n_topics : int
        T. More topics than label tokens are legal: an empty topic holds every label alike.
    gamma : float, default 0.01
        Weight of each topic in a document's prior, γ.
    beta : float, default 0.01
        Smoothing of the labels of a topic, β_C.
    schedule : Schedule, default ``Schedule(500)``
        The paper's: 500 sweeps, one sample; it runs 10 chains.

    Other parameters are those of `train_label_words`. On a GPU a sweep draws φ′ twice, and every
    z′ twice for each, which takes a chain as far as a sweep of the CPU, or a little further.

    Examples
    --------
    >>> import deplda
    >>> corpus = deplda.datasets.newsroom(100).corpus
    >>> schedule = deplda.Schedule(burn_in=10)
    >>> trained = deplda.train_topic_labels(corpus, n_topics=5, schedule=schedule)
    >>> trained.topic_labels[0].shape == (corpus.n_labels, 5)
    True
    """
    schedule, execution = schedule or Schedule(500), Execution(**where)
    checks.positive(gamma=gamma, beta=beta)
    checks.at_least_one(n_chains=n_chains)
    checks.whole("n_topics", n_topics, most=65_535)
    check_labels(corpus)
    gpu = _gpu_for(execution, checkpoint, corpus, n_topics)
    saved = open_checkpoint(
        checkpoint, resume, checkpoint_seconds,
        {"what": "topic_labels", "data": corpus.fingerprint(), "n_topics": n_topics,
         "gamma": gamma, "beta": beta, "seed": seed,
         "schedule": [schedule.burn_in, schedule.n_samples, schedule.lag]},
    )  # fmt: skip
    if gpu is None:
        with compiling(execution.progress):
            compile_kernels()

    corpus = Corpus(csr_array((len(corpus), 0)), corpus.labels)  # words need not travel
    found: Iterable[tuple[npt.NDArray[np.uint16], npt.NDArray[np.float64]]]
    sets, traces = list[TopicLabels](), []
    name = f"learning {n_topics:,} topics of {corpus.n_labels:,} labels"
    with sweeps(name, n_chains, schedule.n_sweeps, execution.progress) as report:
        if gpu is not None:
            from deplda.training.topic_labels_cuda import run_on

            how = (gamma, beta, n_chains, schedule, seed, report)
            found = zip(*run_on(gpu, corpus, n_topics, *how), strict=True)
        else:
            make = partial(TopicChain, corpus, n_topics, gamma, beta, seed)
            chains = run_chains(make, n_chains, schedule, execution, saved, report)
            found = ((chain.samples["samples"], chain.trace) for chain in chains)
        for samples, trace in found:
            sets.extend(topic_sets(samples, corpus, n_topics, beta))
            traces.append(trace)
    return TrainedTopicLabels(tuple(sets), Traces(("log-likelihood",), np.stack(traces)))


def _gpu_for(
    execution: Execution, checkpoint: StrPath | None, corpus: Corpus, n_topics: int
) -> Gpu | None:
    """Return the GPU to train on, or None for the CPU; nothing of CUDA is imported for that."""
    if execution.device == "cpu":
        return None
    from deplda.training.topic_labels_cuda import gpu_for

    return gpu_for(execution, checkpoint, corpus, n_topics)


def prior_topic_labels(
    corpus: Corpus, *, beta: float, weights: npt.NDArray[np.float64] | None = None
) -> TopicLabels:
    """Return Prior-LDA's φ′, eq. 6 with one topic for the whole corpus: (N_c + β)/(N + Cβ).

    `weights` say how many documents each counts as.

    Examples
    --------
    >>> import deplda
    >>> corpus = deplda.datasets.newsroom(100).corpus
    >>> deplda.prior_topic_labels(corpus, beta=0.1).shape == (corpus.n_labels, 1)
    True
    """
    checks.positive(beta=beta)
    check_labels(corpus)
    counts = label_frequencies(corpus.labels, weights)
    scale = 1.0 / (counts.sum() + corpus.n_labels * beta)
    return TopicLabels(csr_array((counts * scale)[:, None]), np.array([beta * scale]))
