"""``deplda labels``: which labels a model knows, how well it finds them, and their words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deplda.cli.options import OneOf
from deplda.cli.output import (
    as_json,
    as_line,
    check_output,
    force,
    note,
    saved_model,
    show,
    show_json,
    trusts_models,
)
from deplda.cli.thesaurus import told_in, told_language_option
from deplda.data.wording import counted

if TYPE_CHECKING:
    from deplda.models.label_table import LabelEntry, LabelTable

_SHOWN = 20
_ORDERS = ("frequency", "rarest", "quality", "worst", "name")
_FORMATS = (".csv", ".tsv", ".jsonl")


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--sort",
    "order",
    type=OneOf(_ORDERS),
    default="frequency",
    help="Order: most or fewest training documents first, or best or worst average precision "
    "on held-out documents first.",
)
@click.option(
    "--limit",
    "-k",
    type=click.IntRange(1),
    show_default=f"{_SHOWN} in a table, else all",
    help="Maximum number of labels to list.",
)
@click.option("--search", default="", metavar="TEXT", help="Only labels whose names contain this.")
@click.option("--words", "-n", type=click.IntRange(0), default=5, help="Number of words per label.")
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to a .csv, .tsv or .jsonl file instead.",
)
@told_language_option
@force
@as_json
def labels(
    model: Path,
    order: Any,
    limit: int | None,
    search: str,
    words: int,
    output: Path | None,
    label_language: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """List the labels of MODEL: training documents, quality on held-out documents, top words.

    The quality of a label is its average precision, 0 to 1, in the ranking of the training
    documents that `train` held out: 1 if all documents with the label rank before all others. A
    dash means that no held-out document has the label.

    \b
    deplda labels model
    deplda labels model --sort rarest --limit 50
    deplda labels model --search law -o labels.csv
    """
    from deplda.models.label_table import label_table

    if output is not None:
        if output.suffix.lower() not in _FORMATS:
            raise click.UsageError(f"{output}: labels are written as {', '.join(_FORMATS)}.")
        check_output(output, force)
    classifier = told_in(saved_model(model), label_language)
    most = limit or (None if as_json or output is not None else _SHOWN)
    found = label_table(classifier, order, search=search, limit=most, n_words=words)
    if not found.is_measured:
        note(f"Note: the quality of labels is not measured: {_why_not(model)}.")
    if output is not None:
        _write(output, found.entries)
    if as_json:
        told = [_told(entry) for entry in found.entries]
        show_json({"total": found.n_found, "measured": found.is_measured, "labels": told})
    elif output is not None:
        show(f"{counted(len(found.entries), 'label')}: {output}")
    elif not found.entries:
        note(f"none of {counted(found.n_labels, 'label')} has {search!r} in its name")
    else:
        show(_table(found))
        for line in _below(found, classifier):
            note(line)


def _why_not(path: Path) -> str:
    from deplda.models.card import read_card

    if read_card(path, trusted=trusts_models()).learned.get("held_out") != {}:
        return "the model was fitted by an earlier version; train it again"
    return (
        "no training documents were held out, or the model has learned on since; train it on all "
        "documents, with n_held_out above 0 (the default)"
    )


def _told(entry: LabelEntry) -> dict[str, Any]:
    """Return an entry as JSON, without what a model without a vocabulary has not."""
    named = {key: value for key, value in entry._asdict().items() if key in ("uri", "notation")}
    own = {key: value for key, value in entry._asdict().items() if key not in named}
    return own | {key: value for key, value in named.items() if value is not None}


def _table(found: LabelTable) -> Any:
    from rich.table import Table
    from rich.text import Text

    has_notations = any(entry.notation is not None for entry in found.entries)
    has_words = any(entry.words for entry in found.entries)
    table = Table("label", show_edge=False)
    if has_notations:
        table.add_column("notation")
    for name in ("training\ndocuments", "held out", "average\nprecision"):
        table.add_column(name, justify="right")
    if has_words:
        table.add_column("likeliest words")
    for entry in found.entries:
        held_out = "–" if entry.held_out is None else f"{entry.held_out:,}"
        quality = "–" if entry.average_precision is None else f"{entry.average_precision:.3f}"
        cells = [f"{entry.documents:,}", held_out, quality]
        cells = [entry.notation or "", *cells] if has_notations else cells
        cells = [*cells, ", ".join(entry.words)] if has_words else cells
        table.add_row(Text(entry.label), *map(Text, cells))
    return table


def _below(found: LabelTable, model: Any) -> list[str]:
    """Return what is said below a table: how much of it is shown, and what the numbers are of."""
    lines = []
    if len(found.entries) < found.n_found:
        lines.append(
            f"({len(found.entries):,} of {counted(found.n_found, 'label')}; --limit N shows more, "
            "-o labels.csv has all)"
        )
    elif found.n_found < found.n_labels:
        lines.append(f"({found.n_found:,} of {counted(found.n_labels, 'label')} found)")
    if found.is_measured and "documents" in model.held_out_:
        n = counted(round(model.held_out_["documents"]), "training document")
        lines.append(
            f"(average precision, 0 to 1, of the ranking of {n} held out; – if none has it)"
        )
    return lines


def _write(output: Path, entries: list[LabelEntry]) -> None:
    from deplda.data.atomic import write_whole
    from deplda.data.readers.tables import header_line, row_line
    from deplda.models.label_table import LabelEntry

    suffix = output.suffix.lower()
    delimiter = "," if suffix == ".csv" else "\t"
    with write_whole(output) as file:
        if suffix != ".jsonl":
            file.write(header_line(LabelEntry._fields, delimiter))
        for entry in entries:
            if suffix == ".jsonl":
                file.write(as_line(_told(entry)).encode() + b"\n")
            else:
                cells = (*entry[:-1], " ".join(entry.words))
                file.write(row_line(cells, delimiter))
