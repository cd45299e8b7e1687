"""Threads and processes of this machine: they stop when told to, and their end is known."""

import threading
from collections.abc import Iterator
from threading import Event

import pytest

from deplda.engine.execution import Execution
from deplda.engine.pool import Stopped
from deplda.errors import InputError, WorkerLostError
from tests.engine import work


def test_a_failure_stops_the_others_and_is_the_one_that_is_raised() -> None:
    stopped, n_threads = [], threading.active_count()

    def work(item: int, stop: Event) -> int:
        if item == 1:
            raise ZeroDivisionError("item 1")
        assert stop.wait(10)
        stopped.append(item)
        raise Stopped

    with pytest.raises(ZeroDivisionError, match="item 1"):
        list(Execution(n_jobs=2).map(work, range(2)))
    assert stopped == [0]
    assert threading.active_count() == n_threads


def test_leaving_early_stops_the_work() -> None:
    begun, ended = Event(), Event()

    def work(item: int, stop: Event) -> int:
        if item:
            begun.set()
            assert stop.wait(10)
            ended.set()
        return item

    results = Execution(n_jobs=2).map(work, range(2))
    assert isinstance(results, Iterator)
    assert next(results) == 0
    assert begun.wait(10)
    results.close()  # type: ignore[attr-defined]
    assert ended.is_set()


def test_a_process_that_was_killed_is_said_so_and_the_next_work_is_done() -> None:
    with pytest.raises(WorkerLostError, match=r"a worker process was killed.*fewer of them"):
        list(Execution("processes", 1).map(work.deadly, range(1)))
    assert list(Execution("processes", 1).map(work.slowly, range(3), 0.0)) == [0, 1, 2]


def test_an_error_in_a_process_is_the_one_that_is_raised() -> None:
    with pytest.raises(InputError, match="n_jobs is -7"):
        list(Execution("processes", 1).map(work.failing, [-7]))
