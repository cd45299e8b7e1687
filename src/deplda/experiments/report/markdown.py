"""A report as Markdown: the same sections, with the numbers of each figure as a table."""

from __future__ import annotations

import re
from html import escape

from deplda.experiments.report.parts import (
    Block,
    Bullets,
    Cell,
    Details,
    Figure,
    Report,
    Table,
    placed,
)
from deplda.models.explanation import Explanation


def markdown(report: Report, notes: str | None = None) -> str:
    """Return the report as Markdown; `notes` follow its first section under their own heading."""
    lines = [f"# {_text(report.title)}", _contents(report, notes is not None)]
    for number, place in enumerate(placed(report)):
        if number == 1 and notes is not None:
            lines += ["## Remarks", notes.strip()]
        lines.append(f"{'#' * (place.depth + 1)} {_text(place.section.title)}")
        lines += [part for block in place.section.blocks for part in _block(block)]
    return "\n\n".join(lines) + "\n"


def _contents(report: Report, has_notes: bool) -> str:
    lines: list[list[str]] = []
    for place in placed(report):
        if place.depth == 1:
            lines.append([])
        lines[-1].append(f"[{_text(place.section.title)}](#{place.anchor})")
    if has_notes:
        lines.insert(1, ["[Remarks](#remarks)"])
    return "\n".join(f"- {' · '.join(items)}" for items in lines)


def _block(block: Block) -> list[str]:
    if isinstance(block, str):
        return [_text(block)]
    if isinstance(block, Bullets):
        return ["\n".join(f"- {_text(item)}" for item in block.items)]
    if isinstance(block, Table):
        return [f"**{_text(block.caption)}**", _table(block)]
    if isinstance(block, Figure):
        return [f"**{_text(block.title)}.** {_text(block.caption)}", *_block(block.table)]
    if isinstance(block, Details):
        inner = [part for inside in block.blocks for part in _block(inside)]
        return [f"<details><summary>{escape(block.summary)}</summary>", *inner, "</details>"]
    return _explanation(block)


def _table(table: Table) -> str:
    aligned = [":--", *([":--" if table.prose else "--:"] * (len(table.columns) - 1))]
    rows = [[_text(column) for column in table.columns], aligned]
    rows += [[_cell(cell) for cell in row] for row in table.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(cell: Cell) -> str:
    text = _text(cell.text)
    if cell.tone == "best":
        return f"**{text}**"
    if cell.tone == "true":
        return f"**{text}** ✓"
    return f"{text} ✗" if cell.tone == "off" else text


def _explanation(explanation: Explanation) -> list[str]:
    parts = list(explanation.reasons[0].parts) if explanation.reasons else []
    numbers = ("score", *parts)
    rows = [
        f"| label | {' | '.join(numbers)} | words that argue for it | goes with |",
        f"| :-- |{' --: |' * len(numbers)} :-- | :-- |",
    ]
    for reason in explanation.reasons:
        words = ", ".join(f"{word.name} ({word.weight:.1f})" for word in reason.words)
        with_ = ", ".join(f"{label.name} ({label.weight:.0%})" for label in reason.companions)
        scores = (f"{s:.3f}" for s in (reason.score, *(reason.parts[part] for part in parts)))
        rows.append(f"| {' | '.join([_text(reason.label), *scores, _text(words), _text(with_)])} |")
    known = f"{explanation.n_tokens:,} tokens of known words"
    unknown = (
        f", {explanation.n_unknown:,} of unknown ones left out" if explanation.n_unknown else ""
    )
    return ["\n".join(rows), f"{known}{unknown}."]


def _text(text: object) -> str:
    """Return text that Markdown shows as it is, on one line."""
    plain = re.sub(r"\s+", " ", str(text))
    # "<" and "&" only where a tag or an entity could begin: "p < .001" reads better without.
    return re.sub(r"([\\`*_\[\]|~]|<(?=[a-zA-Z/!?])|&(?=[#a-zA-Z]))", r"\\\1", plain)
