"""Several budgets of one experiment side by side, and whether they agree."""

from __future__ import annotations

from deplda.report.metrics import BY_DOCUMENT, BY_LABEL, FIGURES, ONE_ERROR, Metric, signed
from deplda.report.parts import Block, Cell, Details, Section, Table, table
from deplda.report.runs import Group, Run
from deplda.report.tables import results_section
from deplda.report.words import listed

_SHOWN = (BY_DOCUMENT, ONE_ERROR, BY_LABEL)


def budgets_section(group: Group) -> Section | None:
    """Return the runs beside each other, with what they differ by, and the others' tables."""
    if len(group.runs) < 2:
        return None
    others = group.runs[1:]
    blocks: list[Block] = [_verdict(group)]
    blocks += [_side_by_side(group.main, other) for other in others]
    blocks += [
        Details(f"All tables at budget {other.title}", results_section(other).blocks)
        for other in others
    ]
    return Section("Budgets", tuple(blocks))


def _verdict(group: Group) -> str:
    parts = []
    for other in group.runs[1:]:
        widest = {m: _widest(group.main, other, m) for m in _shared(group.main, other)}
        if not widest:
            continue
        worst = max(widest, key=lambda model: widest[model][0])
        near = [model for model, (size, _) in widest.items() if size <= 1]
        size = f"of {len(widest)} models, {len(near)} agree within the tolerances in all figures"
        _, metric = widest[worst]
        apart = other.mean(worst, metric) - group.main.mean(worst, metric)
        decimals = 3 if metric.tolerance == 0.01 else 2
        parts.append(
            f"{other.title} against {group.main.title}: {size} (.01, errors 1.5 points); the "
            f"widest gap is {metric.title} by {metric.pivot} of {worst}, {signed(apart, decimals)}"
        )
    same = listed([run.title for run in group.runs])
    return f"The same experiment at the budgets {same}. {'. '.join(parts)}."


def _widest(main: Run, other: Run, model: str) -> tuple[float, Metric]:
    """Return the greatest difference in units of its tolerance, and of which figure it is."""
    judged = [(m, m.tolerance) for m in FIGURES if m.tolerance is not None]
    return max(
        (abs(other.mean(model, m) - main.mean(model, m)) / tolerance, m) for m, tolerance in judged
    )


def _shared(main: Run, other: Run) -> list[str]:
    return [model for model in main.models if model in other.models]


def _side_by_side(main: Run, other: Run) -> Table:
    columns = ["model"]
    for metric in _SHOWN:
        title = f"{metric.title} by {metric.pivot}"
        columns += [f"{title}, {main.title}", other.title, "difference"]
    columns += ["seconds, " + main.title, other.title]
    rows = []
    for model in _shared(main, other):
        cells = [Cell(model)]
        for metric in _SHOWN:
            ours, theirs = main.mean(model, metric), other.mean(model, metric)
            gap = theirs - ours
            decimals = 3 if metric.tolerance == 0.01 else 1
            off = metric.tolerance is not None and abs(gap) > metric.tolerance
            cells += [
                Cell(metric.shown(ours)),
                Cell(metric.shown(theirs)),
                Cell(signed(gap, decimals), "off" if off else ""),
            ]
        cells += [
            Cell(f"{sum(run.seconds(model, part) for part in ('fit', 'predict')):,.1f}")
            for run in (main, other)
        ]
        rows.append(cells)
    caption = f"{main.title} and {other.title}. ✗: further apart than .01, or 1.5 points."
    return table(caption, columns, rows)
