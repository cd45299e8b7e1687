"""Which format a file is in, by its name and by what it begins with."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from deplda.data.files import StandardInput, StrPath, head_of
from deplda.data.readers.delimiters import DELIMITERS
from deplda.errors import ReadError

Format = Literal[
    "jsonl", "json", "csv", "tsv", "xlsx", "parquet", "svmlight", "annif", "text", "lines",
    "pdf", "docx",
]  # fmt: skip

SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".parquet": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".pdf": "pdf",
    ".docx": "docx",
    ".docm": "docx",
}
WHOLE: tuple[Format, ...] = ("text", "pdf", "docx")
"""Formats of which a file is one document, a text without fields."""
JSON_FIELDS = {"document_id", "text", "metadata", "subjects"}
"""All that Annif's documents have as JSON."""
_SAVE_AS = {
    **dict.fromkeys((".xls", ".xlsb", ".ods", ".numbers"), ".xlsx, or as CSV UTF-8"),
    **dict.fromkeys((".doc", ".odt", ".rtf", ".pages", ".wpd"), ".docx or .txt"),
    **dict.fromkeys((".html", ".htm", ".epub", ".ppt", ".pptx", ".odp"), ".txt, or as .pdf"),
    **dict.fromkeys((".zip", ".7z", ".tar", ".rar"), "the files that are in it, or as .gz"),
}
"""What other programs write, and what they can save it as."""
HEAD, _LOOKED_AT = 1 << 20, 20
_TSV_LINE = re.compile(rb"[^\t]*\t((?:\s*<[^<>\s]+>)*)\s*")
BINARY = _ZIP, _PDF, _PARQUET, _OFFICE_OF_OLD = (
    b"PK\x03\x04", b"%PDF-", b"PAR1", b"\xd0\xcf\x11\xe0"
)  # fmt: skip
"""What files begin with that are no text."""


def guess_format(path: StrPath) -> Format:
    """Return the format of a file by its name and, where that may be another's too, its content.

    A name that says nothing leaves it to the content. A folder is Annif's.
    """
    by_name = format_by_name(path)
    if not isinstance(path, StandardInput):
        if Path(path).is_dir():
            return "annif"
        if Path(path).is_fifo():
            if by_name is None:
                raise ReadError(path, None, "a pipe is read only once; say its format= (--format)")
            return by_name
    if by_name in ("parquet", "svmlight"):
        return by_name
    head = head_of(path, HEAD)
    if (by_magic := _format_by_magic(path, head)) is not None:
        return by_magic
    if by_name in (None, "xlsx", "pdf", "docx"):
        _check_can_be_read(path)
        return by_name or _guess_by_content(path, head)
    return "annif" if by_name in _ANNIFS and _ANNIFS[by_name](head) else by_name


def suffix_of(path: StrPath) -> str:
    """Return the end of a name in small letters, without what says that it is packed."""
    return Path(Path(path).name.lower().removesuffix(".gz")).suffix


def format_by_name(path: StrPath) -> Format | None:
    """Return the format that the end of a name stands for."""
    return SUFFIXES.get(suffix_of(path))


def _format_by_magic(path: StrPath, head: bytes) -> Format | None:
    """Return the format that the first bytes are of, whatever the name, if no text has them."""
    if head.startswith(_ZIP):
        _check_can_be_read(path)
        # The names of what is in it stand in the file as they are.
        is_word = b"word/" in head and b"xl/" not in head
        return "docx" if is_word or suffix_of(path) in (".docx", ".docm") else "xlsx"
    if head.startswith(_PDF):
        return "pdf"
    if head.startswith(_PARQUET):
        return "parquet"
    if head.startswith(_OFFICE_OF_OLD):
        _check_can_be_read(path)
        raise ReadError(
            path,
            None,
            "it is protected by a password, or of the formats before 2007; save it without one, as "
            ".xlsx or .docx",
        )
    return None


def _check_can_be_read(path: StrPath) -> None:
    suffix = suffix_of(path)
    if suffix in _SAVE_AS:
        raise ReadError(path, None, f"{suffix} is not read; save it as {_SAVE_AS[suffix]}")


def _guess_by_content(path: StrPath, head: bytes) -> Format:
    lines = head.lstrip().splitlines()
    if not lines:
        raise ReadError(path, None, "it is empty")
    if lines[0].startswith(b"["):
        return "json"
    if lines[0].startswith(b"{"):
        return _guess_json(path, head, lines[0])
    # The last line may be cut off by the end of the sample, so only the first ones are looked at.
    if all(re.fullmatch(rb"[-+\d.,: \te]*(#.*)?", line) for line in lines[:5]):
        return "svmlight"
    if is_annif_tsv(head) or is_annif_csv(head):
        return "annif"
    if b"\t" in lines[0]:
        return "tsv"
    if any(delimiter.encode() in lines[0] for delimiter in DELIMITERS):
        return "csv"
    raise ReadError(
        path,
        None,
        f"cannot tell its format; pass format= (--format) one of {', '.join(get_args(Format))}",
    )


def _guess_json(path: StrPath, head: bytes, line: bytes) -> Format:
    """Return what objects are: one a line, or one over several lines, Annif's or not."""
    if suffix_of(path) != ".json" or _json(line) is not None:
        return "annif" if is_annif_jsonl(head) else "jsonl"
    whole = _json(head)
    return "json" if isinstance(whole, dict) and whole.keys() - JSON_FIELDS else "annif"


# Annif's, told from ours --------------------------------------------------------------------------


def is_annif_tsv(head: bytes) -> bool:
    """Return whether <URI>s, and nothing else, follow the first tab of lines: no header has such.

    Lines without a tab are texts without subjects; one with subjects is needed to tell.
    """
    matches = [_TSV_LINE.fullmatch(line) for line in _first_lines(head) if b"\t" in line]
    return all(matches) and any(match[1].strip() for match in matches if match is not None)


def is_annif_csv(head: bytes) -> bool:
    """Return whether the header names both columns that Annif needs."""
    for line in _first_lines(head)[:1]:
        try:
            header = next(csv.reader([line.decode("utf-8", "replace")]))
        except (csv.Error, StopIteration):
            return False
        return {"text", "subject_uris"} <= set(header)
    return False


def is_annif_jsonl(head: bytes) -> bool:
    """Return whether objects have no field but Annif's, and one that ours have not.

    A list of strings under "subjects" is ours, with another name for labels.
    """
    documents = [_json(line) for line in _first_lines(head)]
    if not all(isinstance(each, dict) and each.keys() <= JSON_FIELDS for each in documents):
        return False
    subjects = [each for document in documents for each in _listed(document.get("subjects"))]
    if not all(isinstance(subject, dict) for subject in subjects):
        return False
    return bool(subjects) or any(
        "document_id" in document or isinstance(document.get("metadata"), dict)
        for document in documents
    )


_ANNIFS = {"tsv": is_annif_tsv, "csv": is_annif_csv, "jsonl": is_annif_jsonl}


def _listed(value: object) -> list[Any]:
    """Return a list as it is, nothing as an empty one, and what is no list as one of it."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _first_lines(head: bytes) -> list[bytes]:
    """Return the first lines that are not blank; one that may be cut off is left out."""
    lines = head.splitlines()
    if len(lines) > 1 and not head.endswith((b"\n", b"\r")) and len(head) >= 1 << 16:
        lines.pop()
    return [line for line in lines if line.strip()][:_LOOKED_AT]


def _json(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
