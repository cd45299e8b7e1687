"""The hybrid, its parents and the paper's SVMs on the test documents of real data sets.

Run: ``python benchmarks/hybrid.py --data-dir DIR [--data yahoo-arts …] [--splits 5] [--svms]``.
Prints Markdown: means over the splits, with 95 % bootstrap intervals (documents, or labels, being
resampled) of average precision on the first. Everything is tuned on training documents. Times are
CPU time of all threads together. The parents are those within the hybrid, fitted on all training
documents: their own times are not known apart. Debian's packages are grouped by the first part of
their names, as those of one source are near-duplicates.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from deplda import Corpus, HybridLDA, TunedSVM, VanillaSVM, datasets, evaluate
from deplda.evaluation import reliability

SETS = ("yahoo-arts", "yahoo-health", "rcv1-subset1", "debtags", "eurlex20k")
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


def figures(model: Any, test: Corpus, train: Corpus) -> tuple[list[float], list[str], float]:
    """Return the figures, what is shown with an interval, and CPU-milliseconds a document."""
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
        within.append(f"{estimate.low:.3f}–{estimate.high:.3f}")
    return [*values, rare], within, cost


def models_of(name: str, train: Corpus, svms: bool) -> list[tuple[str, Any, float]]:
    """Return fitted models by name, with the CPU-seconds that fitting took."""
    begin = time.process_time()
    hybrid = HybridLDA().fit(train, groups=groups_of(name, train))
    found = [("HybridLDA", hybrid, time.process_time() - begin)]
    found += [
        ("its TfidfSVM", hybrid.svm_, np.nan),
        ("its DependencyLDA", hybrid.topic_model_, np.nan),
    ]
    for kind in (VanillaSVM, TunedSVM) if svms else ():
        begin = time.process_time()
        model = kind().fit(train)
        found.append((kind.__name__, model, time.process_time() - begin))
    return found


def report(name: str, data_dir: Path, n_splits: int, svms: bool) -> None:
    data = datasets.load(name, data_dir)
    rows: dict[str, list[Any]] = {}
    for split in data.splits[:n_splits]:
        train = data.corpus[split.train].keep_words(1)
        test = data.corpus[split.test].align(train)
        for said, model, cost in models_of(name, train, svms):
            values, within, ms = figures(model, test, train)
            rows.setdefault(said, []).append(([*values, cost, ms], within))
            if said == "HybridLDA":
                m = model.mixture_
                print(
                    f"<!-- {name}: C={model.svm_.C_:g}, {m.model}, floor {m.floor:g}, "
                    f"λ {m.topics:g}, by frequency: {m.frequency != 0}; told/true: "
                    + ", ".join(
                        f"{one.told:.3f}/{one.seen:.3f}"
                        for one in reliability(model.predict_proba(test), test.labels, bins=6)
                    )
                    + " -->",
                    flush=True,
                )
    for said, found in rows.items():
        means = np.mean([values for values, _ in found], axis=0)
        digits = [*(digits for *_, digits in COLUMNS), 3, 0, 1]
        cells = [
            "" if np.isnan(value) else f"{value:.{n}f}".replace("0.", ".", 1 if value < 1 else 0)
            for value, n in zip(means, digits, strict=True)
        ]
        cells[0] += f" ({found[0][1][0]})"
        cells[5] += f" ({found[0][1][1]})"
        print(f"| {name} ({len(found)}) | {said} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--data", nargs="+", default=SETS)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--svms", action="store_true", help="the paper's SVMs too")
    options = parser.parse_args()
    names = [*(name for name, *_ in COLUMNS), "rarest fifth: label AP", "fit CPU-s", "ms a doc."]
    print(f"| set (splits) | model | {' | '.join(names)} |")
    print("|" + "---|" * (len(names) + 2))
    for name in options.data:
        report(name, options.data_dir, options.splits, options.svms)


if __name__ == "__main__":
    main()
