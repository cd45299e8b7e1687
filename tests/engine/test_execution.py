"""Where work runs: results in order, a little ahead of what is asked for."""

import threading
from collections.abc import Iterator
from threading import Event
from typing import Any

import numpy as np
import pytest

from deplda.engine.execution import Execution, n_workers
from deplda.errors import InputError


def test_results_come_in_the_order_of_the_items() -> None:
    gates = [Event() for _ in range(3)]

    def work(item: int, stop: Event) -> int:
        if item < 2:
            gates[item + 1].wait(10)  # an item ends only after the next one
        gates[item].set()
        return item * item

    assert list(Execution(n_jobs=3).map(work, range(3))) == [0, 1, 4]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_what_is_large_to_send_is_done_by_threads_here_whatever_the_engine(n_jobs: int) -> None:
    execution = Execution("processes", n_jobs=n_jobs)
    assert execution.map_here(lambda item: item * item, range(5)) == [0, 1, 4, 9, 16]
    assert execution.map_here(str, []) == []
    with pytest.raises(ZeroDivisionError):
        execution.map_here(lambda item: 1 // item, [1, 0])


def test_results_do_not_pile_up() -> None:
    taken = []

    def items() -> Iterator[int]:
        for item in range(100):
            taken.append(item)
            yield item

    results = Execution(n_jobs=2).map(lambda item, stop: item, items())
    assert [next(results) for _ in range(10)] == list(range(10))
    assert len(taken) <= 10 + 3 * 2
    assert list(results) == list(range(10, 100))


def test_all_cores_is_the_default() -> None:
    assert n_workers(None) == n_workers(-1) >= 1
    assert n_workers(7) == 7
    with pytest.raises(InputError, match="n_jobs is -2"):
        n_workers(-2)


def test_rows_are_worked_on_some_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    matrix, execution = np.arange(14).reshape(7, 2), Execution(n_jobs=2, progress=True)
    parts = list(execution.map_rows(lambda rows, stop: rows * 2, matrix, 3, "doubling"))
    assert [len(rows) for rows in parts] == [3, 3, 1]
    assert (np.concatenate(parts) == matrix * 2).all()
    shown = capsys.readouterr().err
    assert "doubling 7 documents" in shown
    assert "100%" in shown


def test_few_rows_are_worked_on_by_the_thread_that_asks() -> None:
    def work(rows: Any, stop: Any) -> tuple[int, int]:
        return len(rows), threading.get_ident()

    matrix, execution = np.arange(14).reshape(7, 2), Execution(n_jobs=2, progress=False)
    assert [*execution.map_rows(work, matrix, 7, "counting")] == [(7, threading.get_ident())]
    many = [*execution.map_rows(work, matrix, 4, "counting")]
    assert [n for n, _ in many] == [4, 3]
    assert threading.get_ident() not in {thread for _, thread in many}
    assert [*execution.map_rows(work, matrix[:0], 7, "counting")] == []


def test_places_and_devices_that_cannot_be_are_named() -> None:
    with pytest.raises(InputError, match="engine is 'gpu'; it must be 'threads', 'processes', a D"):
        Execution("gpu")
    with pytest.raises(InputError, match="device is 'gpu'; it must be one of 'cpu', 'cuda', 'auto"):
        Execution(device="gpu")  # type: ignore[arg-type]


def test_a_gpu_works_for_threads_of_this_process_alone() -> None:
    assert Execution().not_for_a_gpu is None
    for engine in ("processes", "tcp://127.0.0.1:9"):
        assert not Execution(engine).is_here
        assert f"engine is '{engine}'; a GPU works for this" in str(Execution(engine).not_for_a_gpu)
