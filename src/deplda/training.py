"""Training: φ and φ′ from a corpus, by chains or by expectations (paper §3.4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from deplda import topic_chains, word_chains
from deplda.chains import Checkpoint, Schedule, run_chains
from deplda.corpus import Corpus
from deplda.diagnostics import Diagnostics, diagnose
from deplda.engine import Engine
from deplda.errors import InputError
from deplda.estimates import LabelWords, TopicLabels
from deplda.files import StrPath
from deplda.progress import compiling, sweeps
from deplda.topic_chains import TopicChain, topic_sets
from deplda.word_chains import Cells, WordChain, Words
from deplda.word_counts import WordCounts, weighed, whole

if TYPE_CHECKING:
    from deplda.kernels.cuda.card import Card

_LEAST_TOKENS = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class TrainedLabelWords:
    """φ, and how its chains went (None for the deterministic estimate)."""

    label_words: LabelWords
    diagnostics: Diagnostics | None
    n_sweeps: int
    """Sweeps of each chain, or passes until the deterministic estimate settled."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainedTopicLabels:
    """φ′ of every chain, and how they went."""

    topic_labels: tuple[TopicLabels, ...]
    diagnostics: Diagnostics


def train_label_words(
    corpus: Corpus,
    *,
    eta: float = 50.0,
    beta: float = 0.01,
    n_chains: int = 1,
    schedule: Schedule | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    engine: Engine = "threads",
    device: str = "cpu",
    watch: Sequence[tuple[int, int]] | None = None,
    checkpoint: StrPath | None = None,
    checkpoint_seconds: float = 60.0,
    resume: bool = False,
    progress: bool | None = None,
) -> TrainedLabelWords:
    """Return φ averaged over the samples of independent chains (restricted collapsed Gibbs).

    Parameters
    ----------
    corpus : Corpus
        Documents without words or without labels are legal: they train nothing. Counts that are no
        whole numbers are rounded, since tokens are drawn.
    eta : float, default 50
        Weight of a document's prior over its labels, η.
    beta : float, default 0.01
        Smoothing of the words of a label, β_W.
    n_chains : int, default 1
        The paper runs 48.
    schedule : Schedule, default ``Schedule(100)``
        The paper's: 100 sweeps, one sample.
    seed : int
        The same seed gives the same bits, whatever `n_jobs`.
    n_jobs : int, optional
        Chains that run at a time; all cores by default.
    engine : "threads", "processes", a Dask Client or the address of its scheduler
        Where chains run. The same bits everywhere.
    device : {"cpu", "cuda", "auto"}
        With "cuda", all chains run side by side on a CUDA card, by the partially collapsed sampler:
        φ given z, then every z given φ. Other draws, from the same posterior. "auto" takes a card
        if there is one that can do it. A card keeps no checkpoints.
    watch : pairs (word, label), optional
        Entries of φ to trace for the diagnostics; by default the most frequent word of some labels.
    checkpoint : path, optional
        A folder: finished chains, and running ones every `checkpoint_seconds`, are kept there, and
        with `resume` the run goes on from them to the very result of an undisturbed one. A cluster
        must see the folder under the same path.
    progress : bool, optional
        Draw progress on standard error; by default if that is a terminal.
    """
    schedule = Schedule(100) if schedule is None else schedule
    _check_positive(eta=eta, beta=beta)
    _check_at_least_one(n_chains=n_chains)
    _check_labels(corpus)
    with compiling(progress):
        word_chains.compile_kernels()
    corpus = whole_tokens(corpus)
    data = Words(corpus, eta, beta)
    card = _card(device, engine, checkpoint, data)
    watched = data.default_watch() if watch is None else data.cells_of(watch)
    saved = _checkpoint(
        checkpoint, resume, checkpoint_seconds,
        {"what": "label_words", "data": corpus.fingerprint(), "eta": eta, "beta": beta,
         "schedule": [schedule.burn_in, schedule.n_samples, schedule.lag], "seed": seed,
         "watch": watched.tolist()},
    )  # fmt: skip

    with sweeps("training φ", n_chains, schedule.n_sweeps, data.n_swept, progress) as report:
        if card is not None:
            from deplda.training_cuda import run_on

            weights, base, traces = run_on(card, data, n_chains, schedule, seed, watched, report)
        else:
            make = partial(WordChain, data, seed, watched=watched)
            weights, base = np.zeros(len(data.layout.cell_words)), np.zeros(corpus.n_labels)
            chains = []
            for chain in run_chains(
                make, n_chains, schedule, n_jobs=n_jobs, engine=engine, checkpoint=saved,
                report=report,
            ):  # fmt: skip
                weights += chain.samples["weights"]
                base += chain.samples["base"]
                chains.append(chain.trace)
            traces = np.stack(chains)
    n_samples = n_chains * schedule.n_samples
    return TrainedLabelWords(
        data.estimate(weights / n_samples, base / n_samples),
        diagnose(data.trace_names(watched), traces),
        schedule.n_sweeps,
    )


def whole_tokens(corpus: Corpus, word_counts: WordCounts = "raw") -> Corpus:
    """Return the corpus with the nearest whole number of tokens of each word, to be drawn."""
    if word_counts == "raw" and corpus.counts.dtype.kind == "i":
        return corpus
    counts = corpus.counts.copy()
    counts.data = whole(weighed(counts.data, word_counts))
    return Corpus(counts, corpus.labels, corpus.vocabulary, corpus.label_names, corpus.ids)


def _card(device: str, engine: Engine, checkpoint: StrPath | None, data: Words) -> Card | None:
    """Return the card to train on, or None for the CPU; nothing of CUDA is imported for that."""
    if device == "cpu":
        return None
    from deplda.training_cuda import card_for

    return card_for(device, engine, checkpoint, data)


def expect_label_words(
    corpus: Corpus,
    *,
    eta: float = 50.0,
    beta: float = 0.01,
    tolerance: float = 0.1,
    max_sweeps: int = 100,
    word_counts: WordCounts = "raw",
    background: float = 0.0,
    progress: bool | None = None,
) -> TrainedLabelWords:
    """Return the deterministic φ (CVB0): expectations instead of draws, no seed and no chains.

    It stops when a pass over the documents moves less than `tolerance` of a token per token, or
    after `max_sweeps` passes. That is early on purpose: further passes make φ more certain than the
    data are, and predict worse (docs/explanation/training.md). Expected counts below β, or 0.01
    tokens, are left out, and out of their label's total.

    `word_counts="log"` counts a word that occurs n times in a document 1 + ln n times. With
    `background`, a share of η, the corpus' last label is one that all labelled documents have.

    Other parameters are those of `train_label_words`.
    """
    _check_positive(eta=eta, beta=beta, tolerance=tolerance)
    _check_at_least_one(max_sweeps=max_sweeps)
    _check_labels(corpus)
    with compiling(progress):
        data = Words(corpus, eta, beta, word_counts)
    known = np.zeros(len(data.layout.cell_words)), np.zeros(corpus.n_labels)
    cell_counts, label_counts, done = _expected_counts(
        data, known, tolerance, max_sweeps, progress, background
    )
    weights, base = data.shares_of(cell_counts, label_counts)
    return TrainedLabelWords(data.estimate(weights, base), None, done)


def update_label_words(
    label_words: LabelWords,
    corpus: Corpus,
    *,
    eta: float = 50.0,
    beta: float = 0.01,
    tolerance: float = 0.1,
    max_sweeps: int = 100,
    word_counts: WordCounts = "raw",
    progress: bool | None = None,
) -> LabelWords:
    """Return φ after more documents: theirs is expected with the counts behind φ added to theirs.

    The corpus has the words of φ, and its labels, which may be followed by new ones. `beta` is that
    of φ, whose counts are N_c = β/b_c − Wβ and N_wc = A_wc β/b_c.
    """
    n_words, n_known = label_words.shape
    if corpus.n_words != n_words or corpus.n_labels < n_known:
        raise InputError(
            f"φ has {n_words:,} words and {n_known:,} labels but the corpus {corpus.n_words:,} and "
            f"{corpus.n_labels:,}; it needs the same words, and the labels of φ before new ones"
        )
    _check_positive(eta=eta, beta=beta, tolerance=tolerance)
    _check_at_least_one(max_sweeps=max_sweeps)
    label_counts = np.zeros(corpus.n_labels)
    label_counts[:n_known] = np.maximum(beta / label_words.base - n_words * beta, 0.0)
    by_label = csr_array(label_words.weights.T * (beta / label_words.base)[:, None])
    ends = np.full(corpus.n_labels - n_known, by_label.nnz)
    older = csr_array(
        (by_label.data, by_label.indices, np.concatenate([by_label.indptr, ends])),
        shape=(corpus.n_labels, n_words),
    )
    has_words = np.diff(corpus.counts.indptr) > 0
    if not (has_words & (corpus.labels_per_document > 0)).any():
        counts = older
    else:
        with compiling(progress):
            data = Words(corpus, eta, beta, word_counts)
        cell_labels = data.labels_of(np.arange(len(data.layout.cell_words)))
        known = np.asarray(older[cell_labels, data.layout.cell_words]).ravel()
        cell_counts, label_counts, _ = _expected_counts(
            data, (known, label_counts), tolerance, max_sweeps, progress
        )
        counts = csr_array(older + data.by_label(cell_counts - known))
    scale = 1.0 / (label_counts + n_words * beta)
    weights = csr_array((counts * scale[:, None]).T.astype(np.float32))
    weights.data = np.maximum(weights.data, 0.0)
    weights.eliminate_zeros()
    return LabelWords(weights, beta * scale)


def _expected_counts(
    data: Words,
    known: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]],
    tolerance: float,
    max_sweeps: int,
    progress: bool | None,
    background: float = 0.0,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], int]:
    """Return expected N_wc by cell and N_c, known counts added from the start, and the passes."""
    from deplda.kernels import words

    shares = np.empty(len(data.layout.cells), dtype=np.float32)
    cell_counts, label_counts = np.empty(len(known[0])), np.empty(len(known[1]))
    words.expected_start(data.layout, shares, cell_counts, label_counts)
    cell_counts += known[0]
    label_counts += known[1]
    done = 0
    with sweeps("expecting φ", 1, max_sweeps, data.n_swept, progress) as report:
        for done in range(1, max_sweeps + 1):
            moved = 0.0
            for piece in data.pieces:
                moved += words.expect(
                    data.layout, piece, shares, cell_counts, label_counts, data.eta, data.beta,
                    data.n_words, background,
                )  # fmt: skip
            if report is not None:
                report(0, done, float("nan"))
            if moved <= tolerance * data.n_swept:
                break
    return *without_small(data, cell_counts, label_counts), done


def without_small(
    cells: Cells, cell_counts: npt.NDArray[np.float64], label_counts: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return expected N_wc and N_c without the cells that have next to nothing.

    Every pair that ever met has some count, most of them next to none: half of all entries, which
    change no ranking. They are left out, and out of N_c. (Rounding may leave some below zero.)
    """
    small = cell_counts < min(cells.beta, _LEAST_TOKENS)
    owners = cells.labels_of(np.arange(len(cell_counts)))
    label_counts = label_counts - np.bincount(owners[small], cell_counts[small], len(label_counts))
    return np.where(small, 0.0, cell_counts), np.maximum(label_counts, 0.0)


def train_topic_labels(
    corpus: Corpus,
    n_topics: int,
    *,
    gamma: float = 0.01,
    beta: float = 0.01,
    n_chains: int = 1,
    schedule: Schedule | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    engine: Engine = "threads",
    checkpoint: StrPath | None = None,
    checkpoint_seconds: float = 60.0,
    resume: bool = False,
    progress: bool | None = None,
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

    Other parameters are those of `train_label_words`.
    """
    schedule = Schedule(500) if schedule is None else schedule
    _check_positive(gamma=gamma, beta=beta)
    _check_at_least_one(n_chains=n_chains, n_topics=n_topics)
    if n_topics > 65_535:
        raise InputError(f"n_topics is {n_topics:,}; at most 65,535 are possible")
    _check_labels(corpus)
    saved = _checkpoint(
        checkpoint, resume, checkpoint_seconds,
        {"what": "topic_labels", "data": corpus.fingerprint(), "n_topics": n_topics,
         "gamma": gamma, "beta": beta, "seed": seed,
         "schedule": [schedule.burn_in, schedule.n_samples, schedule.lag]},
    )  # fmt: skip
    with compiling(progress):
        topic_chains.compile_kernels()

    corpus = Corpus(csr_array((len(corpus), 0)), corpus.labels)  # words need not travel
    make = partial(TopicChain, corpus, n_topics, gamma, beta, seed)
    sets, traces = list[TopicLabels](), []
    with sweeps("training φ′", n_chains, schedule.n_sweeps, corpus.labels.nnz, progress) as report:
        for chain in run_chains(
            make, n_chains, schedule, n_jobs=n_jobs, engine=engine, checkpoint=saved, report=report
        ):
            sets.extend(topic_sets(chain.samples["samples"], corpus, n_topics, beta))
            traces.append(chain.trace)
    return TrainedTopicLabels(tuple(sets), diagnose(("log-likelihood",), np.stack(traces)))


def prior_topic_labels(corpus: Corpus, *, beta: float) -> TopicLabels:
    """Return Prior-LDA's φ′, one topic for the whole corpus, in closed form: (N_c + β)/(N + Cβ)."""
    _check_positive(beta=beta)
    _check_labels(corpus)
    scale = 1.0 / (corpus.labels.nnz + corpus.n_labels * beta)
    weights = csr_array((corpus.label_counts * scale)[:, None])
    return TopicLabels(weights, np.array([beta * scale]))


def _checkpoint(
    folder: StrPath | None, resume: bool, seconds: float, meaning: Mapping[str, Any]
) -> Checkpoint | None:
    if folder is not None:
        return Checkpoint(Path(folder), meaning, resume=resume, seconds=seconds)
    if resume:
        raise InputError("resume needs the folder of a checkpoint; pass checkpoint=")
    return None


def _check_labels(corpus: Corpus) -> None:
    if corpus.labels.nnz == 0:
        raise InputError(
            f"none of the {len(corpus):,} documents has a label; there is nothing to learn from"
        )


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not (isinstance(value, int | float) and math.isfinite(value) and value > 0):
            raise InputError(f"{name} is {value!r}; it must be a finite number above 0")


def _check_at_least_one(**values: int) -> None:
    for name, value in values.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InputError(f"{name} is {value!r}; it must be a whole number from 1")
