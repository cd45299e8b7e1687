"""Chains run by a schedule, in order, and traced."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import InputError, Schedule
from deplda.engine.execution import Execution
from deplda.engine.pool import Stop
from deplda.training.chains import _waves, run_chains
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


@pytest.mark.parametrize(("n_chains", "n_jobs"), [(3, 2), (5, 3), (5, 2), (2, 3), (4, 2)])
def test_chains_in_legs_do_every_sweep_once_and_keep_all_workers_busy(
    n_chains: int, n_jobs: int, tmp_path: Path
) -> None:
    checkpoint, swept = Checkpoint(tmp_path, {}, resume=False), list[tuple[int, int]]()
    told: Any = lambda *each: swept.append(each)  # noqa: E731
    schedule = Schedule(7, n_samples=2, lag=2)
    found = list(
        run_chains(Counting, n_chains, schedule, Execution(n_jobs=n_jobs), checkpoint, told)
    )
    assert [chain.trace[:, 1].tolist() for chain in found] == [[c] * 9 for c in range(n_chains)]
    assert all(chain.trace[:, 0].tolist() == list(range(1, 10)) for chain in found)
    assert all(chain.samples["taken"].tolist() == [7, 9] for chain in found)
    assert {*swept} == {(c, sweep) for c in range(n_chains) for sweep in range(1, 10)}
    waves = _waves(n_chains, 900, n_jobs)
    if n_chains > n_jobs:
        share = n_chains * 900 / n_jobs
        before, took = dict.fromkeys(range(n_chains), 0), 0
        for wave in waves:
            assert len({leg.chain for leg in wave}) == len(wave)
            took += max(leg.last_sweep - before[leg.chain] for leg in wave) * -(
                -len(wave) // n_jobs
            )
            before |= {leg.chain: leg.last_sweep for leg in wave}
        assert took == share
        assert before == dict.fromkeys(range(n_chains), 900)


def test_without_a_checkpoint_a_chain_runs_in_one_go() -> None:
    made = list[int]()

    def make(number: int) -> Counting:
        made.append(number)
        return Counting(number)

    assert len(list(run_chains(make, 3, Schedule(4), Execution(n_jobs=2)))) == 3
    assert sorted(made) == [0, 1, 2]
