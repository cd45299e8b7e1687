"""Run a preset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deplda import comparison
from deplda.comparison.results import Results
from deplda.data.files import StrPath
from paper.data import load
from paper.protocol import Budget, read_preset, with_budget
from paper.results import describe_for_paper, read_paper_results

_UNIT = ("-m", "paper.unit")


def run_preset(
    preset: str,
    folder: StrPath,
    *,
    budget: Budget = "standard",
    splits: list[int] | None = None,
    data_dir: StrPath | None = None,
    **options: Any,
) -> Results:
    """Run a preset into a folder and return its results; options are those of `comparison.run`."""
    experiment = with_budget(read_preset(preset), budget)
    if splits is None and experiment.splits != "all":
        splits = experiment.splits
    data = load(experiment.data, data_dir)
    comparison.run(
        experiment, Path(folder), data, splits=splits, describe=describe_for_paper, command=_UNIT,
        **options,
    )  # fmt: skip
    return read_paper_results(folder)
