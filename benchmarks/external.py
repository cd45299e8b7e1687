"""What external arrays are worth to the hybrid: scores of other programs, and embeddings.

Run: ``python -m benchmarks.external --data-dir DIR [--data SET] [--rows ROW …] [--holdout]
[--scores NAME=FILE …]``. Prints Markdown. Without ``--holdout`` the models are tested on the test
documents, with it on 15 % of the training documents, drawn at random. Figures are those of
`benchmarks.names`.

A file has the scores of all documents, by their ids (`read_scores`): of training documents by a
program that has not learned from them. Embeddings are the first 200 components of a truncated SVD
of the tf-idf features of our SVMs. "without names" is a hybrid without the thesaurus.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import TruncatedSVD

from benchmarks.common import cpu_seconds
from benchmarks.hybrid import print_head, shown
from benchmarks.names import FIGURES, SPLITS, Task, figures_of, scores_in_order, task_of
from deplda import Corpus, Documents, HybridLDA, read_scores
from deplda.models.linear.svm import idf_of, tfidf

Floats = npt.NDArray[np.float64]
N_COMPONENTS = 200


def words_of(task: Task, part: Corpus) -> Any:
    """Return the counts of words, without what is counted for the sake of names."""
    return part.counts if task.counter is None else part.counts[:, : task.counter.names_at_.start]


def embeddings_of(task: Task) -> tuple[Floats, Floats]:
    """Return embeddings of the training documents and of the test documents."""
    train, test = (words_of(task, part) for part in (task.train, task.test))
    idf = idf_of(train)
    svd = TruncatedSVD(N_COMPONENTS, random_state=0).fit(tfidf(idf, train))
    return svd.transform(tfidf(idf, train)), svd.transform(tfidf(idf, test))


def hybrid_scores(
    task: Task, files: dict[str, Path], *, with_embeddings: bool = False, with_names: bool = True
) -> Floats:
    """Return the scores of a hybrid with external arrays."""
    train, test = embeddings_of(task) if with_embeddings else (None, None)
    labels = task.taught.label_names
    scores, new_scores = (
        {name: read_scores(path, part.ids, labels) for name, path in files.items()}
        for part in (task.taught, task.test)
    )
    model = HybridLDA()
    if with_names:
        documents: Any = Documents(task.taught, embeddings=train, scores=scores)
        model.fit(documents, groups=task.groups, counter=task.counter, vocabulary=task.vocabulary)
        new = Documents(task.test, embeddings=test, scores=new_scores)
    else:
        counts, tested = (words_of(task, part) for part in (task.taught, task.test))
        documents = Documents(counts, embeddings=train, scores=scores)
        model.fit(documents, task.taught.labels, groups=task.groups)
        new = Documents(tested, embeddings=test, scores=new_scores)
    print(f"<!-- external arrays used: {', '.join(model.external_) or 'none'} -->", flush=True)
    classes = model.classes_.tolist() if with_names else list(labels)
    return scores_in_order(task, model.decision_function(new), classes)


def file_scores(task: Task, path: Path) -> Floats:
    """Return the scores of a file alone; labels that it does not suggest are tied below."""
    return np.asarray(read_scores(path, task.test.ids, task.train.label_names).toarray())


def rows_of(files: dict[str, Path]) -> dict[str, Callable[[Task], Floats]]:
    """Return what is measured, by name."""
    rows: dict[str, Callable[[Task], Floats]] = {
        f"{name} (file)": partial(file_scores, path=path) for name, path in files.items()
    }
    for hybrid, with_names in (("hybrid", True), ("hybrid without names", False)):
        scores = partial(hybrid_scores, with_names=with_names)
        rows[hybrid] = partial(scores, files={})
        rows[f"{hybrid}, embeddings"] = partial(scores, files={}, with_embeddings=True)
        for name, path in files.items():
            rows[f"{hybrid}, {name} (file)"] = partial(scores, files={name: path})
    return rows


def timed(row: Callable[[Task], Floats], task: Task) -> tuple[Floats, float]:
    """Return the scores of a row, and its CPU-seconds."""
    results = list[Floats]()
    spent = cpu_seconds(lambda: results.append(row(task)))
    return results[0], spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--data", default="kirjastonhoitaja", choices=list(SPLITS))
    parser.add_argument("--rows", nargs="+", metavar="ROW", help="those to measure; all by default")
    parser.add_argument("--holdout", action="store_true", help="of training documents alone")
    parser.add_argument("--scores", action="append", default=[], metavar="NAME=FILE")
    options = parser.parse_args()
    files = {name: Path(path) for name, path in (each.split("=", 1) for each in options.scores)}
    rows = rows_of(files)
    task = task_of(options.data, 0, options.data_dir, options.holdout)
    print_head("model", *FIGURES, "CPU-s")
    for name in options.rows or rows:
        scores, spent = timed(rows[name], task)
        cells = [shown(value, 3) for value in figures_of(task, scores)]
        print(f"| {name} | {' | '.join(cells)} | {spent:.0f} |", flush=True)


if __name__ == "__main__":
    main()
