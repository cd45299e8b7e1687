"""Training speed as ratios in one run: against tomotopy and against a tight C loop.

Run: ``python -m benchmarks.training [--data-dir DIR] [--quick]``. tomotopy is in the extra [bench];
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from threading import Event
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.common import Row, cpu_seconds
from benchmarks.power_law import power_law
from deplda import (
    Corpus,
    Schedule,
    datasets,
    expect_label_words,
    train_label_words,
    train_topic_labels,
)
from deplda.training.topic_labels import TopicChain
from deplda.training.word_chain import WordChain, Words

ETA, BETA = 50.0, 0.01
HERE = Path(__file__).parent


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
from benchmarks.power_law import power_law
corpus = power_law(100_000, 100_000, 200_000, tokens_per_document=200)
begin = time.process_time()
train_label_words(corpus, n_chains=2, schedule=Schedule(5), progress=False)
print(json.dumps([
    time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
]))
"""


def rows(corpus: Corpus, words: dict[str, float], quick: bool) -> list[Row]:
    """Return our rates, `words` among them, beside those of C and tomotopy."""
    topics = topic_rates(corpus, 100 if quick else 500)
    llda, million = tomotopy_words(corpus, 1 if quick else 2), 1e6
    phi, phi_prime = "training φ, a sweep", "training φ′, T = 200"
    ours, c = words["ours"] / million, words["c"] / million
    unit = "M tokens/s"
    return [
        Row(phi, ours, "the same sweep in C", c, unit, "more"),
        Row(phi, ours, "tomotopy LLDAModel", llda / million, unit, "more"),
        Row(
            phi_prime, topics["ours"] / million, "tomotopy LDAModel",
            topics["tomotopy"] / million, unit, "more",
        ),
    ]  # fmt: skip


def details(corpus: Corpus, words: dict[str, float]) -> dict[str, str]:
    """Return measurements that have no peer."""
    expect_label_words(corpus[:50], max_sweeps=1)
    begin = time.process_time()
    passes = expect_label_words(corpus).n_sweeps
    seconds = time.process_time() - begin
    cells = f"{words['cells'] / 1e6:.1f} M cells"
    return {
        "φ, two chains on two threads": f"{words['two']:.2f}",
        "φ, log-likelihood, share of a sweep": f"{words['trace']:.3f}",
        f"φ, MB of a chain beyond the corpus, {cells}": f"{words['bytes'] / 1e6:.0f}",
        f"deterministic φ, CPU s ({passes} passes)": f"{seconds:.1f}",
    }


def peak_of_large() -> float:
    """Return the GB that 100,000 labels take."""
    done = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, check=True)
    _, peak = json.loads(done.stdout)
    return float(peak)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--quick", action="store_true", help="fewer sweeps, no large corpus")
    options = parser.parse_args()
    corpora = {"power-law": power_law()}
    if options.data_dir:
        data = datasets.load("eurlex20k", options.data_dir)
        corpora["eurlex20k fold 0"] = data.corpus[data.splits[0].train]
    table = Table("what", "corpus", title="training, single thread unless said")
    for column in ("ours", "peer", "ratio"):
        table.add_column(column, justify="right")
    for name, corpus in corpora.items():
        words = word_rates(corpus, 5 if options.quick else 20)
        for row in rows(corpus, words, options.quick):
            what = f"{row.what}, {row.unit}, against {row.peer}"
            table.add_row(what, name, f"{row.ours:.1f}", f"{row.theirs:.2f}", f"{row.ratio:.2f}")
        for what, figure in details(corpus, words).items():
            table.add_row(what, name, figure, "", "")
        if "eurlex" in name:
            phi, topics = protocol(corpus, options.quick)
            minutes = {"φ, 48 × 100 sweeps": f"{phi:.1f}", "φ′, 10 × 500 sweeps": f"{topics:.2f}"}
            for what, figure in minutes.items():
                table.add_row(f"the paper's {what}: minutes, all cores", name, figure, "", "")
    if not options.quick:
        large = "100,000 labels, 200,000 words, 2 chains × 5 sweeps: peak GB"
        table.add_row(large, "power-law", f"{peak_of_large():.1f}", "", "")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
