"""The model's work, on a few threads: what waits is counted, and more than that is rejected."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

from deplda.web.http_errors import busy

Result = TypeVar("Result")


class Work:
    """Runs functions on threads, beside the event loop."""

    def __init__(self, threads: int, waiting: int, seconds: float) -> None:
        self.seconds, self.most = seconds, threads + waiting
        self.n_open = self.n_rejected = 0
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="deplda-web")

    async def do(self, function: Callable[..., Result], *asked: Any) -> Result:
        """Return function(*asked); raise if too much waits, or if it takes too long.

        What runs past its time cannot be broken off, and keeps its place until it is done.
        """
        with self._lock:
            if self.n_open >= self.most:
                self.n_rejected += 1
                raise busy(f"{self.n_open} requests are waiting; try again in a few seconds")
            self.n_open += 1
        future = self._pool.submit(function, *asked)
        future.add_done_callback(lambda _: self._close())
        try:
            async with asyncio.timeout(self.seconds):
                return await asyncio.wrap_future(future)
        except TimeoutError as error:
            self.n_rejected += 1
            raise busy(f"no answer within {self.seconds:g} s; send less, or later") from error

    def _close(self) -> None:
        with self._lock:
            self.n_open -= 1

    def stop(self) -> None:
        """Finish what is running."""
        self._pool.shutdown(wait=True, cancel_futures=True)
