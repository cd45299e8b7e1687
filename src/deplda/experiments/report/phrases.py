"""Numbers and names as they stand in sentences and tables."""

from __future__ import annotations

from collections.abc import Iterable

from deplda.data.wording import counted as counted

CLEAR = 0.05
"""A difference with a smaller p is called clear."""


def listed(names: Iterable[str]) -> str:
    """Return "a, b and c"."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def span(low: int, high: int) -> str:
    """Return "1–4", or "1"."""
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def rate(value: float) -> str:
    """Return a number between 0 and 1 with three decimals and no leading zero, as in the paper."""
    return "–" if value != value else f"{value:.3f}".removeprefix("0")


def signed(value: float, decimals: int = 3) -> str:
    """Return a difference with its sign, if it is not 0, as the paper would write the number."""
    value = round(value, decimals)
    text = f"{abs(value):.{decimals}f}"
    text = text.removeprefix("0") if decimals else text
    return f"{'−' if value < 0 else '+' if value > 0 else ''}{text}"


def or_dash(value: float | None, form: str) -> str:
    """Return a number in a format, with a real minus; a dash if there is none."""
    return "–" if value is None else format(value, form).replace("-", "−")


def p_value(p: float) -> str:
    """Return "p < .001" or "p = .030" that stays on one line, or that there was nothing to test."""
    if p != p:
        return "not testable"
    shown = "< .001" if p < 0.001 else f"= {rate(p)}"
    return f"p {shown}".replace(" ", "\N{NO-BREAK SPACE}")


def stars(p: float) -> str:
    """Return the marks of a p value; nothing if it is not below .05."""
    return "*" * sum(p < level for level in (CLEAR, 0.01, 0.001))


def duration(seconds: float) -> str:
    """Return seconds with a sensible number of digits."""
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.3g}"
