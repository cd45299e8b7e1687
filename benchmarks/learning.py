"""Learning on against learning all at once, on training documents of fold 0 of eurlex20k.

Run: ``python -m benchmarks.learning --data-dir DIR``. Prints Markdown. 2,500 documents are held out
for testing; a model is fitted to four fifths of the others and learns on from the last fifth, which
has labels and words of its own, at once and in five pieces; another is fitted to all of them.
Average precision is over all labels that the latter knows: a label that a model does not know is
its last. Times are CPU times.
"""

from __future__ import annotations

import argparse
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.common import average_precision, cpu_seconds
from deplda import Corpus, DependencyLDA, FlatLDA, concat, datasets
from deplda.data.targets import Targets

N_TEST, N_PIECES = 2_500, 5
MODELS = {
    "DependencyLDA": DependencyLDA(),
    "DependencyLDA(background=.2)": DependencyLDA(background=0.2),
    "FlatLDA": FlatLDA(),
}


def parts_of(train: Corpus) -> tuple[Corpus, Corpus, Corpus]:
    """Return four fifths, a fifth and the documents to test with; each has names of its own."""
    order = np.random.default_rng(0).permutation(len(train))
    test, rest = np.split(order, [N_TEST])
    first, second = np.split(rest, [len(rest) * 4 // 5])
    return named(train[first]), named(train[second]), train[test]


def named(corpus: Corpus) -> Corpus:
    """Return the corpus without the words and labels that none of its documents has."""
    met = np.flatnonzero(corpus.label_counts)
    return corpus.keep_words(1).align(labels=[corpus.label_names[label] for label in met])


def scores_of(model: Any, test: Corpus, labels: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return scores of these labels, below all others where the model does not know them."""
    known = Targets(model.classes_, "sparse").numbers(labels)
    scores = np.where(known >= 0, model.decision_function(test)[:, known], -1.0)
    return np.asarray(scores, dtype=np.float64)


def report(name: str, model: Any, first: Corpus, second: Corpus, test: Corpus) -> None:
    together = concat([first, second])
    whole = deepcopy(model)
    of_all = cpu_seconds(lambda: whole.fit(together))
    tested = test.align(labels=whole.classes_.tolist())
    before = deepcopy(model).fit(first)
    after = deepcopy(before)
    of_more = cpu_seconds(lambda: after.partial_fit(second))
    pieces = deepcopy(before)
    for rows in np.array_split(np.arange(len(second)), N_PIECES):
        pieces.partial_fit(named(second[rows]))
    found = [
        average_precision(scores_of(each, test, whole.classes_), tested)
        for each in (before, after, pieces, whole)
    ]
    cells = [f"{value:.4f}".lstrip("0") for value in found]
    new = len(after.classes_) - len(before.classes_), after.n_features_in_ - before.n_features_in_
    times = f"{of_more:.0f} | {of_all:.0f}"
    print(f"| {name} | {new[0]:,} | {new[1]:,} | {' | '.join(cells)} | {times} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    data = datasets.load("eurlex20k", parser.parse_args().data_dir)
    first, second, test = parts_of(data.corpus[data.splits[0].train])
    print(f"{len(first):,} documents, then {len(second):,}; {len(test):,} to test with.\n")
    head = ("model", "new labels", "new words", "before", "after", "after, in pieces", "fit of all")
    print(f"| {' | '.join(head)} | learning on, CPU-s | fit of all, CPU-s |")
    print("|" + "---|" * (len(head) + 2))
    for name, model in MODELS.items():
        report(name, model, first, second, test)


if __name__ == "__main__":
    main()
