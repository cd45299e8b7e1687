"""Checks of single values; each error names the value and what it must be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from deplda.errors import InputError

MOST_WHOLE, MOST = 1_000_000, 1e9


def whole(
    name: str, value: Any, *, least: int = 1, most: int | None = None, or_else: str = ""
) -> int:
    """Return a whole number from `least` (to `most`); an error says what it may be `or_else`."""
    if not _is(value, Integral) or value < least or (most is not None and value > most):
        limits = f"{least}" if most is None else f"{least} to {most:,}"
        raise InputError(f"{name} is {value!r}; it must be {or_else}a whole number from {limits}")
    return int(value)


def number(name: str, value: Any, *, above: bool = True, or_else: str = "") -> float:
    """Return a finite number above 0, or from 0, to 10⁹."""
    if not _is(value, Real) or not 0 <= value <= MOST or (above and value == 0):
        limits = f"a number {'above' if above else 'from'} 0 and at most {MOST:,.0f}"
        raise InputError(f"{name} is {value!r}; it must be {or_else}{limits}")
    return float(value)


def share(name: str, value: Any) -> float:
    """Return a share from 0 and below 1."""
    if not _is(value, Real) or not 0 <= value < 1:
        raise InputError(f"{name} is {value!r}; it must be a share from 0 and below 1")
    return float(value)


def choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return one of these names."""
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(map(repr, choices))
        raise InputError(f"{name} is {value!r}; it must be one of {known}")
    return value


def seed(name: str, value: Any) -> int:
    """Return a seed: a whole number from 0 that fits 64 bits."""
    if not _is(value, Integral) or not 0 <= value < 1 << 64:
        raise InputError(f"{name} is {value!r}; a seed is a whole number from 0 to 2⁶⁴ − 1")
    return int(value)


def at_least_one(**values: Any) -> None:
    """Raise if one of the values is not a whole number from 1."""
    for name, value in values.items():
        whole(name, value)


def positive(**values: Any) -> None:
    """Raise if one of the values is not a finite number above 0."""
    for name, value in values.items():
        number(name, value)


def _is(value: Any, kind: Any) -> bool:
    if not isinstance(value, kind) or isinstance(value, bool):
        return False
    return isinstance(value, Integral) or math.isfinite(value)
