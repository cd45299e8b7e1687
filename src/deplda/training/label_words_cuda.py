"""φ by expectations on a CUDA GPU: what it can do, and documents as it sees them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deplda.data.corpus import Corpus
from deplda.data.weighting import WordCounts, weighed
from deplda.engine.execution import Execution
from deplda.kernels.cuda.device import Gpu, attempt, within_memory
from deplda.kernels.cuda.train_expected import Expectations, Texts, check_room
from deplda.kernels.train_words import document_lengths
from deplda.training.word_chain import Cells, check_pairs

Floats = npt.NDArray[np.float64]


class GpuWords(Cells):
    """The corpus as a GPU sees it: cells are found there, and passes made."""

    def __init__(self, gpu: Gpu, texts: Texts, eta: float, beta: float) -> None:
        sizes, lengths = (
            np.diff(texts.label_starts),
            document_lengths(texts.entry_starts, texts.times),
        )
        self.eta, self._swept = eta, np.flatnonzero((sizes > 1) & (lengths > 0))
        self.mass_swept = float(lengths[self._swept] @ texts.weights[self._swept])
        with within_memory():
            self._state = Expectations(gpu, texts)
        super().__init__(self._state.cell_starts, self._state.cell_words, texts.n_words, beta)

    def expectations(self, known: tuple[Floats, Floats], background: float) -> GpuWords:
        """Begin with equal shares and known counts; return what makes passes."""
        with within_memory():
            self._state.start(self._swept, known)
        self._background = background
        return self

    def sweep(self) -> float:
        """Update all shares once; return how many tokens moved."""
        return self._state.sweep(self.eta, self.beta, self._background)

    def counts(self) -> tuple[Floats, Floats]:
        """Return expected N_wc, by cell, and N_c."""
        return self._state.counts()


def words_on_gpu(
    execution: Execution, corpus: Corpus, eta: float, beta: float, word_counts: WordCounts,
    weights: Floats | None,
) -> GpuWords | None:  # fmt: skip
    """Return the documents on the GPU that is to learn from them, or None for the CPU."""
    x, y = corpus.counts, corpus.labels
    texts = Texts(
        np.array(x.indptr, dtype=np.int64), x.indices, weighed(x.data, word_counts),
        np.array(y.indptr, dtype=np.int64), y.indices,
        np.ones(len(corpus)) if weights is None else weights, corpus.n_words, corpus.n_labels,
    )  # fmt: skip
    check_pairs(int(np.diff(texts.entry_starts) @ np.diff(texts.label_starts)))

    def with_room(gpu: Gpu) -> GpuWords:
        check_room(gpu, texts)
        return GpuWords(gpu, texts, float(eta), float(beta))

    return attempt(execution.device, execution.not_for_a_gpu, with_room)
