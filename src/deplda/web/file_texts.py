"""Files of documents that a client sends, read as those on the command line are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.exceptions import HTTPException

from deplda.data.encodings import AUTO, WESTERN, told_by_mark
from deplda.data.fields import Fields
from deplda.data.readers import fields_in, guess_format, read_rows
from deplda.data.readers.columns import ADVICE
from deplda.data.readers.named_rows import text_of
from deplda.data.readers.sniffing import WHOLE, Format, suffix_of
from deplda.errors import InputError, ReadError
from deplda.web.answers import FileDocument, ReadAnswer
from deplda.web.limits import Limits

_NUMBERED = ("svmlight", "mat")
_PLAIN = (".txt", ".md")
_TITLE = "title"


def texts_in(body: bytes, name: str, fields: Fields | None, limits: Limits) -> ReadAnswer:
    """Return the documents of a file, their texts no longer than the limit.

    `name` tells the format, with the content; `fields` are the model's, labels are not read.
    """
    fields = replace(fields or Fields(), labels=None, label_columns=(), weights={})
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"file{_ending(name)}"
        path.write_bytes(body)
        try:
            return ReadAnswer(_documents(body, path, name, fields, limits))
        except ReadError as error:
            where = f"{name}, line {error.line}" if error.line else name
            problem = error.problem.replace(ADVICE, "rename the column that holds the text")
            raise HTTPException(422, f"{where}: {problem}") from error
        except InputError as error:
            raise HTTPException(422, f"{name}: {error}") from error


def _ending(name: str) -> str:
    """Return what a name ends with, if that may be part of a name here."""
    own = Path(name).name
    packed = ".gz" if own.lower().endswith(".gz") else ""
    ending = suffix_of(own)
    return (ending if ending[1:].isalnum() and ending.isascii() else "") + packed


def _encoding(body: bytes, format: Format) -> str:
    """Return the encoding of a text; what it is taken for is seen on the page, and no warning."""
    if format not in ("csv", "tsv", "text") or told_by_mark(body) is not None:
        return AUTO
    try:
        body.decode()
    except UnicodeDecodeError:
        return WESTERN
    return AUTO


def _documents(
    body: bytes, path: Path, name: str, fields: Fields, limits: Limits
) -> list[FileDocument]:
    format: Format = "text" if suffix_of(path) in _PLAIN else guess_format(path)
    if format in _NUMBERED:
        raise InputError("it holds numbers of words; send texts, such as .csv, .docx or .pdf")
    held, found, n_characters = fields_in(format, fields), list[FileDocument](), 0
    for number, row in read_rows(path, format, fields, _encoding(body, format)):
        text, title, id = text_of(row, held), row.get(_TITLE), row.get(fields.id or "id")
        if not text.strip():
            continue
        n_characters += len(text)
        if n_characters > limits.large_body_bytes:
            raise HTTPException(
                413, f"{name}: its texts have more than {limits.large_body_bytes:,} characters; "
                "send a part of it",
            )  # fmt: skip
        if format in WHOLE:
            id = Path(name).stem
        found.append(
            FileDocument(
                str(number if id is None else id),
                title if isinstance(title, str) else "",
                text[: limits.characters],
                max(len(text) - limits.characters, 0),
            )
        )
    if not found:
        named = ", ".join(map(repr, fields.texts))
        raise InputError(f"there is no text in it (looked for {named}); name a column so")
    return found
