"""Labels as users write them: indicators, label lists, one class a document; and back again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from deplda.errors import InputError

Kind = Literal["dense", "sparse", "classes"]
Indicator = csr_array[Any, tuple[int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """What the labels are called, and how they were handed in."""

    classes: npt.NDArray[Any]
    kind: Kind
    """An indicator, dense or sparse (label lists are sparse), or one class for each document."""
    named: bool = True
    """False for the columns of a matrix without names, which are known by their place."""

    def numbers(self, other: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return the number of each of these other labels, −1 for one that is not known."""
        known = {label: number for number, label in enumerate(self.classes.tolist())}
        return np.array([known.get(label, -1) for label in other.tolist()], dtype=np.int64)

    def give_back(self, labels: Indicator) -> Any:
        """Return predicted labels in the manner they were handed in."""
        if self.kind == "dense":
            return labels.toarray().astype(np.int64)
        return labels.astype(np.int64)


def read_targets(y: Any) -> tuple[Indicator, Targets]:
    """Return the labels as a sparse indicator, and what they are called.

    A list of lists is an indicator if all have one length and hold 0 and 1 only, else label lists.
    """
    if issparse(y):
        return _indicator(csr_array(cast("Any", y)), "sparse", None)
    if _is_label_lists(y):
        binarizer = MultiLabelBinarizer(sparse_output=True)
        labels: Any = binarizer.fit_transform(y)
        return csr_array(labels, dtype=bool), Targets(binarizer.classes_, "sparse")
    names = getattr(y, "columns", None)
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] > 1:
        return _indicator(values, "dense", names)
    values = column_or_1d(values, warn=True)
    check_classification_targets(values)
    classes, which = np.unique(values, return_inverse=True)
    n = len(values)
    labels = csr_array((np.ones(n, bool), which, np.arange(n + 1)), shape=(n, len(classes)))
    return labels, Targets(classes, "classes")


def _indicator(values: Any, kind: Kind, names: Any) -> tuple[Indicator, Targets]:
    data: Any = values.data if isinstance(values, csr_array) else values
    if data.dtype.kind not in "biuf" or not ((data == 0) | (data == 1)).all():
        raise InputError(
            "a label matrix must hold 0 and 1 only, one column for each label; "
            "for several classes a document, pass lists of labels"
        )
    labels = csr_array(values, dtype=bool, copy=True)
    labels.eliminate_zeros()
    n_labels = labels.shape[1]
    classes = np.arange(n_labels) if names is None else np.asarray(names, dtype=object)
    return labels, Targets(classes, kind, named=names is not None)


def _is_label_lists(y: Any) -> bool:
    if isinstance(y, str | np.ndarray) or hasattr(y, "columns") or not isinstance(y, Collection):
        return False
    rows = list(y)
    if not rows or not all(
        isinstance(row, list | tuple | set | frozenset | np.ndarray) for row in rows
    ):
        return False
    lengths = {len(row) for row in rows}
    values = {value for row in rows for value in row}
    return not (len(lengths) == 1 and lengths != {0} and values <= {0, 1})


def renamed(
    labels: Indicator, targets: Targets, classes: npt.NDArray[Any]
) -> tuple[Indicator, Targets]:
    """Return the labels over these classes, in their order; labels not among them are dropped."""
    wanted = Targets(classes, targets.kind)
    numbers = wanted.numbers(targets.classes)
    rows, columns = labels.tocoo().coords
    kept = numbers[columns] >= 0
    coords = (rows[kept], numbers[columns[kept]])
    shape = (labels.shape[0], len(classes))
    return csr_array((np.ones(int(kept.sum()), bool), coords), shape=shape), wanted
