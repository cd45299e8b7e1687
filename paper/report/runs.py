"""Folders of results of the reproduction, grouped by preset."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TypeVar, cast

from deplda.comparison import measured
from deplda.comparison.phrases import listed
from deplda.comparison.results import Results
from deplda.comparison.standing import check_done
from deplda.data.files import StrPath
from deplda.data.wording import counted
from deplda.errors import InputError
from paper.protocol import BUDGETS, Budget, Experiment
from paper.report.literature import paper_values
from paper.report.measures import Metric
from paper.results import PaperFacts, PaperHead, read_paper_results

V = TypeVar("V")
_SVMS = ("TunedSVM", "TfidfSVM", "VanillaSVM")


@dataclass(frozen=True)
class Run(measured.Run):
    """The results of one folder."""

    title: str
    """The budget, with the folder's name if another folder has the same budget."""

    @property
    def experiment(self) -> Experiment:
        """The preset."""
        return cast(PaperHead, self.results.head).experiment

    @property
    def data(self) -> PaperFacts | None:
        """The description of the data."""
        return cast(PaperFacts | None, self.results.data)

    @property
    def about(self) -> str:
        """How many splits were run, the budget, and whether documents are generated."""
        drawn = ", generated documents" if self.is_generated else ""
        return f"{counted(len(self.results.head.splits), 'split')}, budget {self.title}{drawn}"

    @property
    def is_generated(self) -> bool:
        """Whether a program drew the documents."""
        return self.data is not None and self.data.generated

    @property
    def paper(self) -> dict[str, dict[Metric, str]]:
        """Model → metric → what the paper printed for this data set, or for one of its kind."""
        return paper_values(self.experiment.paper)

    def printed(self, model: str) -> dict[Metric, str] | None:
        """Return what the paper printed for one of the models; None if it has no such model."""
        return self.paper.get(self.experiment.models[model].published or model)

    @cached_property
    def gpus(self) -> str:
        """Which models ran on a CUDA GPU, and which one, as a sentence; nothing if none did."""
        found = {
            unit.model: (unit.results or {})["machine"].get("gpu") for unit in self.results.done
        }
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


@dataclass(frozen=True)
class Group:
    """The runs of one experiment: of most models first, then of most units, then of budget."""

    name: str
    runs: tuple[Run, ...]

    @property
    def main(self) -> Run:
        """The run that is shown in full."""
        return self.runs[0]


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
        results = check_done(folder, read_paper_results(folder))
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


def _runs(found: dict[Path, Results]) -> tuple[Run, ...]:
    budgets = {folder: _budget(results) for folder, results in found.items()}
    times = Counter(budgets.values())
    runs = [
        Run(results, name if times[name] == 1 else f"{name} ({folder.name})")
        for (folder, results), name in zip(found.items(), budgets.values(), strict=True)
    ]

    def rank(run: Run) -> tuple[int, int, int]:
        return len(run.models), len(run.results.done), list(BUDGETS).index(_budget(run.results))

    return tuple(sorted(runs, key=rank, reverse=True))


def _budget(results: Results) -> Budget:
    head = cast(PaperHead, results.head)
    return head.experiment.budget or head.budget or "standard"
