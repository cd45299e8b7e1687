"""Plain text without labels: one document a file, or one a line."""

from __future__ import annotations

import os

from deplda.data.files import StrPath, decode, read_lines
from deplda.data.readers.records import Fields, Rows


def text_rows(path: StrPath, fields: Fields, encoding: str) -> Rows:
    """Yield the whole file as one document, named by its path."""
    lines = [decode(path, number, line, encoding) for number, line in read_lines(path)]
    yield 1, {fields.id or "id": os.fspath(path), fields.text: "\n".join(lines)}


def line_rows(path: StrPath, fields: Fields, encoding: str) -> Rows:
    """Yield each line as a document; blank lines are passed over."""
    for number, line in read_lines(path):
        if line.strip():
            yield number, {fields.text: decode(path, number, line, encoding)}
