"""What `benchmarks.scale` measured, and what follows from it past one machine, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from benchmarks.cost_model import (
    DOCUMENT,
    LABEL,
    NO_SHARDS,
    PRICE,
    Floats,
    Size,
    StageModel,
    dollars,
    fitted,
    size_of,
    stage_models,
    total,
)
from benchmarks.scale_run import Run, ordered, seconds
from benchmarks.simulation import Cluster, Step, simulate

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "scale.md"
PLANNED = ((10**7, 500_000), (10**8, 500_000))
WORKERS = (10, 100, 1_000)
SHARD = 10_000
"""Documents of a shard in what is planned."""
PARTS = ("fit", "predict")
_NAMES = {"fit": "training", "predict": "prediction"}
MB, GB = 1e6, 1e9


class Measured(msgspec.Struct, frozen=True):
    """All runs so far."""

    runs: list[Run]
    day: str
    """Of the last."""


def page_text(measured: Measured, model: str) -> str:
    """Return all that is said of a model's runs."""
    runs = [run for run in measured.runs if run.model == model]
    alone = [run for run in runs if (run.engine, run.workers) == ("dask", 1)]
    if len(alone) < 3:
        return f"Too few runs of {model} on one worker: {len(alone)}, and a model needs 3.\n"
    largest = max(runs, key=_by_size)
    models = {part: stage_models(alone, part) for part in PARTS}
    sections = [
        _where(measured, model, runs, alone),
        _stages("Largest run", largest),
        _stages("Bytes that travel", max(alone, key=_by_size)),
        _growth([run for run in runs if run.key[:3] == largest.key[:3]]),
        _speedups(runs),
        _constants(models),
        _check(runs, models),
        _plans(models),
        _limits(alone, models["fit"]),
    ]
    return "\n".join(sections)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """Return a table of Markdown, numbers to the right; so many columns at its ends are texts."""
    last = ["---"] * (texts - 1)
    lines = [head, ["---", *["--:"] * (len(head) - texts), *last], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def digits(value: float) -> str:
    """Return three digits, or a whole number."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _by_size(run: Run) -> tuple[int, int, int]:
    return run.documents, run.labels, -run.shards


def _where(measured: Measured, model: str, runs: list[Run], alone: list[Run]) -> str:
    documents, labels = ([getattr(run, each) for run in runs] for each in ("documents", "labels"))
    return (
        f"Measured until {measured.day} by `python -m benchmarks.scale --model {model}` on two "
        f"cores: {len(runs)} runs from {min(documents):,} to {max(documents):,} documents of some "
        f"200 tokens and from {min(labels):,} to {max(labels):,} labels.\n\nThe constants of the "
        f"cost model are of {len(alone)} runs on one Dask worker, of "
        f"{max(run.documents for run in alone):,} documents at most; the driver and the workers "
        "share two cores. What follows from them for clusters is the method, and an order of "
        "magnitude.\n"
    )


def _workers(run: Run) -> str:
    kind = "thread" if run.engine == "threads" else "Dask worker"
    return f"{run.workers} {kind}{'s' * (run.workers > 1)}"


def _stages(heading: str, run: Run) -> str:
    rows = []
    for part in PARTS:
        n = run.documents if part == "fit" else run.predicted
        stages = ordered(getattr(run, part))
        for stage in stages:
            shared = max((step.shared for step in stage.steps), default=0)
            returned = sum(step.returned for step in stage.steps)
            moved = sum(step.moved for step in stage.steps)
            rows.append((
                f"{_NAMES[part]}: {stage.name}", digits(stage.seconds), digits(n / stage.seconds),
                digits(stage.peak / MB), digits(shared / MB), digits(returned / MB),
                digits(moved / MB),
            ))  # fmt: skip
        whole = seconds(stages)
        peak = max(stage.peak for stage in stages)
        rows.append((f"**{_NAMES[part]}**", digits(whole), digits(n / whole), digits(peak / MB),
                     "", "", ""))  # fmt: skip
    head = ("stage", "seconds", "documents a second", "peak MB of all processes",
            "MB sent to each worker a step", "MB returned", "MB read and written")  # fmt: skip
    title = (
        f"## {heading}\n\n{run.documents:,} documents, {run.labels:,} labels, {run.shards:,} "
        f"shards, {_workers(run)}; the model takes {digits(run.model_bytes / MB)} MB, the work "
        f"folder {digits(run.scratch_bytes / MB)}, and {run.predicted:,} documents are "
        "predicted.\n\n"
    )
    n = 4 if run.engine == "threads" else len(head)  # nothing travels between threads
    return title + table(head[:n], [row[:n] for row in rows])


# Growth -------------------------------------------------------------------------------------------


def _growth(runs: list[Run]) -> str:
    rows = []
    for part in PARTS:
        what = f"{_NAMES[part]}, ms a document" if part == "predict" else _NAMES[part]
        rows += [
            (f"{what}: {name}", *_exponents(runs, _taken(part, name)))
            for name in _stage_names(runs, part)
        ]
        rows.append((f"**{what}**", *_exponents(runs, _taken(part))))
    rows.append(("**peak memory**", *_exponents(runs, lambda run: run.peak)))
    rows.append(("**model**", *_exponents(runs, lambda run: run.model_bytes)))
    rows.append(("**work folder**", *_exponents(runs, lambda run: run.scratch_bytes)))
    head = ("", "documents grow", "exponent", "labels grow", "exponent")
    text = (
        "## Growth\n\nValues at the smallest and the largest size of a series in which documents, "
        "or labels, grow alone, and the exponent fitted to all of the series: 1 is in proportion. "
        f"Runs are on {_workers(runs[0])}; training is in seconds, memory and files in MB. 3,000 "
        "documents are held out, in two parts where there are less than 15,000 in all.\n\n"
    )
    return text + table(head, rows)


def _stage_names(runs: list[Run], part: str) -> list[str]:
    return list(dict.fromkeys(stage.name for run in runs for stage in ordered(getattr(run, part))))


def _taken(part: str, name: str | None = None) -> Callable[[Run], float]:
    """Return what tells the time that a stage of a run took, or all.

    Of training it is seconds, of prediction milliseconds a document: not as many are predicted as
    are learned from.
    """

    def taken(run: Run) -> float:
        found = seconds([s for s in getattr(run, part) if name in (None, s.name)])
        return found if part == "fit" else 1_000 * found / run.predicted

    return taken


def _exponents(runs: list[Run], value: Callable[[Run], float]) -> list[str]:
    """Return, of both series, the values at their ends and the exponent."""
    found = []
    for own, other in (("documents", "labels"), ("labels", "documents")):
        counts = [getattr(run, other) for run in runs]
        common = max(set(counts), key=counts.count)
        of_series = [run for run in runs if getattr(run, other) == common]
        series = sorted((getattr(run, own), value(run)) for run in of_series)
        if len(series) < 2:
            found += ["", ""]
            continue
        n, values = np.array(series).T
        scale = MB if values.max() > 1e5 else 1.0
        slope = np.polyfit(np.log(n), np.log(np.maximum(values, 1e-3)), 1)[0]
        found += [f"{digits(values[0] / scale)} → {digits(values[-1] / scale)}", f"{slope:.2f}"]
    return found


def _speedups(runs: list[Run]) -> str:
    rows = []
    for engine, what in (("threads", "threads"), ("dask", "worker processes (Dask)")):
        own = [run for run in runs if run.engine == engine]
        pairs = [
            (one, two) for one in own for two in own
            if (one.workers, two.workers) == (1, 2) and one.key[3:] == two.key[3:]
        ]  # fmt: skip
        for one, two in pairs:
            ratios = [seconds(getattr(one, part)) / seconds(getattr(two, part)) for part in PARTS]
            size = f"{one.documents:,} documents, {one.labels:,} labels"
            rows.append((f"{what}: {size}", *(f"{ratio:.2f} ×" for ratio in ratios)))
    if not rows:
        return ""
    text = (
        "## Two workers against one\n\nWhat is missing of 2 × is what one process does alone, and "
        "that both read the same memory and write to the same disk; driver and scheduler of Dask "
        "work on the same two cores as well. Of a short prediction, loading the model is a large "
        "part.\n\n"
    )
    return text + table(("", "training", "prediction"), rows)


# The cost model -----------------------------------------------------------------------------------


def _constants(models: dict[str, list[StageModel]]) -> str:
    rows = []
    for part, stages in models.items():
        for stage in stages:
            work, driver = stage.constants["seconds"], stage.constants["driver"]
            by_document = (
                stage.constants[each][DOCUMENT] for each in ("shared", "returned", "moved")
            )
            rows.append((
                f"{_NAMES[part]}: {stage.name}", str(stage.steps),
                digits(work[DOCUMENT] * 1e6), digits(work[LABEL] * 1e3),
                digits(driver[DOCUMENT] * 1e6), digits(driver[LABEL] * 1e3),
                *map(digits, by_document),
            ))  # fmt: skip
    head = (
        "stage", "steps", "worker s, a million documents", "… a thousand labels",
        "driver s, a million documents", "… a thousand labels", "B shared, a document",
        "B returned, a document", "B in files, a document",
    )  # fmt: skip
    return (
        "## Constants\n\nOf each stage by the runs above; what is a run's and a shard's own, and "
        "bytes a label, are fitted too and not shown.\n\n" + table(head, rows)
    )


def _steps(models: list[StageModel], size: Size) -> list[Step]:
    return [step for stage in models for step in stage.steps_at(size)]


def _check(runs: list[Run], models: dict[str, list[StageModel]]) -> str:
    rows = []
    # On one machine nothing is slow by chance or fails, and what is sent stays in memory.
    largest = max(runs, key=_by_size)
    shown = [run for run in runs if run.engine == "dask" or run is largest]
    for run in sorted(shown, key=lambda run: run.key[1:]):
        here = Cluster(run.workers, slow_share=0.0, failures=0.0, worker_rate=3e9, driver_rate=3e9)
        for part in PARTS:
            steps = _steps(models[part], size_of(run, part))
            known = seconds(getattr(run, part))
            told, played = total(steps, here).seconds, simulate(steps, here).seconds
            rows.append((
                f"{_NAMES[part]}, {run.documents:,} documents, {run.labels:,} labels, "
                f"{run.shards:,} shards",
                _workers(run), digits(known), digits(told), f"{told / known:.2f}",
                digits(played), f"{played / known:.2f}",
            ))  # fmt: skip
    head = ("", "workers", "measured s", "closed form", "ratio", "simulation", "ratio")
    return (
        "## Measured and predicted\n\nRuns on one worker are those that the constants are of; "
        "those on two, and the largest, are predicted.\n\n" + table(head, rows)
    )


def _plans(models: dict[str, list[StageModel]]) -> str:
    rows = []
    for documents, labels in PLANNED:
        size = Size(documents, labels, documents / SHARD)
        for workers in WORKERS:
            cluster = Cluster(workers)
            row = [f"{documents:,} documents", f"{workers:,}"]
            for part in PARTS:
                steps = _steps(models[part], size)
                told, played = total(steps, cluster), simulate(steps, cluster)
                row += [
                    digits(told.seconds / 3600), digits(played.seconds / 3600),
                    f"${digits(dollars(told.seconds, workers))}",
                    _bound(models[part], size, cluster),
                ]  # fmt: skip
            rows.append(row)
    head = ("", "workers", "training h", "simulated", "price", "longest stage", "prediction h",
            "simulated", "price", "longest stage")  # fmt: skip
    return (
        f"## Planned\n\n{PLANNED[0][1]:,} labels, shards of {SHARD:,} documents; prediction is "
        f"of as many documents; ${PRICE} for a core and hour. Of the longest stage it is said what "
        "it waits for: a stage with fewer tasks than workers gains nothing from more of them. The "
        "simulation is of one seed.\n\n" + table(head, rows)
    )


def _bound(models: list[StageModel], size: Size, cluster: Cluster) -> str:
    """Return the stage that takes longest, what it waits for, and its share of all."""
    costs = {stage.name: total(stage.steps_at(size), cluster) for stage in models}
    name, cost = max(costs.items(), key=lambda item: item[1].seconds)
    tasks = min((step.tasks for stage in models if stage.name == name for step in
                 stage.steps_at(size)), default=0)  # fmt: skip
    few = f"{tasks:,} tasks" if 0 < tasks < cluster.workers else "compute"
    parts = {few: cost.compute, "driver": cost.driver, "network": cost.network,
             "scheduler": cost.scheduler, "files": cost.store}  # fmt: skip
    share = cost.seconds / sum(each.seconds for each in costs.values())
    return f"{name} ({max(parts, key=lambda part: parts[part])}), {100 * share:.0f} %"


# What breaks first --------------------------------------------------------------------------------


class Limit(NamedTuple):
    """Something that there is only so much of."""

    what: str
    needed: float
    most: float
    unit: str
    met_at: str
    """How many documents there are when it is used up."""
    remedy: str


def _limits(runs: list[Run], models: list[StageModel]) -> str:
    documents, labels = PLANNED[-1]
    target = Size(documents, labels, documents / SHARD)
    limits = [*_room(runs, models, target), *_hours(models, target)]
    rows = [
        (
            limit.what, f"{digits(limit.needed)} {limit.unit}",
            f"{digits(limit.most)} {limit.unit}",
            f"{digits(limit.needed / limit.most)} ×", limit.met_at, limit.remedy,
        )
        for limit in sorted(limits, key=lambda each: -each.needed / each.most)
    ]  # fmt: skip
    head = ("", "needed", "there is", "ratio", "met at", "what would be done")
    return (
        f"## What breaks first\n\nTraining on {documents:,} documents with {labels:,} labels by "
        f"{WORKERS[-1]:,} workers: the first line breaks first. Hours are compared with those that "
        "workers take for their tasks.\n\n" + table(head, rows, 2)
    )


def _room(runs: list[Run], models: list[StageModel], target: Size) -> Iterator[Limit]:
    """Yield what has to fit somewhere."""
    sizes = [size_of(run, "fit") for run in runs]
    peak = fitted(sizes, [run.peak for run in runs], NO_SHARDS)
    model = fitted(sizes, [run.model_bytes for run in runs], NO_SHARDS)
    folder = fitted(sizes, [run.scratch_bytes for run in runs])
    shared = max((stage.constants["shared"] for stage in models), key=lambda c: c @ target.basis)
    for constants, what, most, remedy in (
        (peak, "memory of the driver, and one worker", 64,
         "the labels of documents and φ stay on disk, in blocks"),
        (shared, "memory of a worker for what it is sent at once", 8,
         "it is sent the part that its shard has"),
        (model, "memory of a machine for the model, to predict", 64,
         "labels are divided among machines"),
        (folder, "shared disk for the work folder", 50_000,
         "states are compressed, or made again from those before"),
    ):  # fmt: skip
        needed = float(constants @ target.basis) / GB
        yield Limit(what, needed, most, "GB", _met_at(constants, most * GB, target), remedy)


def _met_at(constants: Floats, most: float, target: Size) -> str:
    """Return the number of documents at which a limit is met, with as many labels."""
    fixed = float(constants @ Size(0.0, target.labels, 0.0).basis)
    each = (float(constants @ target.basis) - fixed) / target.documents
    if fixed >= most:
        return "fewer labels"
    return f"{digits((most - fixed) / each / 1e6)} M documents" if each else "never"


def _hours(models: list[StageModel], target: Size) -> Iterator[Limit]:
    """Yield what has to be done in time, as workers would wait for it."""
    cost = total(_steps(models, target), Cluster(WORKERS[-1]))
    for spent, what, remedy in (
        (cost.network, "the driver's network", "workers add results up in a tree"),
        (cost.scheduler, "the scheduler", "larger shards: fewer tasks"),
        (cost.store, "the file system", "shards stay on the disks of their workers"),
        (cost.driver, "the driver's own work", "what it does alone becomes tasks"),
    ):
        yield Limit(f"time of {what}", spent / 3600, cost.compute / 3600, "h", "", remedy)
