"""Texts of PDF and Word files: a file is a document, without labels."""

from __future__ import annotations

import logging
import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import IO, Any
from xml.etree import ElementTree

from deplda.data.fields import Fields
from deplda.data.files import StrPath, read_unpacked
from deplda.data.readers.records import Rows
from deplda.data.readers.zipped import open_archive
from deplda.data.sizes import max_record, refuse_large
from deplda.errors import ReadError, needs_extra

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]\n(?=[^\W\d_])")
_LIGATURE = re.compile("[\ufb00-\ufb06]")
_AGAIN = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
"""What is in it stands before it too, for programs that know more."""
_BODY = "word/document.xml"
_BREAKS = {f"{_WORD}p": "\n", f"{_WORD}br": "\n", f"{_WORD}cr": "\n", f"{_WORD}tab": "\t"}


def extracted_rows(path: StrPath, fields: Fields, format: str) -> Rows:
    """Yield the text of a file as one document, named by its path."""
    yield 1, {fields.id or "id": os.fspath(path), fields.texts[0]: extracted_text(path, format)}


def extracted_text(path: StrPath, format: str) -> str:
    """Return the text of a PDF or Word file; an error if there is none."""
    parts, size, limit = [], 0, max_record()
    for part in _pdf_pages(path) if format == "pdf" else _word_parts(path):
        size += len(part)
        if size > limit:
            refuse_large(path, None, "its text")
        parts.append(part)
    text = _whole_words("\n".join(parts)) if format == "pdf" else "".join(parts)
    text = text.strip()
    if not text:
        why = "it may be scanned: let a program recognise its text (OCR)"
        raise ReadError(path, None, f"there is no text in it; {why}, or leave it out")
    return text


def _whole_words(text: str) -> str:
    """Return the text of a PDF with words that a line end or a ligature had broken put together."""
    text = _LIGATURE.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    return _HYPHEN.sub(lambda found: "" if text[found.end()].islower() else found[0], text)


def _word_parts(path: StrPath) -> Iterator[str]:
    """Yield the text of paragraphs and cells as they follow each other, without deleted ones."""
    with open_archive(path, ".docx") as archive:
        size = archive.getinfo(_BODY).file_size
        if size > max_record():
            refuse_large(path, None, "its body, unpacked,", size=size)
        with archive.open(_BODY) as file:
            yield from _xml_parts(file)


def _xml_parts(file: IO[bytes]) -> Iterator[str]:
    within: list[ElementTree.Element] = []
    for event, element in ElementTree.iterparse(file, events=("start", "end")):  # noqa: S314
        if event == "start":
            within.append(element)
            continue
        within.pop()
        if element.tag == f"{_WORD}t":
            is_again = any(each.tag == _AGAIN for each in within)
            yield "" if is_again else element.text or ""
        elif element.tag in _BREAKS:
            yield _BREAKS[element.tag]
        if within:  # what has been read is let go
            within[-1].remove(element)


def _pdf_pages(path: StrPath) -> Iterator[str]:
    with needs_extra("reading .pdf", "pypdf", "pdf"):
        import pypdf
    with _silent("pypdf"):
        try:
            reader = pypdf.PdfReader(BytesIO(read_unpacked(path)))
            _check_open(path, reader)
            for page in reader.pages:
                yield page.extract_text()
        except ReadError:
            raise
        except Exception as error:  # what is damaged may fail anywhere in it
            told = f"{type(error).__name__}: {error}"[:120]
            problem = f"this is no readable PDF ({told}); print it to a new PDF, or save it as .txt"
            raise ReadError(path, None, problem) from error


def _check_open(path: StrPath, reader: Any) -> None:
    """Raise if a PDF needs a password; some are encrypted with an empty one."""
    from pypdf.errors import DependencyError

    if not reader.is_encrypted:
        return
    try:
        is_open = bool(reader.decrypt(""))
    except DependencyError:
        is_open = False
    if not is_open:
        raise ReadError(path, None, "it is encrypted; save it without a password first")


@contextmanager
def _silent(name: str) -> Iterator[None]:
    """Keep a library's remarks on a file to itself: what cannot be read is an error of ours."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)
