"""The short form as Markdown."""

import re

import pytest
from tests.comparison.folders import NAMES
from tests.comparison.reading import Page

from paper.report.markdown import markdown as written
from paper.report.parts import Bullets, Details, Report, Section, table


def cells_of(line: str) -> list[str]:
    cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    return [re.sub(r"\\(.)", r"\1", re.sub(r"(?<!\\)\*\*", "", cell)) for cell in cells]


def test_the_tables_of_the_short_form_are_those_of_the_page(html: str, markdown: str) -> None:
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    theirs = [cells_of(line) for line in lines if not re.fullmatch(r"[|: -]+", line)]
    ours = Page(html).rows
    assert len(theirs) > 50
    assert all(row in ours for row in theirs)


def test_the_short_form_is_the_summary_and_the_tables_of_the_papers_own_data(
    markdown: str,
) -> None:
    assert re.findall("^#.*", markdown, re.M) == [
        "# Multi-label classification of yahoo-arts and tiny",
        "## Summary",
        "## yahoo-arts",
        "## What is missing",
    ]
    assert "the full page" in markdown.splitlines()[2]
    assert "`python -m paper report RESULTS -o report.html`" in markdown.splitlines()[2]
    assert markdown.count("| the paper’s |") == 4 * 3
    assert "MemoryError: \\<no> room & time" in markdown


def test_odd_names_are_shown_as_they_are() -> None:
    odd = table("*Odd*", NAMES, [NAMES], prose=True)
    text = written(
        Report("A [title]", (Section("One_two", ("5 < 6\nlines", Bullets(NAMES), odd)),))
    )
    assert text.startswith("# A \\[title\\]\n\n")
    assert "## One\\_two\n\n5 < 6 lines\n\n- A & B\n" in text
    assert "**\\*Odd\\***\n\n| A & B |" in text
    for shown in (r"\<i>rare\</i>", r"pipe \| label", r"five\_\*six\*"):
        assert text.count(shown) == 3
    assert cells_of(text.splitlines()[-1]) == list(NAMES)


def test_what_the_short_form_has_no_place_for_is_not_dropped_in_silence() -> None:
    with pytest.raises(TypeError, match="not Details"):
        written(Report("t", (Section("s", (Details("more", ()),)),)))
