"""Quality against time of DependencyLDA's settings, one changed at a time, on training documents.

Run: ``python -m benchmarks.defaults --data-dir DIR [--data eurlex20k debtags]``. A tenth of the
training documents is held out and scored; test documents play no part. Times are CPU time of all
threads together: fitting, and a document's share of predicting.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from paper.data import load
from rich.console import Console
from rich.table import Table

from deplda import Corpus, DependencyLDA, evaluate

# The defaults, then one thing at a time changed from fewer and longer topic chains.
BASE: dict[str, Any] = {"n_topic_chains": 4, "n_topic_sweeps": 200}
CHANGES: list[dict[str, Any]] = [
    {},
    *({"n_topic_chains": n} for n in (1, 2, 10)),
    *({"n_topic_sweeps": n} for n in (30, 100, 500)),
    *({"n_topics": n} for n in (50, 100, 400)),
    {"combine": "counts"},
    {"combine": "posterior"},
    {"fit_method": "sampled", "n_chains": 2},
    {"fit_method": "sampled", "n_chains": 8},
    {"inference": "sampled", "n_test_chains": 1},
    {"inference": "sampled", "n_test_chains": 1, "theta_estimate": "conditionals"},
    {"inference": "sampled", "n_test_chains": 6},
    {"fit_method": "sampled", "n_chains": 8, "inference": "sampled", "n_test_chains": 6},
]


def held_out(corpus: Corpus, share: float = 0.1) -> tuple[Corpus, Corpus]:
    order = np.random.default_rng(0).permutation(len(corpus))
    n = int(len(corpus) * share)
    return corpus[np.sort(order[n:])], corpus[np.sort(order[:n])]


def row(said: str, settings: dict[str, Any], train: Corpus, rest: Corpus) -> list[str]:
    begin = time.process_time()
    model = DependencyLDA(**settings).fit(train)
    fitted = time.process_time()
    scores = model.decision_function(rest)
    done = time.process_time()
    found = evaluate(scores, rest, train)
    return [
        said,
        f"{found.document['average_precision']:.4f}",
        f"{found.document['one_error']:.1f}",
        f"{found.document['ranking_loss']:.2f}",
        f"{found.label['average_precision']:.4f}",
        f"{fitted - begin:.1f}",
        f"{(done - fitted) / len(rest) * 1e3:.1f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--data", nargs="+", default=["eurlex20k", "debtags"])
    parser.add_argument("--defaults-only", action="store_true", help="no other settings")
    options = parser.parse_args()
    for name in options.data:
        data = load(name, options.data_dir)
        train, rest = held_out(data.corpus[data.splits[0].train])
        DependencyLDA(n_topic_sweeps=1).fit(train[:200]).decision_function(rest[:2])
        table = Table("settings", title=f"{name}: {len(train):,} train, {len(rest):,} held out")
        for column in (
            "document AP",
            "One-Error",
            "Rank loss",
            "label AP",
            "fit s",
            "ms a document",
        ):
            table.add_column(column, justify="right")
        table.add_row(*row("defaults", {}, train, rest))
        for changes in [] if options.defaults_only else CHANGES:
            said = ", ".join(f"{name}={value!r}" for name, value in (changes or BASE).items())
            table.add_row(*row(said, BASE | changes, train, rest))
        Console(width=130).print(table)


if __name__ == "__main__":
    main()
