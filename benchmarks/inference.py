"""Inference speed as ratios in one run: buckets against the dense draw and against tomotopy.

Run: ``python -m benchmarks.inference [--data-dir DIR] [--quick]``. Without a data folder, a
generated power-law corpus of the same size stands in for eurlex20k. Times are CPU time of one
thread unless said otherwise. tomotopy is in the extra [bench].
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from tests.inference.inferred import score_matrix

from benchmarks.common import Row, average_precision, cpu_seconds
from benchmarks.power_law import power_law
from deplda import (
    Corpus,
    LabelWords,
    Schedule,
    TopicLabels,
    datasets,
    expect_label_words,
    train_label_words,
    train_topic_labels,
)
from deplda.inference import layout as table_module
from deplda.inference.batches import infer
from deplda.inference.layout import Tables
from deplda.inference.settings import Inference

PAPER = Inference(150.0, 30.0, 10.0, n_chains=6)  # the paper's settings for EUR-Lex
SHORT = replace(PAPER, n_chains=1, schedule=Schedule(20))


def all_of(corpus: Corpus, tables: Tables, inference: Inference, n_jobs: int = 1) -> None:
    for _ in infer(corpus, tables, inference, n_jobs=n_jobs):
        pass


def nanoseconds(corpus: Corpus, tables: Tables, inference: Inference) -> float:
    """Return CPU time of a token and a cycle; the two sweeps that start a chain count as cycles."""
    all_of(corpus[:1], tables, replace(inference, n_chains=1, schedule=Schedule(1)))
    seconds = cpu_seconds(lambda: all_of(corpus, tables, inference))
    cycles = inference.n_chains * (inference.schedule.n_sweeps + 2)
    return seconds / (corpus.n_tokens * cycles) * 1e9


def dense_tables(label_words: LabelWords, topic_labels: Sequence[TopicLabels]) -> Tables:
    """Return tables that make inference draw over all labels, however many."""
    usual, table_module.TINY = table_module.TINY, label_words.shape[1]
    try:
        return Tables(label_words, topic_labels)
    finally:
        table_module.TINY = usual


def tomotopy_nanoseconds(train: Corpus, test: Corpus) -> float:
    """Return CPU time of a token and an iteration of tomotopy's LLDA at test time."""
    import tomotopy

    model = tomotopy.LLDAModel(alpha=0.01, eta=0.01, seed=1)
    vocabulary = [f"w{w}" for w in range(train.n_words)]

    def documents_of(corpus: Corpus) -> list[list[str]]:
        tokens, starts = corpus.tokens()
        return [[vocabulary[w] for w in tokens[i:j]] for i, j in pairwise(starts)]

    for d, words in enumerate(documents_of(train)):
        labels = train.labels.indices[train.labels.indptr[d] : train.labels.indptr[d + 1]]
        if words and len(labels):
            model.add_doc(words, labels=[f"c{c}" for c in labels])
    # One sweep is enough: the cost at test time is the same however well the model is trained.
    model.train(1, workers=1, show_progress=False)
    documents = documents_of(test)

    def run(iterations: int) -> None:
        for document in documents:
            model.infer(model.make_doc(document), iterations=iterations, workers=1)

    run(2)
    # A difference of long and short runs, to leave out what it prepares for each document.
    found = sorted(cpu_seconds(lambda: run(52)) - cpu_seconds(lambda: run(2)) for _ in range(3))
    return found[1] / (50 * sum(len(document) for document in documents)) * 1e9


def growth(quick: bool) -> dict[int, float]:
    """Return nanoseconds of a token and cycle for more and more labels, documents alike."""
    found = {}
    for n_labels in (1_000, 4_000, 16_000) if quick else (1_000, 4_000, 16_000, 64_000):
        corpus = power_law(40_000, n_labels, 20_000, tokens_per_document=200)
        train, test = corpus[200:], corpus[:60]
        label_words = train_label_words(train, n_chains=1, schedule=Schedule(20)).label_words
        topics = train_topic_labels(train, 200, n_chains=1, schedule=Schedule(30)).topic_labels
        found[n_labels] = nanoseconds(test, Tables(label_words, topics), PAPER)
    return found


MEMORY = """
import json
from pathlib import Path
from benchmarks.power_law import power_law
from deplda import Schedule, expect_label_words, train_topic_labels
from deplda.inference.settings import Inference
from deplda.inference.batches import rank
from deplda.inference.layout import Tables
def megabytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) / 2**10
corpus = power_law(100_000, 4_000, 20_000, tokens_per_document=60)
train = corpus[:20_000]
tables = Tables(expect_label_words(train).label_words,
                train_topic_labels(train, 200, n_chains=4, schedule=Schedule(20)).topic_labels)
inference = Inference(150.0, 30.0, 10.0, method="deterministic")
list(rank(corpus[:2], tables, inference, 10))
Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
before, n = megabytes("VmRSS"), 0
for batch in rank(corpus, tables, inference, 10):
    n += len(batch.labels)
print(json.dumps([n, megabytes("VmHWM") - before]))
"""


def corpus_of(data_dir: Path | None) -> tuple[str, Corpus, Corpus]:
    if data_dir is None:
        corpus = power_law()
        return "power-law", corpus[1_935:], corpus[:1_935]
    data = datasets.load("eurlex20k", data_dir)
    train, test = (data.corpus[rows] for rows in data.splits[0])
    return "eurlex20k fold 0", train, test


Line = tuple[str, str]


def rows(train: Corpus, test: Corpus, phi: Any, topics: Any) -> list[Row]:
    """Return a token's time in our sampler beside the plain draw over all labels and tomotopy."""
    one = Tables(phi, topics)
    ours = min(nanoseconds(test[:120], one, PAPER) for _ in range(3))
    same = nanoseconds(test[:10], one, PAPER)
    dense = nanoseconds(test[:10], dense_tables(phi, topics), SHORT)
    what, unit = "test time, a token and cycle", "ns"
    llda = tomotopy_nanoseconds(train, test[:5])
    return [
        Row(what, ours, "tomotopy LLDAModel.infer", llda, unit, "less"),
        Row(f"{what}, 10 documents", same, "our plain draw over all labels", dense, unit, "less"),
    ]


def expected_line(test: Corpus, phi: Any, topics: Any) -> Line:
    other = nanoseconds(test[:120], Tables(phi, topics), PAPER)
    return ("a token and cycle with the deterministic φ, ns", f"{other:.0f}")


def protocol_line(test: Corpus, phi: Any, topics: Any, quick: bool) -> Line:
    part, sets = (test[:200], 1) if quick else (test, len(topics))
    tables = Tables(phi, topics[:sets])
    begin = time.perf_counter()
    all_of(part, tables, PAPER, n_jobs=-1)
    share = sets / len(topics) * part.n_tokens / test.n_tokens
    minutes = (time.perf_counter() - begin) / 60 / share
    return ("the paper's 900 samples of the whole fold: minutes, all cores", f"{minutes:.1f}")


def deterministic_line(kind: str, test: Corpus, phi: Any, topics: Any, quick: bool) -> Line:
    part, inference = test[:200] if quick else test, replace(PAPER, method="deterministic")
    one, ten = Tables(phi, topics[:1]), Tables(phi, topics)
    all_of(test[:2], one, inference)
    seconds = cpu_seconds(lambda: all_of(part, one, inference)) / len(part)
    whole = cpu_seconds(lambda: all_of(part, ten, inference)) / len(part) * len(test)
    what = f"deterministic, {kind} φ: ms a document, one set; s for the fold, ten sets"
    return (what, f"{seconds * 1e3:.2f}; {whole:.0f}")


def method_line(method: Any, test: Corpus, phi: Any, topics: Any) -> Line:
    tables, inference = Tables(phi, topics), replace(PAPER, method=method, n_chains=2)
    score_matrix(test[:1], tables, inference)
    begin = time.process_time()
    scores = score_matrix(test, tables, inference, n_jobs=1)
    seconds = (time.process_time() - begin) / len(test)
    found = average_precision(scores, test)
    cycle = seconds / (inference.n_chains * inference.schedule.n_sweeps) * 1e6
    each = "" if method == "deterministic" else f"; {cycle:.0f}"
    what = f"{method}, {len(test)} documents: average precision; ms a document; µs a cycle"
    return (what, f"{found:.4f}; {seconds * 1e3:.0f}{each}")


def memory_line() -> Line:
    done = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True
    )
    n, peak = json.loads(done.stdout)
    return (f"ten best labels of {n:,} documents: peak MB beyond the model", f"{peak:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--quick", action="store_true", help="fewer chains, documents and labels")
    options = parser.parse_args()
    name, train, test = corpus_of(options.data_dir)
    table = Table("what", title=f"inference, {name}, {train.n_labels:,} labels, T = 200")
    table.add_column("figure", justify="right")
    n_chains = 2 if options.quick else 8
    phi = train_label_words(train, n_chains=n_chains, schedule=Schedule(100)).label_words
    expected_phi = expect_label_words(train).label_words
    topics = train_topic_labels(train, 200, n_chains=10, schedule=Schedule(500)).topic_labels
    for row in rows(train, test, phi, topics[:1]):
        figures = f"{row.ours:.0f}; {row.theirs:,.0f}; {row.ratio:.1f}"
        table.add_row(f"{row.what}, {row.unit}; {row.peer}; ratio", figures)
    table.add_row(*expected_line(test, expected_phi, topics[:1]))
    for kind, chosen in (("sampled", phi), ("deterministic", expected_phi)):
        table.add_row(*deterministic_line(kind, test, chosen, topics, options.quick))
    for method in ("sampled", "proper", "deterministic"):
        table.add_row(*method_line(method, test[:200], phi, topics[:1]))
    table.add_row(*protocol_line(test, phi, topics, options.quick))
    for n_labels, cost in growth(options.quick).items():
        table.add_row(f"a token and cycle, power-law, {n_labels:,} labels, ns", f"{cost:.0f}")
    if not options.quick:
        table.add_row(*memory_line())
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
