"""Traces of chains, and diagnostics of their convergence, which arviz-stats computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from rich.table import Table

from deplda.errors import needs_extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Traces:
    """What several chains reported after each of their sweeps.

    Examples
    --------
    >>> import deplda
    >>> corpus = deplda.datasets.newsroom(60).corpus
    >>> trained = deplda.train_label_words(corpus, n_chains=2, schedule=deplda.Schedule(20), seed=0)
    >>> trained.traces.log_likelihood.shape
    (2, 20)
    """

    names: tuple[str, ...]
    """What was traced; the log-likelihood first."""
    values: Floats
    """Chains × sweeps × names."""

    @property
    def log_likelihood(self) -> Floats:
        """Chains × sweeps."""
        return self.values[:, :, 0]

    def diagnostics(self) -> Diagnostics:
        """Return the diagnostics of these traces. Needs the extra [diagnostics]."""
        with needs_extra("diagnostics()", "arviz-stats", "diagnostics"):
            from arviz_stats.base.array import array_stats
        draws = np.moveaxis(self.values[:, self.values.shape[1] // 2 :], 2, 0)
        return Diagnostics(
            self,
            np.array([_statistic(array_stats.rhat, trace) for trace in draws]),
            np.array([_statistic(array_stats.ess, trace) for trace in draws]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Diagnostics:
    """Convergence of several chains.

    The second half of the sweeps is used. R-hat (rank-normalised, split) near 1 means that the
    chains agree, above 1.01 that they do not yet; the effective sample size is the equivalent
    number of independent draws. Both are NaN with fewer than 4 sweeps.

    Examples
    --------
    >>> import deplda
    >>> corpus = deplda.datasets.newsroom(60).corpus
    >>> trained = deplda.train_label_words(corpus, n_chains=2, schedule=deplda.Schedule(20), seed=0)
    >>> trained.traces.diagnostics().rhat.shape == (len(trained.traces.names),)
    True
    """

    traces: Traces
    rhat: Floats
    ess: Floats

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return R-hat, effective sample size and final mean by name."""
        final = self.traces.values[:, -1].mean(axis=0)
        return {
            name: {"rhat": float(r), "ess": float(e), "final_mean": float(m)}
            for name, r, e, m in zip(self.traces.names, self.rhat, self.ess, final, strict=True)
        }

    def __rich__(self) -> Table:
        """Return the values as a table for ``rich.print``."""
        table = Table("traced", show_edge=False)
        for column in ("R-hat", "effective samples", "final mean"):
            table.add_column(column, justify="right")
        for name, row in self.to_dict().items():
            table.add_row(
                name, f"{row['rhat']:.3f}", f"{row['ess']:,.0f}", f"{row['final_mean']:.5g}"
            )
        return table

    def figure(self) -> Figure:
        """Return the log-likelihood of every chain, and the R-hat of all that was traced."""
        with needs_extra("figure()", "matplotlib", "report"):
            from matplotlib.figure import Figure
        figure = Figure(figsize=(10, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=[3, 2])
        sweeps = np.arange(1, self.traces.values.shape[1] + 1)
        for chain, trace in enumerate(self.traces.log_likelihood):
            left.plot(sweeps, trace, linewidth=1, alpha=0.8, label=f"chain {chain}")
        left.axvspan(sweeps[len(sweeps) // 2], sweeps[-1], color="0.5", alpha=0.12, linewidth=0)
        left.set(xlabel="sweep", ylabel="log-likelihood", title="chains (judged: shaded)")
        places = np.arange(len(self.traces.names))
        right.axvline(1.01, color="0.5", linestyle="--", linewidth=1)
        right.plot(self.rhat, places, "o")
        right.set(xlabel="R-hat", title="agreement of the chains (1 is best)", yticks=places)
        right.set_yticklabels(self.traces.names)
        right.invert_yaxis()
        return figure


def _statistic(function: Any, draws: Floats) -> float:
    if draws.shape[1] < 4 or np.ptp(draws) == 0:
        return float("nan")  # too short to judge, or it never moves (nothing there to sample)
    return float(function(draws, chain_axis=0, draw_axis=1))
