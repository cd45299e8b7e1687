"""What was published on the paper's data sets: its own 26 figures, and those of other methods."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from deplda.experiments.report.measures import TABLES, Metric


class Comparison(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Other methods on one of the paper's data sets, as they were published."""

    data: str
    source: str
    columns: list[str]
    """"pivot task name" of one of our figures, with "%" where it is on [0, 100]; or a title."""
    rows: dict[str, str]


class _Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    document_ranking: dict[str, dict[str, str]]
    document_binary: dict[str, dict[str, str]]
    label_ranking: dict[str, dict[str, str]]
    label_binary: dict[str, dict[str, str]]
    comparisons: list[Comparison]


def data_sets() -> tuple[str, ...]:
    """Return the names of the paper's data sets."""
    return tuple(_published().document_ranking)


def paper_figures(data: str) -> dict[str, dict[Metric, str]]:
    """Return model → figure → its printed value; nothing for a data set that the paper lacks."""
    found: dict[str, dict[Metric, str]] = {}
    for (pivot, task), metrics in TABLES.items():
        rows = getattr(_published(), f"{pivot}_{task}").get(data, {})
        for model, row in rows.items():
            found.setdefault(model, {}).update(zip(metrics, row.split(), strict=True))
    return found


def paper_tables(data: str) -> dict[str, dict[str, Any]]:
    """Return model → pivot → task → name → value, as `scorecard` takes it."""
    tables: dict[str, dict[str, Any]] = {}
    for model, row in paper_figures(data).items():
        for metric, printed in row.items():
            task = tables.setdefault(model, {}).setdefault(metric.pivot, {})
            task.setdefault(metric.task, {})[metric.name] = float(printed)
    return tables


def comparisons(data: str) -> list[Comparison]:
    """Return what others published on a data set."""
    return [comparison for comparison in _published().comparisons if comparison.data == data]


@cache
def _published() -> _Published:
    source = files("deplda.experiments.report").joinpath("literature.toml")
    return msgspec.toml.decode(source.read_bytes(), type=_Published)
