"""What inference yields for all documents at once."""

from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from deplda import Corpus
from deplda.engine.execution import Execution, Where
from deplda.inference.batches import Backend, settle
from deplda.inference.layout import Tables
from deplda.inference.settings import Inference

Floats = npt.NDArray[np.float64]


def batches(backend: Backend, n_documents: int) -> list[slice]:
    return [
        slice(begin, begin + backend.batch_size)
        for begin in range(0, n_documents, backend.batch_size)
    ]


def score_matrix(
    corpus: Corpus, tables: Tables, inference: Inference, *, seed: int = 0, **where: Unpack[Where]
) -> Floats:
    """Return the scores of all labels, documents × labels."""
    backend, _ = settle(corpus, tables, inference, seed, Execution(**where))
    return np.concatenate(
        [backend.scores(corpus.counts[rows]) for rows in batches(backend, len(corpus))]
    )


def attribute(
    corpus: Corpus,
    tables: Tables,
    inference: Inference,
    labels: Any,
    *,
    seed: int = 0,
    **where: Unpack[Where],
) -> list[Floats]:
    """Return for each document how many tokens its words give to chosen labels, words × labels."""
    backend, _ = settle(corpus, tables, inference, seed, Execution(**where))
    chosen, words = np.ascontiguousarray(labels, dtype=np.int64), []
    for rows in batches(backend, len(corpus)):
        counts = corpus.counts[rows]
        words += np.split(backend.infer(counts, chosen[rows]).words, counts.indptr[1:-1])
    return words
