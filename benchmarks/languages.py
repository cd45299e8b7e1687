"""Quality by how the words of a language are counted, on texts in Finnish, German and English.

Run: ``python -m benchmarks.languages --data-dir DIR [--holdout] [--data SET …] [--models MODEL …]
[--ways WAY …]``. Prints Markdown. With ``--holdout`` the training documents alone are taken, and
15 % of them, drawn at random, tested: by these the defaults were chosen. Words have two letters at
least, and those of one token in training are dropped. F1@5 is the mean over documents of the F1 of
the five best labels, beside all subjects of the document, as Annif has it; the other figures leave
out the subjects that no training document has, as no model here can tell them. With ``--speed`` it
is the CPU time of counting words, as a ratio to scikit-learn's CountVectorizer of the same texts.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from paper.data import load
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.common import cpu_seconds
from benchmarks.hybrid import OURS, print_head, shown
from benchmarks.learning import named
from deplda import Corpus, WordCounter, evaluate
from deplda.data.datasets import Dataset
from deplda.data.forms import shared_forms
from deplda.data.splits import Split, random_split

SETS = {"kirjastonhoitaja": "fi", "tib-core": "de", "tib-core-en": "en", "eurlex20k": "en"}
"""The sets and their languages."""
BASE: dict[str, Any] = {"stop_words": None, "min_count": 2}
_DEFAULT: dict[str, Any] = {"normalize": "auto", "stop_words": "auto"}
WAYS: dict[str, dict[str, Any]] = {
    "as-they-are": {"normalize": "none"},
    "without-stop-words": {"normalize": "none", "stop_words": "auto"},
    "snowball": {"normalize": "snowball"},
    "default": _DEFAULT,
    "lemma": _DEFAULT | {"normalize": "lemma"},
    "codes": _DEFAULT | {"token_pattern": "codes"},
    "accents": _DEFAULT | {"fold_accents": True},
    "phrases": _DEFAULT | {"ngrams": 2},
}
"""How words are counted: what a `WordCounter` is given beside `BASE`, or in place of it.

The default is Snowball's stems without stop words; what follows it differs in one thing.
"""
QUALITY = (
    ("P@1", "document", "precision@1"),
    ("doc. AP", "document", "average_precision"),
    ("label AP", "label", "average_precision"),
)
K = 5


def texts_of(data: Dataset, folder: Path) -> Sequence[str]:
    """Return the documents as they are written."""
    if data.texts:
        return data.texts
    with gzip.open(folder / data.name / "text.jsonl.gz", "rt", encoding="utf-8") as file:
        return [f"{row['title']}\n{row['text']}" for row in map(json.loads, file)]


def split_of(data: Dataset, is_held_out: bool) -> Split:
    """Return the set's first split, or one of its training documents alone."""
    if not is_held_out:
        return data.splits[0]
    rows = data.splits[0].train
    part = random_split(data.corpus[rows], 0.15, seed=1)
    return Split(rows[part.train], rows[part.test])


def parts(
    data: Dataset, texts: Sequence[str], split: Split, way: dict[str, Any]
) -> tuple[Corpus, Corpus]:
    """Return training and test documents, over the words and labels of the former."""
    counter = WordCounter(**(BASE | way))
    counter.fit([texts[row] for row in split.train])
    counts, whole = counter.transform(texts), data.corpus
    corpus = Corpus(counts, whole.labels, counter.vocabulary_, whole.label_names, whole.ids)
    train = named(corpus[split.train])
    return train, corpus[split.test].align(train)


def f1_at(k: int, scores: Any, test: Corpus, n_subjects: npt.NDArray[np.int64]) -> float:
    """Return the mean F1 of the k best labels of documents of so many subjects, known or not."""
    labels = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    n_right = np.take_along_axis(test.labels.toarray(), labels, axis=1).sum(axis=1)
    return float(np.mean(2 * n_right / (k + n_subjects)))


def print_speed(texts: Sequence[str], language: str, ways: Sequence[str], name: str) -> None:
    """Print the least time of three that each way takes, beside that of scikit-learn."""
    letters = {"token_pattern": r"(?u)[^\W\d_]{2,}"}
    plain = CountVectorizer(stop_words="english", **letters)
    least = {"CountVectorizer": inf} | dict.fromkeys(ways, inf)
    for _ in range(3):
        for way in least:
            shared_forms.cache_clear()  # each word is normalised anew
            counter: Any = plain
            if way in WAYS:
                counter = WordCounter(**(BASE | WAYS[way] | {"language": language}))
            least[way] = min(least[way], cpu_seconds(partial(counter.fit_transform, texts)))
    for way, took in least.items():
        print(
            f"| {name} | {way} | {took:.1f} | {took / least['CountVectorizer']:.2f} |", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--data", nargs="+", default=[*SETS], choices=[*SETS], metavar="SET")
    parser.add_argument("--models", nargs="+", default=[*OURS], choices=[*OURS], metavar="MODEL")
    parser.add_argument("--ways", nargs="+", default=[*WAYS], choices=[*WAYS], metavar="WAY")
    parser.add_argument("--holdout", action="store_true")
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    if options.speed:
        print_head("set", "words", "CPU s", "ratio")
        for name in options.data:
            texts = texts_of(load(name, options.data_dir), options.data_dir)
            print_speed(texts, SETS[name], options.ways, name)
        return
    print_head("set", "model", "words", "word types", f"F1@{K}", *(name for name, *_ in QUALITY))
    for name in options.data:
        data = load(name, options.data_dir)
        texts, split = texts_of(data, options.data_dir), split_of(data, options.holdout)
        n_subjects = data.corpus[split.test].labels_per_document
        for way in options.ways:
            train, test = parts(data, texts, split, WAYS[way] | {"language": SETS[name]})
            for model in options.models:
                scores = OURS[model]().fit(train).decision_function(test)
                found = evaluate(scores, test, train)
                figures = [getattr(found, pivot)[figure] for _, pivot, figure in QUALITY]
                cells = [shown(v, 3) for v in (f1_at(K, scores, test, n_subjects), *figures)]
                start = f"| {name} | {model} | {way} | {train.n_words:,} |"
                print(start, " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
