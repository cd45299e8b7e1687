"""Results become a report: which sections there are, and in what order."""

from __future__ import annotations

from collections.abc import Sequence

from deplda.experiments.report.across import across_section
from deplda.experiments.report.budgets import budgets_section
from deplda.experiments.report.cost import convergence_section, time_section
from deplda.experiments.report.data_set import data_section
from deplda.experiments.report.overview import overview_section, title_of
from deplda.experiments.report.paper_tables import published_section, results_section, splits_of
from deplda.experiments.report.parts import Report, Section
from deplda.experiments.report.rare_labels import frequency_section
from deplda.experiments.report.reruns import failures, settings_section
from deplda.experiments.report.runs import Group
from deplda.experiments.report.showcase import document_section, learned_section


def report_of(groups: Sequence[Group], title: str | None = None) -> Report:
    """Return everything there is to say of the results."""
    sections = [
        overview_section(groups),
        across_section(groups),
        *(_data_set(group) for group in groups),
        failures(groups),
    ]
    return Report(
        title or title_of(groups), tuple(section for section in sections if section is not None)
    )


def _data_set(group: Group) -> Section:
    run = group.main
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
    about = f"{splits_of(run)[0].upper()}{splits_of(run)[1:]}, budget {run.title}."
    return Section(group.name, (about,), tuple(part for part in parts if part is not None))
