"""Sparse rows that grow."""

import pytest

from deplda import InputError
from deplda.data.rows import SparseRows, column_numbers


def test_names_are_learned_and_sorted() -> None:
    rows = SparseRows()
    rows.add({"b": 2, "a": 1})
    rows.add({})
    rows.add({"c": 3, "b": 0})
    matrix, names = rows.matrix()
    assert names == ("a", "b", "c")
    assert matrix.toarray().tolist() == [[1, 2, 0], [0, 0, 0], [0, 0, 3]]
    assert matrix.dtype == "int32"


def test_names_that_are_given_are_the_only_ones_and_keep_their_order() -> None:
    rows = SparseRows(["b", "a"])
    rows.add({"a": 1, "c": 9})
    matrix, names = rows.matrix()
    assert (matrix.toarray().tolist(), names) == ([[0, 1]], ("b", "a"))


def test_rows_over_the_same_names_share_their_column_numbers() -> None:
    columns = column_numbers(["b", "a"])
    rows = SparseRows(columns)
    rows.add({"a": 1})
    assert rows.places is columns
    assert rows.matrix()[1] == ("b", "a")


def test_a_name_twice_is_an_error() -> None:
    with pytest.raises(InputError, match="words"):
        SparseRows(["a", "a"], "words")
