"""``deplda explain``: why labels are suggested for a document."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deplda.cli.documents import Reading, as_path, format_of, is_readable, reading_options
from deplda.cli.output import as_json, check_output, force, note, saved_model, show, show_json
from deplda.cli.thesaurus import told_in, told_language_option
from deplda.data.files import StandardInput
from deplda.errors import InputError, ReadError
from deplda.models.registry import can, verbs_that_can

if TYPE_CHECKING:
    from deplda.data.readers import Fields, Row

_FILE_NAME = re.compile(r"\S*(?:\.[A-Za-z][A-Za-z0-9]{0,7}|[/\\]\S*)")
"""What is taken for the name of a file though there is none: it has an ending, or a folder."""


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("document", required=False, type=click.Path(allow_dash=True))
@click.option(
    "--limit", "-k", type=click.IntRange(1), default=5, help="Number of labels to explain."
)
@click.option("--words", "-n", type=click.IntRange(1), default=8, help="Number of words per label.")
@click.option(
    "--pick", metavar="ID", help="Which document of the file to explain; the first by default."
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the explanation as an HTML page.",
)
@told_language_option
@reading_options
@force
@as_json
def explain(
    model: Path,
    document: str | None,
    limit: int,
    words: int,
    pick: str | None,
    html: Path | None,
    label_language: str | None,
    reading: Reading,
    force: bool,
    as_json: bool,
) -> None:
    """Explain why labels are suggested for one document.

    DOCUMENT is a file, if there is one of that name, or else a text; - is standard input, which is
    also the default. If a file has several documents, --pick selects one; the default is the first.

    \b
    deplda explain model 'stocks fell on fears of recession'
    deplda explain model articles.jsonl --pick a17 --html a17.html
    """
    if html is not None:
        check_output(html, force)
    classifier = _explaining_model(model)
    told_in(classifier, label_language)
    explanation = _explained(
        classifier, *_row(document, pick, reading, classifier.fields_), k=limit, n_words=words
    )
    if html is not None:
        from deplda.data.atomic import write_whole

        with write_whole(html) as file:
            file.write(explanation.to_html().encode())
    if as_json:
        show_json(explanation.to_dict())
    else:
        show(explanation)


def _explained(model: Any, row: Row, fields: Fields, **how: Any) -> Any:
    """Return the explanation of a document read as for predictions, with its text if it is one."""
    from deplda.data.readers import CorpusBuilder, counts_in, plain_row
    from deplda.data.text import CountsOnly

    plain = plain_row(row, fields)
    counter, builder = model.counter_ or CountsOnly(), CorpusBuilder()
    builder.add(counts_in(row, fields, counter.analyzer().document_counts), ())
    found = model.explain(builder.corpus(), **how)
    if "counts" in plain or "tokens" in plain:
        return found
    return found.located(plain["text"], counter)


def _row(
    given: str | None, pick: str | None, reading: Reading, remembered: Fields | None
) -> tuple[Row, Fields]:
    """Return the document that is meant, and the fields it is to be read by."""
    from deplda.data.readers import Fields, fields_in, id_in, read_rows, read_shards, rows_of

    path = as_path("-" if given is None else given)
    if (given is None and sys.stdin.isatty()) or (given is not None and not given.strip()):
        raise click.UsageError("Give a text, a file, or a document on standard input.")
    if os.path.isdir(path) and not is_readable(path, reading):
        raise ReadError(path, None, "this is a folder; name one of its files")
    if not isinstance(path, StandardInput) and not os.path.exists(path):  # a text may be long
        if _FILE_NAME.fullmatch(str(given)):
            problem = (
                "there is no such file; if this is a text to explain, give it on standard input"
            )
            raise ReadError(path, None, problem)
        return {"text": given}, Fields()
    fields = reading.fields(remembered, labelled=False)
    format = format_of(path, reading, fields)
    if format == "lines" and isinstance(path, StandardInput):
        format = "text"  # all of it is one document
    rows: Any
    if format == "svmlight":
        fields = Fields()
        rows = (row for shard in read_shards(path, 1000, format) for row in rows_of(shard))
    else:
        fields = fields_in(format, fields)
        rows = (row for _, row in read_rows(path, format, fields, *reading.written))
    for number, row in enumerate(rows):
        id = id_in(row, fields)
        name = str(number) if id is None else str(id)
        if pick is None or name == pick:
            if not isinstance(path, StandardInput):
                _note_file(path, name, is_first=pick is None and next(rows, None) is not None)
            return row, fields
    problem = "there is no document in it" if pick is None else f"it has no document {pick!r}"
    raise ReadError(path, None, problem)


def _note_file(path: Path, id: str, *, is_first: bool) -> None:
    """Say that a file is explained and not its name, and which document if it has others."""
    which = f", its first document, {id!r} (--pick ID takes another)" if is_first else ""
    note(f"explained: the file {path}{which}")


def _explaining_model(path: Path) -> Any:
    """Return a saved model that can explain its suggestions."""
    model = saved_model(path)
    if not can(model, "explain"):
        raise InputError(
            f"{path} is a {type(model).__name__}, which knows no words of labels; explain is for "
            f"{verbs_that_can('explain')} models (deplda train --model hybrid)"
        )
    return model
