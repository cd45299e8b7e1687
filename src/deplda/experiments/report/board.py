"""The leaderboard in a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Group as Stack
from rich.table import Table as RichTable
from rich.text import Text

from deplda.data.files import StrPath
from deplda.experiments.report.measures import BY_DOCUMENT, BY_LABEL, ONE_ERROR
from deplda.experiments.report.overview import leaderboard_of
from deplda.experiments.report.parts import Table
from deplda.experiments.report.runs import read_groups

_NARROW = (BY_DOCUMENT, ONE_ERROR, BY_LABEL)
"""What fits into 80 columns."""


def leaderboard(folders: StrPath | Iterable[StrPath]) -> Stack:
    """Return the main figures of every model for ``rich.print``, a table for each data set."""
    return Stack(*(_rich(leaderboard_of(group, _NARROW)) for group in read_groups(folders)))


def _rich(table: Table) -> RichTable:
    drawn = RichTable(
        title=Text(table.caption),
        title_justify="left",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
    for number, column in enumerate(table.columns):
        drawn.add_column(Text(column), justify="right" if number else "left", no_wrap=not number)
    for row in table.rows:
        drawn.add_row(*(Text(c.text, style="bold" if c.tone == "best" else "") for c in row))
    return drawn
