"""Engine: run independent pieces of work on all cores and give the results back in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from threading import Event
from typing import TypeVar

from deplda.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")


class Stopped(Exception):  # noqa: N818  # not an error: work ends early because it was asked to
    """Raised by work that was asked to stop."""


def n_workers(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` means: None and −1 are all cores that we may use."""
    if n_jobs is None or n_jobs == -1:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    if n_jobs < 1:
        raise InputError(f"n_jobs is {n_jobs}; it must be at least 1, or -1 for all cores")
    return n_jobs


def map_ordered(
    function: Callable[[Item, Event], Result], items: Iterable[Item], n_jobs: int | None
) -> Iterator[Result]:
    """Yield function(item, stop) for each item, in the order of the items, on threads.

    Threads share one copy of the corpus, and kernels let each other run. Items are taken and worked
    on a little ahead of what was asked for, so that results do not pile up. When one piece fails,
    or Ctrl-C arrives, `stop` is set; the pieces under way are waited for, and the error goes on.
    """
    stop, source, workers = Event(), iter(items), n_workers(n_jobs)
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers) as pool:

        def take(n: int) -> None:
            for item in islice(source, n):
                waiting.append(pool.submit(function, item, stop))
                waiting[-1].add_done_callback(lambda done: stop.set() if _failed(done) else None)

        try:
            take(3 * workers)
            while waiting:
                result = waiting.popleft().result()
                take(1)
                yield result
        except BaseException as error:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            if isinstance(error, Stopped):  # because a later piece failed: that one is to blame
                for future in waiting:
                    if _failed(future):
                        future.result()
            raise


def _failed(done: Future[Result]) -> bool:
    error = None if done.cancelled() else done.exception()
    return error is not None and not isinstance(error, Stopped)
