"""JSON that is no JSON lines: an array of documents, or one document."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from deplda.data.encodings import decode, utf8_unless
from deplda.data.fields import Fields
from deplda.data.files import StrPath, open_text
from deplda.data.readers.jsonl import LabelsSeen, json_object
from deplda.data.readers.records import Rows, found, located
from deplda.data.readers.spelling import Spelling
from deplda.data.sizes import max_whole, too_large
from deplda.errors import Place, ReadError


def json_rows(path: StrPath, fields: Fields, encoding: str) -> Rows:
    """Yield the documents of an array, decoded one at a time, or the one that an object is.

    The number of a row is that of the document in the array, from 1.
    """
    spelling, labels = Spelling(fields), LabelsSeen(fields)
    for n, document in enumerate(_documents(path, fields, encoding), start=1):
        number = Place(n, "document")
        with located(path, number):
            row = spelling.applied(json_object(path, number, bytes(document), "utf-8"))
        labels.look_at(row)
        yield number, row
    labels.check(path)


def _documents(path: StrPath, fields: Fields, encoding: str) -> Iterable[msgspec.Raw | bytes]:
    content = _content(path, encoding)
    is_object = content.lstrip()[:1] == b"{"
    try:
        if not is_object:
            return msgspec.json.decode(content, type=list[msgspec.Raw])
        given = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReadError(
            path,
            None,
            f"this is not JSON ({error}); it must be an array of objects or one object: name it "
            ".jsonl if it has one a line",
        ) from error
    names = {*given, *Spelling(fields).others(given)}
    if names.isdisjoint((*fields.texts, fields.tokens, fields.counts)):
        raise ReadError(path, None, _without_documents(given))
    return [content]


def _content(path: StrPath, encoding: str) -> bytes:
    """Return the text of a file in UTF-8."""
    content, limit = bytearray(), max_whole()
    with open_text(path, utf8_unless(encoding)) as (file, known):
        while block := file.read(1 << 20):
            content += block
            if len(content) > limit:
                raise too_large(path, None, "this file", whole=True)
    if known == "utf-8":
        return bytes(content)
    return decode(path, 1, bytes(content), known).encode("utf-8", "surrogatepass")


def _without_documents(given: dict[str, msgspec.Raw]) -> str:
    """Return what to say of an object that is no document."""
    problem = f"it is one object, and no document (found: {found(given)})"
    for name, value in given.items():
        if bytes(value).lstrip()[:1] == b"[":
            return (
                f"{problem}; are the documents under {name!r}? save that array as a file of its "
                f"own, for example with: jq '.[\"{name}\"]'"
            )
    return (
        f"{problem}; write documents as an array of objects (pandas: orient='records'), or name "
        "the text with Fields(text=...) (--text-field)"
    )
