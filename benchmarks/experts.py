"""What other programs are worth to the hybrid: omikuji as an expert, and document vectors.

Run: ``python -m benchmarks.experts --data-dir DIR [--data SET] [--rows ROW …] [--holdout]
[--expert NAME=FILE …]``. Prints Markdown. Without ``--holdout`` test documents are looked at, with
it 15 % of the training documents, drawn at random. Figures are those of `benchmarks.names`.

omikuji (extra [bench]) is Bonsai, as in `benchmarks.annif`, on the tf-idf features of our SVMs; the
hybrid has it learn without each fold of documents held out, and then from all. Vectors are the
first 200 components of a truncated SVD of these features. A file of suggestions
(`read_suggestions`) has those of all documents, by the ids of the set: of training documents by a
program that has not learned from them. "without names" is a hybrid without the thesaurus.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.datasets import dump_svmlight_file
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import MultiLabelBinarizer

from benchmarks.annif import subjects_of
from benchmarks.common import cpu_seconds
from benchmarks.hybrid import print_head, shown
from benchmarks.names import FIGURES, SPLITS, Task, figures_of, scores_in_order, task_of
from deplda import Corpus, Documents, HybridLDA, Suggestions, read_suggestions
from deplda.models.linear.svm import idf_of, tfidf

Floats = npt.NDArray[np.float64]
N_COMPONENTS = 200


class OmikujiExpert(BaseEstimator):  # type: ignore[misc]
    """omikuji with the face of our models: it learns from counts and label lists, and ranks."""

    def fit(self, counts: Any, labels: list[list[str]]) -> OmikujiExpert:
        """Learn trees."""
        import omikuji

        self.idf_ = idf_of(counts)
        self.binarizer_ = MultiLabelBinarizer(sparse_output=True)
        truth = self.binarizer_.fit_transform(labels)
        features = csr_matrix(tfidf(self.idf_, counts))
        how = omikuji.Model.default_hyper_param()
        how.cluster_balanced, how.cluster_k, how.max_depth = False, 100, 3
        with tempfile.NamedTemporaryFile(suffix=".txt") as file:
            file.write(f"{features.shape[0]} {features.shape[1]} {truth.shape[1]}\n".encode())
            dump_svmlight_file(features, truth, file, multilabel=True)
            file.flush()
            self.model_ = omikuji.Model.train_on_data(file.name, how, n_threads=2)
        return self

    def rank(self, counts: Any, k: int) -> tuple[Any, Any]:
        """Return the best labels of each document, None where there are fewer, and scores."""
        features = tfidf(self.idf_, counts)
        labels = np.full((counts.shape[0], k), None, object)
        scores = np.zeros((counts.shape[0], k))
        for row, (start, end) in enumerate(zip(features.indptr, features.indptr[1:], strict=False)):
            words, values = features.indices[start:end].tolist(), features.data[start:end].tolist()
            found = self.model_.predict(list(zip(words, values, strict=True)), top_k=k)
            for place, (label, score) in enumerate(found):
                labels[row, place] = self.binarizer_.classes_[label]
                scores[row, place] = score
        return labels, scores


def words_of(task: Task, part: Corpus) -> Any:
    """Return the counts of words, without what is counted for the sake of names."""
    return part.counts if task.counter is None else part.counts[:, : task.counter.names_at_.start]


def vectors_of(task: Task) -> tuple[Floats, Floats]:
    """Return vectors of the documents to learn from and of those to test with."""
    train, test = (words_of(task, part) for part in (task.train, task.test))
    idf = idf_of(train)
    svd = TruncatedSVD(N_COMPONENTS, random_state=0).fit(tfidf(idf, train))
    return svd.transform(tfidf(idf, train)), svd.transform(tfidf(idf, test))


class Given(NamedTuple):
    """What the hybrid is given beside words."""

    experts: dict[str, Any]
    with_vectors: bool = False
    with_names: bool = True
    """Whether it is told the names of labels."""

    def scores(self, task: Task) -> Floats:
        """Return the scores of the hybrid."""
        own, new = vectors_of(task) if self.with_vectors else (None, None)
        model, taught = HybridLDA(experts=self.experts), task.taught
        if self.with_names:
            model.fit(
                taught, groups=task.groups, embeddings=own, counter=task.counter,
                vocabulary=task.vocabulary,
            )  # fmt: skip
            test = Documents(task.test, embeddings=new)
        else:
            counts, tested = (words_of(task, part) for part in (taught, task.test))
            model.fit(
                Documents(counts, ids=taught.ids), subjects_of(taught), groups=task.groups,
                embeddings=own,
            )  # fmt: skip
            test = Documents(tested, ids=task.test.ids, embeddings=new)
        print(f"<!-- experts of use: {', '.join(model.experts_) or 'none'} -->", flush=True)
        scores = model.decision_function(test)
        return scores_in_order(task, scores, model.classes_.tolist())


def alone(task: Task, expert: Any) -> Floats:
    """Return the scores of an expert alone; what it does not suggest is tied below."""
    labels = list(task.train.label_names)
    if not isinstance(expert, Suggestions):
        expert = expert.fit(words_of(task, task.taught), subjects_of(task.taught))
        found, scores = expert.rank(words_of(task, task.test), 100)
        places = {label: place for place, label in enumerate(labels)}
        matrix = np.zeros((len(found), len(labels)))
        rows, columns = np.nonzero(found != None)  # noqa: E711  # by element
        matrix[rows, [places[label] for label in found[rows, columns]]] = scores[rows, columns]
        return matrix
    return np.asarray(expert.of(task.test.ids, labels)[0].toarray())


def rows_of(files: dict[str, Suggestions]) -> dict[str, Callable[[Task], Floats]]:
    """Return what is measured, by name."""
    own, plain = {"omikuji": OmikujiExpert()}, "hybrid without names"
    found: dict[str, Callable[[Task], Floats]] = {
        "omikuji": lambda task: alone(task, OmikujiExpert()),
        "hybrid": Given({}).scores,
        "hybrid, omikuji": Given(own).scores,
        "hybrid, vectors": Given({}, with_vectors=True).scores,
        plain: Given({}, with_names=False).scores,
        f"{plain}, omikuji": Given(own, with_names=False).scores,
        f"{plain}, vectors": Given({}, with_vectors=True, with_names=False).scores,
    }
    for name, file in files.items():
        found[f"{name} (file)"] = partial(alone, expert=file)
        for hybrid, with_names in (("hybrid", True), (plain, False)):
            given = Given({name: file}, with_names=with_names)
            found[f"{hybrid}, {name} (file)"] = given.scores
    return found


def timed(row: Callable[[Task], Floats], task: Task) -> tuple[Floats, float]:
    """Return the scores of a row, and its CPU-seconds."""
    found = list[Floats]()
    spent = cpu_seconds(lambda: found.append(row(task)))
    return found[0], spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--data", default="kirjastonhoitaja", choices=list(SPLITS))
    parser.add_argument("--rows", nargs="+", metavar="ROW", help="those to measure; all by default")
    parser.add_argument("--holdout", action="store_true", help="of training documents alone")
    parser.add_argument("--expert", action="append", default=[], metavar="NAME=FILE")
    asked = parser.parse_args()
    files = dict(each.split("=", 1) for each in asked.expert)
    rows = rows_of({name: read_suggestions(path) for name, path in files.items()})
    task = task_of(asked.data, 0, asked.data_dir, asked.holdout)
    print_head("model", *FIGURES, "CPU-s")
    for name in asked.rows or rows:
        scores, spent = timed(rows[name], task)
        cells = [shown(value, 3) for value in figures_of(task, scores)]
        print(f"| {name} | {' | '.join(cells)} | {spent:.0f} |", flush=True)


if __name__ == "__main__":
    main()
