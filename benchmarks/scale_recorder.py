"""What a run does, stage by stage: seconds, tasks, bytes that travel, memory and files."""

from __future__ import annotations

import os
import pickle
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import msgspec

from deplda.engine.execution import Execution, Shown
from deplda.engine.progress import listened

BETWEEN = "between stages"
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Step(msgspec.Struct):
    """Tasks that the next step has to wait for: a call of `Execution.map`."""

    tasks: int = 0
    task_seconds: float = 0.0
    """Of all tasks together, on their workers."""
    shared: int = 0
    """Bytes that every worker is sent before its first task."""
    sent: int = 0
    """Bytes of what tasks are sent each, all together."""
    returned: int = 0
    """Bytes of results, all together."""
    moved: int = 0
    """Bytes that tasks read from files and write to them, all together."""


class Stage(msgspec.Struct):
    """What is done under one name of the progress display."""

    name: str
    """Without the numbers in it, so that it is the same in all runs."""
    seconds: float = 0.0
    peak: int = 0
    """Most resident memory of this process and those it started, in bytes."""
    steps: list[Step] = []


class Recorder:
    """Listens to stages, and counts what is sent by `Execution.map`.

    What threads of this process do is a step of a run by threads, and the driver's own work in any
    other.
    """

    def __init__(self, *, by_threads: bool = True) -> None:
        self.stages: list[Stage] = []
        self._by_threads = by_threads
        self._now, self._began, self._aside = Stage(BETWEEN), 0.0, 0.0

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record all that is done meanwhile."""
        original, recorder = Execution.map, self
        self._began = time.perf_counter()

        def recorded(
            self: Execution, function: Callable[..., Any], items: Iterable[Any], *shared: Any,
            shown: Shown | None = None,
        ) -> Iterator[Any]:  # fmt: skip
            return recorder._map(original, self, function, items, shared, shown)

        ended = Event()
        thread = Thread(target=self._watch, args=(ended,), daemon=True)
        thread.start()
        Execution.map = recorded  # type: ignore[method-assign]
        try:
            with listened(self._tell):
                yield
        finally:
            Execution.map = original  # type: ignore[method-assign]
            self._change(BETWEEN)
            ended.set()
            thread.join()

    def _tell(self, what: str, begins: bool) -> None:
        self._change(re.sub(r" in [\d,]+ parts| [\d,]+", "", what) if begins else BETWEEN)

    def _change(self, name: str) -> None:
        """End what is done now, and begin what has this name; the same name goes on."""
        now = time.perf_counter()
        self._now.seconds += now - self._began - self._aside
        self._began, self._aside = now, 0.0
        if self._now not in self.stages:
            self.stages.append(self._now)
        known = {stage.name: stage for stage in self.stages}
        self._now = known.get(name) or Stage(name)
        self._now.peak = max(self._now.peak, resident())

    def _map(
        self, original: Any, execution: Execution, function: Callable[..., Any],
        items: Iterable[Any], shared: tuple[Any, ...], shown: Shown | None,
    ) -> Iterator[Any]:  # fmt: skip
        if execution.is_here and not self._by_threads:
            yield from original(execution, function, items, *shared, shown=shown)
            return
        step, stage = Step(), None
        if not execution.is_here:
            step.shared = self._size((function, shared))
        results = original(execution, timed, self._sent(items, step, execution), function, *shared,
                           shown=shown)  # fmt: skip
        for seconds, moved, result in results:
            stage = stage or self._now
            step.tasks += 1
            step.task_seconds += seconds
            step.moved += moved
            if not execution.is_here:
                step.returned += self._size(result)
            yield result
        (stage or self._now).steps.append(step)

    def _sent(self, items: Iterable[Any], step: Step, execution: Execution) -> Iterator[Any]:
        for item in items:
            if not execution.is_here:
                step.sent += self._size(item)
            yield item

    def _size(self, thing: Any) -> int:
        """Return the bytes it takes to send it; the time that this takes is not the run's."""
        begin = time.perf_counter()
        buffers: list[pickle.PickleBuffer] = []
        data = pickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
        self._aside += time.perf_counter() - begin
        return len(data) + sum(buffer.raw().nbytes for buffer in buffers)

    def _watch(self, ended: Event) -> None:
        while not ended.wait(0.1):
            self._now.peak = max(self._now.peak, resident())


def timed(function: Callable[..., Any], *rest: Any) -> tuple[float, int, Any]:
    """Return the seconds that a call takes, the bytes it reads and writes, and its result."""
    before, begin = _file_bytes(), time.perf_counter()
    result = function(*rest)
    return time.perf_counter() - begin, _file_bytes() - before, result


def _file_bytes() -> int:
    """Return how much this process has read and written so far, whatever the files are kept on."""
    lines = Path("/proc/self/io").read_text().splitlines()[:2]
    return sum(int(line.partition(":")[2]) for line in lines)


def resident() -> int:
    """Return the resident memory of this process and those it started, theirs too, in bytes."""
    total = 0
    for pid in _tree(os.getpid()):
        with suppress(OSError):  # it has ended meanwhile
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    return total


def _tree(pid: int) -> Iterator[int]:
    yield pid
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _tree(int(child))
