"""The authors' MATLAB files: one entry a token, `traindata` and `testdata`, numbers from 1."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.io import loadmat
from scipy.sparse import coo_array

from deplda.corpus import Corpus, concat
from deplda.errors import InputError, ReadError
from deplda.files import StrPath, open_binary
from deplda.readers.records import located

PARTS = ("train", "test")


def read_mat(path: StrPath, part: Literal["train", "test", "all"] = "all") -> Corpus:
    """Return one part, or the training and then the test documents; ids are ``train-1`` and so on.

    A document is as long as its tokens: one without words at the very end of a part is known only
    by its labels, and one without both is not known at all.
    """
    if part not in ("train", "test", "all"):
        raise InputError(f"part is {part!r}; it must be 'train', 'test' or 'all'")
    with open_binary(path) as source:
        try:
            contents = loadmat(source)  # type: ignore[arg-type]  # the stubs know names only
        except MemoryError as error:
            raise ReadError(path, None, "it claims to be larger than memory") from error
        except Exception as error:
            # A damaged file makes scipy's parser raise almost anything: index, struct, zlib errors.
            raise ReadError(
                path, None, f"this is not a readable MATLAB 5 file ({error})"
            ) from error
    with located(path, None):
        word_names = _cell_strings(contents, "wlabels")
        label_names = _cell_strings(contents, "clabels")
        parts = {
            name: _part(contents, f"{name}data", name, word_names, label_names)
            for name in PARTS
            if part in (name, "all")
        }
        return concat(parts.values())


def _part(
    contents: dict[str, Any], field: str, name: str, words: tuple[str, ...], labels: tuple[str, ...]
) -> Corpus:
    struct = contents.get(field)
    if not isinstance(struct, np.ndarray) or struct.dtype.names is None or struct.size != 1:
        known = ", ".join(key for key in contents if not key.startswith("__")) or "nothing"
        raise InputError(f"there is no struct {field!r} in it (found: {known})")
    word, word_document, label, label_document = (
        _numbers(struct, field, key) for key in ("widx", "wdidx", "cidx", "cdidx")
    )
    if len(word) != len(word_document) or len(label) != len(label_document):
        raise InputError(f"{field!r} has tokens without a document: its arrays differ in length")
    n = max(word_document.max(initial=0), label_document.max(initial=0))
    if n > len(word) + len(label):
        raise InputError(f"{field!r} numbers a document {n:,} but has fewer tokens than that")
    counts = _tally(word_document, word, (int(n), len(words)), f"{field}.widx")
    indicator = _tally(label_document, label, (int(n), len(labels)), f"{field}.cidx")
    indicator.data[:] = 1
    return Corpus(counts, indicator, words, labels, [f"{name}-{i + 1}" for i in range(n)])


def _numbers(struct: Any, field: str, key: str) -> Any:
    if key not in struct.dtype.names:
        raise InputError(f"{field!r} has no {key!r} (found: {', '.join(struct.dtype.names)})")
    values = np.asarray(struct[key].flat[0])
    if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        raise InputError(f"{field}.{key} is {values.dtype}; it must hold whole numbers from 1")
    if (values < 1).any() or (values > 2**31 - 1).any() or (values != np.floor(values)).any():
        raise InputError(f"{field}.{key} holds a value that is not a whole number from 1")
    return values.ravel().astype(np.int64)


def _tally(rows: Any, columns: Any, shape: tuple[int, int], what: str) -> Any:
    if columns.max(initial=0) > shape[1]:
        raise InputError(f"{what} holds {columns.max()} but there are only {shape[1]:,} names")
    ones = np.ones(len(rows), dtype=np.int64)
    return coo_array((ones, (rows - 1, columns - 1)), shape=shape).tocsr()


def _cell_strings(contents: dict[str, Any], field: str) -> tuple[str, ...]:
    cells = contents.get(field)
    if not isinstance(cells, np.ndarray) or cells.dtype != object:
        raise InputError(f"there is no cell array {field!r} in it")
    names = tuple([_cell_string(cell, field) for cell in cells.flat])
    if len(set(names)) == len(names):
        return names
    return tuple([f"{name} ({place + 1})" for place, name in enumerate(names)])


def _cell_string(cell: Any, field: str) -> str:
    value = np.asarray(cell)
    if value.dtype.kind != "U" or value.size > 1:
        raise InputError(f"{field!r} holds {str(cell)[:40]!r}; it must hold strings")
    return str(value.flat[0]) if value.size else ""
