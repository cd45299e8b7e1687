"""Run a comparison: each unit in its own process, stored when it ends, never run twice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from threading import Event
from typing import Any

import msgspec
import numpy as np
from msgspec import structs

import deplda
from deplda.comparison.comparison import Comparison
from deplda.comparison.facts import describe_data
from deplda.comparison.results import (
    DataFacts,
    Head,
    Results,
    Unit,
    open_results,
    read_results,
    read_unit,
    units_of,
    write_data,
    write_unit,
)
from deplda.comparison.unit import Task
from deplda.data import wording
from deplda.data.datasets import Dataset, save_folder
from deplda.data.datasets.described import drawn
from deplda.data.files import StrPath
from deplda.engine.execution import Execution, n_workers
from deplda.engine.pool import check_stop
from deplda.engine.progress import counted, stage
from deplda.errors import InputError
from deplda.kernels.cuda.device import missing, unusable
from deplda.models.parameters import checked

_SHARE_OF_MEMORY = 0.8
_UNIT = ("-P", "-m", "deplda.comparison.unit")  # -P: imports nothing from the current folder
_COPY = "data"
"""The copy of the data set in the folder of results, which units load."""


def run(
    comparison: Comparison,
    folder: StrPath,
    data: Dataset,
    *,
    splits: list[int] | None = None,
    models: list[str] | None = None,
    device: str = "cpu",
    n_jobs: int | None = None,
    progress: bool | None = None,
    ended: Callable[[Unit], None] | None = None,
    describe: Callable[[Dataset, Comparison, int], DataFacts] = describe_data,
    command: tuple[str, ...] = _UNIT,
) -> Results:
    """Run every unit that has not succeeded yet, and return all results in the folder.

    Parameters
    ----------
    folder : path
        One file is stored for each unit as it ends. A second run continues the first; a folder of
        another comparison is an error.
    data : Dataset
        A data set without splits gets one: a quarter of its documents is the test part.
    splits, models : lists, optional
        Some of the splits and models; a later run into the folder may run others of the models.
    device : {"cpu", "cuda", "auto"}
        Where models work.
    n_jobs : int, optional
        Cores to use; all by default. Units run at the same time where memory allows, but one by
        one on a GPU.
    ended : function of a Unit, optional
        Called with each unit as it ends.
    describe, command : function, arguments of Python
        How data is described, and the process that runs a unit.
    """
    _check_request(comparison, models, device)
    cores = n_workers(n_jobs)
    data = data if data.splits else replace(data, splits=drawn(data, seed=comparison.seed))
    chosen = _check_splits(data, splits)
    head = Head(
        experiment=comparison, splits=chosen, library=deplda.__version__, data=fingerprint(data)
    )
    open_results(folder, head)
    write_data(folder, lambda: describe(data, comparison, chosen[0]))
    copy = Path(folder).absolute() / _COPY
    if not copy.exists():
        save_folder(data, copy)
    waiting = [
        Task(
            title=title, model=comparison.models[title], split=split,
            seed=comparison.seed + split, data=os.fspath(copy), labels=comparison.labels,
            min_count=comparison.min_count, device=device,
        )
        for title, split in units_of(head)
        if models is None or title in models
        if (unit := read_unit(folder, title, split)) is None or unit.status == "failed"
    ]  # fmt: skip

    def work(task: Task, stop: Event, threads: int) -> Unit:
        check_stop(stop)
        with stage(f"{task.title} on split {task.split}", progress):
            unit = run_process(structs.replace(task, n_jobs=threads), command)
        write_unit(folder, unit)
        if ended is not None:
            ended(unit)
        return unit

    what = f"comparison {comparison.name}: {wording.counted(len(waiting), 'run')}"
    with counted(what, len(waiting), progress) as done:
        at_a_time = 1
        if waiting and device == "cpu":
            # The memory of the first unit decides how many others run at a time.
            first = work(waiting.pop(0), Event(), cores)
            done(1)
            at_a_time = _units_at_a_time(first, cores)
        threads = max(1, cores // at_a_time)
        for _ in Execution(n_jobs=at_a_time).map(
            lambda task, stop: work(task, stop, threads), waiting
        ):
            done(1)
    return read_results(folder)


def _check_request(comparison: Comparison, models: list[str] | None, device: str) -> None:
    for model in models or ():
        if model not in comparison.models:
            known = ", ".join(comparison.models)
            raise InputError(f"there is no model {model!r}; {comparison.name} has {known}")
    checked({"device": device})
    if device == "cuda" and (reason := missing()):  # rather than in each unit
        raise unusable(device, reason)


def _check_splits(data: Dataset, splits: list[int] | None) -> list[int]:
    n = len(data.splits)
    for split in splits or ():
        if not 0 <= split < n:
            raise InputError(f"there is no split {split}; {data.name} has {n}")
    return list(range(n)) if splits is None else splits


def fingerprint(data: Dataset) -> str:
    """Return a digest of the documents, labels and splits."""
    digest = blake2b(data.corpus.fingerprint().encode(), digest_size=16)
    for split in data.splits:
        for rows in split:
            digest.update(rows.astype(np.int64).tobytes() + b"|")
    return digest.hexdigest()


def run_process(task: Task, command: tuple[str, ...]) -> Unit:
    """Return the unit of a task; if its process fails, with the last line of its errors."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, *command], input=msgspec.json.encode(task), capture_output=True
    )
    if done.returncode == 0:
        results: dict[str, Any] = msgspec.json.decode(done.stdout)
        return Unit(task.title, task.split, "done", results=results)
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    error = lines[-1] if lines else f"its process ended with {done.returncode}"
    return Unit(task.title, task.split, "failed", error=error)


def _units_at_a_time(unit: Unit, cores: int) -> int:
    """Return how many units like this one fit into memory."""
    if unit.results is None:
        return 1
    usable = _SHARE_OF_MEMORY * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(cores, int(usable / 2**20 / unit.results["peak_mb"])))
