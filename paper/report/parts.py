"""What a report is made of: plain values that any writer can put on a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from deplda.comparison.standing import Cell, Table
from deplda.models.explanation import Explanation
from paper.report.charts import Chart


class Figure(NamedTuple):
    """A chart, what to see in it, and its numbers."""

    title: str
    caption: str
    chart: Chart
    table: Table


class Bullets(NamedTuple):
    """Sentences of equal rank."""

    items: tuple[str, ...]


class Remark(NamedTuple):
    """What must not be overlooked."""

    text: str


class Details(NamedTuple):
    """What only some readers will want to see."""

    summary: str
    blocks: tuple[Block, ...]


class Section(NamedTuple):
    """A heading and what stands under it."""

    title: str
    blocks: tuple[Block, ...]
    depth: int = 1
    """2 for a section of the one before it."""


Block = str | Remark | Bullets | Table | Figure | Explanation | Details


class Report(NamedTuple):
    """A whole report."""

    title: str
    sections: tuple[Section, ...]
    """In reading order."""


def table(
    caption: str,
    columns: Iterable[str],
    rows: Iterable[Iterable[str | Cell]],
    *,
    prose: bool = False,
) -> Table:
    """Return a table of cells and plain texts."""
    cells = (tuple(c if isinstance(c, Cell) else Cell(c) for c in row) for row in rows)
    return Table(caption, tuple(columns), tuple(cells), prose)
