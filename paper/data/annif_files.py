"""Annif's files as data sets are published in them: full texts in a tar archive, and TSV."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

from deplda.data.datasets.dataset import Document
from deplda.data.encodings import UTF8_BOM
from deplda.data.files import read_lines, read_unpacked
from deplda.data.readers.annif import key_subjects, tsv_document, tsv_subjects
from deplda.data.sizes import max_record, refuse_large
from deplda.errors import DepldaError, ReadError


def full_texts(archive: Path, folders: Sequence[str]) -> Iterator[tuple[str, Document]]:
    """Yield the documents of these folders, in this order and by name, each with its folder.

    A document is ``NAME.txt`` with its subjects in ``NAME.tsv``, a line each: ``<URI>``, a tab, a
    name; or else in ``NAME.key``, names alone. One of these without the other is an error, and so
    is an empty one. Other files are passed over. Nothing is unpacked to disk.
    """
    files, order = _members(archive, folders), {name: at for at, name in enumerate(folders)}
    if not files:
        raise ReadError(archive, None, f"it holds no document in {', '.join(folders)}")
    for folder, name in sorted({key[:2] for key in files}, key=lambda k: (order[k[0]], k[1])):
        text, tsv, key = (files.get((folder, name, kind)) for kind in ("txt", "tsv", "key"))
        path = archive / folder / name
        if text is None:
            raise ReadError(path, None, "there are subjects, but no .txt with the text of them")
        kind, given, subjects_in = (
            ("key", key or b"", key_subjects) if tsv is None else ("tsv", tsv, tsv_subjects)
        )
        beside = archive / folder / f"{name}.{kind}"
        subjects = list(subjects_in(beside, _lines(beside, given)))
        yield folder, _checked(path, None, Document(name, _utf8(path, None, text), subjects))


def tsv_documents(path: Path) -> Iterator[Document]:
    """Yield the documents of lines of a text, a tab, and ``<URI>``s; their ids are line numbers."""
    for number, line in read_lines(path):
        if line.strip():
            text, subjects = tsv_document(path, number, _utf8(path, number, line))
            yield _checked(path, number, Document(str(number), text, subjects))


def _members(archive: Path, folders: Sequence[str]) -> dict[tuple[str, str, str], bytes]:
    """Return the files of these folders by folder, name and ending."""
    # The archive may stand in folders of any names; files that begin with a dot are hidden ones.
    place = re.compile(rf"(?:.*/)?({'|'.join(folders)})/([\w-][\w.-]*)\.(txt|tsv|key)")
    found: dict[tuple[str, str, str], bytes] = {}
    content = BytesIO(read_unpacked(archive))
    try:
        # As a stream, so that a member that says it lies before the last one is an error.
        with tarfile.open(fileobj=content, mode="r|") as contents:
            while (member := contents.next()) is not None:
                # Else millions of empty members would fill the memory.
                contents.members.clear()  # type: ignore[attr-defined]  # public, but not declared
                if match := place.fullmatch(member.name):
                    key = (match[1], match[2], match[3])
                    if key in found:
                        raise ReadError(archive / member.name, None, "it stands there twice")
                    found[key] = _content(archive, contents, member)
    except DepldaError:
        raise
    except Exception as error:
        # A damaged archive makes tarfile raise almost anything: value, key, recursion errors.
        raise ReadError(
            archive, None, f"it is not a whole tar file ({error}); copy it again"
        ) from error
    return found


def _content(archive: Path, contents: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    path = archive / member.name
    if member.size > max_record():
        refuse_large(path, None, "this file", size=member.size)
    file = contents.extractfile(member) if member.isreg() and not member.issparse() else None
    if file is None:
        raise ReadError(path, None, "this is not a plain file; links are not followed")
    return file.read()


def _lines(path: Path, content: bytes) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(content.removeprefix(UTF8_BOM).splitlines(), start=1):
        yield number, _utf8(path, number, line)


def _utf8(path: Path, number: int | None, content: bytes) -> str:
    try:
        return content.removeprefix(UTF8_BOM).decode()
    except UnicodeDecodeError as error:
        raise ReadError(path, number, f"this is not UTF-8 ({error}); copy it again") from error


def _checked(path: Path, number: int | None, document: Document) -> Document:
    for what, value in (("text", document.text.strip()), ("subject", document.labels)):
        if not value:
            raise ReadError(
                path, number, f"this document has no {what}; as published, each has: copy it again"
            )
    return document
