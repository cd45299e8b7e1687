"""What was run exactly, and what failed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from deplda.comparison.phrases import listed
from deplda.comparison.standing import Table
from paper.report.parts import Block, Details, Section, table
from paper.report.runs import Group, Run


def settings_section(group: Group) -> Section:
    """Return everything that is needed to run the experiment again."""
    blocks = []
    for run in group.runs:
        given = _by_model(run, "parameters", "Parameters as given.")
        used = _by_model(run, "settings", "Settings as used; “auto” decided.")
        title = f"{group.name}, budget {run.title}: parameters, seeds, versions, machine"
        blocks.append(Details(title, (_about(run), given, used)))
    return Section("Settings", tuple(blocks))


def missing_section(groups: Iterable[Group]) -> Section | None:
    """Return which units failed and why, and how many have not been run."""
    rows, open_, unasked = [], [], []
    for group in groups:
        for run in group.runs:
            rows += [
                [group.name, run.title, unit.model, str(unit.split), unit.error or "–"]
                for unit in run.results.failed
            ]
            begun = list(dict.fromkeys(unit.model for unit in run.results.units))
            if len(begun) < len(run.experiment.models):
                others = [model for model in run.experiment.models if model not in begun]
                unasked.append(f"{group.name}, {run.title}: {listed(others)}")
            n_units = len(run.results.head.splits) * len(begun)
            n_open = n_units - len(run.results.units)
            if n_open:
                open_.append(f"{group.name}, {run.title}: {n_open} of {n_units} units")
    blocks: list[Block] = []
    if rows:
        columns = ("data", "budget", "model", "split", "error")
        blocks.append(table("Units that failed.", columns, rows, prose=True))
    if open_:
        blocks.append(f"Not run yet: {'; '.join(open_)}.")
    if unasked:
        blocks.append(f"Models that were not run: {'; '.join(unasked)}.")
    return Section("What is missing", tuple(blocks)) if blocks else None


def _about(run: Run) -> Table:
    head, first = run.results.head, run.unit(run.models[0])
    rows = [
        ("experiment", run.experiment.name),
        ("data", run.experiment.data),
        ("budget", run.title),
        ("splits", ", ".join(map(str, head.splits))),
        ("labels ranked for a document", f"those of {run.experiment.labels} documents"),
        ("least tokens of a word", str(run.experiment.min_count)),
        ("seeds", _values(run, "seed")),
        ("deplda", _values(run, "library")),
        *(
            (name, _values(run, kind, name))
            for kind in ("versions", "machine")
            for name in first[kind]
        ),
    ]
    return table("The run.", ("what", "value"), rows, prose=True)


def _by_model(run: Run, kind: str, caption: str) -> Table:
    kept = {model: values for model in run.models if (values := run.unit(model).get(kind))}
    names = sorted({name for values in kept.values() for name in values})
    rows = [[name, *(_shown(values.get(name, "")) for values in kept.values())] for name in names]
    return table(f"{caption} First split.", ("parameter", *kept), rows)


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _values(run: Run, *path: str) -> str:
    """Return the different values of the units at a path of keys."""
    values = []
    for unit in run.results.done:
        value: Any = unit.results
        for key in path:
            value = value.get(key, "–")
        values.append(str(value))
    return ", ".join(dict.fromkeys(values))
