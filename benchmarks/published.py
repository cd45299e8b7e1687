"""Quality by the measures of the Extreme Classification Repository, published figures beside.

Run: ``python -m benchmarks.published --data-dir DIR [--models HybridLDA TfidfSVM]``: Bibtex, by the
split that the folder DIR/bibtex has, which is one of the repository's sizes, not one of its own.

Run: ``python -m benchmarks.published --repository DIR [--data Bibtex Delicious] [--splits N]``: the
repository's own files and splits, over which its figures are means: ``Bibtex/Bibtex_data.txt``,
``Bibtex/bibtex_trSplit.txt`` and ``Bibtex/bibtex_tstSplit.txt``, and the same of Delicious.

Prints Markdown: P@k and propensity-scored P@k in per cent (A = .55, B = 1.5, as the repository has
it for these sets), and CPU-seconds of all threads. Each model has its defaults.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common import cpu_seconds
from deplda import Corpus, DependencyLDA, HybridLDA, TfidfSVM, datasets, evaluate
from deplda.data.readers import read_corpus
from deplda.data.splits import Split
from deplda.errors import ReadError

MODELS = {"HybridLDA": HybridLDA, "TfidfSVM": TfidfSVM, "DependencyLDA": DependencyLDA}
KS = (1, 3, 5)
MEASURES = tuple(f"{name}@{k}" for name in ("precision", "propensity_precision") for k in KS)
COLUMNS = (*(f"P@{k}" for k in KS), *(f"PSP@{k}" for k in KS))
SIZES = {"Bibtex": (4_880, 2_515), "Delicious": (12_920, 3_185)}
PUBLISHED = {
    "Bibtex": {
        "SLEEC": "65.08 39.64 28.87 – – –",
        "Parabel": "64.53 38.56 27.94 – – –",
        "PfastreXML, the best propensity-scored": "– – – 52.28 54.36 60.55",
    },
    "Delicious": {"FastXML": "69.61 64.12 59.27 – – –"},
}
"""As in the repository's tables of February 2025, in the order of `COLUMNS`."""


class Source(NamedTuple):
    """A data set, its documents, how they are split, and what to call these splits."""

    name: str
    corpus: Corpus
    splits: list[Split]
    said: str


def folder_source(data_dir: Path) -> Source:
    """Return Bibtex of a folder of data sets, and say whether its split is of the right sizes."""
    data = datasets.load("bibtex", data_dir)
    sizes = tuple(len(rows) for rows in data.splits[0])
    said = "our split of the same sizes" if sizes == SIZES["Bibtex"] else "a split of other sizes"
    return Source("Bibtex", data.corpus, [data.splits[0]], said)


def repository_source(name: str, folder: Path, n_splits: int) -> Source:
    """Return one of the repository's sets as it has it: all documents, and files of row numbers."""
    own = folder / name
    corpus = read_corpus(own / f"{name}_data.txt", format="svmlight")
    train, test = (
        rows_of(own / f"{name.lower()}_{part}Split.txt", len(corpus)) for part in ("tr", "tst")
    )
    splits = [Split(*pair) for pair in zip(train.T, test.T, strict=True)][:n_splits]
    return Source(name, corpus, splits, f"the repository's splits, {len(splits)} of them")


def rows_of(path: Path, n_documents: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the rows that a file names, counted from 1 there, a column for each split."""
    try:
        rows = np.loadtxt(path, dtype=np.int64, ndmin=2) - 1
    except ValueError as error:
        raise ReadError(path, None, f"it must hold row numbers alone ({error})") from error
    if not rows.size or rows.min() < 0 or rows.max() >= n_documents:
        raise ReadError(path, None, f"its row numbers must be from 1 to {n_documents:,}")
    return rows


def measured(source: Source, model: str) -> list[float]:
    """Return the means over splits of all measures, in per cent, and of the CPU-seconds."""
    found = []
    for split in source.splits:
        train, test = source.corpus[split.train], source.corpus[split.test]
        estimator = MODELS[model]()
        seconds = cpu_seconds(lambda e=estimator, t=train: e.fit(t))  # type: ignore[misc]
        scores = evaluate(estimator.decision_function(test), test, train, ks=KS).document
        found.append([*(100 * scores[name] for name in MEASURES), seconds])
    return [float(mean) for mean in np.mean(found, axis=0)]


def lines(source: Source, models: list[str]) -> Iterator[str]:
    """Yield the table of a set: ours, and what was published."""
    yield f"\n{source.name}: {source.said}\n"
    yield f"| | {' | '.join(COLUMNS)} | fit, CPU-s |"
    yield f"| :-- |{' --: |' * (len(COLUMNS) + 1)}"
    for model in models:
        *values, seconds = measured(source, model)
        yield f"| {model} | {' | '.join(f'{v:.2f}' for v in values)} | {seconds:.0f} |"
    for method, row in PUBLISHED[source.name].items():
        yield f"| {method}, as published | {' | '.join(row.split())} | – |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--data-dir", type=Path)
    where.add_argument("--repository", type=Path)
    parser.add_argument("--data", nargs="+", choices=tuple(SIZES), default=["Bibtex"])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--models", nargs="+", choices=tuple(MODELS), default=list(MODELS))
    options = parser.parse_args()
    for name in options.data:
        if options.repository is not None:
            source = repository_source(name, options.repository, options.splits)
        elif name == "Bibtex":
            source = folder_source(options.data_dir)
        else:
            parser.error(f"{name} is read with --repository alone")
        for line in lines(source, options.models):
            print(line, flush=True)


if __name__ == "__main__":
    main()
