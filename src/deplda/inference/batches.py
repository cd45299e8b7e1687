"""Labels of new documents from φ and φ′, batch by batch (paper §3.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar, Unpack

from deplda.data.corpus import Corpus
from deplda.engine.execution import Execution, Where
from deplda.engine.pool import Stop
from deplda.errors import InputError
from deplda.inference.cpu import Cpu
from deplda.inference.layout import Tables
from deplda.inference.scores import Floats, Inferred, Labels
from deplda.inference.settings import Inference

Result = TypeVar("Result")

MATRIX_CELLS = 500_000_000


class Backend(Protocol):
    """What infers labels: the CPU, or a GPU."""

    @property
    def batch_size(self) -> int:
        """How many documents are inferred at a time."""

    def infer(self, counts: Any, chosen: Labels | None = None) -> Inferred:
        """Return what is inferred of the documents, averaged over chains and topic sets.

        And, entry by entry, the tokens that words give to `chosen` labels, documents × k.
        """

    def scores(self, counts: Any) -> Floats:
        """Return the scores of the documents, documents × labels to be ranked."""


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
