"""Folders of results in, a page out: which sections it has, and in what order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from deplda.comparison.phrases import listed
from deplda.data.atomic import write_whole
from deplda.data.files import StrPath
from deplda.errors import InputError
from paper.report.budgets import budgets_section
from paper.report.cost import convergence_section, time_section
from paper.report.data_set import data_section
from paper.report.html import html
from paper.report.markdown import markdown
from paper.report.overview import across_section, overview_section
from paper.report.paper_tables import published_section, results_section
from paper.report.parts import Report, Section
from paper.report.rare_labels import frequency_section
from paper.report.reruns import missing_section, settings_section
from paper.report.runs import Group, paths_of, read_groups
from paper.report.showcase import document_section, learned_section


def write_report(
    folders: StrPath | Iterable[StrPath], path: StrPath, *, title: str | None = None
) -> None:
    """Write one HTML page of the results in the folders; it needs no other file and no network.

    Folders of one experiment at several budgets are set side by side. By default the title names
    the data sets.
    """
    paths = paths_of(folders)
    page = html(full_report(read_groups(paths), title))
    _write(path, page)


def write_markdown(
    folders: StrPath | Iterable[StrPath],
    path: StrPath,
    notes: StrPath | None = None,
    *,
    title: str | None = None,
) -> None:
    """Write the short form as Markdown: the summary, and the paper's tables beside ours.

    `notes` is a Markdown file of the author's own remarks; they stand under a heading of their own,
    so that the page can be made again and need not be edited.
    """
    remarks = None if notes is None else Path(notes).read_text(encoding="utf-8")
    paths = paths_of(folders)
    page = markdown(short_report(read_groups(paths), title), remarks)
    _write(path, page)


def full_report(groups: Sequence[Group], title: str | None = None) -> Report:
    """Return everything there is to say of the results."""
    sections: list[Section] = [overview_section(groups), across_section(groups)]
    for group in groups:
        run = group.main
        sections.append(Section(group.name, (f"{run.about}.",)))
        parts = (
            data_section(run),
            results_section(run),
            frequency_section(run),
            published_section(run),
            learned_section(run),
            document_section(run),
            time_section(run),
            convergence_section(run),
            budgets_section(group),
            settings_section(group),
        )
        sections += [part._replace(depth=2) for part in parts if part is not None]
    return _report(groups, title, [*sections, missing_section(groups)])


def short_report(groups: Sequence[Group], title: str | None = None) -> Report:
    """Return the summary, and the tables of the data sets that are the paper's own."""
    tables = [
        Section(group.name, (f"{group.main.about}.", *results_section(group.main).blocks))
        for group in groups
        if group.main.paper and group.main.experiment.note is None
    ]
    return _report(groups, title, [overview_section(groups), *tables, missing_section(groups)])


def _report(
    groups: Sequence[Group], title: str | None, sections: Iterable[Section | None]
) -> Report:
    named = f"Multi-label classification of {listed(group.name for group in groups)}"
    return Report(title or named, tuple(part for part in sections if part is not None))


def _write(path: StrPath, page: str) -> None:
    folder = Path(path).parent
    if not folder.is_dir():
        raise InputError(
            f"there is no folder {folder} to write {Path(path).name} to; make it first"
        )
    with write_whole(path) as file:
        file.write(page.encode())
