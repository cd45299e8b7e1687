"""Plain text without labels: one document a file, or one a line."""

from __future__ import annotations

import os

from deplda.data.fields import Fields
from deplda.data.files import StrPath, text_lines
from deplda.data.readers.records import Rows
from deplda.data.sizes import max_record, refuse_large


def text_rows(path: StrPath, fields: Fields, encoding: str) -> Rows:
    """Yield the whole file as one document, named by its path."""
    yield 1, {fields.id or "id": os.fspath(path), fields.texts[0]: whole_text(path, encoding)}


def whole_text(path: StrPath, encoding: str) -> str:
    """Return the text of a file."""
    lines, size, limit = [], 0, max_record()
    for _, line in text_lines(path, encoding):
        size += len(line) + 1
        if size > limit:
            refuse_large(path, None, "this text")
        lines.append(line)
    return "\n".join(lines)


def line_rows(path: StrPath, fields: Fields, encoding: str) -> Rows:
    """Yield each line as a document; a blank line is an empty one, so that none loses its place."""
    for number, line in text_lines(path, encoding):
        yield number, {fields.texts[0]: line}
