"""XML of other programs, and the archives of it (.xlsx, .docx), opened if they are no bombs."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import IO, Any
from xml.parsers import expat

from deplda.data.files import StrPath, read_unpacked
from deplda.data.sizes import VARIABLE, max_record, max_whole, refuse_large
from deplda.errors import ReadError

_BLOCK = 1 << 20
_MOST_ELEMENTS, _MOST_IN_ONE, _DEEPEST, _LONGEST_TAG = 1 << 23, 1 << 20, 1_000, 1 << 22
"""More than sheets have rows and texts, a row has cells, and Word's elements are deep."""
_MOST_ATTRIBUTES = 1_000  # other parsers compare each with all others
LONGEST_PREFIX = 2_048  # characters, which each address that begins with a prefix repeats
_XML_BASE = "http://www.w3.org/XML/1998/namespace base"
_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LET_GO = {f"{_SHEETS} row", f"{_SHEETS} si"}
"""What openpyxl empties as soon as it has read it; all else is kept until the end of a part."""


@contextmanager
def open_archive(path: StrPath, kind: str) -> Iterator[Archive]:
    """Open an archive of whose parts none is read beyond the size it tells, all within the limit.

    Whatever goes wrong in it is an error that says that the file is no `kind`.
    """
    content = read_unpacked(path)
    try:
        with Archive(BytesIO(content)) as archive:
            size = sum(part.file_size for part in archive.infolist())
            if size > max_whole():
                refuse_large(path, None, "this file, unpacked,", size=size, whole=True)
            yield archive
    except ReadError:
        raise
    except Exception as error:  # what is damaged may fail anywhere in the libraries that read it
        named = "" if isinstance(error, Refused) else f"{type(error).__name__}: "
        told = f"{named}{error}"
        problem = f"this is no readable {kind} ({told[:120]}); open it in its program and save it"
        raise ReadError(path, None, f"{problem} again") from error


class Refused(Exception):  # noqa: N818  # is one to users when the file is named
    """XML is not to be read; openpyxl would take a ValueError for one of its own."""


class Archive(zipfile.ZipFile):
    """An archive whose parts are XML that a parser can hold in memory: each is looked at before."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self._checked: set[str] = set()

    def open(self, name: Any, *args: Any, **options: Any) -> Any:
        """Open a part."""
        known = name.filename if isinstance(name, zipfile.ZipInfo) else name
        if known not in self._checked:
            with super().open(name) as part:
                _check_xml(known, part)
            self._checked.add(known)
        return super().open(name, *args, **options)


def _check_xml(name: str, part: IO[bytes]) -> None:
    """Raise if a part has a document type, whose entities expand, or too much to be held."""
    check = _Elements(name)
    while block := part.read(_BLOCK):
        check.feed(block)
    check.feed(b"")


class XmlCheck:
    """Refuses XML on which another parser could spend memory or time without bound.

    That is a document type, whose entities expand, elements nested deeply, and large tags.
    `encoding` overrides what the XML declares.
    """

    def __init__(self, name: str, encoding: str | None = None) -> None:
        self._name = name
        self._n_bytes = self._depth = self._n_namespaces = 0
        self._parser = parser = expat.ParserCreate(encoding, namespace_separator=" ")
        parser.ordered_attributes = True
        parser.StartDoctypeDeclHandler = self._refuse_document_type
        parser.StartElementHandler, parser.EndElementHandler = self.begin, self.end
        parser.StartNamespaceDeclHandler = self._begin_namespace
        parser.EndNamespaceDeclHandler = self._end_namespace

    def feed(self, block: bytes) -> None:
        """Check the next bytes; an empty block ends the XML."""
        self._n_bytes += len(block)
        self._parser.Parse(block, not block)
        # A text is handed on as it comes, a tag with its attributes as a whole.
        self.limit("bytes of a tag", self._n_bytes - self._parser.CurrentByteIndex, _LONGEST_TAG)

    def limit(self, what: str, n: int, most: int) -> None:
        """Refuse more of something than a parser may have to hold."""
        if n > most:
            raise Refused(f"{self._name} has {n:,} {what}, more than {most:,}")

    def _refuse_document_type(self, *_: Any) -> None:
        raise Refused(
            f"{self._name} has a document type (<!DOCTYPE …>), whose entities are not expanded"
        )

    def begin(self, tag: str, attributes: list[str]) -> None:
        """Take the beginning of an element; names and values of attributes alternate."""
        self._depth += 1
        self.limit("elements within each other", self._depth, _DEEPEST)
        self.limit("attributes of a tag", len(attributes) // 2, _MOST_ATTRIBUTES)
        if _XML_BASE in attributes[::2]:
            self._check_prefix(attributes[attributes.index(_XML_BASE) + 1])

    def _check_prefix(self, uri: str) -> None:
        """Refuse a long address that short ones expand to."""
        self.limit("characters of a namespace or base", len(uri), LONGEST_PREFIX)

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        self._depth -= 1

    def _begin_namespace(self, _: Any, uri: str | None) -> None:
        self._n_namespaces += 1
        self._check_prefix(uri or "")
        self.limit("namespaces at a place", self._n_namespaces, _MOST_ATTRIBUTES)

    def _end_namespace(self, _: Any) -> None:
        self._n_namespaces -= 1


class _Elements(XmlCheck):
    """Counts what a parser that keeps all but `_LET_GO` has in memory."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._parser.CharacterDataHandler = self._add_text
        self._n = self._n_characters = 0
        self._before = [0]
        """Elements that were there when each of those began that are let go, and are open."""

    def begin(self, tag: str, attributes: list[str]) -> None:
        super().begin(tag, attributes)
        self._n += 1
        if tag in _LET_GO:
            self._before.append(self._n)
        self.limit("elements", self._n, _MOST_ELEMENTS)
        if len(self._before) > 1:
            self.limit("elements of a row", self._n - self._before[-1], _MOST_IN_ONE)

    def end(self, tag: str) -> None:
        super().end(tag)
        if tag in _LET_GO:
            self._n = self._before.pop()
            self._n_characters = 0

    def _add_text(self, text: str) -> None:
        self._n_characters += len(text)
        self.limit(f"characters of a text ({VARIABLE})", self._n_characters, max_record())
