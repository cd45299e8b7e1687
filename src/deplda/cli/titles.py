"""Titles of documents, for models that keep them as examples (``train --keep-examples``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deplda.cli.documents import Loaded, Reading, is_readable
from deplda.data.fields import TITLE

if TYPE_CHECKING:
    from deplda.data.fields import Fields

_N_FIRST_WORDS = 30


def check_source(source: str) -> None:
    """Raise if documents can be read only once."""
    path = Path(source)
    if source == "-" or (path.exists() and not path.is_file() and not path.is_dir()):
        raise click.UsageError(
            f"--keep-examples reads the documents twice, but {source} can be read only once; "
            "give a file."
        )


def titles_of(source: str, reading: Reading, loaded: Loaded) -> dict[str, str]:
    """Return a title of each document that was loaded from a source, by its id.

    It is the field `title`, or else the first words of the text. The file is read once more.
    """
    from deplda.data.readers import fields_in, guess_format, read_rows

    path, ids = Path(source), loaded.corpus.ids
    if not is_readable(path, reading):
        return dict(zip(ids, loaded.texts or ids, strict=True))
    format = reading.format or guess_format(path)
    if loaded.fields is None:  # a format of numbers
        return dict(zip(ids, ids, strict=True))
    rows = read_rows(path, format, loaded.fields, *reading.written)
    fields = fields_in(format, loaded.fields)
    return {id: _title(row, fields) or id for id, (_, row) in zip(ids, rows, strict=True)}


def _title(row: Mapping[str, Any], fields: Fields) -> str:
    """Return the title that a row has, or the first words of its texts; empty if it has none."""
    for name in (TITLE, *fields.texts):
        text = row.get(name)
        if isinstance(text, str) and text.strip():
            return text
    return " ".join(islice(_words(row, fields), _N_FIRST_WORDS))


def _words(row: Mapping[str, Any], fields: Fields) -> Iterator[str]:
    """Yield the words of a row that has no text, but a list of them or their counts."""
    for name in (fields.tokens, fields.counts):
        found = row.get(name)
        if isinstance(found, Mapping | list | tuple):
            yield from (str(each[0] if isinstance(each, tuple) else each) for each in found)
