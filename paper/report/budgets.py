"""Several budgets of one experiment side by side, and whether they agree."""

from __future__ import annotations

from deplda.comparison.phrases import listed
from deplda.comparison.standing import Cell, Table
from paper.report.measures import BY_DOCUMENT, BY_LABEL, METRICS, ONE_ERROR, Metric
from paper.report.paper_tables import results_section
from paper.report.parts import Block, Details, Section, table
from paper.report.phrases import signed
from paper.report.runs import Group, Run


def budgets_section(group: Group) -> Section | None:
    """Return the runs beside each other, with what they differ by, and the others' tables."""
    main, *others = group.runs
    if not others:
        return None
    blocks: list[Block] = [
        f"The same experiment at the budgets {listed(run.title for run in group.runs)}, each two "
        "on the splits that both have finished."
    ]
    for other in others:
        both = {m: sorted({*main.splits(m)} & {*other.splits(m)}) for m in main.models}
        both = {model: splits for model, splits in both.items() if splits}
        if both:
            blocks += [_verdict(main, other, both), _side_by_side(main, other, both)]
        else:
            blocks.append(f"Budgets {other.title} and {main.title} have no unit in common.")
    blocks += [
        Details(f"All tables at budget {other.title}", results_section(other).blocks)
        for other in others
    ]
    return Section("Budgets", tuple(blocks))


def _gap(main: Run, other: Run, model: str, metric: Metric, splits: list[int]) -> float:
    """Return by how much the other run's mean is above, to the decimals that are shown."""
    gap = other.mean(model, metric, splits) - main.mean(model, metric, splits)
    return round(gap, metric.decimals)


def _verdict(main: Run, other: Run, both: dict[str, list[int]]) -> str:
    judged = {metric: metric.tolerance for metric in METRICS if metric.tolerance is not None}
    gaps = {
        (model, metric): _gap(main, other, model, metric, splits)
        for model, splits in both.items()
        for metric in judged
    }
    apart = {model for (model, metric), gap in gaps.items() if abs(gap) > judged[metric]}
    model, metric = max(gaps, key=lambda key: abs(gaps[key]) / judged[key[1]])
    return (
        f"Budget {other.title} against {main.title}: {len(both) - len(apart)} of {len(both)} "
        f"models agree in all {len(judged)} metrics within .01, or 1.5 points of an error. The "
        f"widest gap is {signed(gaps[model, metric], metric.decimals)}, {metric.title} of "
        f"{model}."
    )


def _side_by_side(main: Run, other: Run, both: dict[str, list[int]]) -> Table:
    rows: list[list[str | Cell]] = []
    for model, splits in both.items():
        for metric in (BY_DOCUMENT, ONE_ERROR, BY_LABEL):
            gap = _gap(main, other, model, metric, splits)
            off = metric.tolerance is not None and abs(gap) > metric.tolerance
            means = (metric.shown(run.mean(model, metric, splits)) for run in (main, other))
            shown = Cell(signed(gap, metric.decimals), "off" if off else "")
            rows.append([f"{model}, {metric.title}", *means, shown])
        times = (run.cpu_seconds(model, "fit", "predict", splits=splits) for run in (main, other))
        rows.append([f"{model}, CPU-seconds", *(f"{seconds:,.1f}" for seconds in times), ""])
    caption = f"Budgets {main.title} and {other.title}. ✗: more than .01, or 1.5 points, apart."
    return table(caption, ("metric", main.title, other.title, "difference"), rows)
