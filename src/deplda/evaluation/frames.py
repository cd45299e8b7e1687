"""Numbers as text, and frames of pandas for those who have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deplda.errors import needs_extra

if TYPE_CHECKING:
    from pandas import DataFrame

_BY_ARITHMETIC = 1e-9  # a mean of ones may miss 1 by its last bits


def data_frame(data: Any, **options: Any) -> DataFrame:
    """Return columns by name, or rows (with ``columns=``), as a pandas frame."""
    with needs_extra("to_frame", "pandas", "report"):
        from pandas import DataFrame
    return DataFrame(data, **options)


def shown(value: float) -> str:
    """Return a value as a table shows it: four digits, and all that stand before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def percent(value: float) -> str:
    """Return a fraction as per cent with one decimal, which 0 and 100 have only if rounded to."""
    if value != value:
        return "–"
    if abs(value - round(value)) < _BY_ARITHMETIC:
        return f"{100 * round(value)}"
    return f"{100 * value:.1f}"
