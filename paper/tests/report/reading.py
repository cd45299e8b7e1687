"""Parts of a report, by their names."""

from deplda.comparison.standing import Table
from paper.report.parts import (
    Bullets,
    Report,
    Section,
)


def section(report: Report, title: str) -> Section:
    return next(part for part in report.sections if part.title == title)


def tables(part: Section) -> list[Table]:
    return [block for block in part.blocks if isinstance(block, Table)]


def words(part: Section) -> str:
    said = [
        b if isinstance(b, str) else " ".join(b.items)
        for b in part.blocks
        if isinstance(b, str | Bullets)
    ]
    return " ".join(said)
