"""JSON that is no JSON lines: an array of documents, or one document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from deplda.data.encodings import decode, utf8_unless
from deplda.data.fields import Fields
from deplda.data.files import StrPath, open_text
from deplda.data.readers.jsonl import FieldsSeen, json_object
from deplda.data.readers.records import Rows, found, located
from deplda.data.readers.spelling import Spelling
from deplda.data.sizes import max_record, max_whole, refuse_large
from deplda.errors import Place, ReadError


def json_rows(path: StrPath, fields: Fields, encoding: str) -> Rows:
    """Yield the documents of an array, decoded one at a time, or the one that an object is.

    The number of a row is that of the document in the array, from 1.
    """
    spelling, seen = Spelling(fields), FieldsSeen(fields)
    for n, document in enumerate(_documents(path, fields, encoding), start=1):
        number = Place(n, "document")
        with located(path, number):
            row = spelling.applied(json_object(path, number, document, "utf-8"))
        seen.look_at(row)
        yield number, row
    seen.check(path)


def _documents(path: StrPath, fields: Fields, encoding: str) -> Iterable[bytes]:
    content = _content(path, encoding)
    begin = _space(content, 0)
    if content[begin : begin + 1] == b"[":
        return _elements(path, content, begin + 1)
    if len(content) > max_record():
        refuse_large(path, None, "this file, which is no array of documents,", size=len(content))
    try:
        given = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _not_json(path, error) from error
    names = {*given, *Spelling(fields).others(given)}
    if names.isdisjoint((*fields.texts, fields.tokens, fields.counts)):
        raise ReadError(path, None, _without_documents(given))
    return [content]


# What has no bracket in it but within quotes, as far as it goes.
_PLAIN = re.compile(rb"""(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+""", re.DOTALL)
_SCALAR = re.compile(rb"""(?:[^",\]]++|"(?:[^"\\]++|\\.)*+")*+""", re.DOTALL)
_SPACE = re.compile(rb"[ \t\r\n]*+")


def _elements(path: StrPath, content: bytes, at: int) -> Iterator[bytes]:
    """Yield the elements of an array as they are written, one in memory at a time.

    Brackets are counted, whatever their kind: what is between them is read later.
    """
    at, limit, n = _space(content, at), max_record(), 1
    is_over = content[at : at + 1] == b"]"
    while not is_over:
        end = _end_of(content, at)
        if end - at > limit:
            refuse_large(path, Place(n, "document"), "it", size=end - at)
        yield content[at:end]
        at = _space(content, end)
        if (mark := content[at : at + 1]) not in (b",", b"]"):
            problem = f"expected `,` or `]` (byte {at})" if mark else "input data was truncated"
            raise _not_json(path, problem)
        is_over = mark == b"]"
        at, n = (at, n) if is_over else (_space(content, at + 1), n + 1)
    if (rest := _space(content, at + 1)) < len(content):
        raise _not_json(path, f"trailing characters (byte {rest})")


def _end_of(content: bytes, at: int) -> int:
    """Return where an element ends: with its brackets, or with what is left before the next."""
    if content[at : at + 1] not in (b"{", b"["):
        match = _SCALAR.match(content, at)
        return at if match is None else match.end()
    depth = 0
    while at < len(content):
        depth += {b"{": 1, b"[": 1}.get(content[at : at + 1], -1)
        if not depth:
            return at + 1
        match = _PLAIN.match(content, at + 1)
        at = len(content) if match is None else match.end()
    return at


def _space(content: bytes, at: int) -> int:
    """Return where white space ends."""
    match = _SPACE.match(content, at)
    return at if match is None else match.end()


def _not_json(path: StrPath, problem: object) -> ReadError:
    return ReadError(
        path,
        None,
        f"this is not JSON ({problem}); it must be an array of objects or one object: name it "
        ".jsonl if it has one a line",
    )


def _content(path: StrPath, encoding: str) -> bytes:
    """Return the text of a file in UTF-8."""
    content, limit = bytearray(), max_whole()
    with open_text(path, utf8_unless(encoding)) as (file, known):
        while block := file.read(1 << 20):
            content += block
            if len(content) > limit:
                refuse_large(path, None, "this file", whole=True)
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
