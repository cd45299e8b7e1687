"""What the order of labelling is worth: documents by `deplda queue` beside documents at random.

Run: ``python -m benchmarks.queue --data-dir DIR [--holdout] [--data SET …] [--seeds N]``. Prints
Markdown. A model is fitted to some training documents; then, time and again, a batch of others is
labelled, as they are in the data, and a model is fitted anew to all that are labelled by then. The
batch is the first of the queue of the model before, or drawn at random; each seed draws the first
documents of both. Every model is measured on the same test documents.

With ``--holdout`` test documents are training documents too, which nothing else is done with: by
these the measure was chosen. Of eurlex20k these are 6,000 training documents to label and 1,500 to
test with, and, without ``--holdout``, 6,000 others and the test documents of fold 0. Of
kirjastonhoitaja all training documents are there to be labelled, but for those held out; its models
know the thesaurus, YSO.

To fit as many models as this takes in minutes, C is 1, there are 100 candidates and a fifth of the
documents is held out once; other parameters are the defaults.

All labels of the documents to be labelled, and of the thesaurus, count: one that a model does not
know is its last. F1@5 is 2 × hits / (5 + labels of the document), the mean over documents; label
AP is the mean over labels with test documents, and "rare" that over the fifth of them with fewest
documents among those to be labelled. Figures are means over seeds, and "±" is their standard
deviation. "Needed" is how many documents, by straight lines between the sizes, the queue needs for
what random order reaches with all of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from paper.data import load
from scipy.sparse import csr_array

from benchmarks.annif import task_of
from benchmarks.hybrid import print_head
from benchmarks.languages import SETS as LANGUAGES
from benchmarks.learning import named
from deplda import HybridLDA, WordCounter
from deplda.data.targets import Targets
from deplda.evaluation import rank_metrics
from deplda.models.queueing import queue

MEASURES = ("doc. AP", "F1@5", "label AP", "rare")
EURLEX, KIRJASTONHOITAJA = "eurlex20k", "kirjastonhoitaja"
N_POOL, N_TEST = 6_000, 1_500
_LAST = -1e12


class Sizes(NamedTuple):
    """How many documents are labelled at first, and after each model."""

    start: int
    batch: int
    n_batches: int


SETS = {KIRJASTONHOITAJA: Sizes(400, 300, 3), EURLEX: Sizes(1_000, 600, 3)}


class Pool(Protocol):
    """Documents to label and documents to test with."""

    n: int
    """How many there are to label."""
    labels: npt.NDArray[Any]
    """All that count."""
    n_documents: npt.NDArray[np.int64]
    """Of each label, among the documents to label."""
    truth: csr_array[Any, tuple[int, int]]

    def fit(self, rows: npt.NDArray[np.int64]) -> Any:
        """Return a model of some documents, which are labelled."""

    def documents(self, rows: npt.NDArray[np.int64]) -> Any:
        """Return documents as a model takes them."""

    def tested(self) -> Any:
        """Return the documents to test with."""


def hybrid(n_documents: int) -> HybridLDA:
    """Return a model that is quickly fitted to so many documents."""
    return HybridLDA(C=1.0, candidates=100, n_held_out=n_documents // 5)


class Counted:
    """Documents of eurlex20k, whose words are counted already."""

    def __init__(self, data_dir: Path, is_held_out: bool) -> None:
        data = load(EURLEX, data_dir)
        order = np.random.default_rng(7).permutation(data.splits[0].train)
        chosen, held_out, others = np.split(order, [N_POOL, N_POOL + N_TEST])
        rows, test = chosen, held_out
        if not is_held_out:
            rows, test = others[:N_POOL], data.splits[0].test
        self._pool = named(data.corpus[rows])
        self._test = data.corpus[test].align(self._pool)
        self.n, self.labels = len(rows), np.array(self._pool.label_names, dtype=object)
        self.n_documents, self.truth = self._pool.label_counts, self._test.labels

    def fit(self, rows: npt.NDArray[np.int64]) -> Any:
        """Return a model of some documents."""
        return hybrid(len(rows)).fit(named(self._pool[rows]))

    def documents(self, rows: npt.NDArray[np.int64]) -> Any:
        """Return documents as counts."""
        return self._pool[rows]

    def tested(self) -> Any:
        """Return the documents to test with."""
        return self._test


class Texts:
    """Documents of kirjastonhoitaja, with the thesaurus."""

    def __init__(self, data_dir: Path, is_held_out: bool) -> None:
        self._task = task = task_of(KIRJASTONHOITAJA, data_dir, is_held_out)
        self.n, self.labels = len(task.texts), np.array(task.labels, dtype=object)
        places = {label: place for place, label in enumerate(task.labels)}
        every = [places[label] for own in task.subjects for label in own]
        self.n_documents = np.bincount(every, minlength=len(self.labels))
        self.truth = task.truth

    def fit(self, rows: npt.NDArray[np.int64]) -> Any:
        """Return a model of some documents that finds names of the thesaurus."""
        vocabulary = self._task.vocabulary
        counter = WordCounter(language=LANGUAGES[KIRJASTONHOITAJA], names=vocabulary)
        counts = counter.fit_transform(self.documents(rows))
        subjects = [self._task.subjects[row] for row in rows]
        return hybrid(len(rows)).fit(counts, subjects, counter=counter, vocabulary=vocabulary)

    def documents(self, rows: npt.NDArray[np.int64]) -> Any:
        """Return documents as they are written."""
        return [self._task.texts[row] for row in rows]

    def tested(self) -> Any:
        """Return the documents to test with."""
        return list(self._task.tested)


POOLS: dict[str, type[Counted] | type[Texts]] = {EURLEX: Counted, KIRJASTONHOITAJA: Texts}


def scores_of(model: Any, pool: Pool) -> npt.NDArray[np.float64]:
    """Return the scores of all labels that count; those that the model does not know are last."""
    known = Targets(model.classes_, "sparse").numbers(pool.labels)
    scores = np.where(known >= 0, model.decision_function(pool.tested())[:, known], _LAST)
    return np.asarray(scores, dtype=np.float64)


def measured(pool: Pool, model: Any) -> list[float]:
    """Return the figures in the order of `MEASURES`."""
    scores = scores_of(model, pool)
    found = rank_metrics(scores, pool.truth, ks=(5,))
    f1 = 2 * 5 * found["precision@5"] / (5 + pool.truth.sum(axis=1))
    is_tested = np.bincount(pool.truth.indices, minlength=len(pool.labels)) > 0
    tested = np.flatnonzero(is_tested & (pool.n_documents > 0))
    by_label = rank_metrics(scores[:, tested].T, csr_array(pool.truth[:, tested].T))
    precision = by_label["average_precision"]
    rarest = np.argsort(pool.n_documents[tested], kind="stable")[: len(tested) // 5]
    means = np.nanmean(found["average_precision"]), f1.mean(), np.nanmean(precision)
    return [*map(float, means), float(np.nanmean(precision[rarest]))]


def simulated(pool: Pool, sizes: Sizes, seed: int, *, by_queue: bool) -> list[list[float]]:
    """Return the figures of a model of the first documents, and of one after each batch."""
    order = np.random.default_rng(seed).permutation(pool.n)
    labelled, others = np.split(order, [sizes.start])
    found = []
    for batch in range(sizes.n_batches + 1):
        model = pool.fit(labelled)
        found.append(measured(pool, model))
        if batch == sizes.n_batches:
            break
        places = np.arange(sizes.batch)
        if by_queue:
            queued = queue(model, pool.documents(others), sizes.batch)
            places = np.array([one.place for one in queued])
        labelled = np.concatenate([labelled, others[places]])
        others = np.delete(others, places)
    return found


def needed(sizes: Sequence[int], reached: npt.NDArray[np.float64], wanted: float) -> str:
    """Return how many documents reach a figure, or that none of these do."""
    for place in range(1, len(sizes)):
        before, after = reached[place - 1], reached[place]
        if after >= wanted:
            part = 1.0 if after <= before else max(0.0, (wanted - before) / (after - before))
            return f"{sizes[place - 1] + part * (sizes[place] - sizes[place - 1]):,.0f}"
    return f"more than {sizes[-1]:,}"


def print_set(name: str, pool: Pool, sizes: Sizes, n_seeds: int) -> None:
    """Print what random order and the queue reach with ever more documents."""
    random, queued = (
        np.array([simulated(pool, sizes, seed, by_queue=way) for seed in range(n_seeds)])
        for way in (False, True)
    )
    labelled = [sizes.start + sizes.batch * batch for batch in range(sizes.n_batches + 1)]
    for batch, n in enumerate(labelled):
        for way, found in (("random", random), ("queue", queued)):
            cells = [
                f"{value:.3f} ± {spread:.3f}"
                for value, spread in zip(
                    found[:, batch].mean(axis=0), found[:, batch].std(axis=0, ddof=1), strict=True
                )
            ]
            if batch or way == "random":
                shown = "both" if not batch else way
                print(f"| {name} | {n:,} | {shown} | {' | '.join(cells)} |", flush=True)
    cells = [
        needed(labelled, queued[..., place].mean(axis=0), random[:, -1, place].mean())
        for place in range(len(MEASURES))
    ]
    print(f"| {name} | needed for random's {labelled[-1]:,} | queue | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--data", nargs="+", default=[*SETS], choices=[*SETS], metavar="SET")
    parser.add_argument("--holdout", action="store_true", help="of training documents alone")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    print_head("set", "labelled", "order", *MEASURES)
    for name in options.data:
        pool = POOLS[name](options.data_dir, options.holdout)
        print_set(name, pool, SETS[name], options.seeds)


if __name__ == "__main__":
    main()
