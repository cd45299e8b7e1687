"""What a report is made of: plain values that any writer can put on a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from deplda.experiments.report.charts import Chart
from deplda.models.explanation import Explanation

Tone = Literal["", "best", "tied", "off", "true", "soft"]


class Cell(NamedTuple):
    """Text of a table, and what there is to it.

    It may be the best of its column beyond noise, tied with the best, off the paper's value, true
    of the document, or soft: there to compare with.
    """

    text: str
    tone: Tone = ""


class Table(NamedTuple):
    """A table whose first column names its rows."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    prose: bool = False
    """Whether its cells are words rather than numbers."""


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


def marked(text: str, name: str, leaders: Sequence[str]) -> Cell:
    """Return a cell: in bold if its model leads alone, or else marked if it is one that leads."""
    if name not in leaders:
        return Cell(text)
    return Cell(text, "best" if len(leaders) == 1 else "tied")


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
