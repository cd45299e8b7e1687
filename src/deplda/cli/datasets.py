"""``deplda datasets``: what there is, fetching it, its statistics, and files in other formats."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from deplda.cli.documents import (
    Reading,
    Words,
    as_path,
    corpus_argument,
    is_readable,
    load_corpus,
    reading_options,
    with_kept_words,
    word_options,
)
from deplda.cli.output import as_json, check_output, force, show, show_json, waiting
from deplda.data.files import StandardInput, StrPath
from deplda.errors import InputError, ReadError


@click.group(invoke_without_command=True)
@click.pass_context
def datasets(ctx: click.Context) -> None:
    """List, fetch, describe and convert data sets."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@datasets.command("list")
@as_json
def list_datasets(as_json: bool) -> None:
    """List the data sets that are known by name."""
    from deplda.data import datasets

    entries = datasets.list()
    if as_json:
        show_json([{"name": e.name, "title": e.title, "origin": e.origin} for e in entries])
        return
    from rich.table import Table

    table = Table("name", "what", "from", show_edge=False)
    for entry in entries:
        table.add_row(entry.name, entry.title, entry.origin)
    show(table)


@datasets.command()
@click.argument("name")
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to keep it; by default the user's cache, or $DEPLDA_DATA.",
)
@as_json
def fetch(name: str, data_dir: Path | None, as_json: bool) -> None:
    """Download the files of a data set, and say where they are."""
    from deplda.data import datasets

    files = [str(path) for path in datasets.fetch(name, data_dir).values()]
    if as_json:
        show_json(files)
        return
    show("\n".join(files) if files else f"{name} has no files to download")


@datasets.command()
@corpus_argument
@reading_options
@word_options
@as_json
def stats(corpus: str, reading: Reading, words: Words, as_json: bool) -> None:
    """Show the statistics of a corpus: a file, a folder, or the name of a data set."""
    from deplda.data.statistics import describe

    with waiting(f"reading {corpus} …"):
        loaded = load_corpus(corpus, reading, words.as_written().counter())
        found = describe(with_kept_words(loaded, words))
    if as_json:
        show_json(found.to_dict())
    else:
        show(found)


@datasets.command()
@corpus_argument
@click.argument("target", type=click.Path(path_type=Path))
@reading_options
@word_options
@force
def convert(corpus: str, target: Path, reading: Reading, words: Words, force: bool) -> None:
    """Write CORPUS to TARGET in the format that its name says.

    .jsonl and .parquet have the fields id, text and labels, and keep texts as they are (several
    text fields become one, with a line break between them); .svm has counts, with names in files
    beside it; a name without an ending is a folder, with the splits of a data set.
    All but .parquet may be packed: .jsonl.gz.

    \b
    deplda datasets convert articles.csv articles.jsonl --text-field body --labels-field subjects
    deplda datasets convert newsroom newsroom-folder
    """
    kind = _kind(target)
    check_output(target, force)
    if force and target.is_dir():
        raise InputError(f"{target} is a folder, which --force does not replace; delete it first")
    with waiting(f"converting {corpus} …"):
        n = _write(corpus, target, kind, reading, words)
    show(f"{n:,} documents: {target}")


def _kind(target: Path) -> str:
    name = target.name.removesuffix(".gz")
    kind = Path(name).suffix
    if kind not in ("", ".jsonl", ".parquet", ".svm", ".svmlight") or (
        kind in ("", ".parquet") and name != target.name
    ):
        raise click.UsageError(
            f"{target} is of no format that can be written; its name must end in .jsonl, "
            ".jsonl.gz, .parquet, .svm or .svm.gz, or in nothing for a folder."
        )
    return kind


def _write(corpus: str, target: Path, kind: str, reading: Reading, words: Words) -> int:
    from deplda.data.datasets import Dataset, save_folder
    from deplda.data.readers import guess_format, rows_of, write_jsonl, write_rows, write_svmlight

    path = as_path(corpus)
    is_file = isinstance(path, StandardInput) or is_readable(path)
    if kind in (".jsonl", ".parquet") and is_file:
        format = reading.format or guess_format(path)
        if format not in ("svmlight", "mat"):
            if reading.field_weight:
                raise click.UsageError(
                    f"--field-weight is for counts, but {target} keeps texts as they are; give it "
                    "to deplda train, or convert to .svm or a folder."
                )
            return write_rows(_rows(path, format, reading), target)
    loaded = load_corpus(corpus, reading, words.as_written().counter())
    kept = with_kept_words(loaded, words)
    if kind == "":
        save_folder(Dataset(target.name, kept, loaded.splits), target)
    elif kind == ".jsonl":
        write_jsonl(kept, target)
    elif kind == ".parquet":
        write_rows(rows_of(kept), target)
    else:
        write_svmlight(kept, target)
    return len(kept)


def _rows(path: StrPath, format: Any, reading: Reading) -> Iterator[dict[str, Any]]:
    """Yield the documents with our names for fields; one is in memory at a time."""
    from deplda.data.readers import fields_in, plain_row, read_rows
    from deplda.data.readers.records import located

    fields, empty = fields_in(format, reading.fields()), True
    for number, row in read_rows(path, format, fields, reading.encoding):
        empty = False
        with located(path, number):
            plain = plain_row(row, fields)
        yield plain
    if empty:
        raise ReadError(path, None, "there is no document in it")
