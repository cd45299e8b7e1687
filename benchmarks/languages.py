"""Quality by how the words of a language are counted, on texts in Finnish, German and English.

Run: ``python -m benchmarks.languages --data-dir DIR [--data SET …] [--models MODEL …]``. Prints
Markdown. Words have two letters at least; stop words are kept, and words of one token in training
are dropped. F1@5 is the mean over documents of the F1 of the five best labels, beside all subjects
of the document, as Annif has it; the other figures leave out the subjects that no training document
has, as no model here can tell them.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.hybrid import OURS, print_head, shown
from benchmarks.learning import named
from deplda import Corpus, WordCounter, datasets, evaluate
from deplda.data.datasets import Dataset

SETS = {"kirjastonhoitaja": "fi", "tib-core": "de", "tib-core-en": "en"}
"""The sets and their languages."""
BASE: dict[str, Any] = {"stop_words": None, "min_count": 2}
WAYS: dict[str, dict[str, Any]] = {
    "as they are": {"normalize": "none"},
    "snowball": {"normalize": "snowball"},
    "snowball, stop words left out": {"normalize": "snowball", "stop_words": "auto"},
    "lemma": {"normalize": "lemma"},
}
"""How words are counted: what a `WordCounter` is given beside `BASE`, or in place of it."""
QUALITY = (
    ("P@1", "document", "precision@1"),
    ("doc. AP", "document", "average_precision"),
    ("label AP", "label", "average_precision"),
)
K = 5


def parts(data: Dataset, way: dict[str, Any]) -> tuple[Corpus, Corpus]:
    """Return training and test documents, over the words and labels of the former."""
    split, counter = data.splits[0], WordCounter(**(BASE | way))
    counter.fit([data.texts[row] for row in split.train])
    counts, whole = counter.transform(data.texts), data.corpus
    corpus = Corpus(counts, whole.labels, counter.vocabulary_, whole.label_names, whole.ids)
    train = named(corpus[split.train])
    return train, corpus[split.test].align(train)


def f1_at(k: int, scores: Any, test: Corpus, n_subjects: npt.NDArray[np.int64]) -> float:
    """Return the mean F1 of the k best labels of documents of so many subjects, known or not."""
    labels = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    n_right = np.take_along_axis(test.labels.toarray(), labels, axis=1).sum(axis=1)
    return float(np.mean(2 * n_right / (k + n_subjects)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--data", nargs="+", default=[*SETS], choices=[*SETS], metavar="SET")
    parser.add_argument("--models", nargs="+", default=[*OURS], choices=[*OURS], metavar="MODEL")
    options = parser.parse_args()
    print_head("set", "model", "words", "word types", f"F1@{K}", *(name for name, *_ in QUALITY))
    for name in options.data:
        data = datasets.load(name, options.data_dir)
        n_subjects = data.corpus[data.splits[0].test].labels_per_document
        for way, given in WAYS.items():
            train, test = parts(data, given | {"language": SETS[name]})
            for model in options.models:
                scores = OURS[model]().fit(train).decision_function(test)
                found = evaluate(scores, test, train)
                figures = [getattr(found, pivot)[figure] for _, pivot, figure in QUALITY]
                cells = [shown(v, 3) for v in (f1_at(K, scores, test, n_subjects), *figures)]
                start = f"| {name} | {model} | {way} | {train.n_words:,} |"
                print(start, " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
