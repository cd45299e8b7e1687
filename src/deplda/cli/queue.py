"""``deplda queue``: which documents to label next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

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
    from deplda.data.fields import Fields
    from deplda.data.readers import Record
    from deplda.models.queueing import Candidates

_BATCH = 256


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("documents", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option(
    "--number", "-n", type=click.IntRange(1), default=50, help="Number of documents to list."
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="JSONL or CSV file for the listed documents, with their texts.",
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

    The file of --output has the titles and texts too, in the fields that MODEL was trained on:
    `deplda predict` reads it, and the page of `deplda serve` opens it.

    \b
    deplda queue model new.jsonl
    deplda queue model new.jsonl -n 200 -o next.csv
    """
    from deplda.data.fields import Fields
    from deplda.models.queueing import in_order, told

    if output is not None:
        _check_format(output)
        check_output(output, force)
    classifier: Any = saved_model(model).set_params(
        n_jobs=jobs, engine=engine, device=device, verbose=False
    )
    told_in(classifier, label_language)
    fields = classifier.fields_ or Fields()
    ids: list[str] = []
    contents: list[dict[str, Any]] = []
    n_learned = n_empty = 0

    def with_content(records: Iterator[Record]) -> Iterator[Record]:
        nonlocal n_empty
        for record in records:
            if record.is_empty:
                n_empty += 1
                continue
            if output is not None:
                contents.append(_content(record, fields))
            yield record

    def noted(parts: Iterator[Candidates]) -> Iterator[Candidates]:
        nonlocal n_learned
        for part in parts:
            n_learned += int((~part.is_new).sum())
            yield part

    size = _BATCH if engine == "threads" and device == "cpu" else 64 * _BATCH
    records = with_content(records_of(documents, reading, classifier, in_bulk=True))
    parts = _read(classifier, records, ids, size)
    order = in_order(classifier, noted(parts), number)
    rows = [{"id": ids[one.place]} | told(classifier, one) for one in order]
    if n_empty:
        note(f"{counted(n_empty, 'empty document')} left out")
    if n_learned:
        note(f"{counted(n_learned, 'document')} left out, which the model has learned from")
    if output is not None:
        id = fields.names_to_write.id
        written = [
            {id: row.pop("id")} | row | contents[one.place]
            for one, row in zip(order, map(dict, rows), strict=True)
        ]
        _write(output, written, fields)
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


def _content(record: Record, fields: Fields) -> dict[str, Any]:
    """Return the title and texts of a document in the fields of a model, or its counts."""
    names, texts = fields.names_to_write, record.texts
    if not texts:
        return {fields.counts: dict(cast("Mapping[str, int]", record.counts))}
    if not texts.keys() <= {*fields.texts}:  # options have named other fields
        texts = {names.text: "\n".join(texts.values())}
    title = {names.title: record.title} if names.title is not None and record.title else {}
    return {**title, **dict.fromkeys(fields.texts, ""), **texts}


def _write(output: Path, rows: list[dict[str, Any]], fields: Fields) -> None:
    from deplda.data.atomic import write_whole
    from deplda.data.readers.tables import header_line, row_line

    if output.suffix.lower() == ".csv":
        names = fields.names_to_write
        title = () if names.title is None else (names.title,)
        titles = [name for name in title if any(name in row for row in rows)]
        columns = [names.id, "value", "reason", *titles, *fields.texts]
        cells = [tuple(row.get(name) for name in columns) for row in rows]
        lines = [header_line(columns, ","), *(row_line(each, ",") for each in cells)]
    else:
        lines = [f"{as_line(row)}\n".encode() for row in rows]
    with write_whole(output) as file:
        file.writelines(lines)


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
