"""Checks of single values, and what their errors say."""

import re
from typing import Any

import numpy as np
import pytest

from deplda import InputError
from deplda.data import checks


def test_good_values_come_back_as_plain_numbers() -> None:
    assert type(checks.whole("n", np.int64(3))) is int
    assert type(checks.number("x", np.float32(0.5))) is float
    assert checks.number("x", 0, above=False) == 0
    assert checks.share("s", 0) == 0
    assert checks.choice("c", "a", ("a", "b")) == "a"
    checks.at_least_one(n=1)
    checks.positive(x=0.1)


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "3", None, np.nan])
def test_what_is_not_a_whole_number_from_1_is_named(value: Any) -> None:
    said = re.escape(f"n is {value!r}; it must be a whole number from 1")
    with pytest.raises(InputError, match=said):
        checks.whole("n", value)
    with pytest.raises(InputError, match=said):
        checks.at_least_one(n=value)


@pytest.mark.parametrize("value", [0, -0.5, True, "x", None, np.nan, np.inf, 1e10])
def test_what_is_not_a_number_above_0_is_named(value: Any) -> None:
    with pytest.raises(InputError, match=re.escape(f"x is {value!r}; it must be a number above 0")):
        checks.positive(x=value)


def test_limits_and_other_values_are_named() -> None:
    with pytest.raises(
        InputError, match=r"n is 11; it must be None or a whole number from 1 to 10"
    ):
        checks.whole("n", 11, most=10, or_else="None or ")
    with pytest.raises(InputError, match=r"s is 1\.0; it must be a share from 0 and below 1"):
        checks.share("s", 1.0)
    with pytest.raises(InputError, match="c is 'z'; it must be one of 'a', 'b'"):
        checks.choice("c", "z", ("a", "b"))
    with pytest.raises(InputError, match="c is None; it must be one of 'a', 'b'"):
        checks.choice("c", None, ("a", "b"))


@pytest.mark.parametrize("value", [-1, 2**64, 10**30, True, 1.0, None])
def test_what_is_not_a_seed_is_named(value: Any) -> None:
    with pytest.raises(InputError, match=f"s is {value}; a seed is a whole number from 0 to 2⁶⁴"):
        checks.seed("s", value)
    assert checks.seed("s", np.uint64(2**64 - 1)) == 2**64 - 1
