"""Numbers as sentences and tables show them, as the paper writes them."""

from __future__ import annotations

from deplda.comparison.phrases import CLEAR, rate


def signed(value: float, decimals: int = 3) -> str:
    """Return a difference with its sign, unless it is 0."""
    value = round(value, decimals)
    text = f"{abs(value):.{decimals}f}"
    text = text.removeprefix("0") if decimals else text
    return f"{'−' if value < 0 else '+' if value > 0 else ''}{text}"


def or_dash(value: float | None, form: str) -> str:
    """Return a number in a format, with a real minus; a dash for None."""
    return "–" if value is None else format(value, form).replace("-", "−")


def p_value(p: float) -> str:
    """Return "p < .001" or "p = .030" that stays on one line."""
    if p != p:
        return "not testable"
    shown = "< .001" if p < 0.001 else f"= {rate(p)}"
    return f"p {shown}".replace(" ", "\N{NO-BREAK SPACE}")


def stars(p: float) -> str:
    """Return the marks of a p value; nothing if it is not below .05."""
    return "*" * sum(p < level for level in (CLEAR, 0.01, 0.001))
