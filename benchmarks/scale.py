"""How far shards scale: ``python -m benchmarks.scale [--model hybrid] [--write]``.

Generates corpora of the EUR-Lex shape as folders of shards, trains by `fit_shards` and predicts by
`predict_shards`, each time in a new process, and reports of every stage its seconds, memory and
bytes: for documents and labels that grow (two threads), for a Dask worker, of which the cost model
is made, and for two workers against one. What is measured is added to `benchmarks/scale.json`;
``--write`` puts all tables into docs/explanation/scale.md, ``--runs none --write`` those of the
runs that are there. The machine must be quiet, with a core for each of two workers.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
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


_ONE_PART = 20_000
"""Documents from which on those held out are one part."""
Sizes = Iterator[tuple[Shape, Engine, int]]


def shape_of(documents: int, labels: int, shard: int) -> Shape:
    """Return the shape of a corpus, with shards enough for two workers."""
    return Shape(documents, labels, shard=min(shard, -(-documents // 4)))


def growth(options: argparse.Namespace) -> Sizes:
    """Yield the sizes at which two threads are measured, the largest last.

    Labels grow while documents are as many as in the middle, documents while labels are the most.
    """
    documents, labels = centre(options.documents), max(options.labels)
    sizes = [(documents, n) for n in sorted(options.labels) if n != labels]
    sizes += [(n, labels) for n in sorted(options.documents)]
    for n_documents, n_labels in sizes:
        yield shape_of(n_documents, n_labels, options.shard), "threads", 2


def constants(options: argparse.Namespace) -> Sizes:
    """Yield the sizes, none of the largest, that tell what a Dask worker takes.

    Few documents are held out in several parts, which takes longer. At last the same documents are
    in twice as many shards: the runs before cannot tell what each of them costs.
    """
    few, documents = max(_ONE_PART, min(options.documents)), centre(options.documents)
    for n_labels in (centre(options.labels), max(options.labels)):
        for n_documents in (few, documents):
            yield shape_of(n_documents, n_labels, options.shard), "dask", 1
    shape = shape_of(documents, centre(options.labels), options.shard)
    yield shape._replace(parts=2), "dask", 1


def speedups(options: argparse.Namespace) -> Sizes:
    """Yield what else is measured of one worker and two: the others are among those above."""
    shape = shape_of(centre(options.documents), centre(options.labels), options.shard)
    yield shape, "threads", 1
    yield shape, "dask", 2


KINDS: dict[str, Callable[[argparse.Namespace], Sizes]] = {
    "constants": constants, "speedups": speedups, "growth": growth
}  # fmt: skip


def run(job: Job) -> Run:
    """Measure in new processes, so that memory is this run's alone."""
    told = msgspec.json.encode(job).decode()
    for half in ("fit", "predict"):
        command = [sys.executable, "-m", "benchmarks.scale_run", half, told]
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
    parser.add_argument("--runs", choices=("all", *KINDS, "none"), default="all")
    parser.add_argument("--folder", type=Path, help="keep corpora here; by default they are not")
    parser.add_argument("--write", action="store_true", help="put the tables into the docs")
    options = parser.parse_args()
    measured = known()
    warm = Shape(1_000, 100, words=2_000, shard=250)
    with tempfile.TemporaryDirectory() as scratch:
        folder = str((options.folder or Path(scratch)).absolute())
        if options.runs != "none":  # what is measured first would compile the kernels for all
            run(Job(options.model, warm, "threads", 2, scratch, f"{scratch}/warm.json"))
        for kind, sizes in KINDS.items():
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
