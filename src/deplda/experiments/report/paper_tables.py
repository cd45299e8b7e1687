"""The paper's four tables, ours beside its own and other methods' figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deplda.experiments.report.literature import Comparison, comparisons, paper_figures
from deplda.experiments.report.measures import FIGURES, TABLES, Metric, signed
from deplda.experiments.report.parts import Block, Cell, Section, Table, table
from deplda.experiments.report.phrases import counted, listed
from deplda.experiments.report.runs import Run

TITLES = {
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
    """Return the four tables, and how near the paper's figures are."""
    paper = paper_figures(run.experiment.paper or "")
    four = [_four(run, key, paper) for key in TABLES]
    blocks: list[Block] = [_how_to_read(run, bool(paper))]
    if run.experiment.note is not None:
        blocks.append(f"Not the paper’s own data: {run.experiment.note}")
    elif paper:
        blocks.append(_agreement(run, paper))
    return Section("Results", (*blocks, *four))


def difference(ours: float, metric: Metric, printed: str) -> Difference:
    """Return how our figure differs from a printed one."""
    decimals = len(printed.partition(".")[2])
    value = round(round(ours, decimals) - float(printed), decimals)
    near = None if metric.tolerance is None else abs(value) <= metric.tolerance
    return Difference(signed(value, decimals), value, near)


def figures_row(run: Run, model: str, metrics: Sequence[Metric]) -> list[Cell]:
    """Return a model's means with their spread, the best of all models marked."""
    cells = []
    for metric in metrics:
        shown = metric.shown(run.mean(model, metric))
        spread = run.spread(model, metric)
        text = shown if spread is None else f"{shown} ± {metric.shown(spread)}"
        cells.append(Cell(text, "best" if run.is_best(model, metric) else ""))
    return cells


def published_section(run: Run) -> Section | None:
    """Return what other methods were published with on this data set, or one of its kind."""
    found = comparisons(run.experiment.paper or "")
    if not found:
        return None
    note = (
        "Figures of other methods, as they were published, beside ours and the paper’s own. Each "
        "was obtained with its own preparation of the documents."
    )
    remark = (
        [] if run.experiment.note is None else [f"Ours are of other data: {run.experiment.note}"]
    )
    return Section(
        "Other methods, as published", (note, *remark, *(_others(run, c) for c in found))
    )


def _how_to_read(run: Run, has_paper: bool) -> str:
    n = len(run.results.head.splits)
    means = f"Means over {n} splits, ± their standard deviation." if n > 1 else "One split."
    unequal = {model: run.splits(model) for model in run.models}
    short = [f"{m} ({len(done)})" for m, done in unequal.items() if len(done) < n]
    return (
        f"{means} The best of ours is in bold. Rank-Loss, One-Err, Is-Err and Margin are "
        "better when low, all others when high; errors are on [0, 100]."
        + (f" Not all {n} splits are finished for {listed(short)}." if short else "")
        + (" Differences are ours less the paper’s, to its decimals." if has_paper else "")
    )


def _four(run: Run, key: tuple[str, str], paper: dict[str, dict[Metric, str]]) -> Table:
    metrics = TABLES[key]
    rows: list[list[Cell]] = []
    for model in run.models:
        rows.append([Cell(model), *figures_row(run, model, metrics)])
        if model not in paper:
            continue
        printed = [paper[model][metric] for metric in metrics]
        found = [
            difference(run.mean(model, metric), metric, text)
            for metric, text in zip(metrics, printed, strict=True)
        ]
        judged = run.experiment.note is None
        rows.append([Cell("the paper’s", "soft"), *(Cell(text, "soft") for text in printed)])
        rows.append(
            [
                Cell("difference", "soft"),
                *(Cell(d.text, "off" if judged and d.near is False else "soft") for d in found),
            ]
        )
    marked = any(cell.tone == "off" for row in rows for cell in row)
    mark = " ✗: further than .01, or 1.5 points of an error." if marked else ""
    kind = f"{key[0]}-pivoted {key[1]}"
    caption = f"{TITLES[key]} ({kind}).{mark}"
    return table(caption, ("model", *(metric.title for metric in metrics)), rows)


def _agreement(run: Run, paper: dict[str, dict[Metric, str]]) -> Table:
    rows = []
    for model in run.models:
        if model not in paper:
            continue
        found = {m: difference(run.mean(model, m), m, paper[model][m]) for m in FIGURES}
        near = sum(d.near is True for d in found.values())
        off = [m for m, d in found.items() if d.near is False]
        judged = {m: abs(d.value) for m, d in found.items() if d.near is not None}
        rates = [size for m, size in judged.items() if not m.is_error]
        errors = [size for m, size in judged.items() if m.is_error]
        rows.append(
            [
                Cell(model),
                Cell(f"{near} of {len(FIGURES)}"),
                Cell(str(len(off))),
                Cell(str(sum(d.near is None for d in found.values()))),
                Cell(signed(max(rates)).removeprefix("+")),
                Cell(f"{max(errors):.2f}"),
            ]
        )
    columns = ("model", "within", "outside", "no tolerance (Margin)")
    largest = ("largest difference of a rate", "of an error, points")
    caption = (
        f"How near the paper’s figures for {run.experiment.paper} ours are: within .01, or 1.5 "
        "points of an error."
    )
    return table(caption, (*columns, *largest), rows)


def _others(run: Run, comparison: Comparison) -> Table:
    columns = [_column(text) for text in comparison.columns]
    paper = paper_figures(comparison.data)
    rows: list[tuple[str, list[str], bool]] = [
        (model, [_ours(run, model, metric, scale) for _, metric, scale in columns], False)
        for model in run.models
    ]
    rows += [
        (
            f"{model} (the paper’s)",
            [_percent(figures[m], scale) if m else "–" for _, m, scale in columns],
            True,
        )
        for model, figures in paper.items()
    ]
    rows += [(name, row.split(), True) for name, row in comparison.rows.items()]
    best = [_best([row[1][k] for row in rows], metric) for k, (_, metric, _) in enumerate(columns)]
    return table(
        f"{comparison.source}, and ours. The best of all is in bold.",
        ("method", *(title for title, _, _ in columns)),
        [
            [
                Cell(name, "soft" if other else ""),
                *(
                    Cell(text, "best" if text in top else "soft" if other else "")
                    for text, top in zip(texts, best, strict=True)
                ),
            ]
            for name, texts, other in rows
        ],
    )


def _column(text: str) -> tuple[str, Metric | None, int]:
    """Return a published column's title, which figure of ours it is, and what to multiply it by."""
    words = text.split(" ")
    if (words[0], words[1] if len(words) > 1 else "") not in TABLES:
        return text, None, 1
    metric = Metric(*words[:3])
    return (f"{metric.title}, %", metric, 100) if words[-1] == "%" else (metric.title, metric, 1)


def _ours(run: Run, model: str, metric: Metric | None, scale: int) -> str:
    if metric is None:
        return "–"
    mean = run.mean(model, metric)
    return f"{scale * mean:.2f}" if scale > 1 else metric.shown(mean)


def _percent(printed: str, scale: int) -> str:
    return f"{scale * float(printed):.1f}" if scale > 1 else printed


def _best(texts: list[str], metric: Metric | None) -> set[str]:
    """Return the texts of the best value of a column."""
    values = np.array([float(t.replace(",", "")) if t != "–" else np.nan for t in texts])
    best = np.nanmin(values) if metric is not None and metric.lower_is_better else np.nanmax(values)
    return {text for text, value in zip(texts, values, strict=True) if value == best}


def splits_of(run: Run) -> str:
    """Return how many splits were run, in words."""
    return counted(len(run.results.head.splits), "split")
