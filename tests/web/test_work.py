"""Work on threads: a full queue and long work are answered 503."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from starlette.exceptions import HTTPException

from deplda.web import Limits
from deplda.web.work import Work
from tests.web.serving import TINY, assert_rejected, running, text_model


def test_a_full_queue_is_answered_503_and_empties_again() -> None:
    model: Any = text_model()
    suggest, go = model._likeliest, threading.Event()
    ask = {"documents": [{"text": "court"}]}
    with (
        running(model, TINY, threads=1) as address,
        httpx.Client(base_url=address, timeout=300) as client,
    ):
        model._likeliest = lambda *asked: go.wait(20) and suggest(*asked)
        answers: list[int] = []

        def wait_for_one() -> None:
            answers.append(client.post("/v1/suggest", json=ask).status_code)

        waiting = [threading.Thread(target=wait_for_one) for _ in range(2)]
        for thread in waiting:
            thread.start()
        while "deplda_open_requests{" not in (text := client.get("/metrics").text) or not (
            text.rstrip().endswith(" 2.0")
        ):
            pass
        for _ in range(20):
            rejected = client.post("/v1/suggest", json=ask)
            assert_rejected(rejected, 503, "2 requests are waiting")
            assert rejected.headers["retry-after"] == "2"
        assert client.get("/health").status_code == 200
        go.set()
        for thread in waiting:
            thread.join()
        assert answers == [200, 200]
        assert client.post("/v1/suggest", json=ask).status_code == 200
        assert 'endpoint="suggest",status="503"' in client.get("/metrics").text


def test_work_that_takes_too_long_is_answered_503() -> None:
    model: Any = text_model()
    suggest, go = model._likeliest, threading.Event()
    limits = Limits(seconds=1)
    with (
        running(model, limits, threads=1) as address,
        httpx.Client(base_url=address, timeout=300) as client,
    ):
        model._likeliest = lambda *asked: go.wait(20) and suggest(*asked)
        documents = [{"text": "court"}] * 2
        late = client.post("/v1/suggest", json={"documents": documents})
        assert_rejected(late, 503, "no answer within 1 s")
        assert late.headers["retry-after"] == "2"
        go.set()
        assert client.post("/v1/suggest", json={"documents": documents}).status_code == 200


class Squares:
    """Squares numbers once it may; keeps which came together."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.begun, self.go = threading.Event(), threading.Event()

    def of(self, numbers: Sequence[int], sign: int) -> list[int]:
        self.calls.append(list(numbers))
        self.begun.set()
        assert self.go.wait(60)
        if 13 in numbers:
            raise ValueError("13 has no square")
        return [sign * number * number for number in numbers]


@contextmanager
def working(threads: int = 1, seconds: float = 60) -> Iterator[Work]:
    work = Work(threads, 64, seconds)
    try:
        yield work
    finally:
        work.stop()


async def asked(work: Work, squares: Squares, *requests: tuple[list[int], int]) -> list[Any]:
    """Ask for all while the first is being done; return what each is answered."""
    tasks = []
    for numbers, sign in requests:
        tasks.append(asyncio.create_task(work.do_each(squares.of, numbers, sign)))
        await asyncio.sleep(0)
        if len(tasks) == 1:
            assert await asyncio.to_thread(squares.begun.wait, 60)
    squares.go.set()
    return await asyncio.gather(*tasks, return_exceptions=True)


def test_what_waits_for_the_same_is_done_by_one_call_and_each_gets_its_own() -> None:
    squares = Squares()
    with working() as work:
        found = asyncio.run(asked(work, squares, ([1], 1), ([2, 3], 1), ([4], -1), ([5], 1)))
        assert work.n_open == 0
    assert found == [[1], [4, 9], [-16], [25]]
    assert squares.calls == [[1], [2, 3, 5], [4]]


def test_other_threads_are_left_their_share() -> None:
    squares = Squares()
    with working(threads=2) as work:
        both = [([1], 1), ([2], -1), ([*range(3, 11)], 1)]  # two are busy, and eight wait
        found = asyncio.run(asked(work, squares, *both))
    assert found[2] == [n * n for n in range(3, 11)]
    assert max(map(len, squares.calls)) == 4


def test_an_item_that_fails_fails_alone() -> None:
    squares = Squares()
    with working() as work:
        found = asyncio.run(asked(work, squares, ([1], 1), ([2], 1), ([13], 1), ([4], 1)))
        assert work.n_open == 0
    assert (found[:2], found[3]) == ([[1], [4]], [16])
    assert str(found[2]) == "13 has no square"
    assert squares.calls == [[1], [2, 13, 4], [2], [13], [4]]


def test_what_waited_too_long_is_not_done_any_more() -> None:
    squares = Squares()

    async def late(work: Work) -> None:
        first = asyncio.create_task(work.do_each(squares.of, [1], 1))
        assert await asyncio.to_thread(squares.begun.wait, 60)
        with pytest.raises(HTTPException, match="no answer within"):
            await work.do_each(squares.of, [2], 1)
        squares.go.set()
        await asyncio.wait([first])

    with working(seconds=0.2) as work:
        asyncio.run(late(work))
    assert squares.calls == [[1]]
    assert work.n_open == 0
