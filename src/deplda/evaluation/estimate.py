"""A metric and how sure it is: a ratio of two sums over items, and its bootstrap interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from deplda.evaluation.matrices import Floats

ENTRIES = 2**21
"""Weights of resampled items that are held at a time."""


class Ratio(NamedTuple):
    """A metric as Σ numerator / Σ denominator over items; in a plain mean, the latter is 1 or 0."""

    numerator: Floats
    denominator: Floats

    @property
    def value(self) -> float:
        """The metric itself; NaN where nothing is defined."""
        total = self.denominator.sum()
        return float(self.numerator.sum() / total) if total > 0 else float("nan")

    @property
    def items(self) -> Floats:
        """What each item has on its own; NaN where it is not defined."""
        undefined = np.full(len(self.numerator), np.nan)
        return np.divide(
            self.numerator, self.denominator, out=undefined, where=self.denominator > 0
        )


class Estimate(NamedTuple):
    """A metric and the interval that bootstrapping gives it."""

    value: float
    low: float
    high: float


def mean_of(values: Floats) -> Ratio:
    """Return the mean of the values that are not NaN, as a ratio."""
    undefined = np.isnan(values)
    return Ratio(np.where(undefined, 0.0, values), np.where(undefined, 0.0, 1.0))


def bootstrap(
    ratios: Mapping[str, Ratio], *, level: float = 0.95, resamples: int = 1000, seed: int = 0
) -> dict[str, Estimate]:
    """Return each metric with its percentile interval, the items being resampled together."""
    if not ratios:
        return {}
    drawn = resampled(ratios, resamples=resamples, seed=seed)
    return {
        name: Estimate(ratio.value, *percentiles(drawn[:, column], level))
        for column, (name, ratio) in enumerate(ratios.items())
    }


def resampled(ratios: Mapping[str, Ratio], *, resamples: int, seed: int = 0) -> Floats:
    """Return the metrics (columns) of items drawn anew, with replacement, so many times (rows).

    The same seed draws the same ones of as many items: of two models the rows can be paired.
    """
    tops, bottoms = (np.stack(part, axis=1) for part in zip(*ratios.values(), strict=True))
    n = len(tops)
    rng = np.random.default_rng(seed)
    drawn = np.empty((resamples, len(ratios)))
    step = max(1, ENTRIES // max(n, 1))
    for start in range(0, resamples, step):
        end = min(start + step, resamples)
        times = np.stack(
            [np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(start, end)]
        ).astype(np.float64)
        below = times @ bottoms
        empty = np.full_like(below, np.nan)
        drawn[start:end] = np.divide(times @ tops, below, out=empty, where=below > 0)
    return drawn


def percentiles(drawn: Floats, level: float = 0.95) -> tuple[float, float]:
    """Return between which values the middle of what was drawn lies, NaN left out."""
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn):
        return float("nan"), float("nan")
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
