"""The numbers in a folder of results: means over splits, intervals, and the best models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import getitem
from typing import Any

import numpy as np
import numpy.typing as npt

from deplda.comparison.metrics import Metric
from deplda.comparison.phrases import CLEAR
from deplda.comparison.results import Results
from deplda.evaluation.estimate import percentiles
from deplda.evaluation.frequency import FrequencyBin as Bin
from deplda.evaluation.frequency import FrequencyTable, PairedTest, frequency_table

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Run:
    """The results of one folder."""

    results: Results

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The models that have succeeded on some split, in the comparison's order."""
        done = {unit.model for unit in self.results.done}
        return tuple(name for name in self.results.head.experiment.models if name in done)

    @cached_property
    def _units(self) -> dict[tuple[str, int], dict[str, Any]]:
        return {(unit.model, unit.split): unit.results or {} for unit in self.results.done}

    def splits(self, model: str) -> list[int]:
        """Return the splits on which a model has succeeded."""
        return [unit.split for unit in self.results.done if unit.model == model]

    @cached_property
    def shared_splits(self) -> list[int]:
        """The splits on which all models have succeeded; only there can labels be paired."""
        return sorted(set.intersection(*(set(self.splits(model)) for model in self.models)))

    def unit(self, model: str, split: int | None = None) -> dict[str, Any]:
        """Return the results of a model on a split, by default its first."""
        return self._units[model, self.splits(model)[0] if split is None else split]

    def each(self, model: str, *path: str, splits: Iterable[int] | None = None) -> Floats:
        """Return a number at a path of keys for each split of a model."""
        chosen = self.splits(model) if splits is None else splits
        values: list[Any] = [reduce(getitem, path, self.unit(model, split)) for split in chosen]
        return np.array(values, dtype=np.float64)  # None becomes NaN

    def mean(self, model: str, metric: Metric, splits: Iterable[int] | None = None) -> float:
        """Return the mean of a metric over splits, by default over all of the model."""
        return float(self.each(model, "metrics", *metric, splits=splits).mean())

    def resampled(self, model: str, metric: Metric, splits: Iterable[int]) -> Floats:
        """Return the mean of a metric over splits for each resample."""
        values = [reduce(getitem, metric, self.unit(model, s)["resampled"]) for s in splits]
        return np.array(values, dtype=np.float64).mean(axis=0)

    def interval(self, model: str, metric: Metric) -> tuple[float, float]:
        """Return the 95 % interval of a metric."""
        return percentiles(self.resampled(model, metric, self.splits(model)))

    def best(self, metric: Metric) -> str:
        """Return the model with the best mean, the first of equals."""
        sign = 1 if metric.lower_is_better else -1
        means = [sign * self.mean(model, metric) for model in self.models]
        return self.models[np.argsort(means, kind="stable")[0]]  # NaN sorts last

    def leaders(self, metric: Metric) -> tuple[str, ...]:
        """Return the best model and those that are not clearly worse, the best first.

        A model is clearly worse if it is worse in 97.5 % of the resamples, which are the same for
        both. With one model there are no leaders.
        """
        if metric not in self._leaders:
            self._leaders[metric] = self._find_leaders(metric)
        return self._leaders[metric]

    @cached_property
    def _leaders(self) -> dict[Metric, tuple[str, ...]]:
        return {}

    def _find_leaders(self, metric: Metric) -> tuple[str, ...]:
        best = self.best(metric)
        if len(self.models) < 2:
            return ()
        sign = 1 if metric.lower_is_better else -1
        losses = {model: sign * self.mean(model, metric) for model in self.models}
        others = [m for m, loss in losses.items() if m != best and loss == loss]  # no NaN
        others.sort(key=losses.__getitem__)
        return (best, *(m for m in others if not self._is_behind(m, best, metric)))

    def _is_behind(self, model: str, best: str, metric: Metric) -> bool:
        both = sorted({*self.splits(model)} & {*self.splits(best)})
        if not both:
            return False
        ours, theirs = (self.resampled(m, metric, both) for m in (best, model))
        low, high = percentiles(ours - theirs)
        return high < 0 if metric.lower_is_better else low > 0

    def cpu_seconds(self, model: str, *parts: str, splits: Iterable[int] | None = None) -> float:
        """Return the mean CPU time of "fit", of "predict" (scoring the test part), or of both."""
        chosen = self.splits(model) if splits is None else list(splits)
        return sum(float(self.each(model, "cpu_seconds", p, splits=chosen).mean()) for p in parts)

    @cached_property
    def by_frequency(self) -> FrequencyTable | None:
        """Average precision by quintile of label frequency; (label, split) are the pairs.

        None if no split was finished by every model.
        """
        if not self.shared_splits:
            return None
        values = {model: self._by_label(model, "average_precision") for model in self.models}
        counts = self._by_label(self.models[0], "training_documents").astype(np.int64)
        return frequency_table(counts, values)

    def _by_label(self, model: str, name: str) -> Floats:
        units = (self.unit(model, split)["by_label"][name] for split in self.shared_splits)
        return np.array([value for values in units for value in values], dtype=np.float64)


def versus(part: Bin, first: str, second: str) -> PairedTest:
    """Return the paired t-test of first − second in a bin."""
    if (first, second) in part.tests:
        return part.tests[first, second]
    test = part.tests[second, first]
    return PairedTest(-test.difference, -test.t, test.p, test.n)


def leaders_in(part: Bin) -> tuple[str, ...]:
    """Return the best model in a bin, and those that the paired t-test does not separate."""
    if len(part.means) < 2:
        return ()
    best, *others = sorted(part.means, key=lambda model: -part.means[model].value)
    return (best, *(m for m in others if not versus(part, best, m).p < CLEAR))
