"""Workers of this machine: threads, and processes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from deplda.engine.pool import Parcel, Pool, Stopped, unpacked
from deplda.errors import WorkerLostError

_IDLE_SECONDS = 300
"""How long worker processes are kept for the next use: they have imported everything."""


@contextmanager
def threads(size: int, work: Callable[..., Any]) -> Iterator[Pool]:
    """Give threads of this process, which share one copy of everything."""
    with ThreadPoolExecutor(size) as executor:
        yield _Threads(size, executor, work, Event())


class _Threads(NamedTuple):
    size: int
    executor: ThreadPoolExecutor
    work: Callable[..., Any]
    stopping: Event

    def submit(self, item: Any) -> Future[Any]:
        future = self.executor.submit(self.work, item, self.stopping)
        future.add_done_callback(lambda done: self.stopping.set() if failed(done) else None)
        return future

    def result(self, item: Any, future: Future[Any]) -> Any:
        return future.result()

    def stop(self) -> None:
        self.stopping.set()
        self.executor.shutdown(wait=True, cancel_futures=True)


def failed(done: Future[Any]) -> bool:
    """Return whether work ended by an error of its own."""
    error = None if done.cancelled() else done.exception()
    return error is not None and not isinstance(error, Stopped)


def _work_on(name: str, path: str, item: Any) -> Any:
    return unpacked(name, Path(path).read_bytes)(item, Event())


@contextmanager
def processes(size: int, parcel: Parcel) -> Iterator[Pool]:
    """Start worker processes, or take those of the last use.

    Arguments that differ with the size give new ones where it differs: loky's own way to resize
    can meet a worker that is about to leave.
    """
    from joblib.externals.loky import get_reusable_executor

    executor = get_reusable_executor(size, timeout=_IDLE_SECONDS, initargs=(size,))
    with tempfile.TemporaryDirectory(prefix="deplda-") as folder:
        path = Path(folder) / parcel.name
        path.write_bytes(parcel.data)
        yield _Processes(size, executor, partial(_work_on, parcel.name, str(path)))


class _Processes(NamedTuple):
    size: int
    executor: Any
    work: Callable[..., Any]

    def submit(self, item: Any) -> Future[Any]:
        future: Future[Any] = self.executor.submit(self.work, item)
        return future

    def result(self, item: Any, future: Future[Any]) -> Any:
        from joblib.externals.loky.process_executor import BrokenProcessPool

        try:
            return future.result()
        except BrokenProcessPool as error:
            raise WorkerLostError(
                "a worker process was killed, perhaps for want of memory; "
                "try fewer of them with n_jobs"
            ) from error

    def stop(self) -> None:
        self.executor.shutdown(wait=True, kill_workers=True)
