"""Annif's documents: TSV, CSV, JSON lines, one JSON file a document, and folders of full texts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from deplda.data.encodings import utf8_unless
from deplda.data.fields import Fields
from deplda.data.files import (
    StandardInput,
    StrPath,
    check_plain,
    head_of,
    lines_of,
    open_text,
    text_lines,
)
from deplda.data.readers.columns import csv_rows
from deplda.data.readers.extracted import extracted_text
from deplda.data.readers.jsonl import json_object
from deplda.data.readers.plain import whole_text
from deplda.data.readers.records import Row, Rows, found, located
from deplda.data.readers.sniffing import HEAD, JSON_FIELDS, is_annif_csv, suffix_of
from deplda.data.readers.spelling import Spelling
from deplda.errors import InputError, ReadError

ID, TEXT, METADATA, SUBJECTS, SUBJECT_URIS = (
    "document_id", "text", "metadata", "subjects", "subject_uris"
)  # fmt: skip
_KINDS: dict[str, Kind] = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json",
                           ".tsv": "tsv"}  # fmt: skip
_TEXT_ENDS, _SUBJECT_ENDS = (".txt", ".pdf", ".docx"), (".tsv", ".key")
_ENDS = (*_TEXT_ENDS, ".json")
_IN_BRACKETS = re.compile(r"<([^<>\s]+)>")
_AS_JSON = re.compile(r"\s*<?([^<>\s]+)>?\s*")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^<>\s]+")

Kind = Literal["folder", "tsv", "csv", "jsonl", "json"]


def annif_rows(path: StrPath, fields: Fields, encoding: str) -> Rows:
    """Yield the documents, whichever of the five it is, with the names that are asked for.

    Where `fields` has no labels, subjects are not looked at.
    """
    kind, encoding = _kind_of(path), utf8_unless(encoding)
    if kind == "folder":
        yield from _folder_rows(Path(path), fields, encoding)
    elif kind == "csv":
        yield from _csv_rows(path, fields, encoding)
    elif kind == "tsv":
        yield from _tsv_rows(path, fields, encoding)
    elif kind == "json":
        yield 1, _file_row(Path(path), fields, encoding)
    else:
        yield from _jsonl_rows(path, fields, encoding)


def is_address(label: str) -> bool:
    """Return whether a label is the address of a concept, such as http://…, urn:… or gnd:4."""
    return _ADDRESS.fullmatch(label) is not None


def has_full_texts(folder: Path) -> bool:
    """Return whether a folder holds texts with subjects beside them, or documents as JSON."""
    names = {entry.name for entry in os.scandir(folder) if entry.is_file()}
    texts = (os.path.splitext(name)[0] for name in names if name.endswith(_TEXT_ENDS))
    if any(f"{text}{end}" in names for text in texts for end in _SUBJECT_ENDS):
        return True
    first = min((n for n in names if n.endswith(".json") and not n.startswith(".")), default=None)
    return first is not None and _is_json_document(folder / first)


def _is_json_document(path: Path) -> bool:
    try:
        document = _json_file(path, "utf-8")
    except InputError:
        return False
    return not document.keys() - JSON_FIELDS and isinstance(document.get(TEXT), str)


def _kind_of(path: StrPath) -> Kind:
    """Return which of the five it is: by name, or else, unless it is a pipe, by its first line."""
    if not isinstance(path, StandardInput) and Path(path).is_dir():
        return "folder"
    if (kind := _KINDS.get(suffix_of(path))) is not None:
        return kind
    if not isinstance(path, StandardInput) and Path(path).is_fifo():
        return "tsv"
    head = head_of(path, HEAD)
    if head.lstrip()[:1] == b"{":
        return "jsonl"
    return "csv" if is_annif_csv(head) else "tsv"


def _row(
    fields: Fields, values: Mapping[str, Any], id: object, subjects: list[str]
) -> dict[str, Any]:
    """Return a document with the names that are asked for; `id` does not take another's place."""
    row = dict(values)
    if fields.id is not None and id is not None and (fields.id == "id" or fields.id not in row):
        row[fields.id] = id
    if fields.label_fields:
        row[fields.label_fields[0]] = subjects
    return row


def _only_text(fields: Fields) -> str:
    """Return the name of a text that has none: of those asked for the one that counts least."""
    if TEXT in fields.texts:
        return TEXT
    return min(fields.texts, key=fields.weight_of)


# Lines --------------------------------------------------------------------------------------------


def _tsv_rows(path: StrPath, fields: Fields, encoding: str) -> Rows:
    name = _only_text(fields)
    for number, line in text_lines(path, encoding):
        if line.strip():
            text, subjects = tsv_document(path, number, line, bool(fields.label_fields))
            yield number, _row(fields, {name: text}, None, subjects)


def tsv_document(
    path: StrPath, number: int, line: str, labelled: bool = True
) -> tuple[str, list[str]]:
    """Return the text before the first tab of a line, and the subjects after it."""
    text, _, subjects = line.partition("\t")
    if not text.strip():
        raise ReadError(
            path,
            number,
            f"there is no text before the tab, but {subjects.strip()[:40]!r} after it; a line is a "
            "text, a tab and <URI>s: add the text, or delete the line",
        )
    return text, [_uri(path, number, each) for each in subjects.split()] if labelled else []


def _csv_rows(path: StrPath, fields: Fields, encoding: str) -> Rows:
    labels = SUBJECT_URIS if fields.label_fields else None
    own = replace(fields, id=ID, labels=labels, label_columns=())
    advice = (
        "Annif's CSV has the columns text and subject_uris: rename them, name other text columns "
        "with Fields(text=...) (--text-field), or say Fields(labels=None) (--labels-field '') for "
        "documents without subjects"
    )
    for number, cells in csv_rows(path, own, encoding, ",", advice=advice):
        given = str(cells[labels]) if labels is not None else ""
        subjects = [_uri(path, number, each, bare=True) for each in given.split()]
        yield number, _row(fields, cells, cells.get(ID), subjects)


def _uri(path: StrPath, number: int, subject: str, *, bare: bool = False) -> str:
    """Return an address without its brackets; an error if it has none, or, if `bare`, is none."""
    if match := _IN_BRACKETS.fullmatch(subject):
        return match[1]
    if bare and is_address(subject):
        return subject
    allowed = "or as it is, with blanks between two" if bare else "with blanks or tabs between two"
    raise ReadError(
        path,
        number,
        f"expected a subject as <URI>; found {subject[:40]!r}: write addresses in angle brackets "
        f"{allowed} (names of subjects stand in JSON, or in a .key file beside a .txt)",
    )


# JSON ---------------------------------------------------------------------------------------------


def _jsonl_rows(path: StrPath, fields: Fields, encoding: str) -> Rows:
    spelling = Spelling(fields)
    with open_text(path, encoding) as (file, known):
        for number, line in lines_of(path, file):
            if line.strip():
                with located(path, number):
                    document = json_object(path, number, line, known)
                    row = spelling.applied(_json_row(document, fields))
                yield number, row


def _file_row(path: Path, fields: Fields, encoding: str) -> Row:
    """Return the document of a .json file, named by the file where it has no name of its own."""
    with located(path, None):
        try:
            document = _json_file(path, encoding)
        except ReadError:
            raise
        except InputError as error:
            raise InputError(
                f"{error}; a .json file is one document: name it .jsonl if it has one a line"
            ) from error
        document.setdefault(ID, path.name.removesuffix(".gz").removesuffix(".json"))
        return Spelling(fields).applied(_json_row(document, fields))


def _json_file(path: Path, encoding: str) -> dict[str, Any]:
    return json_object(
        path, 1, whole_text(path, encoding).encode("utf-8", "surrogatepass"), "utf-8"
    )


def _json_row(document: dict[str, Any], fields: Fields) -> dict[str, Any]:
    if unknown := document.keys() - JSON_FIELDS:
        raise InputError(
            f"it has the field {min(unknown)!r}, but Annif's documents have document_id, text, "
            "metadata and subjects alone (found: "
            f"{found(document)}); if this is JSONL of another kind, say format='jsonl' "
            "(--format jsonl)"
        )
    metadata = document.get(METADATA) or {}
    if not isinstance(metadata, dict):
        raise InputError(f"{METADATA!r} is {str(metadata)[:40]!r}; it must be an object of texts")
    values = metadata | ({TEXT: document[TEXT]} if TEXT in document else {})
    subjects = document.get(SUBJECTS) if fields.label_fields else None
    return _row(fields, values, document.get(ID), _json_subjects(subjects))


def _json_subjects(subjects: object) -> list[str]:
    if subjects is None:
        return []
    if not isinstance(subjects, list):
        raise InputError(f"{SUBJECTS!r} is {str(subjects)[:40]!r}; it must be a list of objects")
    return [_json_subject(subject) for subject in subjects]


def _json_subject(subject: object) -> str:
    """Return the address of a subject, or else its name."""
    own = subject if isinstance(subject, dict) else {}
    uri, name = own.get("uri"), own.get("label")
    if isinstance(uri, str) and (match := _AS_JSON.fullmatch(uri)):
        return match[1]
    if uri is None and isinstance(name, str) and name.strip():
        return name
    raise InputError(
        f"{SUBJECTS!r} holds {str(subject)[:60]}; a subject is an object with an address without "
        'blanks under "uri", or a name under "label", such as {"uri": "http://…"}'
    )


# Folders ------------------------------------------------------------------------------------------


def _check_plain_files(folder: Path, names: set[str]) -> None:
    """Raise if a document is a pipe, which never ends, or a link, which may lead out of here."""
    for name in sorted(names):
        if name.endswith((*_ENDS, *_SUBJECT_ENDS)):
            check_plain(folder / name)


def _folder_rows(folder: Path, fields: Fields, encoding: str) -> Rows:
    """Yield the texts of a folder by name, then the documents that are JSON, as Annif does."""
    names = {entry.name for entry in os.scandir(folder) if not entry.name.startswith(".")}
    _check_plain_files(folder, names)
    _check_pairs(folder, names, fields)
    if not any(name.endswith(_ENDS) for name in names):
        raise ReadError(folder, None, f"there is no document in it: no file of {', '.join(_ENDS)}")
    number = 0
    for end in _ENDS:
        for name in sorted(name for name in names if name.endswith(end)):
            number += 1
            if end == ".json":
                yield number, _file_row(folder / name, fields, encoding)
                continue
            id = name.removesuffix(end)
            subjects = [] if not fields.label_fields else _beside(folder / id, names, encoding)
            text = _text_in(folder / name, end, encoding)
            yield number, _row(fields, {_only_text(fields): text}, id, subjects)


def _text_in(path: Path, end: str, encoding: str) -> str:
    if end == ".txt":
        return whole_text(path, encoding)
    return extracted_text(path, end.removeprefix("."))


def _check_pairs(folder: Path, names: set[str], fields: Fields) -> None:
    """Raise if subjects have no text, or two documents one name: nothing is passed over unsaid."""
    for name in sorted(names):
        id, end = os.path.splitext(name)
        texts = [f"{id}{each}" for each in _ENDS if f"{id}{each}" in names]
        if end in _SUBJECT_ENDS and texts in ([], [f"{id}.json"]) and fields.label_fields:
            raise ReadError(
                folder / name,
                None,
                f"there are subjects, but no {id}.txt with the text of them; add it, or move this "
                "file away",
            )
        if end in _ENDS and texts[0] != name and fields.id is not None:
            raise ReadError(
                folder / name, None, f"{texts[0]} is there too; rename one, or number the "
                "documents with Fields(id=None) (--id-field '')",
            )  # fmt: skip


def _beside(path: Path, names: set[str], encoding: str) -> list[str]:
    """Return the subjects that stand beside a text: in a .tsv, or else in a .key, if there is."""
    for end, subjects_in in ((".tsv", tsv_subjects), (".key", key_subjects)):
        if f"{path.name}{end}" in names:
            file = path.with_name(f"{path.name}{end}")
            # A list, so that the file is closed whatever is wrong in it.
            return list(subjects_in(file, list(text_lines(file, encoding))))
    return []


def tsv_subjects(path: StrPath, lines: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Yield the subjects of lines of an address in angle brackets, which a name may follow."""
    for number, line in lines:
        if line.strip():
            yield _uri(path, number, line.partition("\t")[0].strip())


def key_subjects(path: StrPath, lines: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Yield the subjects of lines of names; an address in angle brackets is taken as well."""
    for _, line in lines:
        if name := line.partition("\t")[0].strip():
            match = _IN_BRACKETS.fullmatch(name)
            yield match[1] if match else name
