"""Who is best, and whether that is beyond noise: cells of tables, and sentences."""

from __future__ import annotations

from typing import Any, NamedTuple

from deplda.data.files import StrPath
from deplda.evaluation import FrequencyBin
from deplda.experiments.report.measures import BY_DOCUMENT, BY_LABEL, Metric
from deplda.experiments.report.parts import Cell, marked
from deplda.experiments.report.phrases import documents, listed, rate
from deplda.experiments.report.runs import Run, damage_told, leaders_in, paths_of, read_groups

_TASKS = {BY_DOCUMENT: "ranking labels for a document", BY_LABEL: "ranking documents for a label"}


def mean_cell(run: Run, model: str, metric: Metric) -> Cell:
    """Return a mean, give or take what, marked if it is the best or tied with it."""
    text, interval = metric.shown(run.mean(model, metric)), run.interval(model, metric)
    if interval is not None and text != "–":
        low, high = interval
        text += f" ± {metric.shown((high - low) / 2)}"
    return marked(text, model, run.leaders(metric))


def bin_cell(part: FrequencyBin, model: str) -> Cell:
    """Return a model's average precision in a bin, marked as the paired t-tests tell."""
    value, low, high = part.means[model]
    return marked(f"{rate(value)} ± {rate((high - low) / 2)}", model, leaders_in(part))


def said_of(run: Run, metric: Metric) -> str:
    """Return which model is best at something, or which tie, as a sentence."""
    leaders, task = run.leaders(metric), _TASKS[metric]
    values = {model: metric.shown(run.mean(model, metric)) for model in run.models}
    best = run.best(metric)
    if not leaders:
        return f"{best} has the highest average precision at {task} ({values[best]})."
    if len(leaders) > 1:
        return _tie(leaders, values, task)
    others = (model for model in run.models if model != best)
    sign = 1 if metric.lower_is_better else -1
    following = min(others, key=lambda model: sign * run.mean(model, metric))
    return (
        f"{best} is best at {task}, beyond noise: average precision {values[best]}, then "
        f"{following} with {values[following]}."
    )


def said_of_rarest(run: Run) -> str:
    """Return which model is best on the rarest labels, or which tie; nothing if it is not known."""
    if run.by_frequency is None:
        return ""
    part = run.by_frequency.bins[0]
    leaders, where = leaders_in(part), f"the rarest labels, of {documents(part.low, part.high)}"
    values = {model: rate(mean.value) for model, mean in part.means.items()}
    if len(leaders) > 1:
        return _tie(leaders, values, where, "on")
    if not leaders:
        return ""
    return f"{leaders[0]} is best on {where}, beyond noise: average precision {values[leaders[0]]}."


def _tie(leaders: tuple[str, ...], values: dict[str, str], what: str, at: str = "at") -> str:
    shown = ", ".join(values[model] for model in leaders)
    return (
        f"{listed(leaders)} tie {at} {what} (average precision {shown}): the difference is within "
        "noise."
    )


class Standing(NamedTuple):
    """Who leads in a folder of results: one model beyond noise, or several that tie."""

    leaders: tuple[str, ...]
    sentences: tuple[str, ...]
    models: list[dict[str, Any]]
    """What each model reached and took, the best first, as JSON has it."""


def standing(folder: StrPath) -> Standing:
    """Return who leads at ranking labels for a document, and what all models reached."""
    paths = paths_of(folder)
    with damage_told(paths):
        run = read_groups(paths)[0].main
        order = sorted(run.models, key=lambda model: -run.mean(model, BY_DOCUMENT))
        sentences = (said_of(run, BY_DOCUMENT), said_of_rarest(run)) if len(order) > 1 else ()
        leaders = run.leaders(BY_DOCUMENT) or tuple(order[:1])
        return Standing(leaders, tuple(filter(None, sentences)), [_row(run, m) for m in order])


def _row(run: Run, model: str) -> dict[str, Any]:
    rare = None
    if run.by_frequency is not None:
        part = run.by_frequency.bins[0]
        value, low, high = part.means[model]
        rare = {
            "training_documents": [part.low, part.high], "labels": part.n_labels,
            "average_precision": {"value": value, "interval": [low, high]},
        }  # fmt: skip
    means = {
        f"average_precision_by_{metric.pivot}": {
            "value": run.mean(model, metric),
            "interval": run.interval(model, metric),
        }
        for metric in (BY_DOCUMENT, BY_LABEL)
    }
    seconds = {part: float(run.each(model, "seconds", part).mean()) for part in ("fit", "predict")}
    estimator = run.experiment.models[model].estimator
    return {
        "model": model,
        "estimator": estimator,
        **means,
        "rare_labels": rare,
        "seconds": seconds,
    }
