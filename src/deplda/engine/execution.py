"""Where work runs, as one object: on threads, processes or a cluster, on the CPU or a GPU."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from threading import Event
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar

from deplda.data import checks, wording
from deplda.engine.local import failed, processes, threads
from deplda.engine.pool import Parcel, Pool, Stop, Stopped
from deplda.engine.progress import compiling, counted, is_shown
from deplda.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")

Engine = Any
"""Where work is done: "threads", "processes", or a Dask Client or the address of its scheduler."""
Device = Literal["cpu", "cuda", "auto"]
DEVICES = ("cpu", "cuda", "auto")


def n_workers(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` means: None and −1 are all cores that we may use."""
    if n_jobs is None or n_jobs == -1:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    return checks.whole("n_jobs", n_jobs, or_else="-1 for all cores, or ")


def check_engine(engine: Engine) -> None:
    """Raise if it does not name a place to work; whether it answers is seen later."""
    known = engine in ("threads", "processes") if isinstance(engine, str) else False
    if not (known or is_cluster(engine)):
        raise InputError(
            f"engine is {engine!r}; it must be 'threads', 'processes', a Dask Client, or the "
            "address of its scheduler such as 'tcp://10.0.0.1:8786'"
        )


def is_cluster(engine: Engine) -> bool:
    """Return whether it is a Dask Client or looks like an address."""
    if isinstance(engine, str):
        return "://" in engine
    return hasattr(engine, "scatter") and hasattr(engine, "submit")


class Where(TypedDict, total=False):
    """The keywords of public functions that say where work runs; see `Execution`."""

    engine: Engine
    n_jobs: int | None
    device: Device
    progress: bool | None


class Shown(NamedTuple):
    """What progress says: what is done, how much of it there is in all, how much an item is."""

    what: str
    total: int
    size: Callable[[Any], int]


@dataclass(frozen=True, slots=True)
class Execution:
    """Where work runs, and whether its progress is shown; the same bits everywhere.

    Parameters
    ----------
    engine : "threads", "processes", a Dask Client or the address of its scheduler
    n_jobs : int, optional
        Threads or processes; all cores by default. On a cluster, all its workers are used.
    device : {"cpu", "cuda", "auto"}
        "auto" takes a GPU if there is one that can do the work.
    progress : bool, optional
        Draw progress on standard error; by default if that is a terminal.
    """

    engine: Engine = "threads"
    n_jobs: int | None = None
    device: Device = "cpu"
    progress: bool | None = None

    def __post_init__(self) -> None:
        check_engine(self.engine)
        checks.choice("device", self.device, DEVICES)

    @property
    def is_here(self) -> bool:
        """Whether work is done by threads of this process."""
        return isinstance(self.engine, str) and self.engine == "threads"

    @property
    def not_for_a_gpu(self) -> str | None:
        """Why a GPU, which works for this process alone, cannot do the work; None if it can."""
        return (
            None
            if self.is_here
            else f"engine is {self.engine!r}; a GPU works for this process, engine='threads'"
        )

    @property
    def n_workers(self) -> int:
        """How many threads or processes there are."""
        return n_workers(self.n_jobs)

    @property
    def n_at_once(self) -> int:
        """How many pieces `map` works on at a time."""
        if not is_cluster(self.engine):
            return self.n_workers
        from deplda.engine.dask import n_threads

        return n_threads(self.engine)

    def map(
        self,
        function: Callable[..., Result],
        items: Iterable[Item],
        *shared: Any,
        shown: Shown | None = None,
    ) -> Iterator[Result]:
        """Yield `function(*shared, item, stop)` for each item, in the order of the items.

        Threads share one copy of everything, and kernels let each other run. Processes and a
        cluster are sent `function`, of a module, and `shared` once each, then items; a cluster has
        the workers that it has, whatever `n_jobs`. Items are taken and worked on a little ahead of
        what was asked for, so that results do not pile up. When one piece fails, or Ctrl-C arrives,
        `stop` is set; the pieces under way are waited for, and the error goes on.
        """
        source = iter(items)
        with self._open(function, shared) as pool, self._bar(shown) as done:
            waiting: deque[tuple[Item, Future[Result]]] = deque()

            def take(n: int) -> None:
                waiting.extend((item, pool.submit(item)) for item in islice(source, n))

            try:
                take(3 * pool.size)
                while waiting:
                    item, future = waiting.popleft()
                    result = pool.result(item, future)
                    take(1)
                    done(item)
                    yield result
            except BaseException as error:
                pool.stop()
                if isinstance(error, Stopped):  # because a later piece failed: that one is to blame
                    for _, future in waiting:
                        if failed(future):
                            future.result()
                raise

    def map_rows(
        self, work: Callable[[Any, Stop], Result], matrix: Any, size: int, what: str
    ) -> Iterator[Result]:
        """Yield work(rows, stop) for `size` rows of a matrix after the other.

        `what` is said of them while it lasts: what is done to these documents. Where they are few,
        nothing is: this thread works, which is faster than to start others.
        """
        n = matrix.shape[0]
        if self.is_here and 0 < n <= size and not is_shown(self.progress):
            return iter([work(matrix, Event())])
        if self.is_here:
            with compiling(self.progress):
                work(matrix[:0], Event())
        batches = (matrix[first : first + size] for first in range(0, n, size))
        return self.map(
            work, batches, shown=Shown(f"{what} {wording.counted(n, 'document')}", n, _n_rows)
        )

    def map_here(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Return function(item) of each by threads of this process, whatever the engine.

        For some seconds' work on arrays that are large to send; those let each other run.
        """
        given = list(items)
        if self.n_workers == 1 or len(given) < 2:
            return [function(item) for item in given]
        with ThreadPoolExecutor(min(self.n_workers, len(given))) as executor:
            return list(executor.map(function, given))

    @contextmanager
    def _bar(self, shown: Shown | None) -> Iterator[Callable[[Any], None]]:
        if shown is None:
            yield lambda item: None
            return
        with counted(shown.what, shown.total, self.progress) as done:
            yield lambda item: done(shown.size(item))

    def _open(
        self, function: Callable[..., Any], shared: tuple[Any, ...]
    ) -> AbstractContextManager[Pool]:
        if is_cluster(self.engine):
            from deplda.engine.dask import open_pool

            return open_pool(self.engine, Parcel.of(function, shared))
        if self.engine == "processes":
            return processes(self.n_workers, Parcel.of(function, shared))
        return threads(self.n_workers, partial(function, *shared))


HERE = Execution()
"""Threads of this process, as many as there are cores."""


def _n_rows(matrix: Any) -> int:
    return int(matrix.shape[0])
