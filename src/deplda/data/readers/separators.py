"""What stands between the labels of one cell, told by the first cells of a file.

A semicolon, a line break or a bar separates labels wherever one is found: of 97,000 names in lists
of subjects (YSO, STW, YKL, EuroVoc and tags) none has one, and 0.3 % have a comma. A comma does if nothing else is found, unless most cells
with commas recur as they are and share no part with any other: then it belongs to the names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

USUAL = ";"
COMMA = ","
_SURE = (USUAL, "\n", "|")


class Separator(NamedTuple):
    """What separates labels, and what is to be said of it."""

    text: str
    note: str
    is_sure: bool
    """Whether no comma makes it doubtful."""


def told_separator(cells: Iterable[str]) -> Separator | None:
    """Return what separates the labels of cells; None where no cell has anything that may."""
    times = Counter(cell.strip() for cell in cells)
    commas = Counter({cell: n for cell, n in times.items() if len(_parts(cell)) > 1})
    for each in _SURE:
        if n := sum(n for cell, n in times.items() if each in cell):
            whole = Counter({cell: n for cell, n in commas.items() if each not in cell})
            said = _said(each, times)
            if whole.total() <= n:
                return Separator(each, f"{said} (--separator sets another)", True)
            return Separator(each, f"{said}: {_as_one(whole)}", False)
    if not commas:
        return None
    if _belong_to_names(times, commas):
        return Separator(USUAL, _as_one(commas), False)
    return Separator(COMMA, f"{_said(COMMA, commas)}: {_as_several(commas)}", False)


def _as_one(cells: Counter[str]) -> str:
    example = cells.most_common(1)[0][0]
    return f"{_brief(example)} is taken as one label (--separator ',' splits it)"


def _as_several(cells: Counter[str]) -> str:
    example = cells.most_common(1)[0][0]
    n = len(_parts(example))
    return f"{_brief(example)} is taken as {n} labels (--separator ';' keeps it as one)"


def _belong_to_names(times: Counter[str], with_commas: Counter[str]) -> bool:
    """Return whether most cells with commas recur as they are, and no part of them elsewhere."""
    holding = Counter(part for cell in times for part in set(_parts(cell)))
    n_names = sum(
        n for cell, n in with_commas.items()
        if n > 1 and all(holding[part] == 1 for part in _parts(cell))
    )  # fmt: skip
    return 2 * n_names > with_commas.total()


def _parts(cell: str) -> list[str]:
    return [part for each in cell.split(COMMA) if (part := each.strip())]


def _said(separator: str, cells: Iterable[str]) -> str:
    """Return in words what separates labels, as it is mostly written."""
    found = Counter(re.findall(f"{re.escape(separator)} ?", "\0".join(cells)))
    shown = "line breaks" if separator == "\n" else repr(found.most_common(1)[0][0])
    return f"labels are separated by {shown}"


def _brief(cell: str) -> str:
    return repr(cell if len(cell) <= 60 else f"{cell[:60]}…")
