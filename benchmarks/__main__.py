"""All comparisons in one table, as ratios: ``python -m benchmarks [--data-dir DIR] [--quick]``.

Without a data folder, corpora of the shape of EUR-Lex are generated. ``--write`` puts the table
into docs/benchmarks.md. tomotopy (the extra [bench]) and a C compiler must be there. Times are CPU
time of one thread, but for the SVMs: those are on the clock, ours with all cores, the loop's with
one.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import evaluation, inference, reading, svm, training
from benchmarks.common import Row, write_between
from benchmarks.power_law import power_law
from deplda import Corpus, Schedule, datasets, expect_label_words, train_topic_labels

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- written by make bench: begin -->\n", "<!-- end -->\n"


def corpora(data_dir: Path | None, quick: bool) -> tuple[str, Corpus, Corpus]:
    if data_dir is not None:
        data = datasets.load("eurlex20k", data_dir)
        train, test = (data.corpus[rows] for rows in data.splits[0])
        return "eurlex20k, fold 0", train, test
    corpus = power_law(1_700, 1_000, 5_000) if quick else power_law()
    return "generated, power-law", corpus[200:], corpus[:200]


def small_corpus(quick: bool) -> Corpus:
    """Return what the SVMs are trained on: a loop over LinearSVC takes its time."""
    return power_law(800, 60, 2_000) if quick else power_law(5_000, 500, 10_000)


def measured(train: Corpus, test: Corpus, quick: bool) -> Iterator[Row]:
    words = training.word_rates(train, 5 if quick else 20)
    yield from training.rows(train, words, quick)
    phi = expect_label_words(train).label_words
    schedule = Schedule(20 if quick else 200)
    topics = train_topic_labels(train, 200, n_chains=1, schedule=schedule).topic_labels
    yield from inference.rows(train, test, phi, topics)
    yield from evaluation.rows(["eurlex20k"] if quick else evaluation.SHAPES)
    yield from svm.rows(small_corpus(quick))
    yield from reading.rows(quick)


def digits(value: float) -> str:
    """Return three digits, or a whole number."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def cells(row: Row) -> tuple[str, ...]:
    ours, theirs = (f"{digits(value)} {row.unit}" for value in (row.ours, row.theirs))
    return row.what, ours, row.peer, theirs, f"{digits(row.ratio)} ×"


def surroundings() -> str:
    """Return the kind of machine and the versions, in a line."""
    model = "an unknown processor"
    if Path("/proc/cpuinfo").is_file():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        model = names[0] if names else model
    compiler = subprocess.run(["cc", "-dumpversion"], capture_output=True, text=True, check=True)
    packages = ("deplda", "numba", "numpy", "scikit-learn", "tomotopy")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return (
        f"{os.cpu_count()} cores of {model}, {platform.system()}; Python "
        f"{platform.python_version()}, {versions}, cc {compiler.stdout.strip()}"
    )


TRIAL = (
    "**Small corpora, to see that it works:** the ratios say little, as they grow with labels and "
    "documents.\n"
)


def markdown(rows: list[Row], corpus: str, command: str) -> str:
    head = ("what", "ours", "beside", "theirs", "ratio")
    lines = [head, ("---", "--:", "---", "--:", "--:"), *(cells(row) for row in rows)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    day = datetime.now(UTC).date().isoformat()
    trial = TRIAL if "--quick" in command else ""
    where = f"Measured on {day} by `{command}` on {surroundings()}.\n"
    return f"{where}{trial}Corpus: {corpus}.\n\n{table}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--quick", action="store_true", help="small corpora: does it work?")
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    options = parser.parse_args()
    name, train, test = corpora(options.data_dir, options.quick)
    shape = f"{len(train):,} documents, {train.n_labels:,} labels, {train.n_tokens:,} tokens"
    rows = list(measured(train, test, options.quick))
    table = Table("what", title=f"{name}: {shape}")
    for column in ("ours", "beside", "theirs", "ratio"):
        table.add_column(column, justify="left" if column == "beside" else "right")
    for row in rows:
        table.add_row(*cells(row))
    Console(width=140).print(table)
    if options.write:
        command = "python -m benchmarks"
        command += " --data-dir DIR" if options.data_dir else ""
        command += " --quick" if options.quick else ""
        write_between(PAGE, BEGIN, END, markdown(rows, f"{name}; {shape}", command))


if __name__ == "__main__":
    main()
