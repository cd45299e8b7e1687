"""What the models cost, and whether their chains have converged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from deplda.experiments.report.charts import Axis, Chart, Point, Series
from deplda.experiments.report.measures import BY_DOCUMENT, BY_LABEL, rate
from deplda.experiments.report.parts import Cell, Figure, Section, Table, table
from deplda.experiments.report.phrases import counted, duration, listed
from deplda.experiments.report.runs import Run

_PARTS = {"label_words": "the words of labels (φ)", "topic_labels": "the labels of topics (φ′)"}
_SHOWN_SWEEPS = 11
_CONVERGED = 1.01
_LEVEL = "log-likelihood"


def time_section(run: Run) -> Section:
    """Return quality against time, and what each model took."""
    about = (
        "Seconds on the clock, means over splits. Units may have run side by side and beside other "
        "work: read them as sizes, not as a benchmark."
    )
    return Section("Quality and time", (f"{about} {run.gpus}".strip(), _quality_and_time(run)))


def convergence_section(run: Run) -> Section | None:
    """Return the chains' log-likelihoods, and R-hat and effective samples of what was traced."""
    traced = list(_traced(run))
    if not traced:
        return None
    figures, judged = tuple(_trace_figure(item) for item in traced), _judged(run)
    about = _about_chains(judged), _agreement(run, judged)
    return Section("Convergence of the chains", (*about, *figures))


class _Traced(NamedTuple):
    """The traces of one part of a model, and the other models that have the same ones."""

    models: list[str]
    part: str
    split: int
    traces: list[list[float]]


def _quality_and_time(run: Run) -> Figure:
    totals = {m: run.seconds(m, "fit") + run.seconds(m, "predict") for m in run.models}
    best, fastest = run.best(BY_DOCUMENT), min(totals, key=lambda model: totals[model])
    caption = (
        "Up and to the left is better. "
        f"{best} ranks best ({rate(run.mean(best, BY_DOCUMENT))}) in {duration(totals[best])} "
        f"CPU-seconds; {fastest} is fastest ({rate(run.mean(fastest, BY_DOCUMENT))} in "
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
        fit, predict = run.seconds(model, "fit"), run.seconds(model, "predict")
        clock = sum(run.each(model, "seconds", part).mean() for part in ("fit", "predict"))
        per_document = 1000 * predict / run.each(model, "n_test").mean()
        rows.append(
            [
                model,
                rate(run.mean(model, BY_DOCUMENT)),
                rate(run.mean(model, BY_LABEL)),
                duration(fit),
                duration(predict),
                duration(float(clock)),
                f"{per_document:.3g}",
                f"{run.each(model, 'peak_mb').max():,.0f}",
            ]
        )
    quality = ("average precision by document", "by label")
    costs = ("fit, CPU s", "predict, CPU s", "both by the clock, s", "CPU ms a document", "peak MB")
    return table("Quality and cost.", ("model", *quality, *costs), rows)


def _traced(run: Run) -> Iterator[_Traced]:
    """Yield the distinct traces of the models, each on the first split that the model finished."""
    found: list[_Traced] = []
    for model in run.models:
        for part, kept in run.found(model).get("diagnostics", {}).items():
            traces, split = kept["log_likelihood"], run.splits(model)[0]
            same = [t for t in found if (t.part, t.split, t.traces) == (part, split, traces)]
            if same:
                same[0].models.append(model)
            else:
                found.append(_Traced([model], part, split, traces))
    yield from found


def _about_chains(judged: list[_Judged]) -> str:
    known = [(item.title, item.rhat) for item in judged if item.rhat is not None]
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


class _Judged(NamedTuple):
    """How chains agree on the log-likelihood, or on what else was traced, at their worst."""

    title: str
    rhat: float | None
    ess: float | None
    final: float | None
    """The mean; None where it would be one of different things."""


def _judged(run: Run) -> list[_Judged]:
    """Return how chains agree over all splits, the same chains of several models once."""
    models: dict[tuple[Any, ...], list[str]] = {}
    for model in run.models:
        kept = [run.found(model, split).get("diagnostics", {}) for split in run.splits(model)]
        for part in kept[0]:
            rows = [row for one in kept if part in one for row in one[part]["summary"].items()]
            levels = [row for name, row in rows if name == _LEVEL]
            others = [row for name, row in rows if name != _LEVEL]
            of = _PARTS.get(part, part)
            if levels:
                final = sum(row["final_mean"] for row in levels) / len(levels)
                models.setdefault((f"{of}: {_LEVEL}", *_worst(levels), final), []).append(model)
            if others:
                models.setdefault((f"{of}: watched entries", *_worst(others), None), []).append(
                    model
                )
    return [
        _Judged(f"{what} of {listed(names)}", *values) for (what, *values), names in models.items()
    ]


def _worst(rows: list[dict[str, Any]]) -> tuple[float | None, float | None]:
    """Return the highest R-hat and the fewest effective samples, of those that are known."""
    rhats = [row["rhat"] for row in rows if row["rhat"] is not None]
    sizes = [row["ess"] for row in rows if row["ess"] is not None]
    return max(rhats, default=None), min(sizes, default=None)


def _agreement(run: Run, judged: list[_Judged]) -> Table:
    rows = [
        [
            Cell(item.title),
            Cell(_or_dash(item.rhat, ".3f")),
            Cell(_or_dash(item.ess, ",.0f")),
            Cell(_or_dash(item.final, ",.5g")),
        ]
        for item in judged
    ]
    columns = ("chains", "R-hat, highest", "effective samples, fewest", "final mean")
    n = counted(len(run.results.head.splits), "split")
    return table(f"Agreement of chains over {n}.", columns, rows)


def _or_dash(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form).replace("-", "−")


def _trace_figure(item: _Traced) -> Figure:
    sweeps = len(item.traces[0])
    series = tuple(
        Series(f"chain {n}", tuple(Point(k + 1, y) for k, y in enumerate(trace)), n)
        for n, trace in enumerate(item.traces)
    )
    what = _PARTS.get(item.part, item.part)
    places = np.unique(np.linspace(0, sweeps - 1, min(sweeps, _SHOWN_SWEEPS)).astype(int))
    levels = np.array(item.traces)[:, places]
    rows = [
        [str(k + 1), *(_or_dash(float(value), ",.1f") for value in (low, mean, high))]
        for k, low, mean, high in zip(
            places, levels.min(axis=0), levels.mean(axis=0), levels.max(axis=0), strict=True
        )
    ]
    shared = f" The same for {listed(item.models)}." if len(item.models) > 1 else ""
    caption = (
        f"Split {item.split}, {counted(len(item.traces), 'chain')} of {sweeps} sweeps: they should "
        f"rise, then run level and together.{shared}"
    )
    return Figure(
        f"{item.models[0]}: log-likelihood of {what}",
        caption,
        Chart("traces", Axis("sweep"), Axis("log-likelihood"), series),
        table("Log-likelihood at some sweeps.", ("sweep", "lowest chain", "mean", "highest"), rows),
    )
