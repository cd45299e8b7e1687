"""What a CUDA GPU takes for the paper's protocol, beside the CPU's cores.

Run: ``python -m benchmarks.gpu [--data-dir DIR] [--quick] [--cpu]``. Without a data folder, a
generated power-law corpus of the same size stands in for eurlex20k. A GPU's times are medians of
CUDA events around the whole work on arrays that lie on the GPU; clocks are left alone. With
``--cpu`` a part of the same work is measured on all cores of this machine, and scaled.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.common import average_precision, seconds
from benchmarks.inference import PAPER, corpus_of
from deplda import Corpus, Schedule, datasets, train_label_words, train_topic_labels
from deplda.engine.execution import Execution, n_workers
from deplda.inference.batches import score_matrix
from deplda.inference.cuda import gpu_backend
from deplda.inference.layout import Tables
from deplda.inference.settings import Inference

DETERMINISTIC = replace(PAPER, method="deterministic")


def event_seconds(gpu: Any, work: Callable[[], object], repeats: int) -> float:
    """Return the median time that the GPU takes, after one call to warm up."""
    work()
    found = []
    for _ in range(repeats):
        begin, end = gpu.xp.cuda.Event(), gpu.xp.cuda.Event()
        begin.record()
        work()
        end.record()
        end.synchronize()
        found.append(gpu.xp.cuda.get_elapsed_time(begin, end) / 1e3)
    return median(found)


def copy_rate(gpu: Any) -> float:
    """Return the bytes that a plain copy on the GPU reads and writes in a second."""
    a = gpu.xp.ones(1 << 28, np.float64)
    b = gpu.xp.empty_like(a)
    return 2 * a.nbytes / event_seconds(gpu, lambda: gpu.xp.copyto(b, a), 5)


def fold_seconds(gpu: Any, test: Corpus, tables: Tables, how: Inference, repeats: int) -> float:
    backend: Any = gpu_backend(Execution(device="cuda"), test, tables, how, 0)
    return event_seconds(gpu, lambda: backend.infer(test.counts), repeats)


def training_seconds(gpu: Any, train: Corpus, n_chains: int, repeats: int) -> tuple[float, Any]:
    """Return the time of 100 sweeps of so many chains, the log-likelihood traced, and φ."""
    from deplda.training.word_chain import Words
    from deplda.training.word_chain_cuda import run_on

    data = Words(train, 50.0, 0.01)
    watched = data.default_watch()
    found: list[Any] = []

    def work() -> None:
        found[:] = [run_on(gpu, data, n_chains, Schedule(100), 0, watched, None)]

    took = event_seconds(gpu, work, repeats)
    weights, base, _ = found[0]
    return took, data.estimate(weights / n_chains, base / n_chains)


def cpu_seconds(train: Corpus, test: Corpus, phi: Any, topics: Any) -> dict[str, float]:
    """Return seconds on all cores: chains on a part of the work, scaled; expectations whole."""
    cores = n_workers(None)
    few, one = test[: 256 * cores], Tables(phi, topics[:1])
    score_matrix(test[:2], one, replace(PAPER, n_chains=1, schedule=Schedule(1)))
    score_matrix(test[:2], one, DETERMINISTIC)
    part = seconds(lambda: score_matrix(few, one, replace(PAPER, n_chains=1)))
    sweeps = seconds(lambda: train_label_words(train, n_chains=cores, schedule=Schedule(20)))
    tables = Tables(phi, topics)
    return {
        "sampled": part * PAPER.n_chains * len(topics) * test.n_tokens / few.n_tokens,
        "deterministic": seconds(lambda: score_matrix(test, tables, DETERMINISTIC)),
        "training": sweeps * 48 / cores * 100 / 20,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--quick", action="store_true", help="a small corpus: does it work?")
    parser.add_argument("--cpu", action="store_true", help="measure the CPU's cores too")
    options = parser.parse_args()
    if options.quick:
        corpus = datasets.power_law(1_200, 500, 3_000)
        name, train, test = "power-law, small", corpus[200:], corpus[:200]
    else:
        name, train, test = corpus_of(options.data_dir)
    from deplda.kernels.cuda.device import choose

    gpu: Any = choose("cuda")
    training, phi = training_seconds(gpu, train, 48, 1 if options.quick else 3)
    topics = train_topic_labels(train, 200, n_chains=10, schedule=Schedule(500)).topic_labels
    tables = Tables(phi, topics)
    cycles = test.n_tokens * len(topics) * PAPER.n_chains * (PAPER.schedule.n_sweeps + 2)
    day = datetime.now(UTC).date().isoformat()
    table = Table("what", title=f"{gpu.name}, {day}: {name}, {train.n_labels:,} labels")
    for column in ("GPU, s", "CPU, s", "average precision"):
        table.add_column(column, justify="right")
    cpu = cpu_seconds(train, test, phi, topics) if options.cpu else {}
    sampled = fold_seconds(gpu, test, tables, PAPER, 3)
    for what, key, each in (
        ("48 chains × 100 sweeps of φ", "training", training),
        ("900 samples of the fold", "sampled", sampled),
        ("the same, conditionals", "", fold_seconds(
            gpu, test, tables, replace(PAPER, estimate="conditionals"), 1)),
        ("deterministic inference of the fold", "deterministic",
         fold_seconds(gpu, test, tables, DETERMINISTIC, 5)),
    ):  # fmt: skip
        quality = ""
        if key in ("sampled", "deterministic"):
            how = PAPER if key == "sampled" else DETERMINISTIC
            scores = score_matrix(test, tables, how, device="cuda")
            quality = f"{average_precision(scores, test):.4f}"
        table.add_row(what, f"{each:.2f}", f"{cpu[key]:.1f}" if key in cpu else "", quality)
    table.add_row("a token and cycle, ns", f"{sampled / cycles * 1e9:.3f}", "", "")
    table.add_row("a copy: bytes read and written, TB/s", f"{copy_rate(gpu) / 1e12:.2f}", "", "")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
