"""The engine on a Dask cluster, which the user brings. The only module that imports Dask."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, nullcontext
from functools import partial
from time import monotonic, sleep
from typing import Any

from deplda.engine.pool import Parcel, Pool, unpacked
from deplda.errors import EngineError, WorkerLostError, needs_extra

with needs_extra("a Dask cluster as engine", "distributed", "dask"):
    import distributed
    from distributed.comm.core import CommClosedError
    from distributed.scheduler import KilledWorker

_TRIES = 4
_POLL, _LONGEST_WAIT = 2.0, 60.0
"""Seconds between two looks at a cluster that we wait for, and how long it may have no workers."""

logger = logging.getLogger("deplda")


@contextmanager
def open_pool(engine: Any, parcel: Parcel) -> Iterator[Pool]:
    """Give the workers of a cluster, each of which has been sent the parcel."""
    with _connected(engine) as client:
        pool = _Workers(client, parcel)
        try:
            yield pool
        finally:
            pool.release()


def n_threads(engine: Any) -> int:
    """Return how many threads the workers of a cluster have."""
    with _connected(engine) as client:
        return _n_threads(client)


def _n_threads(client: Any) -> int:
    return max(1, sum(client.nthreads().values()))


def _connected(engine: Any) -> Any:
    """Return the user's client, which stays open, or one of our own to an address."""
    if not isinstance(engine, str):
        return nullcontext(engine)
    try:
        return distributed.Client(engine, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise EngineError(
            f"no Dask scheduler answers at {engine} ({error}); start one, and run the same again"
        ) from error


class _Workers:
    """All workers of a cluster; one that is lost costs what it was working on, no more."""

    def __init__(self, client: Any, parcel: Parcel) -> None:
        self._client, self._parcel = client, parcel
        self._under_way: dict[Any, str | None] = {}
        """Tasks, and the workers they were given to."""
        self._data = self._scatter()
        self.size = _n_threads(client)

    def _scatter(self) -> Any:
        """Send the parcel to one worker; each other fetches it, once, from one that has it.

        (Dask's own broadcast waits for a worker that dies meanwhile until the end of days.)
        """
        for _ in range(_TRIES):
            self._check_alive()
            try:
                return self._client.scatter(self._parcel.data, hash=False)
            except TimeoutError as error:
                raise EngineError(f"{_where(self._client)} has no workers; start some") from error
            except OSError as error:  # the worker that was chosen is gone
                logger.warning("sending the data again (%s)", error)
        raise _lost_again_and_again(self._client)

    def submit(self, item: Any) -> Future[Any]:
        self._check_alive()
        future: Future[Any] = Future()
        worker = self._least_busy()
        task = self._client.submit(
            _work_on, self._parcel.name, self._data, item, pure=False, workers=worker,
            allow_other_workers=worker is not None,
        )  # fmt: skip
        self._under_way[task] = worker
        task.add_done_callback(partial(self._fetch, future))
        return future

    def _least_busy(self) -> str | None:
        """Return the worker with the least of our work for its threads; None if there is none.

        Dask itself would give all of it to those that have the parcel already, and move some later.
        """
        threads, load = self._client.nthreads(), Counter(self._under_way.values())
        return min(threads, key=lambda worker: load[worker] / threads[worker], default=None)

    def _fetch(self, future: Future[Any], task: Any) -> None:
        """Take a result as soon as it is there: it is not lost with the worker that made it."""
        try:
            result = task.result()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)
        finally:
            self._under_way.pop(task, None)

    def result(self, item: Any, future: Future[Any]) -> Any:
        for _ in range(_TRIES):
            try:
                return self._awaited(future)
            except distributed.CancelledError:  # the parcel's last copy was lost with its worker
                if self._data.status != "finished":
                    logger.warning("the data were lost with a worker; sending them again")
                    self._data = self._scatter()
                future = self.submit(item)
            except CommClosedError:  # by the scheduler, which the client notices a moment later
                sleep(_POLL)
                future = self.submit(item)
            except KilledWorker as error:
                raise WorkerLostError(
                    f"one piece of work ended several workers, the last of them "
                    f"{error.last_worker.address}; give workers more memory, or look at their logs"
                ) from error
        raise _lost_again_and_again(self._client)

    def _awaited(self, future: Future[Any]) -> Any:
        """Wait for what work gave, while there are workers or they may yet come back.

        (Dask itself keeps a task without workers until some join, be it for ever: a nanny gives up
        a worker that dies as it starts.)
        """
        seen = monotonic()
        while not wait([future], timeout=_POLL).done:
            self._check_alive()
            if self._client.nthreads():
                seen = monotonic()
            elif monotonic() - seen > _LONGEST_WAIT:
                raise EngineError(
                    f"{_where(self._client)} has had no workers for {_LONGEST_WAIT:.0f} s; start "
                    "some and run the same again"
                )
        return future.result()

    def stop(self) -> None:
        """Cancel what is under way; tasks see it between two steps (`_Wanted`)."""
        if self._client.status == "running":
            self._client.cancel(list(self._under_way))

    def release(self) -> None:
        if self._client.status == "running":
            self._data.release()

    def _check_alive(self) -> None:
        if self._client.status != "running":
            raise EngineError(
                f"the Dask scheduler at {_where(self._client)} is lost; what was finished is kept "
                "where there is a folder for it: start a scheduler and run the same again"
            )


def _lost_again_and_again(client: Any) -> WorkerLostError:
    where = _where(client)
    return WorkerLostError(f"workers of {where} are lost again and again; look at their logs")


def _where(client: Any) -> str:
    return str(getattr(client.scheduler, "address", client))


def _work_on(name: str, data: bytes, item: Any) -> Any:
    return unpacked(name, lambda: data)(item, _Wanted())


class _Wanted:
    """Asks the worker whether the task it is in has been cancelled."""

    def __init__(self) -> None:
        worker = distributed.get_worker()
        self._tasks, self._key = worker.state.tasks, worker.get_current_task()

    def is_set(self) -> bool:
        task = self._tasks.get(self._key)
        return task is None or task.state == "cancelled"
