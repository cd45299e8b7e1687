"""Labels as users write them: indicators, label lists, one class a document; and back again."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from deplda.data.corpus import indicator, map_columns
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
        return (labels.toarray() if self.kind == "dense" else labels).astype(np.int64)


def read_targets(y: Any) -> tuple[Indicator, Targets]:
    """Return the labels as a sparse indicator, and what they are called.

    The form of y alone decides what it is, never its values: a matrix or data frame is an
    indicator, a list of lists is label lists, one dimension is one class for each document.
    """
    if isinstance(y, np.ndarray) and y.dtype == object and y.ndim == 1:
        y = y.tolist()  # may hold label lists
    elif str(getattr(y, "dtype", "")).startswith(("List(", "Array(")):
        y = y.to_list()  # polars, whose rows are Series
    if issparse(y):
        return _indicator(y, "sparse", None)
    if _is_label_lists(y):
        binarizer = MultiLabelBinarizer(sparse_output=True)
        try:
            labels: Any = binarizer.fit_transform(y)
        except TypeError as error:
            raise InputError(
                f"the labels cannot be put in order{_two_kinds(y)}; use strings only, or numbers "
                "only"
            ) from error
        except OverflowError as error:
            raise InputError("y has integer labels beyond 64 bits; use strings") from error
        return csr_array(labels, dtype=bool), Targets(binarizer.classes_, "sparse")
    names = getattr(y, "columns", None)
    try:
        values = np.asarray(y)
    except ValueError as error:
        raise InputError(
            "y is neither a matrix, nor label lists throughout, nor one class for each document"
            f"{_no_list(y)}"
        ) from error
    if values.ndim == 2:
        return _indicator(values, "dense", names)
    values = column_or_1d(values)
    if values.dtype.kind == "f":
        assert_all_finite(values, input_name="y")
    check_classification_targets(values)
    classes, which = np.unique(values, return_inverse=True)
    n = len(values)
    labels = csr_array((np.ones(n, bool), which, np.arange(n + 1)), shape=(n, len(classes)))
    return labels, Targets(classes, "classes")


def _indicator(values: Any, kind: Kind, names: Any) -> tuple[Indicator, Targets]:
    problem = (
        "a label matrix must hold 0 and 1 only, one column for each label; "
        "for several classes a document, pass lists of labels, for one class, one dimension"
    )
    if values.dtype.kind not in "biuf":
        raise InputError(problem)
    labels = indicator(values, problem)
    classes = np.arange(labels.shape[1]) if names is None else np.asarray(names, dtype=object)
    return labels, Targets(classes, kind, named=names is not None)


def _two_kinds(label_lists: Iterable[Iterable[Any]]) -> str:
    """Return which document has the first label that is no string where others are, in words."""
    labels = [(number, label) for number, row in enumerate(label_lists) for label in row]
    text = next((label for _, label in labels if isinstance(label, str)), None)
    odd = next((each for each in labels if not isinstance(each[1], str)), None)
    if text is None or odd is None:
        return ""
    return f": document {odd[0]} has {odd[1]!r}, and there is {text!r}"


def _no_list(y: Any) -> str:
    """Return which document is the first that has no list of labels where others do, in words."""
    rows = list(y) if isinstance(y, Collection) else []
    are_lists = [isinstance(row, _LISTS) for row in rows]
    if all(are_lists) or not any(are_lists):
        return ""
    number = are_lists.index(False)
    return f": the labels of document {number} are {rows[number]!r}; give a list, [] for none"


_LISTS = (list, tuple, set, frozenset, np.ndarray)


def _is_label_lists(y: Any) -> bool:
    if isinstance(y, str | np.ndarray) or hasattr(y, "columns") or not isinstance(y, Collection):
        return False
    rows = list(y)
    return bool(rows) and all(isinstance(row, _LISTS) for row in rows)


class LabelSet(frozenset[Any]):
    """The labels of one document, in an array that scikit-learn can split but not encode."""

    __slots__ = ()

    def __lt__(self, other: object) -> bool:
        # LabelEncoder, which cross_val_predict uses, sorts; each set would become a class.
        raise TypeError(
            "label sets have no order and cannot be encoded as classes; pass an indicator matrix, "
            "such as MultiLabelBinarizer().fit_transform(label_lists)"
        )


def label_array(label_lists: Iterable[Iterable[Any]]) -> npt.NDArray[np.object_]:
    """Return label lists as an array of sets, which scikit-learn can split.

    Its cross-validation refuses lists of lists unless `cv` is a splitter (``cv=KFold(5)``). All
    models accept the array for y. The sets have no order: ``cross_val_predict`` of probabilities
    or scores, which would take each set for a class, raises an error and needs an indicator matrix.

    Examples
    --------
    >>> import deplda
    >>> deplda.label_array([["LAW"], ["LAW", "SPORT"]]).shape
    (2,)
    """
    sets = []
    for number, labels in enumerate(label_lists):
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            raise InputError(
                f"the labels of document {number} are {labels!r}; give a list of them, "
                f"such as {[labels]!r}"
            )
        sets.append(LabelSet(labels))
    found = np.empty(len(sets), dtype=object)
    found[:] = sets
    return found


def by_place(targets: Targets, classes: npt.NDArray[Any]) -> Targets:
    """Return the targets with columns that have no names called by these classes.

    Where the classes are numbers themselves, further columns are new labels.
    """
    n, n_known = len(targets.classes), len(classes)
    if targets.named:
        return targets
    if n == n_known:
        return Targets(classes, targets.kind)
    if n > n_known and np.array_equal(classes, np.arange(n_known)):
        return targets
    raise InputError(
        f"y has {n:,} columns without names but there are {n_known:,} labels; "
        "pass as many columns, or label lists, or a data frame with the labels as its columns"
    )


def among(labels: Indicator, targets: Targets, classes: npt.ArrayLike) -> tuple[Indicator, Targets]:
    """Return the labels over exactly these classes, in their order."""
    chosen = np.asarray(classes)
    if chosen.ndim != 1 or not chosen.size or len(set(chosen.tolist())) < chosen.size:
        raise InputError("classes must be a list of distinct labels")
    if not targets.named and len(targets.classes) != len(chosen):
        raise InputError(
            f"classes has {len(chosen):,} labels but y has {len(targets.classes):,} columns; give "
            "one for each column, in their order (classes_ of a MultiLabelBinarizer)"
        )
    targets = by_place(targets, chosen)
    new = targets.classes[Targets(chosen, targets.kind).numbers(targets.classes) < 0]
    if len(new):
        raise InputError(f"y holds the label {new[0]!r}, which is not among classes")
    return renamed(labels, targets, chosen), Targets(chosen, targets.kind)


def extended(classes: npt.NDArray[Any], others: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the classes and, after them, those of the others that are new."""
    new = others[Targets(classes, "sparse").numbers(others) < 0]
    if len({type(label) for label in [*classes.tolist(), *new.tolist()]}) > 1:
        raise InputError(
            f"y holds the new label {new[0]!r} but labels so far are such as {classes[0]!r}; "
            "use strings only, or numbers only"
        )
    return np.concatenate([classes, new])


def renamed(labels: Indicator, targets: Targets, classes: npt.NDArray[Any]) -> Indicator:
    """Return the labels over these classes, in their order; labels not among them are dropped."""
    numbers = Targets(classes, targets.kind).numbers(targets.classes)
    renamed: Indicator = map_columns(labels, numbers, len(classes))
    return renamed
