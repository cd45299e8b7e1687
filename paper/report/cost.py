"""What the models cost, and whether their chains have converged."""

from __future__ import annotations

from typing import Any

import numpy as np

from deplda.comparison.phrases import duration, listed, rate
from deplda.comparison.standing import Table
from deplda.data.wording import counted
from paper.report.charts import Axis, Chart, Point, Series
from paper.report.measures import BY_DOCUMENT, BY_LABEL
from paper.report.parts import Figure, Section, table
from paper.report.phrases import or_dash
from paper.report.runs import Run, distinct

_PARTS = {"label_words": "the words of labels (φ)", "topic_labels": "the labels of topics (φ′)"}
_SHOWN_SWEEPS = 11
_CONVERGED = 1.01
_LEVEL = "log-likelihood"
_Judged = tuple[str, float | None, float | None, float | None]
"""Chains, and at their worst: R-hat, effective samples, and the final mean where there is one."""


def time_section(run: Run) -> Section:
    """Return quality against time, and what each model took."""
    about = (
        "Times are CPU-seconds, means over splits; one column is of wall-clock seconds, which "
        "depend on what ran beside a unit. Read them as sizes, not as a benchmark."
    )
    return Section("Quality and time", (f"{about} {run.gpus}".strip(), _quality_and_time(run)))


def convergence_section(run: Run) -> Section | None:
    """Return the chains' log-likelihoods, and R-hat and effective samples of what was traced."""
    judged = _judged(run)
    traces = [
        (model, (_PARTS.get(part, part), run.splits(model)[0], kept["log_likelihood"]))
        for model in run.models
        for part, kept in run.unit(model).get("diagnostics", {}).items()
    ]
    if not traces:
        return None
    figures = (_trace_figure(models, *trace) for models, trace in distinct(traces))
    return Section("Convergence of the chains", (_about(judged), _agreement(run, judged), *figures))


def _quality_and_time(run: Run) -> Figure:
    totals = {model: run.cpu_seconds(model, "fit", "predict") for model in run.models}
    best, fastest = run.best(BY_DOCUMENT), min(totals, key=lambda model: totals[model])
    caption = (
        "Up and to the left is better. "
        f"{best} ranks best ({rate(run.mean(best, BY_DOCUMENT))}) in {duration(totals[best])} "
        f"CPU-seconds; {fastest} takes fewest ({rate(run.mean(fastest, BY_DOCUMENT))} in "
        f"{duration(totals[fastest])})."
    )
    series = tuple(
        Series(model, (Point(totals[model], run.mean(model, BY_DOCUMENT)),), number)
        for number, model in enumerate(run.models)
    )
    axes = Axis("CPU-seconds to fit and predict", log=True), Axis("average precision by document")
    return Figure("Quality against time", caption, Chart("points", *axes, series), _times(run))


def _times(run: Run) -> Table:
    rows = []
    for model in run.models:
        predict = run.cpu_seconds(model, "predict")
        clock = sum(run.each(model, "seconds", part).mean() for part in ("fit", "predict"))
        rows.append(
            [
                model,
                rate(run.mean(model, BY_DOCUMENT)),
                rate(run.mean(model, BY_LABEL)),
                duration(run.cpu_seconds(model, "fit")),
                duration(predict),
                duration(float(clock)),
                f"{1000 * predict / run.each(model, 'n_test').mean():.3g}",
                f"{run.each(model, 'peak_mb').max():,.0f}",
            ]
        )
    quality = ("average precision by document", "by label")
    costs = ("fit, CPU s", "predict, CPU s", "both, wall-clock s", "CPU ms a document", "peak MB")
    return table("Quality and cost.", ("model", *quality, *costs), rows)


def _judged(run: Run) -> list[_Judged]:
    """Return how chains agree over all splits, the same chains of several models once."""
    found: list[tuple[str, _Judged]] = []
    for model in run.models:
        kept = [run.unit(model, split).get("diagnostics", {}) for split in run.splits(model)]
        for part in kept[0]:
            rows = [row for one in kept if part in one for row in one[part]["summary"].items()]
            levels = [row for name, row in rows if name == _LEVEL]
            others = [row for name, row in rows if name != _LEVEL]
            of = _PARTS.get(part, part)
            if levels:
                final = sum(row["final_mean"] for row in levels) / len(levels)
                found.append((model, (f"{of}: {_LEVEL}", *_worst(levels), final)))
            if others:  # the mean would be one of different things
                found.append((model, (f"{of}: watched entries", *_worst(others), None)))
    return [
        (f"{what} of {listed(models)}", rhat, ess, final)
        for models, (what, rhat, ess, final) in distinct(found)
    ]


def _worst(rows: list[dict[str, Any]]) -> tuple[float | None, float | None]:
    """Return the highest R-hat and the fewest effective samples, of those that are known."""
    rhats = [row["rhat"] for row in rows if row["rhat"] is not None]
    sizes = [row["ess"] for row in rows if row["ess"] is not None]
    return max(rhats, default=None), min(sizes, default=None)


def _about(judged: list[_Judged]) -> str:
    known = [(title, rhat) for title, rhat, _, _ in judged if rhat is not None]
    apart = [f"{title} ({rhat:.2f})" for title, rhat in known if rhat > _CONVERGED]
    said = "R-hat near 1 says that chains agree; the second half of the sweeps is judged. "
    if not known:
        return said + "There were too few sweeps to judge."
    if not apart:
        return said + f"All chains agree (R-hat at most {_CONVERGED})."
    return said + (
        f"Above {_CONVERGED}: {listed(apart)}. Topics may be told in several ways that explain the "
        "labels equally well; chains that settle on different ones are averaged, not pooled."
    )


def _agreement(run: Run, judged: list[_Judged]) -> Table:
    rows = [
        [title, or_dash(rhat, ".3f"), or_dash(ess, ",.0f"), or_dash(final, ",.5g")]
        for title, rhat, ess, final in judged
    ]
    columns = ("chains", "R-hat, highest", "effective samples, fewest", "final mean")
    n = counted(len(run.results.head.splits), "split")
    return table(f"Agreement of chains over {n}.", columns, rows)


def _trace_figure(models: list[str], part: str, split: int, traces: list[list[float]]) -> Figure:
    sweeps = len(traces[0])
    series = tuple(
        Series(f"chain {n}", tuple(Point(k + 1, y) for k, y in enumerate(trace)), n)
        for n, trace in enumerate(traces)
    )
    rows = []
    for k in np.unique(np.linspace(0, sweeps - 1, min(sweeps, _SHOWN_SWEEPS)).astype(int)):
        levels = [trace[k] for trace in traces]
        shown = (min(levels), sum(levels) / len(levels), max(levels))
        rows.append([str(k + 1), *(or_dash(level, ",.1f") for level in shown)])
    shared = f" The same for {listed(models)}." if len(models) > 1 else ""
    return Figure(
        f"{models[0]}: log-likelihood of {part}",
        f"Split {split}, {counted(len(traces), 'chain')} of {sweeps} sweeps: they should "
        f"rise, then run level and together.{shared}",
        Chart("traces", Axis("sweep", whole=True), Axis("log-likelihood"), series),
        table("Log-likelihood at some sweeps.", ("sweep", "lowest chain", "mean", "highest"), rows),
    )
