"""A report of text, lists and tables as Markdown."""

from __future__ import annotations

import re

from deplda.comparison.standing import Cell, Table
from paper.report.parts import Block, Bullets, Remark, Report, Section

_ABOUT = (
    "This is the short form; the full page, with charts, explanations, costs and settings, is made "
    "by `python -m paper report RESULTS -o report.html`."
)


def markdown(report: Report, notes: str | None = None) -> str:
    """Return the report as Markdown; `notes` follow its first section under their own heading."""
    first, *others = (_section(section) for section in report.sections)
    remarks = [] if notes is None else [f"## Remarks\n\n{notes.strip()}"]
    return "\n\n".join([f"# {_text(report.title)}", _ABOUT, first, *remarks, *others]) + "\n"


def _section(section: Section) -> str:
    return "\n\n".join([f"## {_text(section.title)}", *map(_block, section.blocks)])


def _block(block: Block) -> str:
    if isinstance(block, str):
        return _text(block)
    if isinstance(block, Remark):
        return f"> {_text(block.text)}"
    if isinstance(block, Bullets):
        return "\n".join(f"- {_text(item)}" for item in block.items)
    if isinstance(block, Table):
        return f"**{_text(block.caption)}**\n\n{_table(block)}"
    raise TypeError(f"the short form has text, lists and tables, not {type(block).__name__}")


def _table(table: Table) -> str:
    aligned = [":--", *([":--" if table.prose else "--:"] * (len(table.columns) - 1))]
    rows = [[_text(column) for column in table.columns], aligned]
    rows += [[_cell(cell) for cell in row] for row in table.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(cell: Cell) -> str:
    text = _text(cell.text)
    marks = {"best": f"**{text}**", "off": f"{text} ✗", "tied": f"≈ {text}"}
    return marks.get(cell.tone, text)


def _text(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    plain = re.sub(r"\s+", " ", text)
    # "<" and "&" only where a tag or an entity could begin: "p < .001" reads better without.
    return re.sub(r"([\\`*_\[\]|~]|<(?=[a-zA-Z/!?])|&(?=[#a-zA-Z]))", r"\\\1", plain)
