"""Which model is best, and whether that is beyond noise: cells, sentences, the leaderboard."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.table import Table as RichTable
from rich.text import Text

from deplda.comparison.measured import Run, leaders_in
from deplda.comparison.metrics import BY_DOCUMENT, BY_LABEL, Metric
from deplda.comparison.phrases import documents, duration, listed, rate
from deplda.comparison.results import Results, read_results
from deplda.data.files import StrPath
from deplda.errors import InputError
from deplda.evaluation import FrequencyBin

_TASKS = {BY_DOCUMENT: "ranking labels for a document", BY_LABEL: "ranking documents for a label"}


class Cell(NamedTuple):
    """A value of a table: the best beyond noise, tied with the best, or neither."""

    text: str
    tone: Literal["", "best", "tied", "off", "true", "soft"] = ""


class Table(NamedTuple):
    """A table whose first column names its rows."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    prose: bool = False
    """Whether its cells contain words rather than numbers."""


class Standing(NamedTuple):
    """The result of a comparison: one model that leads beyond noise, or several that tie."""

    leaders: tuple[str, ...]
    sentences: tuple[str, ...]
    models: list[dict[str, Any]]
    """The main numbers of each model as JSON has them, the best first."""


def read_run(folder: StrPath) -> Run:
    """Return the results of a folder in which at least one unit has succeeded."""
    return Run(check_done(folder, read_results(folder)))


def check_done(folder: StrPath, results: Results) -> Results:
    """Return results in which at least one unit has succeeded."""
    if not results.done:
        errors = "".join(f" ({unit.model}: {unit.error})" for unit in results.failed[-1:])
        raise InputError(f"{folder} holds no unit that has succeeded{errors}; run it again")
    return results


def standing(folder: StrPath) -> Standing:
    """Return the model that is best at ranking labels, and what all models reached."""
    run = read_run(folder)
    order = sorted(run.models, key=lambda model: -run.mean(model, BY_DOCUMENT))
    sentences = (best_at(run, BY_DOCUMENT), best_on_rarest(run)) if len(order) > 1 else ()
    leaders = run.leaders(BY_DOCUMENT) or tuple(order[:1])
    return Standing(leaders, tuple(filter(None, sentences)), [_summary(run, m) for m in order])


def leaderboard(folder: StrPath) -> RichTable:
    """Return the main numbers of a folder as a table for a terminal of 80 columns."""
    return to_rich(leaderboard_of(read_run(folder), (BY_DOCUMENT, BY_LABEL)))


def leaderboard_of(run: Run, metrics: tuple[Metric, ...]) -> Table:
    """Return one row for each model, the best first."""
    columns = ["model", *(metric.title for metric in metrics)]
    rarest = None if run.by_frequency is None else run.by_frequency.bins[0]
    if rarest is not None:
        few = documents(rarest.low, rarest.high).replace(" training", "")
        columns.append(f"Avg-Prec of labels of {few}")
    rows = []
    for model in sorted(run.models, key=lambda m: -run.mean(m, BY_DOCUMENT)):
        cells = [mean_cell(run, model, metric) for metric in metrics]
        if rarest is not None:
            cells.append(bin_cell(rarest, model))
        cells += [Cell(duration(run.cpu_seconds(model, part))) for part in ("fit", "predict")]
        rows.append((Cell(model), *cells))
    caption = f"Leaderboard of {run.results.head.experiment.name}"
    return Table(caption, (*columns, "fit, CPU s", "predict, CPU s"), tuple(rows))


def to_rich(table: Table) -> RichTable:
    """Return a table for a terminal."""
    drawn = RichTable(
        title=Text(table.caption), title_justify="left", box=SIMPLE_HEAD, show_edge=False,
        pad_edge=False, collapse_padding=True,
    )  # fmt: skip
    for number, column in enumerate(table.columns):
        drawn.add_column(Text(column), justify="right" if number else "left", no_wrap=not number)
    for row in table.rows:
        texts = ("≈" * (c.tone == "tied") + c.text.replace(" ± ", " ±") for c in row)
        styles = ("bold" if c.tone == "best" else "" for c in row)
        drawn.add_row(*map(Text, texts, styles))
    return drawn


def mean_cell(run: Run, model: str, metric: Metric) -> Cell:
    """Return a mean with its interval, marked if it is the best or tied with it."""
    text, (low, high) = metric.shown(run.mean(model, metric)), run.interval(model, metric)
    if text != "–":
        text += f" ± {metric.shown((high - low) / 2)}"
    return _marked(text, model, run.leaders(metric))


def bin_cell(part: FrequencyBin, model: str) -> Cell:
    """Return the average precision in a bin, marked by the paired t-tests."""
    value, low, high = part.means[model]
    return _marked(f"{rate(value)} ± {rate((high - low) / 2)}", model, leaders_in(part))


def best_at(run: Run, metric: Metric) -> str:
    """Return which model is best at a task, or which tie, as a sentence."""
    leaders, task, best = run.leaders(metric), _TASKS[metric], run.best(metric)
    values = {model: metric.shown(run.mean(model, metric)) for model in run.models}
    if not leaders:
        return f"{best} has the highest average precision at {task} ({values[best]})."
    if len(leaders) > 1:
        return _tie(leaders, values, f"at {task}")
    others = (model for model in run.models if model != best)
    following = max(others, key=lambda model: run.mean(model, metric))
    return (
        f"{best} is best at {task}, beyond noise: average precision {values[best]}, then "
        f"{following} with {values[following]}."
    )


def best_on_rarest(run: Run) -> str:
    """Return which model is best on the rarest labels, or which tie; empty if unknown."""
    if run.by_frequency is None:
        return ""
    part = run.by_frequency.bins[0]
    leaders, where = leaders_in(part), f"on the rarest labels, of {documents(part.low, part.high)}"
    values = {model: rate(mean.value) for model, mean in part.means.items()}
    if len(leaders) > 1:
        return _tie(leaders, values, where)
    if not leaders:
        return ""
    return f"{leaders[0]} is best {where}, beyond noise: average precision {values[leaders[0]]}."


def _tie(leaders: tuple[str, ...], values: dict[str, str], where: str) -> str:
    shown = ", ".join(values[model] for model in leaders)
    return (
        f"{listed(leaders)} tie {where} (average precision {shown}): the difference is within "
        "noise."
    )


def _marked(text: str, model: str, leaders: tuple[str, ...]) -> Cell:
    if model not in leaders:
        return Cell(text)
    return Cell(text, "best" if len(leaders) == 1 else "tied")


def _summary(run: Run, model: str) -> dict[str, Any]:
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
    estimator = run.results.head.experiment.models[model].estimator
    return {
        "model": model, "estimator": estimator, **means, "rare_labels": rare, "seconds": seconds,
    }  # fmt: skip
