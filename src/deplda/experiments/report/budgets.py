"""Several budgets of one experiment side by side, and whether they agree."""

from __future__ import annotations

from deplda.experiments.report.measures import (
    BY_DOCUMENT,
    BY_LABEL,
    FIGURES,
    ONE_ERROR,
    Metric,
    signed,
)
from deplda.experiments.report.paper_tables import results_section
from deplda.experiments.report.parts import Block, Cell, Details, Section, Table, table
from deplda.experiments.report.phrases import listed
from deplda.experiments.report.runs import Group, Run

_SHOWN = (BY_DOCUMENT, ONE_ERROR, BY_LABEL)


def budgets_section(group: Group) -> Section | None:
    """Return the runs beside each other, with what they differ by, and the others' tables."""
    main, *others = group.runs
    if not others:
        return None
    blocks: list[Block] = [
        f"The same experiment at the budgets {listed([run.title for run in group.runs])}, each two "
        "on the splits that both have finished."
    ]
    for other in others:
        blocks.append(_verdict(main, other))
        if _shared(main, other):
            blocks.append(_side_by_side(main, other))
    blocks += [
        Details(f"All tables at budget {other.title}", results_section(other).blocks)
        for other in others
    ]
    return Section("Budgets", tuple(blocks))


def _gap(main: Run, other: Run, model: str, metric: Metric) -> float:
    """Return by how much the other run's mean is above, to the decimals that are shown."""
    splits = _splits(main, other, model)
    gap = other.mean(model, metric, splits) - main.mean(model, metric, splits)
    return round(gap, metric.decimals)


def _splits(main: Run, other: Run, model: str) -> list[int]:
    return [split for split in main.splits(model) if split in other.splits(model)]


def _shared(main: Run, other: Run) -> list[str]:
    known = [model for model in main.models if model in other.models]
    return [model for model in known if _splits(main, other, model)]


def _verdict(main: Run, other: Run) -> str:
    models = _shared(main, other)
    judged = [(metric, metric.tolerance) for metric in FIGURES if metric.tolerance is not None]
    gaps = {
        (model, metric): abs(_gap(main, other, model, metric)) / tolerance
        for model in models
        for metric, tolerance in judged
    }
    if not gaps:
        return f"Budgets {other.title} and {main.title} have no unit in common."
    apart = {model for (model, _), size in gaps.items() if size > 1}
    model, metric = max(gaps, key=lambda key: gaps[key])
    return (
        f"Budget {other.title} against {main.title}: {len(models) - len(apart)} of {len(models)} "
        f"models agree in all {len(judged)} figures within .01, or 1.5 points of an error. The "
        f"widest gap is {signed(_gap(main, other, model, metric), metric.decimals)}, "
        f"{metric.title} by {metric.pivot} of {model}."
    )


def _side_by_side(main: Run, other: Run) -> Table:
    rows = []
    for model in _shared(main, other):
        splits = _splits(main, other, model)
        for metric in _SHOWN:
            gap = _gap(main, other, model, metric)
            off = metric.tolerance is not None and abs(gap) > metric.tolerance
            rows.append(
                [
                    Cell(f"{model}, {metric.title} by {metric.pivot}"),
                    *(Cell(metric.shown(run.mean(model, metric, splits))) for run in (main, other)),
                    Cell(signed(gap, metric.decimals), "off" if off else ""),
                ]
            )
        times = [run.seconds(model, "fit") + run.seconds(model, "predict") for run in (main, other)]
        rows.append([Cell(f"{model}, CPU-seconds"), *(Cell(f"{t:,.1f}") for t in times), Cell("")])
    caption = f"Budgets {main.title} and {other.title}. ✗: more than .01, or 1.5 points, apart."
    return table(caption, ("figure", main.title, other.title, "difference"), rows)
