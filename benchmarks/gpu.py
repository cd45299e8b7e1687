"""Models on a CUDA GPU beside two CPU cores: seconds, their ratio, memory, what bounds it.

Run: ``python -m benchmarks.gpu [--data-dir DIR] [--quick] [--cpu] [--large] [--only WORDS]``.
Without a data folder, a generated power-law corpus of the same size stands in for eurlex20k.
Times are by the clock, after one call on a few documents to compile; results are fetched, and
clocks are left alone. With ``--cpu`` two cores of the same machine do the same work, or, where that
takes long, a stated part of it, and the time is scaled. ``--large`` predicts with 500,000 labels ×
100,000 words.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.sparse import csr_array
from tests.inference.inferred import attribute, score_matrix

import deplda
from benchmarks.common import average_precision, seconds
from benchmarks.inference import PAPER, corpus_of
from benchmarks.power_law import power_law
from deplda import Corpus, Schedule, train_label_words, train_topic_labels
from deplda.inference.layout import Tables
from deplda.inference.settings import Inference, Method
from deplda.training.estimates import LabelWords, TopicLabels

CORES = 2
_FEW = 60
_LARGE = (500_000, 100_000, 100)
"""Labels, words, and words of a label."""


class Case(NamedTuple):
    """Some work on a device: what of it is done on the CPU, and how much more all of it is."""

    name: str
    bound: str
    whole: Callable[..., Any]
    part: Callable[..., Any]
    times: float = 1.0
    few: Callable[..., Any] | None = None
    """What is called before, to compile; the part where nothing is said."""


def sampling(train: Corpus, test: Corpus, tables: Tables) -> Iterator[Case]:
    """Yield φ, φ′, inference and explanations, by the paper's protocol for EUR-Lex."""

    def phi(n_chains: int, n_sweeps: int, **where: Any) -> Any:
        return train_label_words(train, n_chains=n_chains, schedule=Schedule(n_sweeps), **where)

    def topics(n_chains: int, n_sweeps: int, **where: Any) -> Any:
        schedule = Schedule(n_sweeps)
        return train_topic_labels(train, 200, n_chains=n_chains, schedule=schedule, **where)

    yield Case("φ: 48 chains × 100 sweeps", "gamma draws, then dependent loads",
               lambda **w: phi(48, 100, **w), lambda **w: phi(CORES, 10, **w), 480 / CORES,
               lambda **w: phi(1, 2, **w))  # fmt: skip
    yield Case("φ by expectations", "starting kernels; host: the layout of cells",
               lambda **w: deplda.expect_label_words(train, eta=1000.0, **w),
               lambda **w: deplda.expect_label_words(train, eta=1000.0, **w))  # fmt: skip
    yield Case("φ′: 10 chains × 500 sweeps", "gamma draws", lambda **w: topics(10, 500, **w),
               lambda **w: topics(CORES, 50, **w), 100 / CORES,
               lambda **w: topics(1, 2, **w))  # fmt: skip
    some, one_set = test[: 64 * CORES], Tables(tables._given[0], tables._given[1][:1])
    per_document = test.n_tokens / max(some.n_tokens, 1) * len(tables._given[1])

    def infer(documents: Corpus, given: Tables, how: Inference, **where: Any) -> Any:
        return score_matrix(documents, given, how, **where)

    for name, how in (
        ("900 samples of each test document", PAPER),
        ("… as conditionals", replace(PAPER, estimate="conditionals")),
    ):
        single = replace(how, n_chains=1)
        yield Case(name, "random reads of memory",
                   lambda how=how, **w: infer(test, tables, how, **w),
                   lambda single=single, **w: infer(some, one_set, single, **w),
                   per_document * PAPER.n_chains,
                   lambda single=single, **w: infer(test[:4], one_set, single, **w))  # fmt: skip
    proper = replace(PAPER, method="proper", n_chains=1, schedule=Schedule(10))
    yield Case("proper inference, 10 cycles, 10 chains", "dependent loads",
               lambda **w: infer(test, tables, proper, **w),
               lambda **w: infer(some, one_set, proper, **w), per_document,
               lambda **w: infer(test[:4], one_set, proper, **w))  # fmt: skip
    expected = replace(PAPER, method="deterministic")
    yield Case("deterministic inference", "host: scores fetched",
               lambda **w: infer(test, tables, expected, **w),
               lambda **w: infer(test, tables, expected, **w))  # fmt: skip
    labels = np.tile(np.arange(5), (len(test), 1))
    yield Case("which words speak for 5 labels, deterministic", "host: words fetched",
               lambda **w: list(attribute(test, tables, expected, labels, **w)),
               lambda **w: list(attribute(test, tables, expected, labels, **w)))  # fmt: skip


def models(train: Corpus, test: Corpus) -> Iterator[Case]:
    """Yield training and scoring of the models whose every step is their own."""
    fitted: dict[str, Any] = {}

    def fit(kind: Any, documents: Corpus, **where: Any) -> Any:
        model = kind(n_held_out=0, random_state=0, **where).fit(documents)
        if documents is train:
            fitted[kind.__name__] = model

    def score(kind: Any, **where: Any) -> Any:
        return fitted[kind.__name__].set_params(**where).decision_function(test)

    step = max(1, train.n_labels // 60)
    few_labels = Corpus(train.counts, train.labels[:, ::step])
    for kind, bound in (
        (deplda.VanillaSVM, "reads from the second-level cache"),
        (deplda.TunedSVM, "the same"), (deplda.TfidfSVM, "the same"),
    ):  # fmt: skip
        yield Case(f"{kind.__name__}: fit", bound, partial(fit, kind, train),
                   partial(fit, kind, few_labels), step,
                   partial(fit, kind, train[:_FEW]))  # fmt: skip
        yield Case(f"{kind.__name__}: score what was fitted", "host: scores fetched",
                   partial(score, kind), partial(score, kind))  # fmt: skip


def large() -> Iterator[Case]:
    """Yield the labels of 256 documents among half a million, by words that are drawn."""
    n_labels, n_words, each = _LARGE
    rng = np.random.default_rng(0)
    words = rng.integers(n_words, size=n_labels * each)
    values, starts = rng.random(n_labels * each, np.float32), np.arange(n_labels + 1) * each
    by_label: Any = csr_array((values / each, words, starts), shape=(n_labels, n_words))
    phi = by_label.T.tocsr()
    base = np.full(n_labels, 0.1 / n_words)
    own = np.minimum(rng.zipf(1.3, 1_000_000), n_labels) - 1, rng.integers(200, size=1_000_000)
    topics: Any = csr_array((np.ones(1_000_000), own), shape=(n_labels, 200))
    topics.data /= np.asarray(topics.sum(axis=0)).ravel()[topics.indices] * 1.1
    tables = Tables(LabelWords(phi, base), [TopicLabels(topics, np.full(200, 0.09 / n_labels))])
    drawn = np.repeat(np.arange(256), 200), rng.integers(n_words, size=256 * 200)
    counts: Any = csr_array((np.ones(256 * 200, np.int32), drawn), shape=(256, n_words))
    test, few = Corpus(counts, csr_array((256, n_labels), dtype=bool)), 8
    methods: tuple[Method, ...] = ("deterministic", "sampled")
    for method in methods:
        how = replace(PAPER, method=method, n_chains=1, schedule=Schedule(10))
        yield Case(f"500,000 labels × 100,000 words, 256 documents, {method}", "memory",
                   lambda how=how, **w: score_matrix(test, tables, how, **w),
                   lambda how=how, **w: score_matrix(test[:few], tables, how, **w),
                   256 / few,
                   lambda how=how, **w: score_matrix(test[:1], tables, how, **w))  # fmt: skip


def measured(gpu: Any, case: Case, *, is_cpu_too: bool) -> list[str]:
    """Return a row of the table."""
    (case.few or case.part)(device="cuda")
    gpu.release()
    on_gpu = seconds(lambda: case.whole(device="cuda"))
    room = gpu.xp.get_default_memory_pool().total_bytes()
    row = [case.name, f"{on_gpu:.2f}", "", "", f"{room / 1e9:.1f}", case.bound]
    if is_cpu_too:
        if case.few is not None:
            case.few(device="cpu")
        on_cpu = case.times * seconds(lambda: case.part(device="cpu", n_jobs=CORES))
        row[2:4] = f"{on_cpu:,.1f}{'' if case.times == 1 else ' *'}", f"{on_cpu / on_gpu:,.0f} ×"
    return row


def copy_rate(gpu: Any) -> float:
    """Return the bytes that a plain copy on the GPU reads and writes in a second."""
    a = gpu.xp.ones(1 << 28, np.float64)
    b = gpu.xp.empty_like(a)

    def copied() -> None:
        for _ in range(10):
            gpu.xp.copyto(b, a)
        gpu.xp.cuda.Device().synchronize()

    copied()
    return 20 * a.nbytes / seconds(copied)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--quick", action="store_true", help="a small corpus: does it work?")
    parser.add_argument("--cpu", action="store_true", help="measure two CPU cores too")
    parser.add_argument("--large", action="store_true", help="half a million labels as well")
    parser.add_argument("--only", default="", help="rows whose name has one of these words, by |")
    options = parser.parse_args()
    if options.quick:
        corpus = power_law(1_200, 500, 3_000)
        name, train, test = "power-law, small", corpus[200:], corpus[:200]
    else:
        name, train, test = corpus_of(options.data_dir)
    from deplda.kernels.cuda.device import choose

    gpu: Any = choose("cuda")
    phi = train_label_words(train, n_chains=14, device="cuda").label_words
    sets = train_topic_labels(train, 200, n_chains=10, schedule=Schedule(100), device="cuda")
    tables = Tables(phi, sets.topic_labels)
    cases = [*sampling(train, test, tables), *models(train, test)]
    if options.large:
        cases += large()
    day = datetime.now(UTC).date().isoformat()
    versions = f"CuPy {gpu.xp.__version__}, Python {platform.python_version()}"
    table = Table("what", title=f"{gpu.name}, {day}, {versions}: {name}, {train.n_labels:,} labels")
    for column in ("GPU, s", f"{CORES} CPU cores, s", "ratio", "GPU memory, GB"):
        table.add_column(column, justify="right")
    table.add_column("what bounds the GPU")
    for case in cases:
        if any(word in case.name for word in options.only.split("|")):
            table.add_row(*measured(gpu, case, is_cpu_too=options.cpu))
    console = Console(width=160)
    console.print(table)
    if options.cpu:
        console.print("* measured on a part of the work, and scaled")
    methods: tuple[Method, ...] = ("sampled", "deterministic")
    for method in methods:
        how = replace(PAPER, method=method)
        scores = score_matrix(test, tables, how, device="cuda")
        console.print(f"average precision, {method}: {average_precision(scores, test):.4f}")
    console.print(f"a plain copy reads and writes {copy_rate(gpu) / 1e12:.2f} TB/s")


if __name__ == "__main__":
    main()
