"""The paper's four tables, ours beside its own and other methods' values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from deplda.comparison.phrases import NOISE, listed, rate
from deplda.comparison.standing import Cell, Table, mean_cell
from deplda.evaluation.ranking import PIVOTS
from paper.report.literature import Comparison, comparisons
from paper.report.measures import METRICS, TABLES, Metric
from paper.report.parts import Block, Section, table
from paper.report.phrases import signed
from paper.report.runs import Run

_TITLES = {
    ("document", "ranking"): "Labels ranked for each document",
    ("document", "binary"): "Labels chosen for each document",
    ("label", "ranking"): "Documents ranked for each label",
    ("label", "binary"): "Documents chosen for each label",
}


class Difference(NamedTuple):
    """Ours less the paper's, both to the decimals that were printed."""

    text: str
    value: float
    near: bool | None
    """Whether it is within the tolerance; None if there is none."""


def results_section(run: Run) -> Section:
    """Return the four tables, and how near the paper's values are."""
    blocks: list[Block] = [_how_to_read(run)]
    if run.experiment.note is not None:
        blocks.append(f"Not the paper’s own data: {run.experiment.note}")
    elif run.paper:
        blocks.append(_agreement(run))
    return Section("Results", (*blocks, *(_results(run, *key) for key in TABLES)))


def difference(ours: float, metric: Metric, printed: str) -> Difference:
    """Return how our value differs from a printed one."""
    decimals = len(printed.partition(".")[2])
    value = round(round(ours, decimals) - float(printed), decimals)
    near = None if metric.tolerance is None else abs(value) <= metric.tolerance
    return Difference(signed(value, decimals), value, near)


def published_section(run: Run) -> Section | None:
    """Return what other methods were published with on this data set, or one of its kind."""
    found = comparisons(run.experiment.paper)
    if not found:
        return None
    blocks: list[Block] = [
        "Values of other methods, as they were published, beside ours and the paper’s own. Each "
        "was obtained with its own preparation of the documents."
    ]
    if run.experiment.note is not None:
        blocks.append(f"Ours are of other data: {run.experiment.note}")
    return Section("Other methods, as published", (*blocks, *(_others(run, c) for c in found)))


def _how_to_read(run: Run) -> str:
    n = len(run.results.head.splits)
    means = f"Means over {n} splits." if n > 1 else "One split."
    done = {model: len(run.splits(model)) for model in run.models}
    short = [f"{model} ({n_done})" for model, n_done in done.items() if n_done < n]
    return (
        f"{means} {NOISE} Rank-Loss, One-Err, Is-Err and Margin are "
        "better when low, all others when high; errors are on [0, 100]."
        + (f" Not all {n} splits are finished for {listed(short)}." if short else "")
        + (" Differences are ours less the paper’s, to its decimals." if run.paper else "")
    )


def _results(run: Run, pivot: str, task: str) -> Table:
    metrics = TABLES[pivot, task]
    judged = run.experiment.note is None
    rows: list[list[Cell]] = []
    for model in run.models:
        rows.append([Cell(model), *(mean_cell(run, model, metric) for metric in metrics)])
        if (of_paper := run.printed(model)) is None:
            continue
        printed = {metric: of_paper[metric] for metric in metrics}
        found = [difference(run.mean(model, m), m, text) for m, text in printed.items()]
        rows.append([Cell("the paper’s", "soft"), *(Cell(t, "soft") for t in printed.values())])
        rows.append(
            [
                Cell("difference", "soft"),
                *(Cell(d.text, "off" if judged and d.near is False else "soft") for d in found),
            ]
        )
    is_marked = any(cell.tone == "off" for row in rows for cell in row)
    mark = " ✗: further than .01, or 1.5 points of an error." if is_marked else ""
    caption = f"{_TITLES[pivot, task]} ({pivot}-pivoted {task}).{mark}"
    return table(caption, ("model", *(metric.short_title for metric in metrics)), rows)


def _agreement(run: Run) -> Table:
    rows = []
    for model in run.models:
        if (printed := run.printed(model)) is None:
            continue
        found = {m: difference(run.mean(model, m), m, printed[m]) for m in METRICS}
        near = [d.near for d in found.values()]
        judged = {m: abs(d.value) for m, d in found.items() if d.near is not None}
        rows.append(
            [
                model,
                f"{near.count(True)} of {len(METRICS)}",
                str(near.count(False)),
                str(near.count(None)),
                rate(max(size for m, size in judged.items() if not m.is_error)),
                f"{max(size for m, size in judged.items() if m.is_error):.2f}",
            ]
        )
    columns = ("model", "within", "outside", "no tolerance (Margin)")
    largest = ("largest difference of a rate", "of an error, points")
    caption = (
        f"How near the paper’s values for {run.experiment.paper} ours are: within .01, or 1.5 "
        "points of an error."
    )
    return table(caption, (*columns, *largest), rows)


def _others(run: Run, comparison: Comparison) -> Table:
    published = zip(*(row.split() for row in comparison.rows.values()), strict=True)
    columns = [_column(run, *column) for column in zip(comparison.columns, published, strict=True)]
    others = [*(f"{model} (the paper’s)" for model in run.paper), *comparison.rows]
    names = [*map(Cell, run.models), *(Cell(name, "soft") for name in others)]
    return table(
        f"{comparison.source}, and ours.",
        ("method", *(title for title, _ in columns)),
        zip(names, *(cells for _, cells in columns), strict=True),
    )


def _column(run: Run, column: str, published: Iterable[str]) -> tuple[str, list[Cell]]:
    """Return a published column's title, and its cells: ours, the paper's, other methods'."""
    name = column.removesuffix(" %")
    metric = _metric_of(name)
    if metric is None:
        texts = ["–"] * (len(run.models) + len(run.paper))
        title = column
    else:
        is_percent = name != column
        printed = [row.get(metric) for row in run.paper.values()]
        texts = [_ours(run, model, metric, is_percent) for model in run.models]
        texts += ["–" if text is None else _printed(text, is_percent) for text in printed]
        title = f"{metric.short_title}, %" if is_percent else metric.short_title
    texts += published
    return title, [Cell(t, "soft" if k >= len(run.models) else "") for k, t in enumerate(texts)]


def _metric_of(name: str) -> Metric | None:
    """Return the metric "pivot task name"; None of the title of a column that is none of ours."""
    parts = name.split()
    return Metric(*parts) if len(parts) == 3 and parts[0] in PIVOTS else None


def _ours(run: Run, model: str, metric: Metric, is_percent: bool) -> str:
    kept = run.unit(model)["metrics"][metric.pivot][metric.task]
    if metric.name not in kept:  # results of an earlier version, or of no labels given
        return "–"
    mean = run.mean(model, metric)
    return f"{100 * mean:.2f}" if is_percent else metric.shown(mean)


def _printed(text: str, is_percent: bool) -> str:
    return f"{100 * float(text):.1f}" if is_percent else text
