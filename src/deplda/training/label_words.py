"""φ, the words of each label, by chains or by expectations (paper §3.4.1, eq. 2 and 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, hstack

from deplda.data import checks, wording
from deplda.data.corpus import Corpus, repeated
from deplda.data.files import StrPath
from deplda.data.weighting import WordCounts, weighed, whole
from deplda.engine.execution import Execution, Where
from deplda.engine.progress import compiling, passes, sweeps
from deplda.errors import InputError
from deplda.training.chains import Schedule, run_chains
from deplda.training.checkpoint import open_checkpoint
from deplda.training.diagnostics import Traces
from deplda.training.estimates import LabelWords
from deplda.training.word_chain import Cells, WordChain, Words, check_labels, compile_kernels

if TYPE_CHECKING:
    from deplda.kernels.cuda.device import Gpu
    from deplda.training.label_words_cuda import GpuWords

Known = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""Counts by cell, N_wc, and by label, N_c."""

_LEAST_TOKENS = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class TrainedLabelWords:
    """φ, and the traces of its chains (None for the deterministic estimate)."""

    label_words: LabelWords
    traces: Traces | None
    n_sweeps: int
    """Sweeps of each chain, or passes until the deterministic estimate settled."""


def train_label_words(
    corpus: Corpus,
    *,
    eta: float = 50.0,
    beta: float = 0.01,
    n_chains: int = 1,
    schedule: Schedule | None = None,
    seed: int = 0,
    watch: Sequence[tuple[int, int]] | None = None,
    checkpoint: StrPath | None = None,
    checkpoint_seconds: float = 60.0,
    resume: bool = False,
    **where: Unpack[Where],
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
        The same seed gives the same bits, whatever `n_jobs` and `engine`.
    watch : pairs (word, label), optional
        Entries of φ to trace; by default the most frequent word of some labels.
    checkpoint : path, optional
        A folder: finished chains, and running ones every `checkpoint_seconds`, are kept there, and
        with `resume` the run goes on from them to the very result of an undisturbed one. A cluster
        must see the folder under the same path.
    engine, n_jobs, device, progress
        See `Execution`. On a GPU all chains run side by side, by the partially collapsed sampler:
        φ given z, then every z given φ. Other draws, from the same posterior. A GPU keeps no
        checkpoints.

    Examples
    --------
    >>> import deplda
    >>> corpus = deplda.datasets.newsroom(60).corpus
    >>> trained = deplda.train_label_words(corpus, n_chains=2, schedule=deplda.Schedule(10), seed=0)
    >>> trained.label_words.shape == (corpus.n_words, corpus.n_labels)
    True
    """
    schedule, execution = schedule or Schedule(100), Execution(**where)
    checks.positive(eta=eta, beta=beta)
    checks.at_least_one(n_chains=n_chains)
    check_labels(corpus)
    corpus = whole_tokens(corpus)
    with compiling(execution.progress):
        data = Words(corpus, eta, beta)
        gpu = _gpu_for(execution, checkpoint, data)
        if gpu is None:
            compile_kernels()
    watched = data.default_watch() if watch is None else data.cells_of(watch)
    saved = open_checkpoint(
        checkpoint, resume, checkpoint_seconds,
        {"what": "label_words", "data": corpus.fingerprint(), "eta": eta, "beta": beta,
         "schedule": [schedule.burn_in, schedule.n_samples, schedule.lag], "seed": seed,
         "watch": watched.tolist()},
    )  # fmt: skip
    name = learning_words_of(corpus.n_labels)
    with sweeps(name, n_chains, schedule.n_sweeps, execution.progress) as report:
        if gpu is not None:
            from deplda.training.word_chain_cuda import run_on

            weights, base, traces = run_on(gpu, data, n_chains, schedule, seed, watched, report)
        else:
            make = partial(WordChain, data, seed, watched=watched)
            weights, base = np.zeros(len(data.layout.cell_words)), np.zeros(corpus.n_labels)
            chains = []
            for chain in run_chains(make, n_chains, schedule, execution, saved, report):
                weights += chain.samples["weights"]
                base += chain.samples["base"]
                chains.append(chain.trace)
            traces = np.stack(chains)
    n_samples = n_chains * schedule.n_samples
    return TrainedLabelWords(
        data.estimate(weights / n_samples, base / n_samples),
        Traces(data.trace_names(watched), traces),
        schedule.n_sweeps,
    )


def learning_words_of(n_labels: int) -> str:
    """Return what is shown while φ is learned."""
    return f"learning words of {wording.counted(n_labels, 'label')}"


def whole_tokens(corpus: Corpus, word_counts: WordCounts = "raw") -> Corpus:
    """Return the corpus with the nearest whole number of tokens of each word, to be drawn."""
    if word_counts == "raw" and corpus.counts.dtype.kind == "i":
        return corpus
    counts = corpus.counts.copy()
    counts.data = whole(weighed(counts.data, word_counts))
    return Corpus(counts, corpus.labels, corpus.vocabulary, corpus.label_names, corpus.ids)


def with_background(corpus: Corpus) -> Corpus:
    """Return the corpus with one label more, on every document that has labels."""
    every = csr_array((corpus.labels_per_document > 0)[:, None])
    labels = csr_array(hstack([corpus.labels, every]))
    return Corpus(corpus.counts, labels, corpus.vocabulary)


def _gpu_for(execution: Execution, checkpoint: StrPath | None, data: Words) -> Gpu | None:
    """Return the GPU to train on, or None for the CPU; nothing of CUDA is imported for that."""
    if execution.device == "cpu":
        return None
    from deplda.training.word_chain_cuda import gpu_for

    return gpu_for(execution, checkpoint, data)


def expect_label_words(
    corpus: Corpus,
    *,
    eta: float = 50.0,
    beta: float = 0.01,
    tolerance: float = 0.1,
    max_sweeps: int = 100,
    word_counts: WordCounts = "raw",
    background: float = 0.0,
    weights: npt.NDArray[np.float64] | None = None,
    **where: Unpack[Where],
) -> TrainedLabelWords:
    """Return the deterministic φ (CVB0): expectations instead of draws, no seed and no chains.

    It stops when a pass over the documents moves less than `tolerance` of a token per token, or
    after `max_sweeps` passes. That is early on purpose: further passes make φ more certain than the
    data are, and predict worse (docs/explanation/training.md). Expected counts below β, or 0.01
    tokens, are left out, and out of their label's total.

    `word_counts="log"` counts a word that occurs n times in a document 1 + ln n times. With
    `background`, a share of η, the corpus' last label is one that all labelled documents have.
    `weights` say how many documents each counts as: so many copies, the last of which may count
    less than one.

    Other parameters are those of `train_label_words`. On a GPU the documents of a pass are updated
    in 32 batches: those of a batch side by side, against the counts as they were before it. Where
    the CPU's passes would settle if they went on, these would too.

    Examples
    --------
    >>> import deplda
    >>> corpus = deplda.datasets.newsroom(60).corpus
    >>> phi = deplda.expect_label_words(corpus).label_words.dense()
    >>> phi.shape == (corpus.n_words, corpus.n_labels)
    True
    >>> bool(abs(phi.sum(axis=0) - 1).max() < 1e-5)
    True
    """
    checks.positive(eta=eta, beta=beta, tolerance=tolerance)
    checks.at_least_one(max_sweeps=max_sweeps)
    check_labels(corpus)
    if weights is not None:
        corpus, weights = _copied(corpus, weights)
    execution = Execution(**where)
    data = _laid_out(corpus, eta, beta, word_counts, weights, execution)
    known = np.zeros(len(data.words)), np.zeros(corpus.n_labels)
    cell_counts, label_counts, done = _expected_counts(
        data, known, tolerance, max_sweeps, execution.progress, background
    )
    weights, base = data.shares_of(cell_counts, label_counts)
    return TrainedLabelWords(data.estimate(weights, base), None, done)


def _copied(
    corpus: Corpus, weights: npt.NDArray[np.float64]
) -> tuple[Corpus, npt.NDArray[np.float64]]:
    """Return documents as copies of weight 1, the last of each with what is left of its weight."""
    times = np.ceil(weights).astype(np.int64)
    each, last = np.ones(times.sum()), np.cumsum(times) - 1
    each[last[times > 0]] -= (times - weights)[times > 0]
    return repeated(corpus, times), each


def update_label_words(
    label_words: LabelWords,
    corpus: Corpus,
    *,
    eta: float = 50.0,
    beta: float = 0.01,
    tolerance: float = 0.1,
    max_sweeps: int = 100,
    word_counts: WordCounts = "raw",
    background: float = 0.0,
    **where: Unpack[Where],
) -> LabelWords:
    """Return φ, eq. 3, after more documents: expected with the counts behind φ added to theirs.

    The corpus has the words and the labels of φ, each of which may be followed by new ones. With
    `background` the last label of φ is the last of the corpus too, and new ones stand before it.
    `beta` is that of φ. Where work runs is said as to `expect_label_words`.

    Examples
    --------
    >>> import deplda
    >>> corpus = deplda.datasets.newsroom(80).corpus
    >>> before = deplda.expect_label_words(corpus[:60]).label_words
    >>> after = deplda.update_label_words(before, corpus[60:])
    >>> after.shape == before.shape
    True
    """
    execution = Execution(**where)
    n_words, n_known = label_words.shape
    if corpus.n_words < n_words or corpus.n_labels < n_known:
        raise InputError(
            f"φ has {n_words:,} words and {n_known:,} labels but the corpus {corpus.n_words:,} and "
            f"{corpus.n_labels:,}; it needs the words and the labels of φ before new ones"
        )
    checks.positive(eta=eta, beta=beta, tolerance=tolerance)
    checks.at_least_one(max_sweeps=max_sweeps)
    places = np.arange(n_known)
    if background:
        places[-1] = corpus.n_labels - 1
    older, label_counts = _counts_behind(label_words, beta, places, corpus)
    has_words = np.diff(corpus.counts.indptr) > 0
    if not (has_words & (corpus.labels_per_document > 0)).any():
        counts = older
    else:
        data = _laid_out(corpus, eta, beta, word_counts, None, execution)
        known = np.asarray(older[data.owners, data.words]).ravel()
        cell_counts, label_counts, _ = _expected_counts(
            data, (known, label_counts), tolerance, max_sweeps, execution.progress, background
        )
        counts = csr_array(older + data.by_label(cell_counts - known))
    scale = 1.0 / (label_counts + corpus.n_words * beta)
    weights = csr_array((counts * scale[:, None]).T.astype(np.float32))
    weights.data = np.maximum(weights.data, 0.0)
    weights.eliminate_zeros()
    return LabelWords(weights, beta * scale)


def _counts_behind(
    label_words: LabelWords, beta: float, places: npt.NDArray[np.int64], corpus: Corpus
) -> tuple[csr_array[Any, tuple[int, int]], npt.NDArray[np.float64]]:
    """Return N_wc = A_wc β/b_c, labels × words, and N_c = β/b_c − Wβ that φ was made of.

    They are over the words and labels of the corpus, among which `places` are those of φ's labels.
    """
    totals = beta / label_words.base
    label_counts = np.zeros(corpus.n_labels)
    label_counts[places] = np.maximum(totals - label_words.shape[0] * beta, 0.0)
    by_label = csr_array(label_words.weights.T * totals[:, None])
    starts = np.zeros(corpus.n_labels + 1, dtype=by_label.indptr.dtype)
    starts[places + 1] = np.diff(by_label.indptr)
    shape = (corpus.n_labels, corpus.n_words)
    older = csr_array((by_label.data, by_label.indices, np.cumsum(starts)), shape=shape)
    return older, label_counts


def _laid_out(
    corpus: Corpus,
    eta: float,
    beta: float,
    word_counts: WordCounts,
    weights: npt.NDArray[np.float64] | None,
    execution: Execution,
) -> Words | GpuWords:
    """Return the corpus as the CPU or a GPU sees it; nothing of CUDA is imported for the CPU."""
    with compiling(execution.progress):
        if execution.device != "cpu":
            from deplda.training.label_words_cuda import words_on_gpu

            found = words_on_gpu(execution, corpus, eta, beta, word_counts, weights)
            if found is not None:
                return found
        return Words(corpus, eta, beta, word_counts, weights)


class _Expectations:
    """Shares and counts on the CPU, updated in place, document after document."""

    def __init__(self, data: Words, known: Known, background: float) -> None:
        from deplda.kernels import train_words

        self._kernel, self._data, self._background = train_words, data, background
        self._shares = np.empty(len(data.layout.cells), dtype=np.float32)
        self._counts = np.empty(len(known[0])), np.empty(len(known[1]))
        train_words.expected_start(data.layout, data.weights, self._shares, *self._counts)
        for counts, more in zip(self._counts, known, strict=True):
            counts += more

    def sweep(self) -> float:
        """Update all shares once; return how many tokens moved."""
        data, moved = self._data, 0.0
        for piece in data.pieces:
            moved += self._kernel.expect(
                data.layout, piece, data.weights, self._shares, *self._counts, data.eta, data.beta,
                data.n_words, self._background,
            )  # fmt: skip
        return moved

    def counts(self) -> Known:
        """Return expected N_wc, by cell, and N_c."""
        return self._counts


def _expected_counts(
    data: Words | GpuWords,
    known: Known,
    tolerance: float,
    max_sweeps: int,
    progress: bool | None,
    background: float = 0.0,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], int]:
    """Return expected N_wc by cell and N_c, known counts added from the start, and the passes."""
    state = (
        _Expectations(data, known, background)
        if isinstance(data, Words)
        else data.expectations(known, background)
    )
    done = 0
    name = learning_words_of(len(known[1]) - bool(background))
    with passes(name, max_sweeps, progress) as report:
        for done in range(1, max_sweeps + 1):
            moved = state.sweep()
            report(done, moved / max(tolerance * data.mass_swept, 1e-9))
            if moved <= tolerance * data.mass_swept:
                break
    return *without_small(data, *state.counts()), done


def without_small(
    cells: Cells, cell_counts: npt.NDArray[np.float64], label_counts: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return expected N_wc and N_c without the cells that have next to nothing.

    Every pair that ever met has some count, most of them next to none: half of all entries, which
    change no ranking. They are left out, and out of N_c. (Rounding may leave some below zero.)
    """
    small = cell_counts < min(cells.beta, _LEAST_TOKENS)
    owners = cells.owners[small]
    label_counts = label_counts - np.bincount(owners, cell_counts[small], len(label_counts))
    return np.where(small, 0.0, cell_counts), np.maximum(label_counts, 0.0)
