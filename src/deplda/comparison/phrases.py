"""Numbers and lists of names in sentences and tables."""

from __future__ import annotations

from collections.abc import Iterable

CLEAR = 0.05
"""A difference with a smaller p value is called clear."""

NOISE = (
    "± is half of the 95 % interval, for other test documents (or labels) of the same kind. In "
    "bold: better than every other model beyond noise; ≈: tied with the best, the difference is "
    "within noise."
)


def listed(names: Iterable[str]) -> str:
    """Return "a, b and c"."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def span(low: int, high: int) -> str:
    """Return "1–4", or "1"."""
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def documents(low: int, high: int) -> str:
    """Return "1 training document", "1–4 training documents"."""
    return f"{span(low, high)} training document{'' if low == high == 1 else 's'}"


def rate(value: float) -> str:
    """Return a number between 0 and 1 with three decimals and no leading zero, as in the paper."""
    return "–" if value != value else f"{value:.3f}".removeprefix("0")


def duration(seconds: float) -> str:
    """Return seconds with three digits."""
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.3g}"
