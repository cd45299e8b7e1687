"""Training of the SVM baselines on eurlex20k, fold 0, against a loop over scikit-learn's LinearSVC.

Run: ``python -m benchmarks.svm --data-dir DIR [--models VanillaSVM TfidfSVM TunedSVM]``. The loop
is run for some labels drawn at random, on the same features, before and after our training, and
extrapolated to all; it has one core, as LIBLINEAR has. Ours has all cores.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.svm import LinearSVC

from benchmarks.common import Row
from deplda import Corpus, datasets, load
from deplda.models import linear as baselines

N_SAMPLE = 20


def loop_seconds(features: Any, corpus: Corpus, seed: int) -> float:
    """Return the seconds that LinearSVC would take for all labels, from a sample of them."""
    labels = corpus.labels.tocsc()
    taught = np.flatnonzero(np.diff(labels.indptr))
    sample = np.random.default_rng(seed).choice(taught, N_SAMPLE, replace=False)
    begin = time.perf_counter()
    for label in sample:
        y = labels[:, [label]].toarray().ravel()
        LinearSVC(random_state=0).fit(features, y)
    return (time.perf_counter() - begin) / N_SAMPLE * len(taught)


def rows(corpus: Corpus) -> list[Row]:
    """Return the time of all SVMs of a corpus, C = 1, beside the loop's, each with its cores."""
    found = []
    for name in ("VanillaSVM", "TfidfSVM"):
        kind = getattr(baselines, name)
        features = kind(C=1.0).fit(corpus[:200])._features(corpus.counts)  # compiles as well
        begin = time.perf_counter()
        kind(C=1.0).fit(corpus)
        ours = time.perf_counter() - begin
        loop = loop_seconds(features, corpus, 0)
        what = f"training {name}, {len(corpus):,} documents, {corpus.n_labels:,} labels"
        found.append(Row(what, ours, "a loop over LinearSVC", loop, "s", "less"))
    return found


def measure(name: str, train: Corpus, test: Corpus) -> list[str]:
    """Return a row: our seconds and the loop's, quality, size, time to score, memory."""
    model = getattr(baselines, name)()
    small = getattr(baselines, name)(C=1.0).fit(train[:200])  # compiles, and knows the features
    features = small._features()(train.counts)
    loop = loop_seconds(features, train, 0)
    begin, cpu = time.perf_counter(), time.process_time()
    model.fit(train)
    ours, cpu = time.perf_counter() - begin, time.process_time() - cpu
    loop = (loop + loop_seconds(features, train, 1)) / 2
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        size = sum(file.stat().st_size for file in path.iterdir())
        model = load(path)
        begin = time.perf_counter()
        model.decision_function(test)
        predicting = time.perf_counter() - begin
        quality = model.score(test)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return [f"{name}, C = {model.C_:g}", f"{ours:.0f}", f"{cpu:.0f}", f"{loop:.0f}",
            f"{loop / ours:.1f}", f"{quality:.3f}", f"{size / 1e6:.0f}", f"{predicting:.1f}",
            f"{peak:.2f}"]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--models", nargs="+", default=["VanillaSVM", "TfidfSVM", "TunedSVM"])
    options = parser.parse_args()
    data = datasets.load("eurlex20k", options.data_dir)
    train, test = (data.corpus[rows] for rows in data.splits[0])
    columns = ("model", "training s", "CPU s", "LinearSVC loop s", "ratio", "average precision",
               "MB saved", "s to score the fold", "peak GB so far")  # fmt: skip
    table = Table(*columns, title=f"eurlex20k fold 0: {len(train):,} documents")
    for name in options.models:
        table.add_row(*measure(name, train, test))
    Console(width=130).print(table)


if __name__ == "__main__":
    main()
