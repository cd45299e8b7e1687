"""How far shards scale: ``python -m benchmarks.scale [--model hybrid] [--write]``.

Generates corpora of the EUR-Lex shape as folders of shards, trains by `fit_shards` and predicts by
`predict_shards`, each time in a new process, and reports of every stage its seconds, memory and
bytes: for documents and labels that grow, and for two workers against one. What is measured is
added to `benchmarks/scale.json`, of which the cost model is made; ``--write`` puts all tables into
docs/explanation/scale.md, ``--runs none --write`` those of the runs that are there. The machine
must be quiet, with a core for each worker and one for the driver.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from benchmarks.common import write_between
from benchmarks.scale_corpora import Shape
from benchmarks.scale_page import PAGE, Measured, page_text
from benchmarks.scale_run import Engine, Job, Run
from deplda.data.atomic import write_whole

RESULTS = Path(__file__).with_name("scale.json")
BEGIN, END = "<!-- written by benchmarks.scale: begin -->\n", "<!-- end -->\n"


def centre(values: list[int]) -> int:
    """Return the value in the middle."""
    return sorted(values)[len(values) // 2]


Sizes = Iterator[tuple[Shape, Engine, int]]


def growth(options: argparse.Namespace) -> Sizes:
    """Yield the sizes at which one worker is measured: one of the two grows at a time.

    At last there are twice as many shards: the runs before cannot tell what each of them costs.
    """
    documents, labels = centre(options.documents), centre(options.labels)
    sizes = [(n, labels, options.shard) for n in sorted(options.documents)]
    sizes += [(documents, n, options.shard) for n in sorted(options.labels) if n != labels]
    sizes.append((documents, max(options.labels), -(-options.shard // 2)))
    for n_documents, n_labels, shard in sizes:
        yield Shape(n_documents, n_labels, shard=shard), "dask", 1


def speedups(options: argparse.Namespace) -> Sizes:
    """Yield what is measured with one worker and two, threads and processes."""
    shape = Shape(centre(options.documents), centre(options.labels), shard=options.shard)
    yield shape, "threads", 1
    yield shape, "threads", 2
    yield shape, "dask", 2  # with one it is one of the sizes above


def run(job: Job) -> Run:
    """Measure in a new process, so that memory is this run's alone."""
    command = [sys.executable, "-m", "benchmarks.scale_run", msgspec.json.encode(job).decode()]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[1])
    return msgspec.json.decode(Path(job.out).read_bytes(), type=Run)


def keep(measured: Measured, found: Run) -> Measured:
    """Return the measurements with a new one, which is kept in the file as well."""
    others = [other for other in measured.runs if other.key != found.key]
    now = Measured([*others, found], datetime.now(UTC).date().isoformat())
    with write_whole(RESULTS) as file:
        file.write(msgspec.json.format(msgspec.json.encode(now), indent=1) + b"\n")
    return now


def known() -> Measured:
    """Return what was measured before."""
    if not RESULTS.is_file():
        return Measured([], "")
    return msgspec.json.decode(RESULTS.read_bytes(), type=Measured)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=("hybrid", "dependency"), default="hybrid")
    parser.add_argument(
        "--documents", type=int, nargs="+", default=[10_000, 100_000, 1_000_000],
        help="how many there are where they grow; the one in the middle where labels grow",
    )  # fmt: skip
    parser.add_argument("--labels", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--shard", type=int, default=10_000, help="documents of a file")
    parser.add_argument("--runs", choices=("all", "growth", "speedups", "none"), default="all")
    parser.add_argument("--folder", type=Path, help="keep corpora here; by default they are not")
    parser.add_argument("--write", action="store_true", help="put the tables into the docs")
    options = parser.parse_args()
    measured = known()
    with tempfile.TemporaryDirectory() as scratch:
        folder = str((options.folder or Path(scratch)).absolute())
        for kind, sizes in (("growth", growth), ("speedups", speedups)):
            if options.runs not in ("all", kind):
                continue
            for shape, engine, workers in sizes(options):
                job = Job(options.model, shape, engine, workers, folder, f"{scratch}/run.json")
                print(f"{shape.documents:,} documents, {shape.labels:,} labels, "
                      f"{shape.shards:,} shards, {workers} of {engine}", flush=True)  # fmt: skip
                measured = keep(measured, run(job))
    text = page_text(measured, options.model)
    print(text)
    if options.write:
        write_between(PAGE, BEGIN, END, text)


if __name__ == "__main__":
    main()
