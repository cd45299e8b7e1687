"""Constants fitted to runs, and what follows of them."""

import numpy as np
import pytest
from benchmarks.cost_model import (
    NO_SHARDS,
    SHARD,
    Size,
    cost_of,
    dollars,
    fitted,
    stage_models,
    total,
)
from benchmarks.scale_page import Measured, page_text
from benchmarks.scale_recorder import Stage
from benchmarks.scale_recorder import Step as Done
from benchmarks.scale_run import Engine, Run
from benchmarks.simulation import IDEAL, Cluster, Step, simulate
from hypothesis import given
from hypothesis import strategies as st


def _run(
    documents: int, labels: int, shards: int, workers: int = 1, engine: Engine = "dask"
) -> Run:
    """Return a run of which all constants are known."""
    busy = 0.001 * documents + 0.0002 * labels + 0.05 * shards
    passes = [Done(shards, busy / 3, 100 * labels, 5 * shards, 8 * labels * shards, 400 * documents)
              for _ in range(3)]  # fmt: skip
    learning = Stage("learning", 0.5 + busy / workers + 1e-4 * documents, 10**9, passes)
    predicting = Stage("predicting", 0.01 * documents / workers, 10**9,
                       [Done(shards, 0.01 * documents, 10, 10, 10, 10)])  # fmt: skip
    return Run("dependency", engine, workers, documents, labels, 1_000, shards, documents,
               5_000 * labels, 900 * documents, [learning], [predicting])  # fmt: skip


SIZES = [(10_000, 1_000, 1), (100_000, 1_000, 10), (1_000_000, 1_000, 100), (100_000, 100, 10),
         (100_000, 50_000, 10), (100_000, 50_000, 20)]  # fmt: skip
RUNS = [_run(*size) for size in SIZES]


def test_constants_that_made_the_runs_are_found_again() -> None:
    (stage,) = stage_models(RUNS, "fit")
    assert stage.steps == 3
    assert stage.constants["seconds"] == pytest.approx([0, 1e-3, 2e-4, 0.05, 0], abs=1e-9)
    assert stage.constants["driver"] == pytest.approx([0.5, 1e-4, 0, 0, 0], abs=1e-9)
    assert stage.constants["shared"] == pytest.approx([0, 0, 100, 0, 0], abs=1e-6)
    assert stage.constants["returned"] == pytest.approx([0, 0, 0, 0, 24], abs=1e-3)


@given(st.lists(st.just(0.0) | st.floats(1e-6, 1e6), min_size=6, max_size=6))
def test_constants_are_never_negative(values: list[float]) -> None:
    sizes = [Size(*size) for size in SIZES]
    assert (fitted(sizes, values) >= 0).all()
    assert not fitted(sizes, values, NO_SHARDS)[SHARD:].any()


def test_steps_add_up_to_the_stage() -> None:
    (stage,) = stage_models(RUNS, "fit")
    size = Size(2_000_000, 10_000, 200)
    steps, whole = stage.steps_at(size), stage.at(size)
    assert [step.tasks for step in steps] == [200] * 3
    assert sum(step.tasks * step.seconds for step in steps) == pytest.approx(whole["seconds"])
    alone = total(steps, Cluster(1, **IDEAL)).seconds
    assert alone == pytest.approx(whole["seconds"] + whole["driver"])


@given(st.integers(1, 500), st.floats(0, 1e9))
def test_more_workers_never_take_longer_where_nothing_is_in_their_way(
    tasks: int, shared: float
) -> None:
    step = Step(tasks, 3.0, 1.0, shared=shared)
    rates = IDEAL | {"driver_rate": 1e8, "worker_rate": 1e8}
    found = [cost_of(step, Cluster(workers, **rates)).seconds for workers in (1, 2, 8, 64, 512)]
    assert (np.diff(found) <= 1e-9).all()


def test_what_is_shared_delays_workers_as_in_the_simulation() -> None:
    step, cluster = Step(5_000, 2.0, shared=5e9), Cluster(256, **IDEAL | {"worker_rate": 1e9})
    assert cost_of(step, cluster).seconds == pytest.approx(
        simulate([step], cluster).seconds, rel=0.05
    )


def test_the_page_has_every_table_and_runs_come_out_as_they_were() -> None:
    text = page_text(Measured([*RUNS, _run(100_000, 1_000, 10, 2)], "2026-01-02"), "dependency")
    for title in ("Largest run", "Bytes that travel", "Growth", "Two workers", "Constants",
                  "Measured and", "Planned", "What breaks first"):  # fmt: skip
        assert f"## {title}" in text
    lines = [line for line in text.splitlines() if line.startswith("| training, 100,000")]
    assert lines
    for line in lines:
        assert float(line.split("|")[5]) == pytest.approx(1.0, abs=0.05)
    assert "| **prediction, ms a document** | 10 → 10 |" in text
    assert "Too few runs of hybrid" in page_text(Measured(RUNS, ""), "hybrid")


def test_the_price_is_of_workers_and_the_driver() -> None:
    assert dollars(3_600, 9) == pytest.approx(0.4)
