from collections import Counter

import pytest
from tools.lines import code_lines, count, main, room_of, too_long

SOURCE = '''"""A module.

Its docstring."""

import os  # counts

# does not count
NAME = """two
lines"""
"""Of an attribute."""


def function() -> None:
    """Return nothing."""
'''


def test_blank_lines_comments_and_docstrings_are_not_counted() -> None:
    assert code_lines(SOURCE) == 4


@pytest.mark.parametrize(
    ("path", "room"),
    [
        ("src/deplda/errors.py", "src/deplda"),
        ("src/deplda/web/annif/subjects.py", "src/deplda/web"),
        ("tests/web/test_app.py", "tests"),
        ("src/deplda/web/static/main.js", None),
        ("docs/conf.py", None),
    ],
)
def test_every_folder_of_the_package_is_a_room(path: str, room: str | None) -> None:
    assert room_of(path) == room


def test_a_room_above_its_ceiling_or_without_one_is_named() -> None:
    lines = count([("src/deplda/web/app.py", "a = 1\nb = 2\n"), ("tests/a.py", "a = 1\n")])
    assert lines == Counter({"src/deplda/web": 2, "tests": 1})
    assert too_long(lines, {"src": 2, "src/deplda/web": 2, "tests": 1}) == []
    assert too_long(lines, {"src": 1, "tests": 1}) == [
        "src/deplda/web has 2 lines of code, above its ceiling of 0",
        "src has 2 lines of code, above its ceiling of 1",
    ]


def test_the_repository_is_within_its_ceilings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0, capsys.readouterr().err
    assert "src/deplda/web" in capsys.readouterr().out
