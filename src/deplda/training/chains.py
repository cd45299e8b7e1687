"""Chains: run them by a schedule and trace them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from deplda.data import checks
from deplda.engine.execution import Execution
from deplda.engine.pool import Stop, check_stop
from deplda.engine.progress import Report
from deplda.training.checkpoint import Arrays, Checkpoint, SavedArrays


@dataclass(frozen=True, slots=True)
class Schedule:
    """When to take samples from a chain: after `burn_in` sweeps, then every `lag` sweeps.

    ``Schedule(100)`` is the paper's: 100 sweeps and one sample at their end.

    Examples
    --------
    >>> import deplda
    >>> deplda.Schedule(burn_in=50, n_samples=10, lag=5).n_samples
    10
    """

    burn_in: int
    n_samples: int = 1
    lag: int = 1

    def __post_init__(self) -> None:
        checks.at_least_one(burn_in=self.burn_in, n_samples=self.n_samples, lag=self.lag)

    @property
    def n_sweeps(self) -> int:
        """Sweeps until the last sample."""
        return self.burn_in + (self.n_samples - 1) * self.lag

    def samples_at(self, sweep: int) -> bool:
        """Return whether a sample is taken after this sweep, counted from 1."""
        return sweep >= self.burn_in and (sweep - self.burn_in) % self.lag == 0


class Chain(Protocol):
    """A sampler and its state. Everything that decides its future is in `state`."""

    def sweep(self, number: int, stop: Stop) -> None:
        """Update every token once; sweeps are numbered from 1. Raise Stopped if asked to stop."""

    def trace(self) -> list[float]:
        """Return what is recorded after each sweep, the log-likelihood first."""

    def collect(self) -> None:
        """Take a sample."""

    def samples(self) -> Arrays:
        """Return what the samples taken so far give: all that is wanted of a chain at its end."""

    def state(self) -> Arrays:
        """Return the arrays from which the chain can go on, samples taken so far included."""

    def restore(self, saved: SavedArrays) -> None:
        """Go on from such arrays; raise ReadError if they are not those of a chain like this."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The samples of a chain at its end, and its trace: sweeps × values."""

    samples: Arrays
    trace: npt.NDArray[np.float64]


def run_chains(
    make: Callable[[int], Chain],
    n_chains: int,
    schedule: Schedule,
    execution: Execution,
    checkpoint: Checkpoint | None = None,
    report: Report | None = None,
) -> Iterator[Finished]:
    """Yield the chains 0, 1, … as they finish, in that order, whatever the number of workers.

    Threads report every sweep; of a chain that runs elsewhere its end is reported. Where workers
    cannot have as many chains each, and a checkpoint keeps chains, these run in legs, so that three
    chains take two workers as long as one and a half, not two.
    """
    own = report if execution.is_here else None
    at_once = 1 if checkpoint is None else execution.n_at_once
    finished: dict[int, Finished] = {}
    number = 0
    for wave in _waves(n_chains, schedule.n_sweeps, at_once):
        found = execution.map(_run_chain, wave, make, schedule, checkpoint, own)
        for leg, chain in zip(wave, found, strict=True):
            if chain is None:
                continue
            if report is not None and own is None:
                report(leg.chain, len(chain.trace))
            finished[leg.chain] = chain
            while number in finished:
                yield finished.pop(number)
                number += 1


class _Leg(NamedTuple):
    """A part of a chain, from where it was saved to the end of a sweep."""

    chain: int
    last_sweep: int


def _waves(n_chains: int, n_sweeps: int, at_once: int) -> list[list[_Leg]]:
    """Return the legs of all chains: those of a wave can run side by side, after the last wave."""
    n_legs = 1 if at_once > n_chains or n_chains % at_once == 0 else min(at_once, n_sweeps)
    legs = [
        _Leg(chain, n_sweeps * (leg + 1) // n_legs)
        for leg in range(n_legs)
        for chain in range(n_chains)
    ]
    size = at_once if n_legs > 1 else len(legs)
    return [legs[first : first + size] for first in range(0, len(legs), size)]


def _run_chain(
    make: Callable[[int], Chain],
    schedule: Schedule,
    checkpoint: Checkpoint | None,
    report: Report | None,
    leg: _Leg,
    stop: Stop,
) -> Finished | None:
    """Run a chain up to the end of a leg; return it if that is its own end."""
    number, chain = leg.chain, make(leg.chain)
    saved = checkpoint.load(number) if checkpoint is not None else None
    trace: list[list[float]] = []
    if saved is not None:
        trace = saved.finite("trace", (None, len(chain.trace()))).tolist()
        is_right = 1 <= len(trace) <= schedule.n_sweeps
        saved.require(is_right, f"it has {len(trace):,} sweeps of {schedule.n_sweeps:,}")
        chain.restore(saved)
    if report is not None and trace:
        report(number, len(trace))
    written = time.monotonic()
    for sweep in range(len(trace) + 1, leg.last_sweep + 1):
        check_stop(stop)
        chain.sweep(sweep, stop)
        trace.append(chain.trace())
        if schedule.samples_at(sweep):
            chain.collect()
        if report is not None:
            report(number, sweep)
        if checkpoint is not None and (
            sweep == leg.last_sweep or time.monotonic() - written >= checkpoint.seconds
        ):
            checkpoint.save(number, {**chain.state(), "trace": np.array(trace)})
            written = time.monotonic()
    if leg.last_sweep < schedule.n_sweeps:
        return None
    return Finished(chain.samples(), np.array(trace))
