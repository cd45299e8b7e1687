"""The model's work, on a few threads: what waits is counted, and more than that is rejected."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from deplda.web.http_errors import busy

Item = TypeVar("Item")
Result = TypeVar("Result")

_AT_ONCE = 32
"""Items of one call, at most: what waits longest would be kept waiting by more."""


class _Waiting(NamedTuple):
    """An item, and what is to be done to it together with others."""

    function: Callable[..., Sequence[Any]]
    asked: tuple[Any, ...]
    item: Any
    future: Future[Any]


class Work:
    """Runs functions on threads, beside the event loop."""

    def __init__(self, threads: int, waiting: int, seconds: float) -> None:
        self.seconds, self.threads, self.most = seconds, threads, threads + waiting
        self.n_open = 0
        self._lock = Lock()
        self._waiting: deque[_Waiting] = deque()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="deplda-web")

    async def do(self, function: Callable[..., Result], *asked: Any) -> Result:
        """Return function(*asked); raise if too much waits, or if it takes too long.

        What runs past its time cannot be broken off, and keeps its place until it is done.
        """
        with self._counted(1) as done:
            future = self._pool.submit(function, *asked)
            future.add_done_callback(done)
            return await self._in_time(asyncio.wrap_future(future))

    async def do_each(
        self, function: Callable[..., Sequence[Result]], items: Sequence[Item], *asked: Any
    ) -> list[Result]:
        """Return function(items, *asked), which has a result for each, and may be of many calls.

        What waits for the same function and the same `asked` is done by one call; a call that fails
        is made again with each item alone. Raises as `do`.
        """
        with self._counted(len(items)) as done:
            futures = [self._put(function, asked, item) for item in items]
            for future in futures:
                future.add_done_callback(done)
            try:
                return await self._in_time(asyncio.gather(*map(asyncio.wrap_future, futures)))
            finally:
                for future in futures:
                    future.cancel()  # what nobody waits for any more

    def do_soon(
        self, function: Callable[..., Sequence[Result]], item: Any, *asked: Any
    ) -> asyncio.Future[Result]:
        """Return what will be the result of one item, as `do_each`; whoever asks counts them."""
        return asyncio.wrap_future(self._put(function, asked, item))

    @contextmanager
    def _counted(self, n: int) -> Iterator[Callable[[Any], None]]:
        """Give a request its place, to be left when what is given has been called n times."""
        with self._lock:
            if self.n_open >= self.most:
                raise busy(f"{self.n_open} requests are waiting; try again in a few seconds")
            self.n_open += 1

        def done(_: Any) -> None:
            nonlocal n
            with self._lock:
                n -= 1
                if not n:
                    self.n_open -= 1

        yield done

    async def _in_time(self, found: asyncio.Future[Result]) -> Result:
        try:
            async with asyncio.timeout(self.seconds):
                return await found
        except TimeoutError as error:
            raise busy(f"no answer within {self.seconds:g} s; send less, or later") from error

    def _put(self, function: Callable[..., Any], asked: tuple[Any, ...], item: Any) -> Future[Any]:
        """Return the future of an item that a thread will take, maybe with others."""
        future: Future[Any] = Future()
        with self._lock:
            self._waiting.append(_Waiting(function, asked, item, future))
        self._pool.submit(self._take)
        return future

    def _take(self) -> None:
        """Do what has waited longest, and with it what else is to be done by the same call."""
        taken = [each for each in self._next() if each.future.set_running_or_notify_cancel()]
        if taken and not _done(taken):
            for each in taken:
                _done([each])

    def _next(self) -> list[_Waiting]:
        """Take out what is done next; other threads are left their share, so that all have work."""
        with self._lock:
            if not self._waiting:
                return []
            wanted = self._waiting[0][:2]
            alike = [each for each in self._waiting if each[:2] == wanted]
            taken = alike[: min(_AT_ONCE, -(-len(alike) // self.threads))]
            gone = {id(each) for each in taken}
            self._waiting = deque(each for each in self._waiting if id(each) not in gone)
            return taken

    def stop(self) -> None:
        """Finish what is running."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for each in self._waiting:
            each.future.cancel()


def _done(taken: Sequence[_Waiting]) -> bool:
    """Do it all by one call; return False, and tell nobody, if that fails and there are several."""
    function, asked, _, _ = taken[0]
    try:
        results = function([each.item for each in taken], *asked)
    except Exception as error:
        if len(taken) > 1:
            return False
        taken[0].future.set_exception(error)
        return True
    for each, result in zip(taken, results, strict=True):
        each.future.set_result(result)
    return True
