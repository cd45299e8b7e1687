"""The simulated cluster against closed forms."""

import heapq
import math

import numpy as np
import pytest
from benchmarks.cost_model import cost_of, total
from benchmarks.simulation import IDEAL, Cluster, Step, arrival, simulate
from hypothesis import given
from hypothesis import strategies as st

_STEPS = st.lists(
    st.tuples(st.integers(1, 40), st.floats(0.1, 9.0), st.floats(0.0, 5.0)).map(
        lambda given: Step(*given)
    ),
    min_size=1,
    max_size=4,
)


@given(_STEPS)
def test_one_worker_takes_the_sum_of_all_tasks(steps: list[Step]) -> None:
    found = simulate(steps, Cluster(1, **IDEAL))
    tasks = sum(step.tasks * step.seconds for step in steps)
    assert found.seconds == pytest.approx(tasks + sum(step.driver for step in steps))
    assert found.busy == pytest.approx(tasks)


@given(_STEPS, st.integers(1, 20))
def test_equal_tasks_take_as_many_rounds_as_there_are_tasks_a_worker(
    steps: list[Step], workers: int
) -> None:
    cluster = Cluster(workers, **IDEAL)
    expected = sum(s.driver + math.ceil(s.tasks / workers) * s.seconds for s in steps)
    assert simulate(steps, cluster).seconds == pytest.approx(expected)
    assert total(steps, cluster).seconds == pytest.approx(expected)


@given(st.integers(1, 200), st.integers(1, 30), st.integers(0, 5))
def test_unequal_tasks_are_within_the_bounds_of_list_scheduling(
    tasks: int, workers: int, seed: int
) -> None:
    cluster = Cluster(workers, **IDEAL | {"slow_share": 0.3})
    found = simulate([Step(tasks, 1.0)], cluster, seed)
    uniform = np.random.default_rng(seed).random(tasks)
    lengths = cluster.slowdowns(uniform)
    free = [0.0] * workers
    for length in lengths:  # Graham's list scheduling, in a few lines
        heapq.heappush(free, heapq.heappop(free) + length)
    assert found.seconds == pytest.approx(max(free))
    mean, longest = lengths.sum() / workers, lengths.max()
    assert max(mean, longest) <= found.seconds * (1 + 1e-9)
    assert found.seconds <= (mean + (1 - 1 / workers) * longest) * (1 + 1e-9)


def test_failures_cost_what_they_are_expected_to() -> None:
    rate, restart, seconds, tasks = 0.05, 3.0, 10.0, 20_000
    cluster = Cluster(1, **IDEAL | {"failures": rate, "restart": restart})
    found = simulate([Step(tasks, seconds)], cluster, seed=1)
    again = math.expm1(rate * seconds)
    assert found.lost / tasks == pytest.approx(again, rel=0.03)
    assert found.seconds / tasks == pytest.approx(again * (1 / rate + restart), rel=0.03)
    assert cost_of(Step(tasks, seconds), cluster).seconds / tasks == pytest.approx(
        again * (1 / rate + restart)
    )


def test_idle_workers_take_over_what_a_failed_one_was_at() -> None:
    cluster = Cluster(50, **IDEAL | {"failures": 0.05, "restart": 1e6})
    found = simulate([Step(20, 5.0)], cluster, seed=0)
    assert 0 < found.lost < 30
    assert found.seconds < 100


def test_what_tasks_return_passes_the_driver_one_after_the_other() -> None:
    cluster = Cluster(10, **IDEAL | {"driver_rate": 100.0})
    assert simulate([Step(10, 1.0, returned=50.0)], cluster).seconds == pytest.approx(1 + 10 * 0.5)
    assert simulate([Step(10, 1.0, sent=50.0)], cluster).seconds == pytest.approx(10 * 0.5 + 1)


def test_the_scheduler_and_the_file_system_are_limits_too() -> None:
    slow = Cluster(100, **IDEAL | {"overhead": 0.5})
    assert simulate([Step(100, 1.0)], slow).seconds == pytest.approx(100 * 0.5 + 1)
    disk = Cluster(100, **IDEAL | {"store_rate": 10.0})
    assert simulate([Step(100, 1.0, moved=20.0)], disk).seconds == pytest.approx(200.0)
    assert cost_of(Step(100, 1.0, moved=20.0), disk).seconds == pytest.approx(200.0)


def test_what_is_shared_is_handed_on_by_those_that_have_it() -> None:
    cluster = Cluster(8, **IDEAL | {"driver_rate": 10.0, "worker_rate": 5.0})
    hops = [arrival(10.0, worker, cluster) for worker in range(8)]
    assert hops == [1.0, 3.0, 5.0, 5.0, 7.0, 7.0, 7.0, 7.0]
    assert simulate([Step(8, 2.0, shared=10.0)], cluster).seconds == pytest.approx(9.0)


def test_slowdowns_have_the_mean_that_the_closed_form_takes() -> None:
    cluster = Cluster(1, **IDEAL | {"slow_share": 0.2, "slow_most": 6.0})
    lengths = cluster.slowdowns((np.arange(1_000_000) + 0.5) / 1_000_000)
    assert lengths.max() == 6.0
    assert cost_of(Step(1_000, 1.0), cluster).seconds / 1_000 == pytest.approx(
        lengths.mean(), rel=1e-3
    )


@pytest.mark.parametrize("workers", [1, 10, 100, 1_000])
def test_closed_form_and_simulation_agree_with_all_that_goes_wrong(workers: int) -> None:
    steps = [Step(4_000, 20.0, 5.0, 1e8, 1e3, 1e6, 5e8), Step(300, 40.0, 0.0, 1e9, 1e3, 2e7)]
    cluster = Cluster(workers, failures=1e-6)
    simulated = np.mean([simulate(steps, cluster, seed).seconds for seed in range(3)])
    assert total(steps, cluster).seconds == pytest.approx(simulated, rel=0.2)


def test_the_same_seed_gives_the_same_bits() -> None:
    steps, cluster = [Step(200, 3.0, returned=1e7)], Cluster(7, failures=1e-3)
    assert simulate(steps, cluster, 5) == simulate(steps, cluster, 5)
    assert simulate(steps, cluster, 5) != simulate(steps, cluster, 6)
