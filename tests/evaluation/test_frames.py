"""Numbers as text, and frames of pandas."""

import sys

import numpy as np
import pytest

from deplda import InputError
from deplda.evaluation import evaluate
from deplda.evaluation.frames import data_frame, percent, shown


def test_without_pandas_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evaluation = evaluate(np.eye(2), np.eye(2), np.eye(2))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"pip install 'deplda\[report\]'"):
        evaluation.to_frame()


def test_frames_are_made_of_columns_or_of_rows() -> None:
    pytest.importorskip("pandas")
    columns = data_frame({"a": [1, 2], "b": ["x", "y"]}, index=[7, 8])
    assert columns["b"][8] == "y"
    rows = data_frame([(1, "x"), (2, "y")], columns=["a", "b"])
    assert rows["a"].tolist() == columns["a"].tolist()


def test_per_cent_is_rounded_to_one_decimal() -> None:
    values = (0.0, 1.0, 1 - 2**-53, 2**-53, 0.99951, 0.9994, 0.0004, 0.0006, 0.5, float("nan"))
    found = [percent(value) for value in values]
    assert found == ["0", "100", "100", "0", "100.0", "99.9", "0.0", "0.1", "50.0", "–"]


@pytest.mark.parametrize(
    ("value", "text"), [(0.123456, "0.1235"), (12.0, "12"), (1234.5, "1,234"), (np.nan, "nan")]
)
def test_a_value_is_shown_with_four_digits(value: float, text: str) -> None:
    assert shown(value) == text
