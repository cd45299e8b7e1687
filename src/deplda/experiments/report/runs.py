"""Folders of results, ready to be asked: means over splits, and labels by frequency."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import product
from operator import getitem
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from deplda.data.files import StrPath
from deplda.errors import DepldaError, InputError
from deplda.evaluation.estimate import percentiles
from deplda.evaluation.frequency import FrequencyBin as Bin
from deplda.evaluation.frequency import FrequencyTable, PairedTest, frequency_table
from deplda.experiments import BUDGETS, Experiment, Results, read_results
from deplda.experiments.report.literature import paper_values
from deplda.experiments.report.measures import Metric
from deplda.experiments.report.phrases import CLEAR, counted, listed
from deplda.experiments.results import Unit

Floats = npt.NDArray[np.float64]
V = TypeVar("V")
_SVMS = ("TunedSVM", "TfidfSVM", "VanillaSVM")


@dataclass(frozen=True)
class Run:
    """The results of one folder."""

    title: str
    """The budget; with the folder's name if another folder has the same."""
    results: Results

    @property
    def experiment(self) -> Experiment:
        """What was asked for."""
        return self.results.head.experiment

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The models that have finished on some split, in the experiment's order."""
        done = {unit.model for unit in self.results.done}
        return tuple(name for name in self.experiment.models if name in done)

    @property
    def about(self) -> str:
        """How many splits were run, the budget, and whether documents are generated."""
        drawn = ", generated documents" if self.is_generated else ""
        return f"{counted(len(self.results.head.splits), 'split')}, budget {self.title}{drawn}"

    @property
    def is_generated(self) -> bool:
        """Whether a program drew the documents."""
        return self.results.data is not None and self.results.data.generated

    @property
    def paper(self) -> dict[str, dict[Metric, str]]:
        """Model → metric → what the paper printed for this data set, or for one of its kind."""
        return paper_values(self.experiment.paper)

    def printed(self, model: str) -> dict[Metric, str] | None:
        """Return what the paper printed for one of the models; None if it has no such model."""
        return self.paper.get(self.experiment.models[model].published or model)

    @property
    def failed(self) -> tuple[Unit, ...]:
        """The units that ended badly."""
        return tuple(unit for unit in self.results.units if unit.status == "failed")

    @cached_property
    def _kept(self) -> dict[tuple[str, int], dict[str, Any]]:
        return {(unit.model, unit.split): unit.found or {} for unit in self.results.done}

    def splits(self, model: str) -> list[int]:
        """Return the splits that a model has finished."""
        return [unit.split for unit in self.results.done if unit.model == model]

    @cached_property
    def shared_splits(self) -> list[int]:
        """The splits that every model has finished: only there can labels be paired."""
        return sorted(set.intersection(*(set(self.splits(model)) for model in self.models)))

    def found(self, model: str, split: int | None = None) -> dict[str, Any]:
        """Return what is kept of a model on a split; by default the first that it finished."""
        return self._kept[model, self.splits(model)[0] if split is None else split]

    def each(self, model: str, *path: str, splits: Iterable[int] | None = None) -> Floats:
        """Return a number that is kept of a model, at a path of keys, on each of its splits."""
        chosen = self.splits(model) if splits is None else splits
        found: list[Any] = [reduce(getitem, path, self.found(model, split)) for split in chosen]
        return np.array(found, dtype=np.float64)  # None becomes NaN

    def mean(self, model: str, metric: Metric, splits: Iterable[int] | None = None) -> float:
        """Return a metric's mean over splits; by default over all that the model has finished."""
        return float(self.each(model, "metrics", *metric, splits=splits).mean())

    def drawn(self, model: str, metric: Metric, splits: Iterable[int]) -> Floats | None:
        """Return a metric's mean over splits in each draw of test documents, or of labels.

        None of results of an earlier version, which kept no draws.
        """
        if any("resampled" not in self.found(model, split) for split in splits):
            return None
        found = [reduce(getitem, metric, self.found(model, s)["resampled"]) for s in splits]
        return np.array(found, dtype=np.float64).mean(axis=0)

    def interval(self, model: str, metric: Metric) -> tuple[float, float] | None:
        """Return the 95 % interval of a metric; None of results of an earlier version."""
        drawn = self.drawn(model, metric, self.splits(model))
        return None if drawn is None else percentiles(drawn)

    def leaders(self, metric: Metric) -> tuple[str, ...]:
        """Return the best model and those that are not clearly worse, the best first.

        One is clearly worse if it is so in 97.5 % of the draws, which are the same for both. There
        are none where nothing is known of noise, or nothing to compare with.
        """
        if metric not in self._leaders:
            self._leaders[metric] = self._find_leaders(metric)
        return self._leaders[metric]

    @cached_property
    def _leaders(self) -> dict[Metric, tuple[str, ...]]:
        return {}

    def _find_leaders(self, metric: Metric) -> tuple[str, ...]:
        best = self.best(metric)
        if len(self.models) < 2 or self.drawn(best, metric, self.splits(best)) is None:
            return ()
        sign = 1 if metric.lower_is_better else -1
        losses = {model: sign * self.mean(model, metric) for model in self.models}
        others = [m for m, loss in losses.items() if m != best and loss == loss]  # no NaN
        others.sort(key=losses.__getitem__)
        return (best, *(m for m in others if not self._is_behind(m, best, metric)))

    def _is_behind(self, model: str, best: str, metric: Metric) -> bool:
        both = sorted({*self.splits(model)} & {*self.splits(best)})
        ours, theirs = (
            (self.drawn(m, metric, both) for m in (best, model)) if both else (None, None)
        )
        if ours is None or theirs is None:
            return False
        low, high = percentiles(ours - theirs)
        return high < 0 if metric.lower_is_better else low > 0

    def best(self, metric: Metric) -> str:
        """Return the model with the best mean, the first of equals."""
        sign = 1 if metric.lower_is_better else -1
        means = [sign * self.mean(model, metric) for model in self.models]
        return self.models[np.argsort(means, kind="stable")[0]]  # NaN sorts last

    def cpu_seconds(self, model: str, *parts: str, splits: Iterable[int] | None = None) -> float:
        """Return the mean CPU time of "fit", of "predict" (scoring the test documents), or of both.

        Units run side by side, so that what a clock shows depends on the others.
        """
        chosen = self.splits(model) if splits is None else list(splits)
        return sum(float(self.each(model, "cpu_seconds", p, splits=chosen).mean()) for p in parts)

    @cached_property
    def gpus(self) -> str:
        """Which models ran on a CUDA GPU, and which one, as a sentence; nothing if none did."""
        found = {unit.model: (unit.found or {})["machine"].get("gpu") for unit in self.results.done}
        used = {model: gpu for model, gpu in found.items() if gpu not in (None, "–")}
        if not used:
            return ""
        return (
            f"On a CUDA GPU ({listed(dict.fromkeys(used.values()))}): {listed(used)}; "
            "their CPU-seconds are those of the processor beside it."
        )

    def _of(self, estimator: str) -> list[str]:
        return [m for m in self.models if self.experiment.models[m].estimator == estimator]

    @property
    def dependency(self) -> str | None:
        """The first Dependency-LDA among the models, the one that others are held against."""
        return next(iter(self._of("DependencyLDA")), None)

    @property
    def svms(self) -> tuple[str, ...]:
        """The SVMs among the models: Tuned first, as in the paper."""
        return tuple(model for estimator in _SVMS for model in self._of(estimator))

    @property
    def compared(self) -> list[tuple[str, str]]:
        """Models to compare label by label: Dependency-LDA with the SVMs, the hybrid with both."""
        dependency, tfidf = self._of("DependencyLDA")[:1], self._of("TfidfSVM")[:1]
        hybrid = self._of("HybridLDA")[:1]
        return [*product(dependency, self.svms), *product(hybrid, [*tfidf, *dependency])]

    @cached_property
    def by_frequency(self) -> FrequencyTable | None:
        """Average precision by quintile of label frequency, each (label, split) being a pair.

        None if no split was finished by every model.
        """
        if not self.shared_splits:
            return None
        values = {model: self._by_label(model, "average_precision") for model in self.models}
        counts = self._by_label(self.models[0], "training_documents").astype(np.int64)
        return frequency_table(counts, values)

    def _by_label(self, model: str, name: str) -> Floats:
        kept = (self.found(model, split)["by_label"][name] for split in self.shared_splits)
        return np.array([value for values in kept for value in values], dtype=np.float64)


@dataclass(frozen=True)
class Group:
    """The runs of one experiment: of most models first, then of most units, then of budget."""

    name: str
    runs: tuple[Run, ...]

    @property
    def main(self) -> Run:
        """The run that is shown in full."""
        return self.runs[0]


@contextmanager
def damage_told(folders: Sequence[Path]) -> Iterator[None]:
    """Tell what results lack that every experiment writes as damage to their folders."""
    try:
        yield
    except DepldaError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        problem = f"these results cannot be shown ({type(error).__name__}: {error})"
        raise InputError(
            f"{', '.join(map(str, folders))}: {problem}; they are damaged, or of another version: "
            "run the experiment again (deplda --debug … shows where)"
        ) from error


def paths_of(folders: StrPath | Iterable[StrPath]) -> list[Path]:
    """Return one folder, or several, as a list."""
    given = [folders] if isinstance(folders, str | os.PathLike) else folders
    return [Path(folder) for folder in given]


def read_groups(folders: StrPath | Iterable[StrPath]) -> tuple[Group, ...]:
    """Return the folders' results, those of one experiment together."""
    given = paths_of(folders)
    if not given:
        raise InputError("there are no folders of results; give at least one that `run` has made")
    groups: dict[str, dict[Path, Results]] = {}
    for folder in given:
        results = read_results(folder)
        _check_done(folder, results)
        groups.setdefault(results.head.experiment.name, {})[folder] = results
    return tuple(Group(name, _runs(found)) for name, found in groups.items())


def distinct(found: Iterable[tuple[str, V]]) -> list[tuple[list[str], V]]:
    """Return each value of (model, value) once, behind all models that have it.

    With the same seed and settings, all topic models learn the same words.
    """
    groups: list[tuple[list[str], V]] = []
    for model, value in found:
        same = next((models for models, known in groups if known == value), None)
        if same is None:
            groups.append(([model], value))
        else:
            same.append(model)
    return groups


def versus(part: Bin, first: str, second: str) -> PairedTest:
    """Return the paired t-test of first − second in a bin, whichever way it was done."""
    if (first, second) in part.tests:
        return part.tests[first, second]
    test = part.tests[second, first]
    return PairedTest(-test.difference, -test.t, test.p, test.n)


def leaders_in(part: Bin) -> tuple[str, ...]:
    """Return the best model in a bin, and those that the paired t-test does not tell from it."""
    if len(part.means) < 2:
        return ()
    best, *others = sorted(part.means, key=lambda model: -part.means[model].value)
    return (best, *(m for m in others if not versus(part, best, m).p < CLEAR))


def _runs(found: dict[Path, Results]) -> tuple[Run, ...]:
    times = Counter(results.head.budget for results in found.values())
    runs = []
    for folder, results in found.items():
        budget = results.head.budget
        runs.append(Run(budget if times[budget] == 1 else f"{budget} ({folder.name})", results))

    def rank(run: Run) -> tuple[int, int, int]:
        budget = list(BUDGETS).index(run.results.head.budget)
        return len(run.models), len(run.results.done), budget

    return tuple(sorted(runs, key=rank, reverse=True))


def _check_done(folder: Path, results: Results) -> None:
    """Raise if no unit in a folder has ended well."""
    if not results.units:
        raise InputError(f"{folder} holds no unit that has finished; run the experiment first")
    if not results.done:
        last = results.units[-1]
        raise InputError(
            f"none of the {len(results.units)} units in {folder} ended well (the last, "
            f"{last.model}, says: {last.error}); mend the cause and run the experiment again"
        )
