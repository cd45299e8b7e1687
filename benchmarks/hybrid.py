"""The hybrid, its parents, the paper's SVMs and trees of omikuji on test documents of real sets.

Run: ``python -m benchmarks.hybrid --data-dir DIR [--data SET …] [--splits N] [--without MODEL …]``
(omikuji tells of all it does: ``2>/dev/null | grep '^[|<]'``). Prints Markdown: means over the
splits, with 95 % bootstrap intervals (documents, or labels, being resampled) of average precision
(their ends too are means). Everything is tuned on training documents. Times are CPU times.
The parents are those within the hybrid, fitted on all training documents: their own times are not
known apart. Debian's packages are grouped by the first part of their names, as those of one source
are near-duplicates. omikuji has its defaults (Parabel: three balanced trees, beams of 10) and the
features of the tf-idf SVM; labels outside its beams tie at the bottom. A line before each set's
rows says what was chosen, and how true the hybrid's probabilities are.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import omikuji

from deplda import Corpus, HybridLDA, TfidfSVM, TunedSVM, VanillaSVM, datasets, evaluate
from deplda.evaluation import reliability

SETS = {
    "yahoo-arts": 5, "yahoo-health": 5, "rcv1-subset1": 1, "debtags": 1, "bibtex": 1,
    "stackex-cooking": 1, "eurlex20k": 3,
}  # fmt: skip
OTHERS = ("VanillaSVM", "TunedSVM", "omikuji")
COLUMNS = (
    ("doc. AP", "document", "average_precision", 3),
    ("1-Err", "document", "one_error", 1),
    ("P@5", "document", "precision@5", 3),
    ("RL", "document", "ranking_loss", 2),
    ("Margin", "document", "margin", 1),
    ("label AP", "label", "average_precision", 3),
    ("micro-F1", "label", "micro_f1@predicted", 3),
    ("macro-F1", "label", "macro_f1@predicted", 3),
    ("doc. F1", "document", "macro_f1@predicted", 3),
)


def groups_of(name: str, train: Corpus) -> Any:
    return [key.split("-")[0] for key in train.ids] if name == "debtags" else None


def figures(model: Any, test: Corpus, train: Corpus) -> tuple[list[float], list[float], float]:
    """Return the figures, the ends of the intervals, and CPU-milliseconds a document."""
    begin = time.process_time()
    scores = model.decision_function(test)
    cost = (time.process_time() - begin) / len(test) * 1e3
    found = evaluate(scores, test, train, predicted=model.predict(test))
    rare = found.by_frequency().bins[0].means["average_precision"].value
    parts = {"document": found.document, "label": found.label}
    values = [parts[pivot][figure] for _, pivot, figure, _ in COLUMNS]
    within = []
    for pivot in ("document", "label"):
        estimate = found.interval(pivot, "average_precision")
        within += [estimate.low, estimate.high]
    return [*values, rare], within, cost


class Trees:
    """Trees of omikuji on the features of a fitted tf-idf SVM."""

    def __init__(self, features: TfidfSVM) -> None:
        self._features = features

    def fit(self, train: Corpus) -> Self:
        """Train on a file of all documents, which is how omikuji is given them."""
        rows, labels = self._features._features()(train.counts), train.labels
        self._n_labels, self._usual = train.n_labels, int(np.median(train.labels_per_document))
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            print(len(train), train.n_words, train.n_labels, file=file)
            for d in range(len(train)):
                own = labels.indices[labels.indptr[d] : labels.indptr[d + 1]]
                pairs = (f"{word}:{value:.6g}" for word, value in _pairs(rows, d))
                print(",".join(map(str, own)), *pairs, file=file)
            file.flush()
            self._model = omikuji.Model.train_on_data(file.name)
        return self

    def decision_function(self, test: Corpus) -> npt.NDArray[np.float64]:
        """Return the scores of labels within the beams, 0 of all others."""
        rows = self._features._features()(test.counts)
        scores = np.zeros((len(test), self._n_labels))
        for d in range(len(test)):
            for label, score in self._model.predict(_pairs(rows, d), top_k=self._n_labels):
                scores[d, label] = score
        return scores

    def predict(self, test: Corpus) -> npt.NDArray[np.bool_]:
        """Return as many of the best labels as the median training document has."""
        order = np.argsort(-self.decision_function(test), axis=1, kind="stable")
        found = np.zeros(order.shape, bool)
        np.put_along_axis(found, order[:, : max(1, self._usual)], True, axis=1)
        return found


def _pairs(rows: Any, d: int) -> list[tuple[int, float]]:
    part = slice(rows.indptr[d], rows.indptr[d + 1])
    order = np.argsort(rows.indices[part])
    pairs = zip(rows.indices[part][order].tolist(), rows.data[part][order].tolist(), strict=True)
    return list(pairs)


def models_of(name: str, train: Corpus, others: list[str]) -> Iterator[tuple[str, Any, float]]:
    """Yield fitted models by name, with the CPU-seconds that fitting took."""
    begin = time.process_time()
    hybrid = HybridLDA().fit(train, groups=groups_of(name, train))
    yield "HybridLDA", hybrid, time.process_time() - begin
    yield "its TfidfSVM", hybrid.svm_, np.nan
    yield "its DependencyLDA", hybrid.topic_model_, np.nan
    for said in others:
        model: Any = {"VanillaSVM": VanillaSVM(), "TunedSVM": TunedSVM()}.get(said)
        begin = time.process_time()
        fitted = (Trees(hybrid.svm_) if model is None else model).fit(train)
        yield said, fitted, time.process_time() - begin


def report(name: str, data_dir: Path, n_splits: int, others: list[str]) -> None:
    data = datasets.load(name, data_dir)
    rows: dict[str, list[Any]] = {}
    for split in data.splits[:n_splits]:
        train = data.corpus[split.train].keep_words(1)
        test = data.corpus[split.test].align(train)
        for said, model, cost in models_of(name, train, others):
            values, within, ms = figures(model, test, train)
            rows.setdefault(said, []).append([*values, cost, ms, *within])
            if said == "HybridLDA" and len(rows[said]) == 1:
                print(chosen(name, model, test), flush=True)
    for said, found in rows.items():
        means = np.mean(found, axis=0)
        digits = [*(digits for *_, digits in COLUMNS), 3, 0, 1, 3, 3, 3, 3]
        *cells, low, high, lowest, highest = [
            "" if np.isnan(value) else f"{value:.{n}f}".replace("0.", ".", 1 if value < 1 else 0)
            for value, n in zip(means, digits, strict=True)
        ]
        cells[0] += f" ({low}–{high})"
        cells[5] += f" ({lowest}–{highest})"
        print(f"| {name} ({len(found)}) | {said} | {' | '.join(cells)} |", flush=True)


def chosen(name: str, model: HybridLDA, test: Corpus) -> str:
    """Return what a hybrid chose, and how often its probabilities are right, as a comment."""
    m = model.mixture_
    true = ", ".join(
        f"{one.told:.3f}/{one.seen:.3f}"
        for one in reliability(model.predict_proba(test), test.labels, bins=6)
    )
    return (
        f"<!-- {name}: C={model.svm_.C_:g}, {m.model}, floor {m.floor:g}, λ {m.topics:g}, "
        f"by frequency: {m.frequency != 0}; told/true: {true} -->"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--data", nargs="+", default=[*SETS], choices=[*SETS], metavar="SET")
    parser.add_argument("--splits", type=int, help="of each set; its own number by default")
    parser.add_argument("--without", nargs="+", default=[], choices=OTHERS, metavar="MODEL")
    options = parser.parse_args()
    names = [*(name for name, *_ in COLUMNS), "rarest fifth: label AP", "fit CPU-s", "ms a doc."]
    print(f"| set (splits) | model | {' | '.join(names)} |")
    print("|" + "---|" * (len(names) + 2))
    others = [model for model in OTHERS if model not in options.without]
    for name in options.data:
        report(name, options.data_dir, options.splits or SETS[name], others)


if __name__ == "__main__":
    main()
