"""Rare and frequent labels apart: bins by training frequency, their means, paired t-tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.markup import escape
from rich.table import Table
from scipy.special import stdtr

from deplda.evaluation.estimate import Estimate, bootstrap, mean_of
from deplda.evaluation.frames import data_frame
from deplda.evaluation.matrices import Floats, Ints
from deplda.evaluation.ranking import LOWER_IS_BETTER

if TYPE_CHECKING:
    from pandas import DataFrame


class PairedTest(NamedTuple):
    """A paired t-test: by how much the first is above the second, and how surely."""

    difference: float
    t: float
    p: float
    """Two-sided. NaN, like t, with fewer than two pairs or when all differ by the same."""
    n: int


@dataclass(frozen=True, slots=True, eq=False)
class FrequencyBin:
    """The labels with `low` to `high` training documents."""

    low: int
    high: int
    n_labels: int
    """Labels in it; of several splits, pairs of label and split."""
    means: Mapping[str, Estimate]
    """Each model's mean and its bootstrap interval, the labels being resampled."""
    tests: Mapping[tuple[str, str], PairedTest]
    """The paired t-test of every two models over these labels."""


@dataclass(frozen=True, slots=True, eq=False)
class FrequencyTable:
    """A label-pivoted metric of one or several models, by training frequency."""

    metric: str
    bins: tuple[FrequencyBin, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the bins as a list, rarest labels first; a test is named ``"first > second"``."""
        return {
            "metric": self.metric,
            "bins": [
                {
                    "low": part.low,
                    "high": part.high,
                    "n_labels": part.n_labels,
                    "means": {name: mean._asdict() for name, mean in part.means.items()},
                    "tests": {f"{a} > {b}": t._asdict() for (a, b), t in part.tests.items()},
                }
                for part in self.bins
            ],
        }

    def to_frame(self) -> DataFrame:
        """Return a pandas frame with one row for each bin and model."""
        rows = [
            (part.low, part.high, part.n_labels, name, *mean)
            for part in self.bins
            for name, mean in part.means.items()
        ]
        names = ["low", "high", "n_labels", "model", "mean", "interval_low", "interval_high"]
        return data_frame(rows, columns=names)

    def __rich__(self) -> Table:
        """Return the means as a table; ``*`` marks a best that beats each other at p < .05."""
        models = list(self.bins[0].means)
        title = f"{self.metric} by training documents of a label"
        table = Table("documents", title=title, show_edge=False)
        for column in ("labels", *models):
            table.add_column(escape(column), justify="right")
        for part in self.bins:
            span = f"{part.low:,}" if part.low == part.high else f"{part.low:,}–{part.high:,}"
            winner = _clear_winner(part, self.metric)
            cells = [
                f"{mean.value:.3f} [{mean.low:.3f}, {mean.high:.3f}]{'*' if name == winner else ''}"
                for name, mean in part.means.items()
            ]
            table.add_row(span, f"{part.n_labels:,}", *map(escape, cells))
        return table


def frequency_table(
    counts: Ints,
    values: Mapping[str, Floats],
    bins: int | Sequence[int] = 5,
    metric: str = "average_precision",
    *,
    seed: int = 0,
) -> FrequencyTable:
    """Return means, intervals and tests of the models' `values` in bins of the labels' `counts`.

    A value that is NaN in one model is left out of all, so that every mean is over the same labels.
    """
    whole = ~np.any([np.isnan(column) for column in values.values()], axis=0)
    counts, values = counts[whole], {name: column[whole] for name, column in values.items()}
    parts = []
    for low, high in frequency_bins(counts, bins):
        mine = (counts >= low) & (counts <= high)
        if not mine.any():
            continue
        inside = {name: column[mine] for name, column in values.items()}
        parts.append(
            FrequencyBin(
                low,
                high,
                int(mine.sum()),
                bootstrap({name: mean_of(v) for name, v in inside.items()}, seed=seed),
                {(a, b): paired_t_test(inside[a], inside[b]) for a, b in combinations(inside, 2)},
            )
        )
    return FrequencyTable(metric, tuple(parts))


def frequency_bins(counts: Ints, bins: int | Sequence[int] = 5) -> list[tuple[int, int]]:
    """Return the lowest and highest frequency of each bin, rarest first.

    A number asks for so many bins of about equally many labels. Labels of one frequency are never
    parted, so a bin ends at the frequency where the labels up to it come nearest to their share,
    and there are fewer bins where frequencies are few. A sequence gives the lowest frequency of
    each bin; the last one is open, and the first takes all that are lower, too.
    """
    if not isinstance(bins, int | np.integer):
        starts = np.asarray(bins)
        lows = starts.astype(np.int64)
        lows[0] = min(lows[0], counts.min())
    else:
        frequencies, labels = np.unique(counts, return_counts=True)
        up_to = np.cumsum(labels)
        shares = np.arange(1, bins) * len(counts) / bins
        ends = [int(np.abs(up_to - share).argmin()) for share in shares]
        last = len(frequencies) - 1
        lows = frequencies[[0, *sorted({end + 1 for end in ends if end < last})]]
    top = max(int(counts.max()), int(lows[-1]))
    return list(zip(lows.tolist(), [*(lows[1:] - 1).tolist(), top], strict=True))


def paired_t_test(first: Floats, second: Floats) -> PairedTest:
    """Return the two-sided paired t-test of first − second."""
    differences = first - second
    n, mean = len(differences), float(differences.mean()) if len(differences) else float("nan")
    spread = float(differences.std(ddof=1)) if n > 1 and np.ptp(differences) > 0 else 0.0
    if spread == 0:
        return PairedTest(mean, float("nan"), float("nan"), n)
    t = mean / (spread / n**0.5)
    return PairedTest(mean, t, float(2 * stdtr(n - 1, -abs(t))), n)


def _clear_winner(part: FrequencyBin, metric: str) -> str | None:
    """Return the model that is better than each other one at p < .05, if there is one."""
    if len(part.means) < 2:
        return None
    better = -1 if metric in LOWER_IS_BETTER else 1
    best = max(part.means, key=lambda name: better * part.means[name].value)
    tests = [test for pair, test in part.tests.items() if best in pair]
    return best if all(test.p < 0.05 for test in tests) else None
