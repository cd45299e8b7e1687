"""Small .mat files in the authors' format: one entry a token, numbers from 1."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import savemat

# The word tokens of a document, and its labels.
Document = tuple[Sequence[int], Sequence[int]]

WORDS = ("apple", "bee", "cat")
LABELS = ("fruit", "animal")
TRAIN: list[Document] = [((1, 1, 3), (1,)), ((2,), (1, 2))]
TEST: list[Document] = [((3, 2, 3), (2,))]


def column(values: Sequence[float]) -> Any:
    return np.array(values, dtype=np.float64).reshape(-1, 1)


def part(documents: Sequence[Document]) -> dict[str, Any]:
    words = [(word, d) for d, (tokens, _) in enumerate(documents, start=1) for word in tokens]
    labels = [(label, d) for d, (_, given) in enumerate(documents, start=1) for label in given]
    return {
        "widx": column([word for word, _ in words]),
        "wdidx": column([d for _, d in words]),
        "cidx": column([label for label, _ in labels]),
        "cdidx": column([d for _, d in labels]),
    }


def cells(values: Sequence[Any]) -> Any:
    array = np.empty((len(values), 1), dtype=object)
    array[:, 0] = values
    return array


def contents() -> dict[str, Any]:
    return {
        "traindata": part(TRAIN),
        "testdata": part(TEST),
        "wlabels": cells(WORDS),
        "clabels": cells(LABELS),
    }


def write_mat(path: Path, content: dict[str, Any], *, compress: bool = False) -> Path:
    savemat(path, content, do_compression=compress)
    return path
