"""Beyond one machine: what chains, shards and passes cost on two worker processes.

Run: ``python -m benchmarks.cluster [--data-dir DIR] [--documents N] [--quick]
[--hybrid]``. Without a data
folder a generated corpus stands in for eurlex20k. Times are wall times unless said otherwise, so
the machine must be quiet, with a core for each worker.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import dask
import numpy as np
from distributed import Client, LocalCluster
from rich.console import Console
from rich.table import Table
from tests.inference.inferred import score_matrix

from benchmarks.common import average_precision, seconds
from benchmarks.power_law import power_law
from deplda import (
    Corpus,
    FlatLDA,
    HybridLDA,
    LabelWords,
    Schedule,
    datasets,
    evaluate,
    expect_label_words,
    train_label_words,
    write_svmlight,
)
from deplda.data.splits import random_split
from deplda.engine.execution import Execution
from deplda.engine.pool import Parcel
from deplda.inference.layout import Tables
from deplda.inference.settings import Inference
from deplda.models.predict_shards import predict_shards
from deplda.training.passes import Pass, _plan, estimate, run_passes
from deplda.training.shard_layouts import Kind, lay_out_shards
from deplda.training.shards import prepare
from deplda.training.word_chain import Words

FLAT = Inference(0.0, 180.0, 1.0, method="deterministic")
MB = 1e6


# As our files for containers have it: workers keep the memory they will soon ask for again.
MEMORY = {"MALLOC_TRIM_THRESHOLD_": 268435456, "MALLOC_MMAP_THRESHOLD_": 33554432}


@contextmanager
def workers(n: int) -> Iterator[Any]:
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ": MEMORY}),
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=n, threads_per_worker=1, dashboard_address=":0", silence_logs=60
        ) as cluster,
        Client(cluster, set_as_default=False) as client,  # type: ignore[no-untyped-call]
    ):
        yield client


@contextmanager
def section(title: str) -> Iterator[Table]:
    """Give a table to fill, which is then printed."""
    table = Table("what", "value", "average precision", title=title)
    yield table
    Console(width=140).print(table)


# Chains -------------------------------------------------------------------------------------------


def chains(table: Table, corpus: Corpus, n_chains: int, n_sweeps: int) -> None:
    """Time chains on one worker and on two, and count what travels."""
    took = {}
    for n in (1, 2):
        with workers(n) as client:
            how: Any = {"engine": client, "progress": False}
            train_label_words(corpus, n_chains=n, schedule=Schedule(1), **how)
            begin = time.perf_counter()
            train_label_words(corpus, n_chains=n_chains, schedule=Schedule(n_sweeps), **how)
            took[n] = time.perf_counter() - begin
    data = Words(corpus, 50.0, 0.01)
    sent, returned = len(Parcel.of(print, (data,)).data), 8 * (len(data.words) + corpus.n_labels)
    what = f"φ, {n_chains} chains × {n_sweeps} sweeps"
    table.add_row(f"{what}: seconds on one worker", f"{took[1]:.1f}")
    table.add_row(f"{what}: two workers against one", f"{took[1] / took[2]:.2f} ×")
    table.add_row("sent to each worker, once", f"{sent / MB:.1f} MB")
    table.add_row("returned by each chain", f"{returned / MB:.1f} MB")


# Training by shards -------------------------------------------------------------------------------


def passes(
    table: Table, train: Corpus, test: Corpus, n_shards: int, kind: Kind, n: int, folder: Path
) -> None:
    """Train in memory and by shards; show quality and time of every pass."""
    source = folder / f"in-{n_shards}"
    if not source.exists():
        source.mkdir()
        for number, rows in enumerate(np.array_split(np.arange(len(train)), n_shards)):
            write_svmlight(train[rows], source / f"{number:03}.svm")
    scratch = folder / f"scratch-{n_shards}"
    preparing = seconds(lambda: lay_out_shards(scratch, prepare(source, scratch), kind))
    ready = prepare(source, scratch)
    plan = _plan(lay_out_shards(scratch, ready, kind), kind, 50.0, 0.01, (n,))
    million = sum(shard.tokens for shard in ready.shards) / 1e6
    name = f"{kind}, {n_shards} shards"
    table.add_row(f"{name}: preparing, seconds", f"{preparing:.1f}")
    begin, cpu = time.perf_counter(), time.process_time()
    for done in run_passes(plan, n, Execution(n_jobs=2)):
        took, used = time.perf_counter() - begin, time.process_time() - cpu
        if kind == "expected" or done.number in (0, 1, 2, 5, 10, 20, 50, n):
            table.add_row(f"{name}: pass {done.number}", _row(done, took, used, million), _quality(
                estimate([(plan, done)]), test))  # fmt: skip
        begin, cpu = time.perf_counter(), time.process_time()


def _row(done: Pass, took: float, used: float, million: float) -> str:
    return f"{took:.1f} s, {used / million:.2f} CPU s a million tokens" + (
        f", moved {done.moved / million / 1e6:.3f}" if done.moved else ""
    )


def _quality(phi: LabelWords, test: Corpus) -> str:
    scores = score_matrix(test, Tables(phi, ()), FLAT, progress=False)
    return f"{average_precision(scores, test):.4f}"


def in_memory(table: Table, train: Corpus, test: Corpus, n_sweeps: int) -> None:
    for max_sweeps in (1, 2, 3, 4, 6, 10):
        begin = time.perf_counter()
        phi = expect_label_words(train, tolerance=1e-9, max_sweeps=max_sweeps).label_words
        took = time.perf_counter() - begin
        table.add_row(
            f"expected in memory: {max_sweeps} passes", f"{took:.1f} s", _quality(phi, test)
        )
    begin = time.perf_counter()
    phi = train_label_words(train, schedule=Schedule(n_sweeps), progress=False).label_words
    took = time.perf_counter() - begin
    table.add_row(f"sampled in memory: {n_sweeps} sweeps", f"{took:.1f} s", _quality(phi, test))


# The hybrid by shards -----------------------------------------------------------------------------


def hybrids(table: Table, train: Corpus, folder: Path) -> None:
    """Train the hybrid in memory and by shards; show quality on a fifth of the training documents.

    And what two threads are worth.
    """
    rows = random_split(train, 0.2, seed=0)
    learned, test = train[rows.train], train[rows.test]

    def show(name: str, fit: Callable[[], HybridLDA]) -> float:
        begin, cpu = time.perf_counter(), time.process_time()
        model = fit()
        took, used = time.perf_counter() - begin, time.process_time() - cpu
        found = evaluate(model.rank_matrix(test, 100), test, learned)
        table.add_row(
            name, f"{took:.0f} s, {used:.0f} CPU s", f"{found.document['average_precision']:.4f}",
            f"{found.label['average_precision']:.4f}",
        )  # fmt: skip
        return took

    show("in memory, two threads", lambda: HybridLDA(n_jobs=2).fit(learned))
    before = 0.0
    for n_shards, n_jobs in ((1, 2), (8, 2), (8, 1), (32, 2)):
        source, scratch = folder / f"hybrid-{n_shards}", folder / f"hybrid-{n_shards}-{n_jobs}"
        if not source.exists():
            source.mkdir()
            for number, part in enumerate(np.array_split(np.arange(len(learned)), n_shards)):
                write_svmlight(learned[part], source / f"{number:03}.svm")
        took = show(
            f"{n_shards} shards, {n_jobs} threads",
            partial(HybridLDA(n_jobs=n_jobs).fit_shards, source, scratch),
        )
        if n_jobs == 1:
            table.add_row("two threads against one", f"{took / before:.2f} ×")
        before = took


# Prediction by shards -----------------------------------------------------------------------------


def prediction(table: Table, n_documents: int, folder: Path) -> None:
    """Predict generated documents in shards of 20,000 on two worker processes."""
    corpus = power_law(20_000, tokens_per_document=100)
    FlatLDA().fit(corpus[:10_000]).save(folder / "model")
    source = folder / "documents"
    source.mkdir()
    n_shards = max(1, n_documents // 20_000)
    write_svmlight(corpus, source / "00000.svm")
    for name in ("vocab", "labels", "ids"):
        (source / f"00000.{name}.txt").unlink()
    for number in range(1, n_shards):  # the same documents: their words do not matter here
        (source / f"{number:05}.svm").hardlink_to(source / "00000.svm")
    with workers(2) as client:
        held = source.rename(folder / "held")
        peaks = []
        tenth = max(1, n_shards // 10)
        for share in (tenth, n_shards):  # the second run keeps what the first has done
            source.mkdir(exist_ok=True)
            for path in sorted(held.iterdir())[: share - len(list(source.iterdir()))]:
                path.rename(source / path.name)
            begin = time.perf_counter()
            manifest = predict_shards(folder / "model", source, folder / "labels", engine=client)
            took = time.perf_counter() - begin
            peaks.append(max(client.run(peak_megabytes).values()))
    table.add_row("documents predicted, 4,400 labels, 100 tokens", f"{manifest.documents:,}")
    rate = (n_shards - tenth) * len(corpus) / took
    table.add_row("… a second on two workers", f"{rate:,.0f}")
    table.add_row(
        "… peak MB of a worker after a tenth, at the end", f"{peaks[0]:.0f}, {peaks[1]:.0f}"
    )
    table.add_row("… peak MB of the client, which trained", f"{peak_megabytes():.0f}")


def peak_megabytes() -> float:
    """Return the most memory this process ever had (getrusage counts its parent's, too)."""
    (line,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(line) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--quick", action="store_true", help="fewer chains, sweeps and documents")
    parser.add_argument("--hybrid", action="store_true", help="the hybrid by shards alone")
    options = parser.parse_args()
    if options.data_dir:
        data = datasets.load("eurlex20k", options.data_dir)
        train, test = (data.corpus[rows] for rows in data.splits[0])
    else:
        corpus = power_law()
        train, test = corpus[:14_000], corpus[14_000:]
    n_sweeps = 10 if options.quick else 50
    with tempfile.TemporaryDirectory() as scratch:
        with section("the hybrid by shards") as table:
            hybrids(table, train, Path(scratch))
        if options.hybrid:
            return
        with section("chains on worker processes") as table:
            chains(table, train, 4 if options.quick else 8, 2 * n_sweeps)
        with section("training in memory") as table:
            in_memory(table, train, test, n_sweeps)
        for n_shards in (1, 8) if options.quick else (1, 8, 32):
            with section(f"training by {n_shards} shards on two threads") as table:
                passes(table, train, test, n_shards, "expected", 10, Path(scratch))
                passes(table, train, test, n_shards, "sampled", n_sweeps, Path(scratch))
        with section("prediction of shards on two worker processes") as table:
            prediction(table, 100_000 if options.quick else options.documents, Path(scratch))


if __name__ == "__main__":
    main()
