"""The authors' MATLAB files: one entry a token, `traindata` and `testdata`, numbers from 1."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.sparse import coo_array

from deplda.data import checks
from deplda.data.corpus import MAX_COUNT, Corpus, concat, first_duplicate
from deplda.data.files import StrPath, read_unpacked
from deplda.data.readers.matlab5 import UnpackedTooLargeError, read_matlab5
from deplda.data.readers.records import MAX_COLUMNS, found, located
from deplda.data.sizes import VARIABLE, max_record, max_whole, too_large
from deplda.errors import InputError

PARTS = ("train", "test")


def read_mat(path: StrPath, part: Literal["train", "test", "all"] = "all") -> Corpus:
    """Return one part, or the training and then the test documents; ids are ``train-1`` and so on.

    A document is as long as its tokens: one without words at the very end of a part is known only
    by its labels, and one without both is not known at all.
    """
    checks.choice("part", part, (*PARTS, "all"))
    with located(path, None):
        contents = _contents(path)
        word_names = _cell_strings(contents, "wlabels")
        label_names = _cell_strings(contents, "clabels")
        names = PARTS if part == "all" else (part,)
        return concat(_part(contents, name, word_names, label_names) for name in names)


def _contents(path: StrPath) -> dict[str, Any]:
    try:
        return read_matlab5(read_unpacked(path), max_whole())
    except UnpackedTooLargeError as error:
        raise too_large(path, None, "this file, unpacked,", whole=True) from error


def _part(
    contents: dict[str, Any], name: str, words: tuple[str, ...], labels: tuple[str, ...]
) -> Corpus:
    field = f"{name}data"
    struct = contents.get(field)
    if not isinstance(struct, dict):
        raise InputError(f"there is no struct {field!r} in it (found: {found(contents)})")
    word, word_document, label, label_document = (
        _numbers(struct, field, key) for key in ("widx", "wdidx", "cidx", "cdidx")
    )
    if len(word) != len(word_document) or len(label) != len(label_document):
        raise InputError(f"{field!r} has tokens without a document: its arrays differ in length")
    n = max(word_document.max(initial=0), label_document.max(initial=0))
    tokens = len(word) + len(label)
    if n > 1_000 + 10 * tokens:  # a damaged number must not cost the memory of a million documents
        raise InputError(
            f"{field!r} numbers a document {n:,} but has only {tokens:,} tokens in all"
        )
    counts = _tally(word_document, word, (int(n), len(words)), f"{field}.widx")
    indicator = _tally(label_document, label, (int(n), len(labels)), f"{field}.cidx")
    indicator.data[:] = 1
    return Corpus(counts, indicator, words, labels, [f"{name}-{i + 1}" for i in range(n)])


def _numbers(struct: dict[str, Any], field: str, key: str) -> Any:
    if key not in struct:
        raise InputError(f"{field!r} has no {key!r} (found: {found(struct)})")
    values = struct[key]
    if not isinstance(values, np.ndarray):
        raise InputError(f"{field}.{key} must hold whole numbers from 1, one for each token")
    if values.size > max_whole() // 8:  # which is how many MATLAB's own type of numbers may have
        raise InputError(
            f"{field}.{key} holds {values.size:,} numbers; the limit is 2 times {VARIABLE}, "
            f"{max_record():,}"
        )
    good = (values >= 1) & (values <= MAX_COUNT) & (values == np.floor(values))
    if not good.all():
        raise InputError(
            f"{field}.{key} holds {values[~good][0]!s}; it must hold whole numbers from 1, "
            "one for each token"
        )
    return values.astype(np.int64)


def _tally(rows: Any, columns: Any, shape: tuple[int, int], what: str) -> Any:
    if columns.max(initial=0) > shape[1]:
        raise InputError(f"{what} holds {columns.max()} but there are only {shape[1]:,} names")
    ones = np.ones(len(rows), dtype=np.int64)
    return coo_array((ones, (rows - 1, columns - 1)), shape=shape).tocsr()


def _cell_strings(contents: dict[str, Any], field: str) -> tuple[str, ...]:
    cells = contents.get(field)
    if not isinstance(cells, list):
        raise InputError(f"there is no cell array {field!r} in it (found: {found(contents)})")
    if len(cells) > MAX_COLUMNS:
        raise InputError(f"{field!r} holds {len(cells):,} names; the limit is {MAX_COLUMNS:,}")
    names = [_cell_string(cell, field) for cell in cells]
    if first_duplicate(names) is not None:
        names = [f"{name} ({place})" for place, name in enumerate(names, start=1)]
    return tuple(names)


def _cell_string(cell: Any, field: str) -> str:
    if isinstance(cell, np.ndarray) and not cell.size:
        return ""  # how MATLAB saves a cell that nothing was put into
    if not isinstance(cell, str):
        raise InputError(f"{field!r} holds {str(cell)[:40]!r}; it must hold strings")
    return cell
