"""Documents → Annif's files, which our readers and Annif's give back: the same words and labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from deplda.data.atomic import write_folder, write_whole
from deplda.data.files import StrPath
from deplda.data.readers.annif import ID, SUBJECT_URIS, SUBJECTS, TEXT, is_address
from deplda.data.readers.sniffing import suffix_of
from deplda.data.readers.tables import csv_line
from deplda.data.readers.writers import check_unicode
from deplda.data.vocabulary import Vocabulary
from deplda.errors import InputError

SUFFIXES = (".tsv", ".csv", ".jsonl")
_BREAKS = re.compile("[\t\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_NO_FILE_NAME = re.compile(r'^\.|[\x00-\x1f\x7f/\\<>:"|?*%]|[. ]$')
_LONGEST_NAME = 200
"""Bytes of a file's name before its ending; systems allow 255 in all."""


def annif_suggestions(answer: Mapping[str, Any], value: str) -> bytes:
    """Return what is said of a document as Annif's ``index`` writes it, a label a line.

    A line is an address in angle brackets, the name, the notation if there is one, and the score,
    with tabs between; a label that has no address is a name and a score.
    """
    lines = []
    for told in answer["labels"]:
        name = str(told["label"])
        uri = told.get("uri", name if is_address(name) else None)
        parts = ("" if uri is None else f"<{uri}>", name, told.get("notation"))
        cells = [_BREAKS.sub(" ", str(part)) for part in parts if part]
        lines.append("\t".join([*cells, f"{told[value]:.4f}\n"]))
    return "".join(lines).encode()


class _Document(NamedTuple):
    id: str | None
    text: str
    labels: list[str]


class _Names:
    """Names of labels by a vocabulary, where there is one."""

    def __init__(self, vocabulary: Vocabulary | None, language: str | None) -> None:
        self._vocabulary, self._language = vocabulary, language

    def __getitem__(self, uri: str) -> str | None:
        if self._vocabulary is None or uri not in self._vocabulary:
            return None
        return _BREAKS.sub(" ", self._vocabulary[uri].name(self._language))


def write_annif(
    documents: Iterable[Mapping[str, Any]],
    path: StrPath,
    *,
    vocabulary: Vocabulary | None = None,
    language: str | None = None,
) -> int:
    """Write texts with their labels in the format of Annif's that the name says; return how many.

    One document is in memory at a time, and files are whole or not there.

    Parameters
    ----------
    documents : iterable of mappings
        Each has a ``text``, a list of ``labels`` and perhaps an ``id``.
    path : path
        ``.tsv`` (tabs and line breaks in a text become a blank, ids are left out), ``.csv``,
        ``.jsonl``, each perhaps with ``.gz`` after it; or without an ending for a folder of full
        texts, which must not be there yet. TSV and CSV hold addresses alone, such as
        ``http://…``; labels that are names can be written as the others.
    vocabulary, language : optional
        Where names of labels are taken from, which JSON and folders have beside addresses.

    Examples
    --------
    >>> import deplda
    >>> documents = [{"text": "A note on oxen", "labels": ["http://t.example/7"]}]
    >>> deplda.write_annif(documents, "notes.tsv")
    1
    >>> deplda.read_corpus("notes.tsv").label_names
    ('http://t.example/7',)
    """
    names, suffix = _Names(vocabulary, language), suffix_of(path)
    checked = map(_checked, documents)
    if suffix == "" and not str(path).endswith(".gz"):
        return _write_folder(checked, Path(path), names)
    if suffix not in SUFFIXES:
        raise InputError(
            f"{path} is none of Annif's formats; its name must end in {', '.join(SUFFIXES)} "
            "(or with .gz after it), or in nothing for a folder"
        )
    lines = {".tsv": _tsv, ".csv": _csv, ".jsonl": _jsonl}[suffix](checked, names)
    n = -1 if suffix == ".csv" else 0  # of which the first line is the header
    with write_whole(path) as file:
        for line in lines:
            file.write(line)
            n += 1
    return n


def file_name(id: str) -> str:
    """Return a document's id as the name of a file, without an ending; no two have the same.

    What cannot stand in a name on every system becomes % and its number.
    """
    name = _NO_FILE_NAME.sub(lambda found: f"%{ord(found[0]):02X}", id) or "%"
    check_unicode(name)
    if len(name.encode()) > _LONGEST_NAME:
        raise InputError(
            f"the id {id[:40]!r}… has {len(name.encode()):,} bytes as the name of a file, which "
            f"may have {_LONGEST_NAME}; number the documents (--id-field ''), or write another "
            "format than one file a document"
        )
    return name


def _checked(document: Mapping[str, Any]) -> _Document:
    id, text = document.get("id"), document.get("text")
    if not isinstance(text, str):
        has = next((name for name in ("counts", "tokens") if name in document), "nothing")
        raise InputError(
            f"document {'' if id is None else id!r} has no text but {has}, and Annif's files hold "
            "texts; write .jsonl, .parquet or .svm of our own instead"
        )
    check_unicode(text)
    return _Document(None if id is None else str(id), text, list(document.get("labels") or ()))


# Lines --------------------------------------------------------------------------------------------


def _tsv(documents: Iterable[_Document], names: _Names) -> Iterator[bytes]:
    for number, document in enumerate(documents):
        text = _BREAKS.sub(" ", document.text)
        if not text.strip():
            raise InputError(
                f"document {document.id or number!r} has an empty text, which a line of TSV cannot "
                "hold; write .csv or .jsonl, or leave it out (--where)"
            )
        yield f"{text}\t{_addresses(document, '<', '>')}\n".encode()


def _csv(documents: Iterable[_Document], names: _Names) -> Iterator[bytes]:
    yield csv_line((ID, TEXT, SUBJECT_URIS))
    for document in documents:
        yield csv_line((document.id or "", document.text, _addresses(document)))


def _addresses(document: _Document, before: str = "", after: str = "") -> str:
    for label in document.labels:
        if not is_address(label):
            raise InputError(
                f"the label {label!r} is not an address (http://…), and this format of Annif's "
                "holds addresses alone; give the vocabulary that it is in (--vocabulary), or write "
                ".jsonl or a folder, which hold names too"
            )
    return " ".join(f"{before}{label}{after}" for label in document.labels)


def _jsonl(documents: Iterable[_Document], names: _Names) -> Iterator[bytes]:
    for document in documents:
        told = {} if document.id is None else {ID: document.id}
        subjects = [_subject(label, names) for label in document.labels]
        row: dict[str, Any] = told | {TEXT: document.text, SUBJECTS: subjects}
        yield msgspec.json.encode(row) + b"\n"


def _subject(label: str, names: _Names) -> dict[str, str]:
    if not is_address(label):
        return {"label": label}
    return {"uri": label} if (name := names[label]) is None else {"uri": label, "label": name}


# A folder -----------------------------------------------------------------------------------------


def _write_folder(documents: Iterable[_Document], folder: Path, names: _Names) -> int:
    n = 0
    with write_folder(folder) as new:
        for n, document in enumerate(documents, start=1):
            id = str(n - 1) if document.id is None else document.id
            name = file_name(id)
            _write_new(new / f"{name}.txt", document.text, id)
            if all(map(is_address, document.labels)):
                lines = [_address_line(label, names) for label in document.labels]
                _write_new(new / f"{name}.tsv", "".join(lines), id)
            else:
                lines = [_key_line(label) for label in document.labels]
                _write_new(new / f"{name}.key", "".join(lines), id)
    return n


def _address_line(uri: str, names: _Names) -> str:
    name = names[uri]
    return f"<{uri}>\n" if name is None else f"<{uri}>\t{name}\n"


def _key_line(label: str) -> str:
    if is_address(label):
        return f"<{label}>\n"
    if _BREAKS.search(label) or not label.strip():
        raise InputError(f"the label {label!r} cannot stand on one line; write .jsonl instead")
    return f"{label}\n"


def _write_new(path: Path, content: str, id: str) -> None:
    try:
        with open(path, "xb") as file:
            file.write(content.encode())
    except FileExistsError:
        raise InputError(
            f"two documents have the id {id!r}; ids must be distinct to name files: rename one, or "
            "number the documents (--id-field '')"
        ) from None
