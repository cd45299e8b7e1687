"""What was run exactly, and what failed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from deplda.experiments.report.parts import Block, Details, Section, Table, table
from deplda.experiments.report.runs import Group, Run


def settings_section(group: Group) -> Section:
    """Return everything that is needed to run the experiment again."""
    return Section(
        "Settings", tuple(Details(_title(group, run), _blocks(run)) for run in group.runs)
    )


def failures(groups: Iterable[Group]) -> Section | None:
    """Return which units failed and why, and how many have not been run."""
    rows, open_ = [], []
    for group in groups:
        for run in group.runs:
            rows += [
                [group.name, run.title, unit.model, str(unit.split), unit.error or "–"]
                for unit in run.failed
            ]
            missing = run.n_units - len(run.results.units)
            if missing:
                open_.append(f"{group.name}, {run.title}: {missing} of {run.n_units} units")
    blocks: list[Block] = []
    if rows:
        columns = ("data", "budget", "model", "split", "error")
        blocks.append(table("Units that failed.", columns, rows, prose=True))
    if open_:
        blocks.append(f"Not run yet: {'; '.join(open_)}.")
    return Section("What is missing", tuple(blocks)) if blocks else None


def _title(group: Group, run: Run) -> str:
    return f"{group.name}, budget {run.title}: parameters, seeds, versions, machine"


def _blocks(run: Run) -> tuple[Block, ...]:
    head = run.results.head
    about = [
        ("experiment", run.experiment.name),
        ("data", run.experiment.data),
        ("budget", head.budget),
        ("splits", ", ".join(map(str, head.splits))),
        ("labels ranked for a document", f"those of {run.experiment.labels} documents"),
        ("least tokens of a word", str(run.experiment.min_count)),
        ("seeds", _distinct(run, "seed")),
        ("deplda", _distinct(run, "library")),
        *(
            (name, _distinct(run, "versions", name))
            for name in run.found(run.models[0])["versions"]
        ),
        *((name, _distinct(run, "machine", name)) for name in run.found(run.models[0])["machine"]),
    ]
    return (
        table("The run.", ("what", "value"), about, prose=True),
        _by_model(run, "parameters", "Parameters as given."),
        _by_model(run, "settings", "Settings as used; “auto” decided."),
    )


def _by_model(run: Run, kind: str, caption: str) -> Table:
    kept = {model: run.found(model).get(kind, {}) for model in run.models}
    kept = {model: values for model, values in kept.items() if values}
    names = sorted({name for values in kept.values() for name in values})
    rows = [[name, *(_shown(values, name) for values in kept.values())] for name in names]
    return table(f"{caption} First split.", ("parameter", *kept), rows)


def _shown(values: dict[str, Any], name: str) -> str:
    if name not in values:
        return ""
    value = values[name]
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _distinct(run: Run, *path: str) -> str:
    """Return the different values of the units at a path of keys."""
    values = []
    for unit in run.results.done:
        value: Any = unit.found
        for key in path:
            value = value.get(key, "–")
        values.append(str(value))
    return ", ".join(dict.fromkeys(values))
