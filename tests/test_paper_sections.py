"""The table of the paper's sections: complete, and what it names exists."""

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "paper.md"
ROW = re.compile(r"^\| ([1-7](?:\.\d)*|[A-D]) [^|]+\|([^|]+)\|([^|]*)\|$", re.MULTILINE)
ROWS = [match.groups() for match in ROW.finditer(PAGE.read_text(encoding="utf-8"))]
# The paper's headings, with its appendices.
SECTIONS = [
    "1", "1.1", "1.2", "1.3", "2", "3", "3.1", "3.2", "3.3", "3.4", "3.4.1", "3.4.2", "3.5",
    "3.5.1", "3.6", "4", "5", "5.1", "5.2", "5.3", "5.4", "5.5", "6", "6.1", "6.2", "6.3", "6.4",
    "7", "A", "B", "C", "D",
]  # fmt: skip
NAMES = sorted({name for _, _, code in ROWS for name in re.findall(r"`([\w./]+)`", code)})


def exists(name: str) -> bool:
    """Return whether a name is a module, object or field below ``deplda``, or a file."""
    if "/" in name:
        return (PAGE.parents[2] / name).exists()
    found: object = import_module("deplda")
    at = "deplda"
    for part in name.split("."):
        at = f"{at}.{part}"
        if hasattr(found, part):
            found = getattr(found, part)
        elif part in getattr(found, "__dataclass_fields__", ()):
            return at == f"deplda.{name}"
        else:
            try:
                found = import_module(at)
            except ModuleNotFoundError:
                return False
    return True


def test_every_section_of_the_paper_has_a_row_with_a_page() -> None:
    assert [section for section, _, _ in ROWS] == SECTIONS
    assert [section for section, page, _ in ROWS if "](" not in page] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_the_table_names_exists(name: str) -> None:
    assert exists(name)


@pytest.mark.parametrize(
    "name", ["no_such_function", "FlatLDA.no_such", "kernels.nothing.at_all", "paper/no"]
)
def test_a_name_that_does_not_exist_is_noticed(name: str) -> None:
    assert not exists(name)
