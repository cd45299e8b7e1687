"""Which format a file is in, by its name and by what it begins with."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from deplda.data.files import UTF8_BOM, StandardInput, StrPath, open_binary
from deplda.errors import ReadError

Format = Literal["jsonl", "csv", "tsv", "parquet", "svmlight", "mat", "annif", "text", "lines"]

SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".mat": "mat",
}
JSON_FIELDS = {"document_id", "text", "metadata", "subjects"}
"""All that Annif's documents have as JSON."""
_HEAD, _LOOKED_AT = 1 << 20, 20
_TSV_LINE = re.compile(rb"[^\t]*\t((?:\s*<[^<>\s]+>)*)\s*")


def guess_format(path: StrPath) -> Format:
    """Return the format of a file by its name and, where that may be Annif's too, its content.

    A name that says nothing leaves it to the content. A folder is Annif's.
    """
    by_name = format_by_name(path)
    if isinstance(path, StandardInput):
        head = path.stream.peek()
    elif Path(path).is_dir():
        return "annif"
    elif Path(path).is_fifo():
        if by_name is None:
            raise ReadError(path, None, "a pipe is read only once; say its format= (--format)")
        return by_name
    elif by_name in (None, "jsonl", "csv", "tsv"):
        with open_binary(path) as file:
            head = file.read(_HEAD)
    if by_name is None:
        return _guess_by_content(path, head)
    return "annif" if by_name in _ANNIFS and _ANNIFS[by_name](head) else by_name


def suffix_of(path: StrPath) -> str:
    """Return the end of a name in small letters, without what says that it is packed."""
    return Path(Path(path).name.lower().removesuffix(".gz")).suffix


def format_by_name(path: StrPath) -> Format | None:
    """Return the format that the end of a name stands for."""
    return SUFFIXES.get(suffix_of(path))


def _guess_by_content(path: StrPath, head: bytes) -> Format:
    lines = head.removeprefix(UTF8_BOM).lstrip().splitlines()
    if not lines:
        raise ReadError(path, None, "it is empty")
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"MATLAB"):
        return "mat"
    if lines[0].startswith(b"{"):
        is_one = suffix_of(path) == ".json" and _json(lines[0]) is None
        return "annif" if is_one or is_annif_jsonl(head) else "jsonl"
    # The last line may be cut off by the end of the sample, so only the first ones are looked at.
    if all(re.fullmatch(rb"[-+\d.,: \te]*(#.*)?", line) for line in lines[:5]):
        return "svmlight"
    if is_annif_tsv(head) or is_annif_csv(head):
        return "annif"
    if b"\t" in lines[0]:
        return "tsv"
    if b"," in lines[0]:
        return "csv"
    raise ReadError(
        path,
        None,
        f"cannot tell its format; pass format= (--format) one of {', '.join(get_args(Format))}",
    )


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
    lines = head.removeprefix(UTF8_BOM).splitlines()
    if len(lines) > 1 and not head.endswith((b"\n", b"\r")) and len(head) >= 1 << 16:
        lines.pop()
    return [line for line in lines if line.strip()][:_LOOKED_AT]


def _json(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
