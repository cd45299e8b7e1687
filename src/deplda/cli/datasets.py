"""``deplda datasets``: list, fetch, describe and convert data sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deplda.cli.documents import (
    Reading,
    Words,
    as_path,
    corpus_argument,
    fetched,
    is_readable,
    load_corpus,
    reading_options,
    with_kept_words,
    word_options,
)
from deplda.cli.output import as_json, check_output, force, note, show, show_json, waiting
from deplda.cli.thesaurus import (
    in_vocabulary,
    open_vocabulary,
    rows_in_vocabulary,
    vocabulary_options,
)
from deplda.data.files import StrPath
from deplda.data.wording import counted
from deplda.errors import InputError, ReadError

if TYPE_CHECKING:
    from deplda.data.corpus import Corpus


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
    help="Where to store it; by default the user's cache, or $DEPLDA_DATA.",
)
@click.option("--anew", is_flag=True, help="Make debtags again, from apt's current lists.")
@as_json
def fetch(name: str, data_dir: Path | None, anew: bool, as_json: bool) -> None:
    """Make the files of debtags, and show where they are.

    Its 30,000 package descriptions come from the lists that apt keeps on Debian; no download.
    """
    paths = fetched(name, data_dir, anew=anew)
    if as_json:
        show_json([str(path) for path in paths])
        return
    if not paths:
        show(f"{name} has no files to fetch: it is generated when it is used")
        return
    show("\n".join(map(str, paths)))
    show(paths[-1].read_text(encoding="utf-8").strip())


@datasets.command()
@corpus_argument
@reading_options
@word_options
@as_json
def stats(corpus: str, reading: Reading, words: Words, as_json: bool) -> None:
    """Show the statistics of a corpus: a file, a folder, or the name of a data set.

    Words are counted as `deplda train` counts them: forms are merged, and rare words dropped.
    """
    from deplda.data.statistics import describe

    loaded = load_corpus(corpus, reading, words.counter())
    found = describe(with_kept_words(loaded, words))
    if as_json:
        show_json(found.to_dict())
    else:
        show(found)


@datasets.command()
@corpus_argument
@click.argument("target", type=click.Path(path_type=Path))
@click.option(
    "--output-format",
    type=click.Choice(["annif"]),
    help="annif: TARGET is Annif's .tsv, .csv or .jsonl, or, without an extension, a folder of"
    " full texts. By default one of our formats, by the name of TARGET.",
)
@reading_options
@word_options
@vocabulary_options
@force
def convert(
    corpus: str,
    target: Path,
    output_format: str | None,
    reading: Reading,
    words: Words,
    vocabulary: Path | None,
    label_language: str | None,
    replace_deprecated: bool,
    force: bool,
) -> None:
    """Write CORPUS to TARGET, in the format given by the extension of TARGET.

    .jsonl and .parquet have the fields id, text and labels, and keep texts unchanged (several text
    fields are joined by a line break); .svm has counts, with names in separate files; a name
    without an extension is a folder, with the splits of a data set.
    All but .parquet can be compressed: .jsonl.gz.

    With --output-format annif it is a .tsv, .csv, .jsonl or a folder that Annif reads. Labels must
    be URIs, or --vocabulary must have the URIs of their names (.jsonl and folders can hold names).

    \b
    deplda datasets convert articles.csv articles.jsonl --text-field body --labels-field subjects
    deplda datasets convert newsroom newsroom-folder
    deplda datasets convert articles.jsonl articles.tsv --output-format annif --vocabulary yso.tsv
    """
    kind = _kind(target, output_format)
    check_output(target, force)
    if force and target.is_dir():
        raise InputError(f"{target} is a folder, which --force does not replace; delete it first")
    concepts = None if vocabulary is None else open_vocabulary(vocabulary, label_language)
    named = None
    if concepts is not None:
        named = {
            "vocabulary": concepts, "language": label_language,
            "replace_deprecated": replace_deprecated,
        }  # fmt: skip
    with waiting(f"converting {corpus}"):
        if output_format == "annif":
            from deplda.data.readers import write_annif

            rows = _texts_of(corpus, target, reading, named)
            n = write_annif(rows, target, vocabulary=concepts, language=label_language)
        else:
            n = _write(corpus, target, kind, reading, words, named)
    show(f"{counted(n, 'document')}: {target}")


def _kind(target: Path, output_format: str | None) -> str:
    from deplda.data.readers.annif_writers import SUFFIXES

    name = target.name.removesuffix(".gz")
    kind = Path(name).suffix
    is_packed = name != target.name
    if output_format == "annif":
        if kind not in ("", *SUFFIXES) or (kind == "" and is_packed):
            raise click.UsageError(
                f"{target} is none of Annif's formats; its name must end in .tsv, .csv or .jsonl "
                "(or with .gz after it), or in nothing for a folder of full texts."
            )
        return kind
    if kind in (".tsv", ".csv"):
        raise click.UsageError(
            f"{target} can be written as Annif has it: add --output-format annif. Formats of ours "
            "that can be written end in .jsonl, .jsonl.gz, .parquet, .svm or .svm.gz."
        )
    if kind not in ("", ".jsonl", ".parquet", ".svm", ".svmlight") or (
        kind in ("", ".parquet") and is_packed
    ):
        raise click.UsageError(
            f"{target} is of no format that can be written; its name must end in .jsonl, "
            ".jsonl.gz, .parquet, .svm or .svm.gz, or in nothing for a folder."
        )
    return kind


def _write(
    corpus: str,
    target: Path,
    kind: str,
    reading: Reading,
    words: Words,
    named: dict[str, Any] | None,
) -> int:
    """Write a format of ours; return how many documents it has."""
    from deplda.data.datasets import Dataset, save_folder
    from deplda.data.readers import guess_format, rows_of, write_jsonl, write_rows, write_svmlight

    path = as_path(corpus)
    if kind in (".jsonl", ".parquet") and is_readable(path, reading):
        format = reading.format or guess_format(path)
        if format != "svmlight":
            _check_weightless(reading, target)
            return write_rows(_named(_rows(path, format, reading), named), target)
    loaded = load_corpus(corpus, reading, words.as_written().counter())
    kept = with_kept_words(loaded, words)
    if loaded.texts and kind in (".jsonl", ".parquet"):
        return write_rows(_named(_with_texts(kept, loaded.texts), named), target)
    if named is not None:
        kept = in_vocabulary(kept, **named)
    if kind == "":
        save_folder(Dataset(target.name, kept, loaded.splits), target)
    elif kind == ".jsonl":
        write_jsonl(kept, target)
    elif kind == ".parquet":
        write_rows(rows_of(kept), target)
    else:
        write_svmlight(kept, target)
    return len(kept)


def _texts_of(
    corpus: str, target: Path, reading: Reading, named: dict[str, Any] | None
) -> Iterator[dict[str, Any]]:
    """Return the documents with their texts, of a file or of a data set that has them."""
    from deplda.data.readers import guess_format
    from deplda.data.text import CountsOnly

    path, loaded = as_path(corpus), None
    if not is_readable(path, reading):
        loaded = load_corpus(corpus, reading, CountsOnly())
    elif (format := reading.format or guess_format(path)) != "svmlight":
        _check_weightless(reading, target)
        return _named(_rows(path, format, reading), named)
    if loaded is None or not loaded.texts:
        raise InputError(
            f"{corpus} holds counts of words, and Annif's formats hold texts; convert the texts it "
            "was counted from, or write .jsonl, .parquet or .svm of our own"
        )
    return _named(_with_texts(loaded.corpus, loaded.texts), named)


def _with_texts(corpus: Corpus, texts: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for row, text in enumerate(texts):
        labels = [corpus.label_names[place] for place in corpus.labels[[row]].indices]
        yield {"id": corpus.ids[row], "text": text, "labels": labels}


def _named(
    rows: Iterator[dict[str, Any]], named: dict[str, Any] | None
) -> Iterator[dict[str, Any]]:
    return rows if named is None else rows_in_vocabulary(rows, **named)


def _check_weightless(reading: Reading, target: Path) -> None:
    if reading.field_weight:
        raise click.UsageError(
            f"--field-weight is for counts, but {target} keeps texts as they are; give it "
            "to deplda train, or convert to .svm or a folder."
        )


def _rows(path: StrPath, format: Any, reading: Reading) -> Iterator[dict[str, Any]]:
    """Yield the documents with our names for fields; one is in memory at a time."""
    from deplda.data.readers import fields_in, plain_row, read_settled
    from deplda.data.readers.records import located

    found = read_settled(path, format, fields_in(format, reading.fields()), reading.written)
    if found.separator is not None:
        note(found.separator.note)
    fields, empty = found.fields, True
    for number, row in found.rows:
        empty = False
        with located(path, number):
            plain = plain_row(row, fields)
        yield plain
    if empty:
        raise ReadError(path, None, "there is no document in it")
