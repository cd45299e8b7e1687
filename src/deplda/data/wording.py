"""Numbers and names in sentences for people: "1 document", and what a misspelt name may mean."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def counted(n: int, thing: str) -> str:
    """Return "1 document", "2,000 documents"; `thing` may be several words, its noun the last."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def nearest(name: str, known: Iterable[str], n: int = 1) -> list[str]:
    """Return the known names that are spelt nearly so, in any case, the nearest first."""
    folded = {each.casefold(): each for each in known}
    return [folded[each] for each in get_close_matches(name.casefold(), folded, n)]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ": did you mean 'split'?" to put behind a name that is unknown; "" if none is near."""
    near = nearest(name, known)
    return f": did you mean {near[0]!r}?" if near else ""
