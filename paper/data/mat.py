"""The authors' MATLAB files: one entry a token in `traindata` and `testdata`, numbered from 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.io import loadmat
from scipy.sparse import coo_array

from deplda.data.corpus import Corpus
from deplda.data.files import StrPath

PARTS = ("train", "test")


def read_mat(path: StrPath) -> tuple[Corpus, Corpus]:
    """Return the training and the test documents; their ids are ``train-1`` and so on."""
    contents = loadmat(path, variable_names=("traindata", "testdata", "wlabels", "clabels"))
    words, labels = (_names(contents[name]) for name in ("wlabels", "clabels"))
    train, test = (_part(contents[f"{part}data"], part, words, labels) for part in PARTS)
    return train, test


def _part(struct: Any, part: str, words: list[str], labels: list[str]) -> Corpus:
    word, word_document, label, label_document = (
        struct[0, 0][field].ravel().astype(np.int64) for field in ("widx", "wdidx", "cidx", "cdidx")
    )
    n = int(max(word_document.max(initial=0), label_document.max(initial=0)))
    counts = _counts(word_document, word, (n, len(words)))
    indicator = _counts(label_document, label, (n, len(labels)))
    indicator.data[:] = 1
    return Corpus(counts, indicator, words, labels, [f"{part}-{i + 1}" for i in range(n)])


def _counts(rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    ones = np.ones(len(rows), dtype=np.int64)
    return coo_array((ones, (rows - 1, columns - 1)), shape=shape).tocsr()


def _names(cells: Any) -> list[str]:
    """Return the strings of a cell array; a repeated name gets its position as a suffix."""
    names = [str(cell[0]) if cell.size else "" for cell in cells.ravel()]
    if len(set(names)) < len(names):
        return [f"{name} ({place})" for place, name in enumerate(names, start=1)]
    return names
