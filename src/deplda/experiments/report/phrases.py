"""Numbers and names as they stand in sentences."""

from __future__ import annotations

from collections.abc import Iterable

LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
CLEAR = 0.05
"""A difference with a smaller p is called clear."""


def listed(names: Iterable[str]) -> str:
    """Return "a, b and c"."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def counted(n: int, thing: str) -> str:
    """Return "1 split", "2 splits"."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def span(low: int, high: int) -> str:
    """Return "1–4", or "1"."""
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def p_value(p: float) -> str:
    """Return "p < .001" or "p = .030" that stays on one line, or that there was nothing to test."""
    if p != p:
        return "not testable"
    shown = "< .001" if p < 0.001 else f"= {f'{p:.3f}'.removeprefix('0')}"
    return f"p {shown}".replace(" ", "\N{NO-BREAK SPACE}")


def stars(p: float) -> str:
    """Return the marks of a p value; nothing if it is not below .05."""
    return next((mark for level, mark in LEVELS if p < level), "")


def duration(seconds: float) -> str:
    """Return seconds with a sensible number of digits."""
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.3g}"
