"""Folders of results in, a page out."""

from __future__ import annotations

from collections.abc import Iterable

from deplda.files import StrPath, open_binary, write_whole
from deplda.report.content import report_of
from deplda.report.html import html
from deplda.report.markdown import markdown
from deplda.report.runs import read_groups


def write_report(folders: StrPath | Iterable[StrPath], path: StrPath) -> None:
    """Write one HTML page of the results in the folders; it needs no other file and no network.

    Folders of one experiment at several budgets are set side by side.
    """
    page = html(report_of(read_groups(folders)))
    with write_whole(path) as file:
        file.write(page.encode())


def write_markdown(
    folders: StrPath | Iterable[StrPath], path: StrPath, notes: StrPath | None = None
) -> None:
    """Write the same as Markdown, figures as tables.

    `notes` is a Markdown file of the author's own remarks; they stand under a heading of their own,
    so that the page can be made again and need not be edited.
    """
    remarks = None
    if notes is not None:
        with open_binary(notes) as source:
            remarks = source.read().decode()
    page = markdown(report_of(read_groups(folders)), remarks)
    with write_whole(path) as file:
        file.write(page.encode())
