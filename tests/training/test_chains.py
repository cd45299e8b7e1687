"""Chains run by a schedule, in order, and traced."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import InputError, Schedule
from deplda.engine.execution import Execution
from deplda.engine.pool import Stop
from deplda.training.chains import run_chains
from deplda.training.checkpoint import Arrays, Checkpoint, SavedArrays


class Counting:
    """A chain that knows which sweeps it has done, and after which it was asked for a sample."""

    def __init__(self, number: int) -> None:
        self.number, self.swept, self.taken = number, 0, list[int]()

    def sweep(self, number: int, stop: Stop) -> None:
        assert number == self.swept + 1
        self.swept = number

    def trace(self) -> list[float]:
        return [float(self.swept), float(self.number)]

    def collect(self) -> None:
        self.taken.append(self.swept)

    def samples(self) -> Arrays:
        return {"taken": np.array(self.taken, dtype=np.int64)}

    def state(self) -> Arrays:
        return {"swept": np.array(self.swept), **self.samples()}

    def restore(self, saved: SavedArrays) -> None:
        self.swept = int(saved.take("swept", np.int64, ()))
        self.taken = saved.take("taken", np.int64, (None,)).tolist()


def test_samples_are_taken_after_the_burn_in_and_then_at_every_lag() -> None:
    schedule, told = Schedule(3, n_samples=3, lag=2), list[tuple[int, int]]()
    report = lambda *each: told.append(each)  # noqa: E731
    (chain,) = run_chains(Counting, 1, schedule, Execution(), None, report)
    assert schedule.n_sweeps == 7
    assert chain.samples["taken"].tolist() == [3, 5, 7]
    assert chain.trace.tolist() == [[sweep, 0] for sweep in range(1, 8)]
    assert told == [(0, sweep) for sweep in range(1, 8)]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_chains_come_in_the_order_of_their_numbers(n_jobs: int) -> None:
    chains = run_chains(Counting, 5, Schedule(2), Execution(n_jobs=n_jobs))
    assert [chain.trace[-1, 1] for chain in chains] == [0, 1, 2, 3, 4]


def test_a_chain_goes_on_where_its_checkpoint_is_and_no_sweep_is_done_twice(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path, {}, resume=False)
    list(run_chains(Counting, 1, Schedule(4), Execution(), checkpoint))
    longer = Schedule(4, n_samples=2, lag=3)
    (chain,) = run_chains(Counting, 1, longer, Execution(), checkpoint)
    assert chain.samples["taken"].tolist() == [4, 7]
    assert chain.trace[:, 0].tolist() == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("values", [(0, 1, 1), (1, 0, 1), (1, 1, 0), (1.5, 1, 1)])
def test_a_schedule_counts_from_one(values: Any) -> None:
    with pytest.raises(InputError, match="must be a whole number from 1"):
        Schedule(*values)
