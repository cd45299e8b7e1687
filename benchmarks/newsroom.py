"""How hard the generated newsroom corpus is: the seven models of its preset, over seeds.

Run: ``python -m benchmarks.newsroom [--budget quick|standard] [--seeds N]``. Prints Markdown:
average precision by document, and by label for labels of few, some and many training documents,
means over corpora of the seeds 0 to N - 1 with the standard deviation; and the CPU time of fitting
and ranking.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from typing import Any

import numpy as np
from paper.protocol import Budget, read_preset, with_budget

from deplda import datasets, evaluate
from deplda.models.registry import model_class

FREQUENCIES = {"1 to 5": (1, 5), "6 to 20": (6, 20), "more": (21, 10**9)}


def measured(seed: int, budget: Budget) -> dict[str, list[float]]:
    """Return of each model the figures on the held-out articles of one corpus."""
    data = datasets.load("newsroom", seed=seed)
    train, test = (data.corpus[rows] for rows in data.splits[0])
    found = {}
    for name, model in with_budget(read_preset("newsroom"), budget).models.items():
        kind: Any = model_class(model.estimator)
        estimator = kind(**model.parameters, random_state=0)
        begin = time.process_time()
        scores = estimator.fit(train).scores_to_evaluate(test)
        seconds = time.process_time() - begin
        result = evaluate(scores, test, train)
        n, values = result.label.training_documents, result.label.item_values("average_precision")
        rare = [values[(n >= a) & (n <= b)].mean() for a, b in FREQUENCIES.values()]
        found[name] = [result.document["average_precision"], *rare, seconds]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", choices=["quick", "standard"], default="quick")
    parser.add_argument("--seeds", type=int, default=4)
    asked = parser.parse_args()
    rows = defaultdict(list)
    for seed in range(asked.seeds):
        for name, figures in measured(seed, asked.budget).items():
            rows[name].append(figures)
    by_label = " | ".join(f"label AP, {name}" for name in FREQUENCIES)
    print(f"| model | doc. AP | {by_label} | CPU s |\n|---|{'---|' * (len(FREQUENCIES) + 2)}")
    for name, several in sorted(rows.items(), key=lambda row: -np.mean(row[1], axis=0)[0]):
        *means, seconds = np.mean(several, axis=0)
        spread = np.std(several, axis=0)
        cells = [f"{mean:.3f} ± {sd:.3f}" for mean, sd in zip(means, spread, strict=False)]
        print(f"| {name} | {' | '.join(cells)} | {seconds:.1f} |")


if __name__ == "__main__":
    main()
