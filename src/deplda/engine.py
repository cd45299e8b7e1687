"""Engine: run independent pieces of work on threads, processes or a cluster; results in order."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from threading import Event, Lock
from typing import Any, NamedTuple, Protocol, TypeVar

from deplda.errors import InputError, WorkerLostError

Item = TypeVar("Item")
Result = TypeVar("Result")

Engine = Any
"""Where work is done: "threads", "processes", or a Dask Client or the address of its scheduler."""

_SHARED_KEPT = 2
_IDLE_SECONDS = 300
"""How long worker processes are kept for the next use: they have imported everything."""


class Stopped(Exception):  # noqa: N818  # not an error: work ends early because it was asked to
    """Raised by work that was asked to stop."""


class Stop(Protocol):
    """What work looks at between two steps: whether it is still wanted."""

    def is_set(self) -> bool:
        """Say whether to stop."""


class Pool(Protocol):
    """Workers that know the function and what it shares; they are sent items alone."""

    @property
    def size(self) -> int:
        """How many pieces are worked on at a time."""

    def submit(self, item: Any) -> Future[Any]:
        """Begin to work on an item."""

    def result(self, item: Any, future: Future[Any]) -> Any:
        """Wait for what an item gave; begin again if what it needs was lost with a worker."""

    def stop(self) -> None:
        """End what is under way, and wait for it where it shares our memory."""


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


def check_engine(engine: Engine) -> None:
    """See that it names a place where work can be done; whether it answers is seen later."""
    known = engine in ("threads", "processes") if isinstance(engine, str) else False
    if not (known or is_cluster(engine)):
        raise InputError(
            f"engine is {engine!r}; it must be 'threads', 'processes', a Dask Client, or the "
            "address of its scheduler such as 'tcp://10.0.0.1:8786'"
        )


def is_cluster(engine: Engine) -> bool:
    """Say whether it is a Dask Client or looks like an address."""
    if isinstance(engine, str):
        return "://" in engine
    return hasattr(engine, "scatter") and hasattr(engine, "submit")


def map_ordered(
    function: Callable[..., Result],
    items: Iterable[Item],
    n_jobs: int | None,
    *,
    engine: Engine = "threads",
    shared: tuple[Any, ...] = (),
) -> Iterator[Result]:
    """Yield function(*shared, item, stop) for each item, in the order of the items.

    Threads share one copy of everything, and kernels let each other run. Processes and a cluster
    are sent `function`, of a module, and `shared` once each, then items; a cluster has the workers
    that it has, whatever `n_jobs`. Items are taken and worked on a little ahead of what was asked
    for, so that results do not pile up. When one piece fails, or Ctrl-C arrives, `stop` is set; the
    pieces under way are waited for, and the error goes on.
    """
    source = iter(items)
    with _open(engine, n_jobs, function, shared) as pool:
        waiting: deque[tuple[Item, Future[Result]]] = deque()

        def take(n: int) -> None:
            waiting.extend((item, pool.submit(item)) for item in islice(source, n))

        try:
            take(3 * pool.size)
            while waiting:
                result = pool.result(*waiting.popleft())
                take(1)
                yield result
        except BaseException as error:
            pool.stop()
            if isinstance(error, Stopped):  # because a later piece failed: that one is to blame
                for _, future in waiting:
                    if _failed(future):
                        future.result()
            raise


def _open(
    engine: Engine, n_jobs: int | None, function: Callable[..., Any], shared: tuple[Any, ...]
) -> AbstractContextManager[Pool]:
    check_engine(engine)
    if is_cluster(engine):
        from deplda.engine_dask import open_pool

        return open_pool(engine, Parcel.of(function, shared))
    if engine == "processes":
        return _processes(n_workers(n_jobs), Parcel.of(function, shared))
    return _threads(n_workers(n_jobs), partial(function, *shared))


# Threads ------------------------------------------------------------------------------------------


@contextmanager
def _threads(size: int, work: Callable[..., Any]) -> Iterator[Pool]:
    with ThreadPoolExecutor(size) as executor:
        yield _Threads(size, executor, work, Event())


class _Threads(NamedTuple):
    size: int
    executor: ThreadPoolExecutor
    work: Callable[..., Any]
    stopping: Event

    def submit(self, item: Any) -> Future[Any]:
        future = self.executor.submit(self.work, item, self.stopping)
        future.add_done_callback(lambda done: self.stopping.set() if _failed(done) else None)
        return future

    def result(self, item: Any, future: Future[Any]) -> Any:
        return future.result()

    def stop(self) -> None:
        self.stopping.set()
        self.executor.shutdown(wait=True, cancel_futures=True)


def _failed(done: Future[Any]) -> bool:
    error = None if done.cancelled() else done.exception()
    return error is not None and not isinstance(error, Stopped)


# Processes ----------------------------------------------------------------------------------------


class Parcel(NamedTuple):
    """A function and what it shares, as they travel to other processes."""

    name: str
    """The same for the same content, so that a worker can know that it has it."""
    data: bytes

    @classmethod
    def of(cls, function: Callable[..., Any], shared: tuple[Any, ...]) -> Parcel:
        """Pack a function of a module with its first arguments."""
        data = pickle.dumps(partial(function, *shared), protocol=5)
        return cls(blake2b(data, digest_size=16).hexdigest(), data)


_unpacked: OrderedDict[str, Callable[..., Any]] = OrderedDict()
_unpacking = Lock()


def unpacked(name: str, read: Callable[[], bytes]) -> Callable[..., Any]:
    """Return a parcel's content, unpacked once in this process; the last few are kept."""
    with _unpacking:
        if name not in _unpacked:
            _unpacked[name] = pickle.loads(read())  # noqa: S301  # packed by our own client
            while len(_unpacked) > _SHARED_KEPT:
                _unpacked.popitem(last=False)
        _unpacked.move_to_end(name)
        return _unpacked[name]


def _work_on(name: str, path: str, item: Any) -> Any:
    return unpacked(name, Path(path).read_bytes)(item, Event())


@contextmanager
def _processes(size: int, parcel: Parcel) -> Iterator[Pool]:
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
