"""Print the oldest version that pyproject.toml allows of each requirement, as pip's constraints.

`make test-oldest` installs these. Nothing is installed when it runs: the standard library must do.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
REQUIREMENT = re.compile(r"([\w-]+)(?:\[([\w,-]+)\])?(?:>=|~=)(\d[\d.]*)", re.ASCII)


class Requirement(NamedTuple):
    """A package, its extras, and its oldest version."""

    name: str
    extras: list[str]
    oldest: str


def taken_apart(line: str) -> Requirement:
    """Return the parts of one requirement."""
    if (found := REQUIREMENT.fullmatch(line)) is None:
        raise ValueError(f"{line!r} has no lower bound; write it as name>=version")
    name, extras, oldest = found.groups()
    return Requirement(name, (extras or "").split(","), oldest)


def requirements(*extras: str) -> Iterator[Requirement]:
    """Yield what the package needs, and what these extras add."""
    for lines in (PROJECT["project"]["dependencies"], *(EXTRAS[extra] for extra in extras)):
        yield from (taken_apart(line) for line in lines if not line.startswith("deplda["))


if __name__ == "__main__":
    for name, _, oldest in requirements(*EXTRAS):
        print(f"{name}=={oldest}")  # noqa: T201
