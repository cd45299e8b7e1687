"""Labels of new documents from φ and φ′, batch by batch (paper §3.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar, Unpack

import numpy as np
import numpy.typing as npt

from deplda.data.corpus import Corpus
from deplda.engine.execution import Execution, Where
from deplda.engine.pool import Stop
from deplda.errors import InputError
from deplda.inference.cpu import Cpu
from deplda.inference.layout import Tables
from deplda.inference.scores import Floats, Inferred, Labels, Ranking
from deplda.inference.settings import Inference

Result = TypeVar("Result")

MATRIX_CELLS = 500_000_000


class Backend(Protocol):
    """What infers labels: the CPU, or a GPU."""

    @property
    def batch_size(self) -> int:
        """How many documents are inferred at a time."""

    @property
    def rank_batch_size(self) -> int:
        """How many documents are ranked at a time."""

    def infer(self, counts: Any, chosen: Labels | None = None) -> Inferred:
        """Return what is inferred of the documents, averaged over chains and topic sets.

        And, entry by entry, the tokens that words give to `chosen` labels, documents × k.
        """

    def scores(self, counts: Any) -> Floats:
        """Return the scores of the documents, documents × labels to be ranked."""

    def rank(self, counts: Any, k: int) -> Ranking:
        """Return the k best labels of the documents."""


def infer(
    corpus: Corpus, tables: Tables, inference: Inference, *, seed: int = 0, **where: Unpack[Where]
) -> Iterator[Inferred]:
    """Yield what is inferred of the documents, batch by batch, in their order.

    A document's result depends on the seed and its own words alone: not on the batch it came in,
    nor on the number of workers. A document without known words has its prior.

    Engine, n_jobs, device and progress are those of `Execution`. On a GPU other random numbers are
    drawn than on the CPU.
    """
    backend, execution = settle(corpus, tables, inference, seed, Execution(**where))
    return _by_batches(partial(_infer, backend), corpus, backend.batch_size, execution)


def rank(
    corpus: Corpus,
    tables: Tables,
    inference: Inference,
    k: int,
    *,
    seed: int = 0,
    **where: Unpack[Where],
) -> Iterator[Ranking]:
    """Yield the k best labels of the documents, batch by batch, in their order.

    Memory is that of a few batches, whatever the number of documents. Labels of the same score are
    in the order of their numbers.
    """
    if k < 1:
        raise InputError(f"k is {k}; a ranking needs at least 1 label")
    backend, execution = settle(corpus, tables, inference, seed, Execution(**where))
    return _by_batches(partial(_rank, backend, k), corpus, backend.rank_batch_size, execution)


def score_matrix(
    corpus: Corpus, tables: Tables, inference: Inference, *, seed: int = 0, **where: Unpack[Where]
) -> Floats:
    """Return the scores of all labels, documents × labels; for problems where that is not large."""
    check_cells(len(corpus), tables.n_labels)
    backend, execution = settle(corpus, tables, inference, seed, Execution(**where))
    batches = _by_batches(partial(_score, backend), corpus, backend.batch_size, execution)
    return np.concatenate([np.zeros((0, tables.n_ranked)), *batches])


def attribute(
    corpus: Corpus,
    tables: Tables,
    inference: Inference,
    labels: npt.ArrayLike,
    *,
    seed: int = 0,
    **where: Unpack[Where],
) -> Iterator[Floats]:
    """Yield for each document how many of its tokens each word gives to some labels, words × k.

    `labels` are k different label numbers for each document, documents × k. The rows are the words
    of the document, in the order of its entries in `corpus.counts`; each column sums to the
    label's N as `infer` gives it with the same seed on the same device.
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
    backend, execution = settle(corpus, tables, inference, seed, Execution(**where))
    rows = corpus.counts
    pieces = (
        (rows[first : first + backend.batch_size], chosen[first : first + backend.batch_size])
        for first in range(0, len(corpus), backend.batch_size)
    )
    for batch in execution.map(_attribute, pieces, backend):
        yield from batch


def check_cells(n_documents: int, n_labels: int) -> None:
    """Raise if the scores of all documents and labels are too many to be held at once."""
    if n_documents * n_labels > MATRIX_CELLS:
        raise InputError(
            f"scores of {n_documents:,} documents × {n_labels:,} labels would take "
            f"{n_documents * n_labels * 8 / 1e9:,.0f} GB; ask for the best labels of each document "
            "instead"
        )


def settle(
    corpus: Corpus, tables: Tables, inference: Inference, seed: int, execution: Execution
) -> tuple[Backend, Execution]:
    """Return what infers, and how its batches run; nothing of CUDA is imported for the CPU."""
    _check_words(corpus, tables)
    if execution.device != "cpu":
        from deplda.inference.cuda import gpu_backend

        backend = gpu_backend(execution, corpus, tables, inference, seed)
        if backend is not None:
            return backend, replace(execution, n_jobs=1)
    return Cpu(tables, inference, seed), execution


def _infer(backend: Backend, counts: Any, stop: Stop) -> Inferred:
    return backend.infer(counts)


def _score(backend: Backend, counts: Any, stop: Stop) -> Floats:
    return backend.scores(counts)


def _rank(backend: Backend, k: int, counts: Any, stop: Stop) -> Ranking:
    return backend.rank(counts, k)


def _attribute(backend: Backend, piece: tuple[Any, Labels], stop: Stop) -> list[Floats]:
    counts, chosen = piece
    return np.split(backend.infer(counts, chosen).words, counts.indptr[1:-1])


def _by_batches(
    work: Callable[[Any, Stop], Result], corpus: Corpus, size: int, execution: Execution
) -> Iterator[Result]:
    return execution.map_rows(work, corpus.counts, size, "inferring labels of")


def _check_words(corpus: Corpus, tables: Tables) -> None:
    if corpus.n_words != tables.n_words:
        raise InputError(
            f"the corpus has {corpus.n_words:,} words but the model {tables.n_words:,}; "
            "align it to the training corpus first"
        )
