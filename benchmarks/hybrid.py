"""Quality and cost of the hybrid beside its parts and trees of other libraries; how cost grows.

Run: ``python -m benchmarks.hybrid --data-dir DIR [--data SET …] [--splits N] [--models MODEL …]``,
on test documents of real sets, or, with ``--holdout``, on 15 % of the training documents, drawn at
random, without a look at test documents. Prints Markdown: means over the splits; average precision
by document has a 95 % bootstrap interval, documents being resampled (its ends too are means). F1 is
of `predict`; the trees, which have no cut-off, predict as many labels as the median training
document has. A line before each set's rows says what the hybrid chose, and how true its
probabilities are. Debian's packages are grouped by source, as those of one are near-duplicates.

Run: ``python -m benchmarks.hybrid --growth``, on one generated corpus whose labels are dealt out to
ever more and rarer ones; documents, words and labels a document stay the same, and so do C and the
number of candidates.

Each model has a process of its own. It fits and ranks 500 documents first, so that no time has
compiling in it. Times are CPU times of all threads; a document's is that of its ten best labels.
Memory is the peak of the process while it fits and ranks, with all that is imported and read.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import resource
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from paper.data import load
from scipy.sparse import csr_array

from benchmarks import trees
from benchmarks.common import cpu_seconds
from benchmarks.learning import named
from benchmarks.power_law import power_law
from deplda import Corpus, DependencyLDA, HybridLDA, TfidfSVM, evaluate
from deplda.data.splits import random_split
from deplda.evaluation import reliability

SETS = {
    "yahoo-arts": 5, "yahoo-health": 5, "rcv1-subset1": 1, "debtags": 1, "bibtex": 1,
    "stackex-cooking": 1, "eurlex20k": 3,
}  # fmt: skip
OURS = {"HybridLDA": HybridLDA, "TfidfSVM": TfidfSVM, "DependencyLDA": DependencyLDA}
QUALITY = (
    ("doc. AP", "document", "average_precision", 3),
    ("1-Err", "document", "one_error", 1),
    ("P@1", "document", "precision@1", 3),
    ("P@3", "document", "precision@3", 3),
    ("P@5", "document", "precision@5", 3),
    ("RL", "document", "ranking_loss", 2),
    ("label AP", "label", "average_precision", 3),
    ("micro-F1", "label", "micro_f1@predicted", 3),
    ("macro-F1", "label", "macro_f1@predicted", 3),
)
COSTS = ("fit CPU-s", "ms a doc.", "MB saved", "peak MB")
K, N_WARM, N_GROWN = 10, 500, 40_000
MOST_DOCUMENTS = (N_GROWN, 18, 4, 2)
"""Of a label, for some 4,000, 16,000, 64,000 and 128,000 labels."""


class Ours:
    """A model of ours, with the face of `trees.Trees`."""

    def __init__(self, model: Any, folder: Path, **given: Any) -> None:
        self.model, self._folder, self._given = model, folder, given
        self.decision_function, self.predict = model.decision_function, model.predict

    def fit_seconds(self, train: Corpus) -> float:
        """Learn, and return the CPU-seconds that it took."""
        return cpu_seconds(lambda: self.model.fit(train, **self._given))

    def rank_seconds(self, corpus: Corpus, k: int) -> float:
        """Return the CPU-seconds that the k best labels of all documents take."""
        return cpu_seconds(lambda: self.model.rank(corpus, k))

    def save(self) -> None:
        """Write the model."""
        self.model.save(self._folder / "model")


class Unit(NamedTuple):
    """A model and the documents that it is measured on."""

    model: str
    name: str
    split: int
    data_dir: Path
    holdout: bool

    def parts(self) -> tuple[Corpus, Corpus]:
        """Return documents to learn from and to test with; labels and words are the former's."""
        data = load(self.name, self.data_dir)
        split = data.splits[self.split]
        whole, train, test = data.corpus, split.train, split.test
        if self.holdout:
            whole = data.corpus[train]
            train, test = random_split(whole, 0.15, seed=self.split)
        first = named(whole[train])
        return first, whole[test].align(first)

    def start(self, folder: Path, train: Corpus) -> Any:
        """Return a model that has not learned."""
        if self.model in trees.ALL:
            return trees.ALL[self.model](folder)
        if self.model == "HybridLDA" and self.name == "debtags":
            return Ours(HybridLDA(), folder, groups=sources(train, self.data_dir))
        return Ours(OURS[self.model](), folder)


def sources(corpus: Corpus, data_dir: Path) -> list[str]:
    """Return the source of each Debian package: the test set is of other sources too."""
    with gzip.open(data_dir / "debtags" / "text.jsonl.gz", "rt") as lines:
        source_of = {row["package"]: row["source"] for row in map(json.loads, lines)}
    return [source_of[package] for package in corpus.ids]


def costs(
    start: Callable[[Path, Corpus], Any], few: Corpus, train: Corpus, test: Corpus
) -> tuple[Any, list[float]]:
    """Return a fitted model, and its costs in the order of `COSTS`; `few` are to warm up with."""
    with tempfile.TemporaryDirectory() as folder:
        small = start(Path(folder), few)
        small.fit_seconds(few)
        small.rank_seconds(few, K)
    with tempfile.TemporaryDirectory() as folder:
        model = start(Path(folder), train)
        fitting = model.fit_seconds(train)
        model.rank_seconds(test[:N_WARM], K)
        ranking = model.rank_seconds(test, K) / len(test) * 1e3
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        model.save()
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / 1e6
    return model, [fitting, ranking, size, peak]


def measure(unit: Unit) -> tuple[list[float], str]:
    """Return figures, costs and the ends of the interval, and what a hybrid chose."""
    train, test = unit.parts()
    model, spent = costs(unit.start, named(train[:N_WARM]), train, test)
    found = evaluate(model.decision_function(test), test, train, predicted=model.predict(test))
    values = [getattr(found, pivot)[figure] for _, pivot, figure, _ in QUALITY]
    rare = found.by_frequency().bins[0].means["average_precision"].value
    within = found.interval("document", "average_precision")
    said = chosen(unit, model.model, test) if unit.model == "HybridLDA" else ""
    return [*values, rare, *spent, within.low, within.high], said


def chosen(unit: Unit, model: HybridLDA, test: Corpus) -> str:
    """Return what a hybrid chose, and how often its probabilities are right, as a comment."""
    true = ", ".join(
        f"{one.told:.3f}/{one.seen:.3f}"
        for one in reliability(model.predict_proba(test), test.labels, bins=6)
    )
    return (
        f"<!-- {unit.name}: C={model.C_:g}, {model.n_candidates_:,} candidates of "
        f"{len(model.classes_):,} labels, {type(model.mixture_).__name__}; told/true: {true} -->"
    )


def dealt_out(corpus: Corpus, most: int) -> Corpus:
    """Return it with the documents of each label dealt out to labels of so many at most."""
    rows, labels = corpus.labels.nonzero()
    mixed = np.random.default_rng(0).permutation(len(rows))
    order = mixed[np.argsort(labels[mixed], kind="stable")]
    starts = np.cumsum(corpus.label_counts) - corpus.label_counts
    places = np.arange(len(order)) - starts[labels[order]]
    dealt = np.cumsum(places % most == 0) - 1
    shape = (len(corpus), int(dealt[-1]) + 1)
    found = csr_array((np.ones(len(order), bool), (rows[order], dealt)), shape=shape)
    return Corpus(corpus.counts, found, corpus.vocabulary)


def grown(most: int) -> list[float]:
    """Return the number of labels, none of more documents than that, and the hybrid's costs."""
    whole = power_law(
        N_GROWN + 2_000, 4_000, 30_000, tokens_per_document=120, labels_per_document=6.5
    )
    train, test = dealt_out(whole[:N_GROWN], most), whole[N_GROWN:]

    def start(folder: Path, _: Corpus) -> Ours:
        return Ours(HybridLDA(C=1.0, candidates=100), folder)

    _, spent = costs(start, named(whole[:N_WARM]), train, test)
    return [train.n_labels, *spent]


def apart(work: Callable[[Any], Any], given: Any) -> Any:
    """Return what a call in a silent process of its own returns."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=be_silent) as pool:
        return pool.submit(work, given).result()


def be_silent() -> None:
    """Hide what other libraries print from their C++ and Rust."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def shown(value: float, digits: int) -> str:
    """Return a number as the tables have it, a fraction without its 0."""
    return f"{value:,.{digits}f}".replace("0.", ".", 1 if abs(value) < 1 else 0)


def print_head(*names: str) -> None:
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}", flush=True)


def print_quality(units: list[Unit]) -> None:
    """Print the row of a model, measured on some splits of a set."""
    found, said = zip(*(apart(measure, unit) for unit in units), strict=True)
    if said[0]:
        print(said[0])
    digits = [*(digits for *_, digits in QUALITY), 3, 1, 2, 1, 0, 3, 3]
    means = np.mean(found, axis=0)
    *cells, low, high = (shown(*each) for each in zip(means, digits, strict=True))
    cells[0] += f" ({low}–{high})"
    unit = units[0]
    print(f"| {unit.name} ({len(units)}) | {unit.model} | {' | '.join(cells)} |", flush=True)


def print_growth() -> None:
    """Print the hybrid's costs by the number of labels, and as multiples of the first."""
    print_head("labels", *COSTS)
    first: list[float] = []
    for most in MOST_DOCUMENTS:
        n_labels, *spent = apart(grown, most)
        first = first or spent
        cells = (
            f"{shown(value, digits)} ({value / of_first:.2f} ×)"
            for value, of_first, digits in zip(spent, first, (1, 2, 1, 0), strict=True)
        )
        print(f"| {n_labels:,} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    models = [*OURS, *trees.ALL]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--data", nargs="+", default=[*SETS], choices=[*SETS], metavar="SET")
    parser.add_argument("--splits", type=int, default=max(SETS.values()), help="of a set at most")
    parser.add_argument("--models", nargs="+", default=models, choices=models, metavar="MODEL")
    parser.add_argument("--holdout", action="store_true", help="of training documents alone")
    parser.add_argument("--growth", action="store_true", help="cost by the number of labels")
    options = parser.parse_args()
    if options.growth:
        print_growth()
        return
    if options.data_dir is None:
        parser.error("--data-dir is missing: the folder of the data sets")
    missing = [model for model, kind in trees.ALL.items() if not kind.is_installed()]
    for model in missing:
        print(f"<!-- {model} is left out; to have it: pip install '.[bench]' -->")
    print_head("set (splits)", "model", *(name for name, *_ in QUALITY), "rarest fifth", *COSTS)
    for name in options.data:
        for model in (each for each in options.models if each not in missing):
            splits = range(min(options.splits, SETS[name]))
            where = options.data_dir, options.holdout
            print_quality([Unit(model, name, split, *where) for split in splits])


if __name__ == "__main__":
    main()
