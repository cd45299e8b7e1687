"""Documents that are decided on again: each decision has its id, and the last one counts."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from hashlib import sha256

_FORM = re.compile(r"([0-9a-f]{32})#\d{16,20}")


def version_id(text: str) -> str:
    """Return an id of a text and this moment, which tells that it is a version of that text."""
    return f"{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}#{time.time_ns()}"


def last_versions(ids: Sequence[str]) -> list[int]:
    """Return the places of all ids but those of texts that have a later one."""
    last: dict[str, int] = {}
    for place, id in enumerate(ids):
        found = _FORM.fullmatch(id)
        last[found[1] if found else f"{place}"] = place
    return sorted(last.values())
