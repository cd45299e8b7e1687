"""``deplda queue``: which documents to label next."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deplda.cli.documents import Reading, reading_options, records_of
from deplda.cli.options import device_option, engine_option, jobs_option
from deplda.cli.output import (
    as_json,
    as_line,
    check_output,
    force,
    note,
    saved_model,
    show,
    show_json,
    waiting,
)
from deplda.cli.thesaurus import told_in, told_language_option
from deplda.data.wording import counted

if TYPE_CHECKING:
    from deplda.data.readers import Record
    from deplda.models.queueing import Candidates

_BATCH = 256
_COLUMNS = ("id", "value", "reason")


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("documents", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option(
    "--number", "-n", type=click.IntRange(1), default=50, help="Number of documents to list."
)
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="JSONL or CSV file."
)
@jobs_option
@engine_option
@device_option
@told_language_option
@reading_options
@force
@as_json
def queue(
    model: Path,
    documents: tuple[str, ...],
    number: int,
    output: Path | None,
    jobs: int | None,
    engine: str,
    device: str,
    label_language: str | None,
    reading: Reading,
    force: bool,
    as_json: bool,
) -> None:
    """List the unlabelled DOCUMENTS from which MODEL would learn most, to label next.

    Documents whose labels are uncertain come first, above all if the labels have few training
    documents. A document similar to an earlier one comes later. Each has a value and a reason.
    Label some, pass them to `deplda learn`, and run this again: the order changes.

    DOCUMENTS are what `deplda predict` accepts, except folders of shards. Labels are ignored, and
    documents that the model has learned from are left out. Only words are used.

    \b
    deplda queue model new.jsonl
    deplda queue model new.jsonl -n 200 -o next.csv
    """
    from deplda.models.queueing import in_order, told

    if output is not None:
        _check_format(output)
        check_output(output, force)
    classifier: Any = saved_model(model).set_params(
        n_jobs=jobs, engine=engine, device=device, verbose=False
    )
    told_in(classifier, label_language)
    ids: list[str] = []
    n_learned = n_empty = 0

    def with_content(records: Iterator[Record]) -> Iterator[Record]:
        nonlocal n_empty
        for record in records:
            if record.is_empty:
                n_empty += 1
            else:
                yield record

    def noted(parts: Iterator[Candidates]) -> Iterator[Candidates]:
        nonlocal n_learned
        for part in parts:
            n_learned += int((~part.is_new).sum())
            yield part

    size = _BATCH if engine == "threads" and device == "cpu" else 64 * _BATCH
    records = with_content(records_of(documents, reading, classifier))
    parts = _read(classifier, records, ids, size)
    rows = [
        {"id": ids[one.place]} | told(classifier, one)
        for one in in_order(classifier, noted(parts), number)
    ]
    if n_empty:
        note(f"{counted(n_empty, 'empty document')} left out")
    if n_learned:
        note(f"{counted(n_learned, 'document')} left out, which the model has learned from")
    if output is not None:
        _write(output, rows)
    if as_json:
        show_json({"documents": len(ids), "learned": n_learned, "queue": rows})
    elif output is None:
        show(_table(rows, len(ids)))
    else:
        show(f"{len(rows):,} of {counted(len(ids), 'document')}: {output}")


def _read(model: Any, records: Iterator[Record], ids: list[str], size: int) -> Iterator[Candidates]:
    """Yield what is to be known of some documents after the other, and note who they are."""
    from deplda.data.readers import CorpusBuilder
    from deplda.data.rows import column_numbers
    from deplda.models.queueing import candidates

    words = column_numbers(model.words_)
    with waiting("reading and scoring") as done:
        while batch := list(islice(records, size)):
            builder = CorpusBuilder(words, ())
            for record in batch:
                builder.add(record.counts, ())
                ids.append(str(record.id))
            yield candidates(model, builder.corpus())
            done(len(batch))


def _check_format(output: Path) -> None:
    if output.suffix.lower() not in (".jsonl", ".csv"):
        raise click.UsageError(f"{output}: a queue is written as .jsonl or .csv.")


def _write(output: Path, rows: list[dict[str, Any]]) -> None:
    from deplda.data.atomic import write_whole

    text = io.StringIO(newline="")
    if output.suffix.lower() == ".csv":
        table = csv.DictWriter(text, _COLUMNS, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    else:
        text.writelines(as_line(row) + "\n" for row in rows)
    with write_whole(output) as file:
        file.write(text.getvalue().encode())


def _table(rows: list[dict[str, Any]], n_documents: int) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(
        "document", title=f"{len(rows):,} of {counted(n_documents, 'document')}", show_edge=False
    )
    table.add_column("value", justify="right")
    table.add_column("why")
    for row in rows:
        table.add_row(Text(row["id"]), f"{row['value']:.2f}", Text(row["reason"]))
    return table
