"""Training speed as ratios in one run: against tomotopy and against a tight C loop.

Run: ``python benchmarks/training.py [--data-dir DIR] [--quick]``. tomotopy is in the extra [bench];
a C compiler must be there. Rates are per CPU-second of one thread unless said otherwise.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from threading import Event
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from deplda import (
    Corpus,
    Schedule,
    datasets,
    expect_label_words,
    train_label_words,
    train_topic_labels,
)
from deplda.topic_chains import TopicChain
from deplda.word_chains import WordChain, Words

ETA, BETA = 50.0, 0.01
HERE = Path(__file__).parent


def cpu_seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def compile_c(folder: Path) -> Any:
    library = folder / "words.so"
    source = str(HERE / "words.c")
    # No fused multiply-add: it rounds otherwise, and the two must draw the same labels.
    flags = ["-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", str(library), source], check=True)
    return ctypes.CDLL(str(library)).sweep


def c_sweep(function: Any, data: Words, chain: WordChain, number: int) -> None:
    layout, widest = data.layout, int(np.diff(data.layout.label_starts).max())
    documents = np.concatenate(data.pieces)
    scratch = [np.empty(widest, np.int64) for _ in range(2)]
    scratch += [np.empty(widest, np.float64) for _ in range(2)]

    def at(array: np.ndarray[Any, Any]) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    state = (chain._z, chain._cell_counts, chain._label_counts)
    function(
        at(documents), ctypes.c_int64(len(documents)), at(layout.entry_starts), at(layout.times),
        at(layout.label_starts), at(layout.labels), at(layout.token_starts),
        at(layout.grid_starts), at(layout.cells), *(at(array) for array in state),
        ctypes.c_double(ETA), ctypes.c_double(BETA), ctypes.c_double(BETA * data.n_words),
        ctypes.c_uint64(int(chain._key)), ctypes.c_uint64(int(chain._gamma)),
        ctypes.c_uint64(number * len(chain._z)), *(at(array) for array in scratch),
    )  # fmt: skip


def word_rates(corpus: Corpus, n: int) -> dict[str, float]:
    """Return tokens per CPU-second of our kernel and of C, sweeps in turn from one same state."""
    data = Words(corpus, ETA, BETA)
    ours, reference = (WordChain(data, 0, 0, np.array([0])) for _ in range(2))
    with tempfile.TemporaryDirectory() as folder:
        function = compile_c(Path(folder))
        numba, c = [], []
        for number in range(1, n + 1):
            numba.append(cpu_seconds(lambda: ours.sweep(number, Event())))  # noqa: B023
            c.append(cpu_seconds(lambda: c_sweep(function, data, reference, number)))  # noqa: B023
    assert np.array_equal(ours._z, reference._z), "the C loop must be the same sampler"
    traced = cpu_seconds(ours.trace)
    with ThreadPoolExecutor(2) as pool:
        chains = [WordChain(data, 0, k, np.array([0])) for k in (1, 2)]
        begin = time.perf_counter()
        list(pool.map(lambda chain: [chain.sweep(k, Event()) for k in range(1, n + 1)], chains))
        two = time.perf_counter() - begin
    single = WordChain(data, 0, 1, np.array([0]))
    begin = time.perf_counter()
    for k in range(1, n + 1):
        single.sweep(k, Event())
    one = time.perf_counter() - begin
    layout_bytes = sum(array.nbytes for array in data.layout)
    shared = corpus.counts.data.nbytes + corpus.labels.indices.nbytes  # the layout only refers to
    chain_bytes = sum(a.nbytes for a in vars(ours).values() if isinstance(a, np.ndarray))
    return {
        "tokens": data.n_swept,
        "ours": data.n_swept / median(numba),
        "c": data.n_swept / median(c),
        "trace": traced / median(numba),
        "two": 2 * one / two,
        "bytes": layout_bytes - shared + chain_bytes,
        "cells": len(data.layout.cell_words),
    }


def tomotopy_words(corpus: Corpus, n: int) -> float:
    import tomotopy

    model = tomotopy.LLDAModel(alpha=ETA / 5, eta=BETA, seed=1)
    words, starts = corpus.tokens()
    vocabulary = [f"w{w}" for w in range(corpus.n_words)]
    for d in range(len(corpus)):
        labels = corpus.labels.indices[corpus.labels.indptr[d] : corpus.labels.indptr[d + 1]]
        tokens = [vocabulary[w] for w in words[starts[d] : starts[d + 1]]]
        if tokens and len(labels):
            model.add_doc(tokens, labels=[f"c{c}" for c in labels])
    model.train(0, workers=1)
    seconds = cpu_seconds(lambda: model.train(n, workers=1, show_progress=False))
    return float(model.num_words * n / seconds)


def topic_rates(corpus: Corpus, n: int) -> dict[str, float]:
    """Return label tokens per CPU-second over whole runs of n sweeps, T = 200."""
    import tomotopy

    chain = TopicChain(corpus, 200, 0.01, 0.01, 0, 0)
    chain.sweep(1, Event())
    chain = TopicChain(corpus, 200, 0.01, 0.01, 0, 0)

    def run() -> None:
        for number in range(1, n + 1):
            chain.sweep(number, Event())

    ours = cpu_seconds(run)
    model = tomotopy.LDAModel(k=200, alpha=0.01, eta=0.01, seed=1)
    model.optim_interval = 0
    for d in range(len(corpus)):
        labels = corpus.labels.indices[corpus.labels.indptr[d] : corpus.labels.indptr[d + 1]]
        if len(labels):
            model.add_doc([f"c{c}" for c in labels])
    model.train(0, workers=1)
    theirs = cpu_seconds(lambda: model.train(n, workers=1, show_progress=False))
    tokens = corpus.labels.nnz * n
    return {"ours": tokens / ours, "tomotopy": tokens / theirs}


def protocol(corpus: Corpus, quick: bool) -> tuple[float, float]:
    """Return minutes on all cores of the paper's 48 × 100 sweeps of φ and 10 × 500 of φ′."""
    n = 4 if quick else 48
    begin = time.perf_counter()
    train_label_words(corpus, n_chains=n, schedule=Schedule(100), progress=None)
    words = (time.perf_counter() - begin) * 48 / n
    begin = time.perf_counter()
    train_topic_labels(corpus, 200, n_chains=10, schedule=Schedule(500), progress=None)
    return words / 60, (time.perf_counter() - begin) / 60


LARGE = """
import json, resource, time
from deplda import Schedule, train_label_words
from deplda.datasets import power_law
corpus = power_law(100_000, 100_000, 200_000, tokens_per_document=200)
begin = time.process_time()
train_label_words(corpus, n_chains=2, schedule=Schedule(5), progress=False)
print(json.dumps([
    time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--quick", action="store_true", help="fewer sweeps, no large corpus")
    options = parser.parse_args()
    corpora = {"power-law": datasets.power_law()}
    if options.data_dir:
        data = datasets.load("eurlex20k", options.data_dir)
        corpora["eurlex20k fold 0"] = data.corpus[data.splits[0].train]
    table = Table("what", "corpus", title="training, single thread unless said")
    for column in ("ours", "peer", "ratio"):
        table.add_column(column, justify="right")
    for name, corpus in corpora.items():
        w = word_rates(corpus, 5 if options.quick else 20)
        t = topic_rates(corpus, 100 if options.quick else 500)
        theirs = tomotopy_words(corpus, 1 if options.quick else 2)
        million = 1e6
        table.add_row(
            "φ, M tokens/s, against C", name, f"{w['ours'] / million:.1f}",
            f"{w['c'] / million:.1f}", f"{w['ours'] / w['c']:.2f}",
        )  # fmt: skip
        table.add_row(
            "φ, M tokens/s, against tomotopy LLDA", name, f"{w['ours'] / million:.1f}",
            f"{theirs / million:.2f}", f"{w['ours'] / theirs:.0f}",
        )  # fmt: skip
        table.add_row("φ, two chains on two threads", name, "", "", f"{w['two']:.2f}")
        table.add_row("φ, log-likelihood, share of a sweep", name, f"{w['trace']:.3f}", "", "")
        table.add_row(
            f"φ, MB of a chain beyond the corpus, {w['cells'] / million:.1f} M cells", name,
            f"{w['bytes'] / million:.0f}", "", "",
        )  # fmt: skip
        table.add_row(
            "φ′, T = 200, M tokens/s, against tomotopy LDA", name, f"{t['ours'] / million:.1f}",
            f"{t['tomotopy'] / million:.1f}", f"{t['ours'] / t['tomotopy']:.2f}",
        )  # fmt: skip
        expect_label_words(corpus[:50], max_sweeps=1)
        passes = [0]

        def expectation(corpus: Corpus = corpus, passes: list[int] = passes) -> None:
            passes[0] = expect_label_words(corpus).n_sweeps

        seconds = cpu_seconds(expectation)
        table.add_row(
            f"deterministic φ, CPU s ({passes[0]} passes)", name, f"{seconds:.1f}", "", ""
        )
        if "eurlex" in name:
            words, topics = protocol(corpus, options.quick)
            rows = {"φ, 48 × 100 sweeps": f"{words:.1f}", "φ′, 10 × 500 sweeps": f"{topics:.2f}"}
            for what, minutes in rows.items():
                table.add_row(f"the paper's {what}: minutes, all cores", name, minutes, "", "")
    if not options.quick:
        done = subprocess.run(
            [sys.executable, "-c", LARGE], capture_output=True, text=True, check=True
        )
        seconds, peak = json.loads(done.stdout)
        table.add_row("100,000 labels, 200,000 words, 2 chains × 5 sweeps: peak GB", "power-law",
                      f"{peak:.1f}", "", "")  # fmt: skip
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
