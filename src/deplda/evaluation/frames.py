"""Numbers as text, and frames of pandas for those who have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from deplda.errors import InputError

if TYPE_CHECKING:
    from pandas import DataFrame


def data_frame(columns: Mapping[str, Any], index: Any = None) -> DataFrame:
    """Return the columns as a pandas frame."""
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise InputError(
            "to_frame needs pandas; install it with: pip install 'deplda[report]', or use to_dict"
        ) from error
    return DataFrame(dict(columns), index=index)


def shown(value: float) -> str:
    """Return a figure as a table shows it: four digits, and all that stand before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
