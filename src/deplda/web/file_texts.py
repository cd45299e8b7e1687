"""Files of documents that a client sends, read as those on the command line are."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.exceptions import HTTPException

from deplda.data.encodings import AUTO, WESTERN, told_by_mark
from deplda.data.fields import TITLE, Fields
from deplda.data.readers import Row, fields_in, guess_format, read_rows
from deplda.data.readers.columns import ADVICE, ROW_ADVICE
from deplda.data.readers.named_rows import text_of
from deplda.data.readers.sniffing import WHOLE, Format, suffix_of
from deplda.errors import InputError, ReadError
from deplda.web.answers import FileDocument, ReadAnswer
from deplda.web.limits import Limits

_PLAIN = (".txt", ".md")
_LONGEST_ENDING = 12
_OPTION = re.compile(r" \([^()]*--[^()]*\)")
_SAY_FORMAT = re.compile(r"pass format=.*")


def texts_in(body: bytes, name: str, fields: Fields | None, limits: Limits) -> ReadAnswer:
    """Return the documents of a file, their texts no longer than the limit.

    `name` tells the format, with the content; `fields` are the model's, labels are not read.
    """
    fields = replace(fields or Fields(), labels=None, label_columns=(), weights={})
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"file{_ending(name)}"
        path.write_bytes(body)
        try:
            return _documents(body, path, name, fields, limits)
        except ReadError as error:
            if isinstance(error.__cause__, MemoryError):  # it is not the file that is damaged
                raise error.__cause__ from None
            where = f"{name}, line {error.line}" if error.line else name
            raise HTTPException(422, f"{where}: {_for_clients(error.problem)}") from error
        except InputError as error:
            raise HTTPException(422, f"{name}: {error}") from error


def _ending(name: str) -> str:
    """Return what a name ends with, if that may be part of a name here."""
    own = Path(name).name
    packed = ".gz" if own.lower().endswith(".gz") else ""
    ending = suffix_of(own)
    is_plain = ending[1:].isalnum() and ending.isascii() and len(ending) <= _LONGEST_ENDING
    return (ending if is_plain else "") + packed


def _for_clients(problem: str) -> str:
    """Return what is wrong with a file, without options that a client has not."""
    problem = problem.replace(ROW_ADVICE, "")
    problem = _OPTION.sub("", problem.replace(ADVICE, "rename the column that holds the text"))
    return _SAY_FORMAT.sub("let its name end with it, such as .txt, .csv or .pdf", problem)


def _encoding(body: bytes, format: Format) -> str:
    """Return the encoding of a text; what it is taken for is seen on the page, and no warning."""
    if format not in ("csv", "tsv", "text") or told_by_mark(body) is not None:
        return AUTO
    try:
        body.decode()
    except UnicodeDecodeError:
        return WESTERN
    return AUTO


def _documents(body: bytes, path: Path, name: str, fields: Fields, limits: Limits) -> ReadAnswer:
    format: Format = "text" if suffix_of(path) in _PLAIN else guess_format(path)
    if format == "svmlight":
        raise InputError("it holds numbers of words; send texts, such as .csv, .docx or .pdf")
    held, found, n_characters = fields_in(format, fields), list[FileDocument](), 0
    missing = dict.fromkeys(held.texts)
    for number, row in read_rows(path, format, fields, _encoding(body, format)):
        text = text_of(row, held)
        missing = {field: None for field in missing if field not in row}
        if not text.strip():
            continue
        id, title = _named(number, row, fields) if format not in WHOLE else (Path(name).stem, "")
        n_characters += len(id) + len(title) + len(text)
        if n_characters > limits.large_body_bytes:
            raise HTTPException(
                413, f"{name}: its texts have more than {limits.large_body_bytes:,} characters; "
                "send a part of it",
            )  # fmt: skip
        if len(found) == limits.file_documents:
            raise HTTPException(
                413, f"{name}: it has more than {limits.file_documents:,} documents; send a part "
                "of it",
            )  # fmt: skip
        n_left_out = max(len(text) - limits.characters, 0)
        found.append(FileDocument(id, title, text[: limits.characters], n_left_out))
    if not found:
        named = ", ".join(map(repr, fields.texts))
        raise InputError(f"there is no text in it (looked for {named}); name a column so")
    return ReadAnswer(found, [each for each in held.texts if each not in missing], list(missing))


def _named(number: int, row: Row, fields: Fields) -> tuple[str, str]:
    """Return the id and the title of a row; one without an id has its number."""
    id, title = row.get(fields.id or "id"), row.get(TITLE)
    return str(number if id is None else id), title if isinstance(title, str) else ""
