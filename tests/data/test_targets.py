"""Labels as users write them, and back again."""

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from deplda import InputError
from deplda.data.targets import Targets, among, by_place, extended, read_targets, renamed


@pytest.mark.parametrize(
    ("y", "kind", "classes"),
    [
        (np.array([[1, 0], [1, 1]]), "dense", [0, 1]),
        (csr_array([[True, False], [True, True]]), "sparse", [0, 1]),
        (pd.DataFrame({"a": [1, 1], "b": [0, 1]}), "dense", ["a", "b"]),
        (pl.DataFrame({"a": [1, 1], "b": [0, 1]}), "dense", ["a", "b"]),
        ([["a"], ["a", "b"]], "sparse", ["a", "b"]),
        ([{"a"}, ("b", "a")], "sparse", ["a", "b"]),
        (np.array([["a"], ["a", "b"]], dtype=object), "sparse", ["a", "b"]),
    ],
)
def test_matrices_and_label_lists_are_one_indicator(y: Any, kind: str, classes: list[Any]) -> None:
    labels, targets = read_targets(y)
    assert labels.toarray().tolist() == [[True, False], [True, True]]
    assert (targets.kind, targets.classes.tolist()) == (kind, classes)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (np.array([[1], [0]]), [0]),
        (csr_array([[1], [0]]), [0]),
        (pd.DataFrame({"LAW": [1, 0]}), ["LAW"]),
        (pl.DataFrame({"LAW": [1, 0]}), ["LAW"]),
    ],
)
def test_one_column_is_an_indicator_of_one_label(y: Any, classes: list[Any]) -> None:
    labels, targets = read_targets(y)
    assert labels.toarray().tolist() == [[True], [False]]
    assert (targets.kind == "classes", targets.classes.tolist()) == (False, classes)
    found, named = among(labels, targets, ["LAW"])
    assert (found.toarray().tolist(), named.classes.tolist()) == ([[True], [False]], ["LAW"])


@pytest.mark.parametrize("y", [[[0, 1], [1, 0]], [[1], [0]], [[1], [0, 1]], [[1, 1], [1, 1]]])
@pytest.mark.parametrize("row", [list, tuple, set, np.array])
def test_a_list_of_lists_is_label_lists_whatever_it_holds(y: list[list[int]], row: Any) -> None:
    labels, targets = read_targets([row(each) for each in y])
    assert targets.kind == "sparse"
    names = targets.classes.tolist()
    assert [{names[c] for c in labels[[d]].indices} for d in range(2)] == [set(each) for each in y]


def test_one_class_a_document_is_one_label_each() -> None:
    labels, targets = read_targets(["b", "a", "b"])
    assert labels.toarray().tolist() == [[False, True], [True, False], [False, True]]
    assert (targets.kind, targets.classes.tolist()) == ("classes", ["a", "b"])


def test_predictions_come_back_in_the_manner_of_the_targets() -> None:
    labels, targets = read_targets(np.array([[1, 0], [0, 1]]))
    assert targets.give_back(labels).tolist() == [[1, 0], [0, 1]]
    assert targets.give_back(labels).dtype == np.int64
    sparse = Targets(targets.classes, "sparse").give_back(labels)
    assert sparse.format == "csr"


def test_labels_are_matched_by_name_and_others_dropped() -> None:
    labels, targets = read_targets([["a"], ["c", "a"], ["b"]])
    found = renamed(labels, targets, np.array(["c", "a", "z"]))
    assert found.toarray().tolist() == [[False, True, False], [True, True, False], [False] * 3]
    assert found.dtype == bool


def test_columns_without_names_are_known_by_their_place() -> None:
    _, targets = read_targets(np.eye(2))
    assert by_place(targets, np.array(["x", "y"])).classes.tolist() == ["x", "y"]
    assert by_place(targets, np.arange(1)).classes.tolist() == [0, 1]
    with pytest.raises(InputError, match="y has 2 columns without names but there are 3 labels"):
        by_place(targets, np.array(["x", "y", "z"]))


def test_exactly_these_classes_or_an_error() -> None:
    labels, targets = read_targets([["a"], ["b"]])
    found, named = among(labels, targets, ["b", "c", "a"])
    assert found.toarray().tolist() == [[False, False, True], [True, False, False]]
    assert named.classes.tolist() == ["b", "c", "a"]
    with pytest.raises(InputError, match="y holds the label 'b', which is not among classes"):
        among(labels, targets, ["a"])
    with pytest.raises(InputError, match="distinct"):
        among(labels, targets, ["a", "a"])


def test_new_labels_go_behind_the_known_ones() -> None:
    assert extended(np.array(["b"]), np.array(["a", "b"])).tolist() == ["b", "a"]
    with pytest.raises(InputError, match="strings only, or numbers only"):
        extended(np.array(["b"], dtype=object), np.array([7], dtype=object))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array([[2, 0], [0, 1]]), "must hold 0 and 1 only"),
        (np.array([[0.5, 0], [0, np.nan]]), "must hold 0 and 1 only"),
        (csr_array([[3, 0]]), "must hold 0 and 1 only"),
        (np.array([["a", "b"], ["c", "d"]]), "must hold 0 and 1 only"),
        (pd.DataFrame({"label": ["a", "b"]}), "for one class, one dimension"),
        (np.array([[0], [1], [2]]), "for one class, one dimension"),
        ([["a"], [1]], "cannot be put in order: document 1 has 1, and there is 'a'"),
        ([["a"], ["b", math.nan]], "document 1 has nan, and there is 'a'"),
        ([["a", "b"], "c"], "neither a matrix, nor label lists"),
        ([["a", "b"], ["c"], None], r"labels of document 2 are None; give a list, \[\] for none"),
    ],
)
def test_what_is_not_labels_is_refused(y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_targets(y)


@pytest.mark.parametrize("dtype", [pl.List(pl.String), pl.Array(pl.String, 1)])
def test_a_polars_column_of_lists_holds_label_lists(dtype: Any) -> None:
    labels, targets = read_targets(pl.Series([["LAW"], ["SPORT"], ["LAW"]], dtype=dtype))
    assert targets.classes.tolist() == ["LAW", "SPORT"]
    assert labels.toarray().tolist() == [[1, 0], [0, 1], [1, 0]]
