"""Trees of other libraries on the tf-idf features of our SVMs, with their defaults (extra [bench]).

omikuji: Parabel, three balanced trees, beams of 10. napkinXC: one probabilistic label tree, exact
search. LibMultiLabel: one tree of at most 100 children a node, without intercepts, beams of 10.
Labels outside the beams tie at the bottom. Making features and files is in no time that is told.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file

from benchmarks.common import cpu_seconds
from deplda import Corpus
from deplda.models.linear.svm import idf_of, tfidf

Floats = npt.NDArray[np.float64]
Ranked = Sequence[Sequence[tuple[int, float]]]


class Trees(ABC):
    """Trees that learn and rank; `folder` is theirs to keep files in."""

    package: str

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def is_installed(cls) -> bool:
        """Return whether there is a package to run."""
        return find_spec(cls.package) is not None

    def fit_seconds(self, train: Corpus) -> float:
        """Learn, and return the CPU-seconds that it took."""
        self._idf, self.n_labels = idf_of(train.counts), train.n_labels
        self._usual = max(1, int(np.median(train.labels_per_document)))
        return self._learn(self._features(train), csr_matrix(train.labels, dtype=np.float64))

    def rank_seconds(self, corpus: Corpus, k: int) -> float:
        """Return the CPU-seconds that the k best labels of all documents take."""
        features = self._features(corpus)
        return cpu_seconds(lambda: self._rank(features, k))

    def decision_function(self, corpus: Corpus) -> Floats:
        """Return the scores of all labels, 0 of those outside the beams."""
        return self._best(corpus, self.n_labels)

    def predict(self, corpus: Corpus) -> npt.NDArray[np.bool_]:
        """Return as many of the best labels as the median training document has."""
        return self._best(corpus, self._usual) > 0

    @abstractmethod
    def save(self) -> None:
        """Leave nothing but the saved model in the folder."""

    @abstractmethod
    def _learn(self, features: Any, labels: Any) -> float:
        """Learn, and return the CPU-seconds that it took."""

    @abstractmethod
    def _rank(self, features: Any, k: int) -> Ranked:
        """Return the k best labels of all documents with their scores."""

    def _best(self, corpus: Corpus, k: int) -> Floats:
        """Return the scores of the k best labels, 0 of all others."""
        scores = np.zeros((len(corpus), self.n_labels))
        ranked = self._rank(self._features(corpus), k)
        for row, found in zip(scores, ranked, strict=True):
            for label, score in found:
                row[label] = score
        return scores

    def _features(self, corpus: Corpus) -> Any:
        found = csr_matrix(tfidf(self._idf, corpus.counts))
        found.sort_indices()
        return found


class Omikuji(Trees):
    """omikuji, which reads what it learns from a file."""

    package = "omikuji"

    def _learn(self, features: Any, labels: Any) -> float:
        import omikuji

        path = self.folder / "train.txt"
        with path.open("wb") as file:
            file.write(f"{features.shape[0]} {features.shape[1]} {labels.shape[1]}\n".encode())
            dump_svmlight_file(features, labels, file, multilabel=True)

        def train() -> None:
            self._model = omikuji.Model.train_on_data(str(path))

        taken = cpu_seconds(train)
        path.unlink()
        return taken

    def _rank(self, features: Any, k: int) -> Ranked:
        found = []
        for start, end in zip(features.indptr, features.indptr[1:], strict=False):
            words, values = features.indices[start:end].tolist(), features.data[start:end].tolist()
            found.append(self._model.predict(zip(words, values, strict=True), top_k=k))
        return found

    def save(self) -> None:
        """Write the trees."""
        self._model.save(str(self.folder))


class NapkinXC(Trees):
    """napkinXC, which saves what it learns at once."""

    package = "napkinxc"

    def _learn(self, features: Any, labels: Any) -> float:
        from napkinxc.models import PLT

        self._model = PLT(str(self.folder), seed=0)
        return cpu_seconds(lambda: self._model.fit(features, labels))

    def _rank(self, features: Any, k: int) -> Ranked:
        return self._model.predict_proba(features, top_k=k)

    def save(self) -> None:
        """Do nothing: it is saved."""


class LibMultiLabel(Trees):
    """LibMultiLabel, whose scores are of all labels."""

    package = "libmultilabel"

    def _learn(self, features: Any, labels: Any) -> float:
        from libmultilabel.linear import train_tree

        def train() -> None:
            self._model = train_tree(labels, features, verbose=False)

        np.random.seed(0)  # noqa: NPY002 - what it draws from
        return cpu_seconds(train)

    def _rank(self, features: Any, k: int) -> Ranked:
        scores = self._model.predict_values(features)
        best = np.argpartition(-scores, min(k, self.n_labels) - 1, axis=1)[:, :k]
        values = np.take_along_axis(scores, best, axis=1)
        return [list(zip(*each, strict=True)) for each in zip(best, values, strict=True)]

    def save(self) -> None:
        """Pickle the tree, as LibMultiLabel does."""
        (self.folder / "tree.pickle").write_bytes(pickle.dumps(self._model))


ALL: dict[str, type[Trees]] = {
    "omikuji": Omikuji, "napkinXC": NapkinXC, "LibMultiLabel": LibMultiLabel,
}  # fmt: skip
