"""Run an experiment: every unit in a process of its own, kept as it ends, never run twice."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from threading import Event

import numpy as np
from msgspec import structs

from deplda.data import datasets, wording
from deplda.data.datasets.described import drawn
from deplda.data.files import StrPath
from deplda.engine.execution import Execution, n_workers
from deplda.engine.pool import Stopped
from deplda.engine.progress import counted, stage
from deplda.errors import InputError
from deplda.experiments.facts import data_facts
from deplda.experiments.processes import Processes
from deplda.experiments.protocol import Budget, Experiment
from deplda.experiments.results import (
    Head,
    Results,
    Unit,
    has_data,
    new_head,
    open_results,
    read_results,
    read_unit,
    units_of,
    write_data,
    write_unit,
)
from deplda.experiments.unit import Task
from deplda.kernels.cuda.device import missing, unusable
from deplda.models.parameters import checked
from deplda.models.registry import can, model_class

_SHARE_OF_MEMORY = 0.8
_TURN = "gpu.lock"
_UNITS_OF_A_GPU = 8
"""That read, compile and evaluate side by side; one of them has the GPU."""
_PER_COUNT = 200
_OF_A_PROCESS = 2**30
"""Bytes that a unit takes at most, for each count of the corpus and beside them; of EUR-Lex 120."""
_COPY = "data"
"""The folder of the data set in that of the results, where it was counted for them."""


def run(
    experiment: Experiment,
    folder: StrPath,
    *,
    budget: Budget = "standard",
    splits: list[int] | None = None,
    models: list[str] | None = None,
    device: str = "cpu",
    data_dir: StrPath | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    data: datasets.Dataset | None = None,
    ended: Callable[[Unit], None] | None = None,
) -> Results:
    """Run every unit that has not ended well yet, and return all that is in the folder.

    Parameters
    ----------
    folder : path
        Where results are kept, one file for each unit as it ends. A second run goes on where the
        first one ended; a folder of another experiment is refused.
    budget : {"quick", "standard", "paper"}
        How many chains and samples.
    splits : list of int, optional
        Some of the experiment's splits.
    models : list of str, optional
        Some of the experiment's models; a later run into the folder may do others.
    device : {"cpu", "cuda", "auto"}
        Where models work. Each unit keeps it with its parameters, and, of "auto", why it was the
        CPU.
    n_jobs : int, optional
        Cores to use; all by default. Units run side by side where memory allows. On a GPU they take
        turns at what is timed: one fits and predicts while others read, compile and evaluate; only
        a hybrid, which needs it little, works beside them.
    data : Dataset, optional
        The data set itself, where the experiment's `data` is a name for it and nothing more. One
        without splits, also one that is loaded, has a quarter of its documents held out.
    ended : function of a Unit, optional
        Called with each unit as it ends.
    """
    for model in models or ():
        if model not in experiment.models:
            known = ", ".join(experiment.models)
            raise InputError(f"there is no model {model!r}; {experiment.name} has {known}")
    checked({"device": device})
    if device == "cuda" and (reason := missing()):  # rather than by each unit
        raise unusable(device, reason)
    cores = n_workers(n_jobs)
    n_begun = min(cores, len(models or experiment.models)) if device != "cpu" else 0
    with Processes(n_begun) as processes:
        given, is_copied = _with_splits(experiment, data, data_dir, progress)
        head, asked, where = _opened(experiment, folder, budget, splits, given, is_copied, data_dir)
        on_gpu = _on_a_gpu(given, cores)
        del given, data  # every unit loads its own
        waiting = [
            (model, split)
            for model, split in units_of(head)
            if models is None or model in models
            if (unit := read_unit(folder, model, split)) is None or unit.status == "failed"
        ]

        def work(item: tuple[str, int], stop: Event, threads: int) -> Unit:
            if stop.is_set():
                raise Stopped
            turn = _turn(experiment, item[0], device, folder)
            task = Task(asked, *item, budget, where, threads, device, turn)
            with stage(f"{task.model} on split {task.split}", progress):
                unit = processes.run(task)
            write_unit(folder, unit)
            if ended is not None:
                ended(unit)
            return unit

        what = f"experiment {experiment.name}: {wording.counted(len(waiting), 'run')}"
        with counted(what, len(waiting), progress) as done:
            side_by_side, threads = on_gpu, cores
            if waiting and device == "cpu":
                # The first unit says how much memory one takes, and so how many may run at a time.
                first = work(waiting.pop(0), Event(), cores)
                done(1)
                side_by_side = _at_a_time(first, cores)
                threads = max(1, cores // side_by_side)
            for _ in Execution(n_jobs=side_by_side).map(
                lambda item, stop: work(item, stop, threads), waiting
            ):
                done(1)
    return read_results(folder)


def _opened(
    experiment: Experiment,
    folder: StrPath,
    budget: Budget,
    splits: list[int] | None,
    data: datasets.Dataset,
    is_copied: bool,
    data_dir: StrPath | None,
) -> tuple[Head, Experiment, str | None]:
    """Open the folder of results; return its head, and what units are to run, on data from where.

    Of a data set that is copied they need not read the texts, nor count their words, again.
    """
    chosen = _chosen_splits(experiment, splits, len(data.splits))
    head = new_head(experiment, budget, chosen, _identity(data))
    open_results(folder, head)
    if chosen and not has_data(folder):
        write_data(folder, data_facts(data, experiment, chosen[0]))
    if not is_copied:
        return head, experiment, None if data_dir is None else os.fspath(data_dir)
    if not (Path(folder) / _COPY).exists():
        datasets.save_folder(data, Path(folder) / _COPY)
    return head, structs.replace(experiment, data=_COPY), os.fspath(folder)


def _turn(experiment: Experiment, model: str, device: str, folder: StrPath) -> str | None:
    """Return the file by which a unit takes its turn on a GPU; None if it need not.

    A hybrid spends nine tenths of its time on the CPU: it works beside the others.
    """
    is_mixed = can(model_class(experiment.models[model].estimator), "mix")
    return None if device == "cpu" or is_mixed else os.fspath(Path(folder) / _TURN)


def _with_splits(
    experiment: Experiment,
    data: datasets.Dataset | None,
    data_dir: StrPath | None,
    progress: bool | None,
) -> tuple[datasets.Dataset, bool]:
    """Return the data set, and whether units are to load a copy: else they find it by its name."""
    is_copied = data is not None
    if data is None:
        name = experiment.data
        if datasets.is_known(name) and not datasets.is_here(name, data_dir):
            datasets.fetch(name, data_dir, progress=progress)
        with stage(f"reading {name}", progress):
            data = datasets.load(name, data_dir)
        is_copied = bool(data.texts and data.counter) or not data.splits
    if not data.splits:
        data = replace(data, splits=drawn(data, seed=experiment.seed))
    return data, is_copied


def _chosen_splits(experiment: Experiment, splits: list[int] | None, n: int) -> list[int]:
    """Return the splits that are asked for, of the n that there are."""
    chosen = list(range(n)) if experiment.splits == "all" else experiment.splits
    chosen = chosen if splits is None else splits
    for split in chosen:
        if not 0 <= split < n:
            raise InputError(f"there is no split {split}; {experiment.data} has {n}")
    return chosen


def _identity(data: datasets.Dataset) -> str:
    """Return what tells the documents, labels and splits from any others."""
    digest = blake2b(data.corpus.fingerprint().encode(), digest_size=16)
    for split in data.splits:
        for rows in split:
            digest.update(rows.astype(np.int64).tobytes() + b"|")
    return digest.hexdigest()


def _at_a_time(unit: Unit, cores: int) -> int:
    """Return how many units like this one may run side by side."""
    if unit.found is None:
        return 1
    return max(1, min(cores, int(_memory() / 2**20 / unit.found["peak_mb"])))


def _on_a_gpu(data: datasets.Dataset, cores: int) -> int:
    """Return how many units may run side by side where one of them at a time has the GPU."""
    each = _OF_A_PROCESS + _PER_COUNT * data.corpus.counts.nnz
    return max(1, min(cores, _UNITS_OF_A_GPU, int(_memory() / each)))


def _memory() -> float:
    """Return the bytes that units may take together."""
    return _SHARE_OF_MEMORY * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
