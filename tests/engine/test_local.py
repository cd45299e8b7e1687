import threading
from collections.abc import Iterator
from threading import Event

import pytest

from deplda.engine.execution import Execution, n_workers
from deplda.engine.pool import Stopped
from deplda.errors import InputError


def test_results_come_in_the_order_of_the_items() -> None:
    gates = [Event() for _ in range(3)]

    def work(item: int, stop: Event) -> int:
        if item < 2:
            gates[item + 1].wait(10)  # an item ends only after the next one
        gates[item].set()
        return item * item

    assert list(Execution(n_jobs=3).map(work, range(3))) == [0, 1, 4]


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
