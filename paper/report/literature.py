"""What was published: the paper's own 26 metrics, and those of other methods."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from paper.report.measures import TABLES, Metric


class Comparison(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Other methods on a data set, as they were published."""

    data: str
    source: str
    columns: list[str]
    """"pivot task name" of one of our metrics, with "%" where it is on [0, 100]; or a title."""
    rows: dict[str, str]


def paper_values(data: str | None) -> dict[str, dict[Metric, str]]:
    """Return model → metric → its printed value; nothing for a data set that the paper lacks."""
    found: dict[str, dict[Metric, str]] = {}
    for (pivot, task), metrics in TABLES.items():
        for model, row in _published()[f"{pivot}_{task}"].get(data, {}).items():
            found.setdefault(model, {}).update(zip(metrics, row.split(), strict=True))
    return found


def comparisons(data: str | None) -> list[Comparison]:
    """Return what others published on a data set."""
    found = msgspec.convert(_published()["comparisons"], list[Comparison])
    return [comparison for comparison in found if comparison.data == data]


@cache
def _published() -> dict[str, Any]:
    source = Path(__file__).with_name("literature.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))
