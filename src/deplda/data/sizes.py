"""How large one document may be, so that a small packed file cannot fill the memory."""

from __future__ import annotations

import os
import re
from typing import NoReturn

from deplda.errors import InputError, ReadError

VARIABLE = "DEPLDA_MAX_RECORD"
_DEFAULT = 64 << 20
_WHOLE = 16
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def max_record() -> int:
    """Return the most bytes that a line, or another record, of a file may have."""
    given = os.environ.get(VARIABLE)
    if given is None:
        return _DEFAULT
    match = re.fullmatch(r"([1-9][0-9]{0,11})\s*([KMG]?)(?:i?B)?", given.strip(), re.IGNORECASE)
    if match is None:
        raise InputError(
            f"the environment variable {VARIABLE} is {given!r}; "
            "it must be a number of bytes, such as 128MiB or 1GiB"
        )
    return int(match[1]) * _UNITS[match[2].upper()]


def max_whole() -> int:
    """Return the most bytes of what cannot be read record by record: 16 records."""
    return _WHOLE * max_record()


def refuse_large(
    path: str | os.PathLike[str],
    line: int | None,
    what: str,
    *,
    size: int | None = None,
    whole: bool = False,
) -> NoReturn:
    """Raise the error of a record, or of what is read as a whole, above its limit."""
    record = max_record()
    limit = max_whole() if whole else record
    enough = 2 * record
    while size is not None and enough * limit // record < size:
        enough *= 2
    has = f"has more than {in_words(limit)}" if size is None else f"has {in_words(size)}"
    why = f"the limit is {_WHOLE} times {VARIABLE}" if whole else f"the limit is {VARIABLE}"
    raise ReadError(
        path,
        line,
        f"{what} {has}; {why}, {in_words(record)}: "
        f"if it is meant, set that to more, such as {in_words(enough).replace(' ', '')}",
    )


def in_words(size: int) -> str:
    """Return a number of bytes in the largest unit that it has three or fewer digits of."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} B"
