"""Folders of results in, a page out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from deplda.data.files import StrPath, decode, read_lines, write_whole
from deplda.errors import InputError
from deplda.experiments.report.content import report_of
from deplda.experiments.report.html import html
from deplda.experiments.report.markdown import markdown
from deplda.experiments.report.runs import read_groups


def write_report(
    folders: StrPath | Iterable[StrPath], path: StrPath, *, title: str | None = None
) -> None:
    """Write one HTML page of the results in the folders; it needs no other file and no network.

    Folders of one experiment at several budgets are set side by side. By default the title names
    the data sets.
    """
    _write(path, html(report_of(read_groups(folders), title)))


def write_markdown(
    folders: StrPath | Iterable[StrPath],
    path: StrPath,
    notes: StrPath | None = None,
    *,
    title: str | None = None,
) -> None:
    """Write the same as Markdown, figures as tables.

    `notes` is a Markdown file of the author's own remarks; they stand under a heading of their own,
    so that the page can be made again and need not be edited.
    """
    remarks = None
    if notes is not None:
        remarks = "\n".join(decode(notes, n, line, "utf-8") for n, line in read_lines(notes))
    _write(path, markdown(report_of(read_groups(folders), title), remarks))


def _write(path: StrPath, page: str) -> None:
    folder = Path(path).parent
    if not folder.is_dir():
        raise InputError(
            f"there is no folder {folder} to write {Path(path).name} to; make it first"
        )
    with write_whole(path) as file:
        file.write(page.encode())
