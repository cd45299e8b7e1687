"""Progress of long work: drawn in a terminal or a notebook, silent elsewhere unless asked for.

A line says what is done, how much of it, and how long it will take. A line that is begun within
another is drawn below it while it lasts; the first stays, full, with the time that it took. There
is one display at a time, whoever draws.
"""

from __future__ import annotations

import logging
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from io import StringIO
from threading import Event, RLock, Thread, Timer
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from deplda.data import wording

logger = logging.getLogger("deplda")

Report = Callable[[int, int], None]
"""Called after each sweep with (chain, sweep)."""

_BAR, _SHARE, _TIME = 12, 4, 12
_WIDEST = 52
_USUAL_DECAY = 0.55
"""Share of what a pass moves that the next one does, on documents of any kind we know."""


def is_shown(progress: bool | None) -> bool:
    """Return whether to draw: as asked, or by default if standard error is a terminal."""
    return sys.stderr.isatty() if progress is None else progress


@contextmanager
def listened(tell: Callable[[str, bool], None]) -> Iterator[None]:
    """Tell what is being done: its name, and True where it begins or False where it ends.

    That is of all lines, also those that are not drawn, but for lines within others.
    """
    token = _listener.set(tell)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def stage(what: str, progress: bool | None) -> Iterator[None]:
    """Say what is being done, and how long it takes."""
    with _line(what, None, progress):
        yield


@contextmanager
def steps(n: int) -> Iterator[None]:
    """Write a number before lines that stay, of n; of steps within steps the outer ones have it.

    It decorates a function whose steps they are.
    """
    if _steps.get() is not None:
        yield
        return
    token = _steps.set(_Steps(n))
    try:
        yield
    finally:
        _steps.reset(token)


def skip_steps(n: int) -> None:
    """Go on with the number after the next n, which have nothing to do."""
    if (numbered := _steps.get()) is not None:
        numbered.done += n


@contextmanager
def counted(what: str, total: int, progress: bool | None) -> Iterator[Callable[[int], None]]:
    """Give a function that is told of more work done, `total` in all."""
    with _line(what, total, progress if total else False) as line:
        yield (lambda more: None) if line is None else lambda more: line.change(advance=more)


@contextmanager
def streamed(what: str, thing: str, progress: bool | None) -> Iterator[Callable[[int], None]]:
    """Give a function that is told of more things done, where nobody knows how many there are."""
    done = 0
    with _line(what, None, progress) as line:

        def more(n: int) -> None:
            nonlocal done
            done += n
            if line is not None:
                line.change(description=f"{what}: {wording.counted(done, thing)}")

        yield more


@contextmanager
def sweeps(
    what: str, n_chains: int, n_sweeps: int, progress: bool | None
) -> Iterator[Report | None]:
    """Give a function to report sweeps of chains to, or None where nobody looks."""
    with _line(what, n_chains * n_sweeps, progress) as line:
        if line is None:
            yield None
            return
        done: dict[int, int] = {}
        lock = RLock()

        def report(chain: int, sweep: int) -> None:
            with lock:
                if chain not in done and sweep > 1:
                    line.began_with += sweep - 1  # taken over from a checkpoint, not swept now
                done[chain] = sweep
                line.change(completed=sum(done.values()))

        yield report


@contextmanager
def passes(what: str, most: int, progress: bool | None) -> Iterator[Callable[[int, float], None]]:
    """Give a function to report passes to: their number, and how many times too much they moved.

    There are passes until that is 1, nobody knows how many. What they move falls by much the same
    share from one to the next, so that their number can be told within one or two.
    """
    before = math.inf
    with _line(what, most, progress) as line:

        def report(done: int, excess: float) -> None:
            nonlocal before
            decay = min(max(excess / before, _USUAL_DECAY), 0.99)
            before = excess
            if line is not None:
                left = math.ceil(math.log(excess) / -math.log(decay)) if excess > 1 else 0
                about = min(done + left, most)
                now = f"{done} pass{'' if done == 1 else 'es'}"
                if done < about:
                    now = f"pass {done + 1} of about {about}"
                line.change(description=f"{what}, {now}", total=about, completed=done)

        yield report


@contextmanager
def compiling(progress: bool | None, seconds: float = 0.7) -> Iterator[None]:
    """Say that work is prepared, kernels compiled, if this takes longer than it mostly does."""
    with ExitStack() as told:

        def tell() -> None:
            message = "preparing (the first run compiles the kernels)"
            logger.info(message)
            told.enter_context(stage(message, progress))

        timer = Timer(seconds, tell)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()  # it may just be telling


# How it is drawn ----------------------------------------------------------------------------------


@contextmanager
def _line(what: str, total: int | None, progress: bool | None) -> Iterator[_Line | None]:
    """Draw a line and give what changes it, or None where nothing is drawn.

    It ends full, unless what it is of has failed.
    """
    with _told(what), _drawn(what, total, progress) as line:
        yield line


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Tell the listener, if there is one, that this begins and ends."""
    if (tell := _listener.get()) is None:
        yield
        return
    _listener.set(None)  # it is not told of lines within this one
    tell(what, True)
    try:
        yield
    finally:
        tell(what, False)
        _listener.set(tell)


@contextmanager
def _drawn(what: str, total: int | None, progress: bool | None) -> Iterator[_Line | None]:
    if not is_shown(progress):
        yield None
        return
    global _display
    with _lock:
        is_first = _display is None
        display = _display = _display or _new_display()
        line = _Line(display.bars, _number() if is_first else "  ", what, total)
    try:
        yield line
        line.fill()
    finally:
        with _lock:
            if is_first:
                _display = None
                for other in display.bars.task_ids:
                    if other != line.task:
                        display.bars.remove_task(other)
                display.stop()
            elif line.task in display.bars.task_ids:
                display.bars.remove_task(line.task)


@dataclass
class _Steps:
    """How many steps there are, and how many are done or begun."""

    n: int
    done: int = 0


_steps: ContextVar[_Steps | None] = ContextVar("steps", default=None)
_listener: ContextVar[Callable[[str, bool], None] | None] = ContextVar("listener", default=None)


def _number() -> str:
    """Return the number of the step that begins, where steps are numbered."""
    if (numbered := _steps.get()) is None:
        return ""
    numbered.done += 1
    return f"{numbered.done}/{numbered.n} " if numbered.done <= numbered.n else ""


class _Line:
    """A line of a display, which may have ended."""

    def __init__(self, bars: Progress, indent: str, what: str, total: int | None) -> None:
        self._bars, self._indent = bars, indent
        self.began_with = 0
        self._changed_at = self._began = time.monotonic()
        self.task = bars.add_task(indent + _plain(what), total=total, line=self)

    def change(self, description: str | None = None, **others: Any) -> None:
        """Change what it says, or how much of it is done."""
        if description is not None:
            description = self._indent + _plain(description)
        with _lock:
            self._changed_at = time.monotonic()
            if self.task in self._bars.task_ids:
                self._bars.update(self.task, description=description, **others)

    def fill(self) -> None:
        """Say that all is done, however much of it there was."""
        self.change(total=1, completed=1)

    def seconds_left(self, done: float, total: float) -> float | None:
        """Return how long the rest takes at the pace so far; None where none is known."""
        if (moved := done - self.began_with) <= 0:
            return None
        pace = (self._changed_at - self._began) / moved
        return max(0.0, pace * (total - done) - (time.monotonic() - self._changed_at))


def _plain(what: str) -> str:
    """Return it without what a terminal would obey: a file's name may hold it."""
    return "".join(each if each.isprintable() else "�" for each in what)


class _Share(ProgressColumn):
    """How much is done, where it is known how much there is."""

    def render(self, task: Task) -> Text:
        return Text("" if task.total is None else f"{int(task.percentage)}%")


class _Time(ProgressColumn):
    """How long it will take still, where that is known; else how long it has taken."""

    def render(self, task: Task) -> Text:
        if not task.finished and task.total is not None:
            left = task.fields["line"].seconds_left(task.completed, task.total)
            return Text("" if left is None else f"{_clock(math.ceil(left))} left")
        spent = task.finished_time if task.finished else task.elapsed
        return Text(_clock(spent or 0.0))


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _bars(console: Console) -> Progress:
    """Return lines of the same widths, whatever they say, so that those of all displays align."""
    width = max(16, min(_WIDEST, console.width - _BAR - _SHARE - _TIME - 4))
    return Progress(
        TextColumn(
            "{task.description}",
            markup=False,
            table_column=Column(width=width, no_wrap=True, overflow="ellipsis"),
        ),
        BarColumn(bar_width=_BAR),
        _Share(Column(width=_SHARE, justify="right", no_wrap=True)),
        _Time(Column(width=_TIME, no_wrap=True)),
        console=console,
        # Where results go to a file, they are not to be drawn here.
        redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
    )


class _Terminal:
    """The lines in a terminal; to a file they are written when they have ended."""

    def __init__(self, console: Console) -> None:
        self.bars = _bars(console)
        self.bars.start()

    def stop(self) -> None:
        self.bars.stop()


class _Notebook:
    """The lines in the output of a notebook's cell, drawn anew; rich would need ipywidgets."""

    def __init__(self) -> None:
        from IPython.display import display

        self.bars = _bars(Console(file=StringIO(), width=100, force_jupyter=False))
        self._handle = display(self._drawn(), raw=True, display_id=True)
        self._ended = Event()
        self._thread = Thread(target=self._keep_drawing, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()
        self._handle.update(self._drawn(), raw=True)

    def _keep_drawing(self) -> None:
        while not self._ended.wait(0.25):
            self._handle.update(self._drawn(), raw=True)

    def _drawn(self) -> dict[str, str]:
        paper = Console(file=StringIO(), width=100, force_jupyter=False, record=True)
        paper.print(self.bars.get_renderable())
        html = paper.export_html(
            clear=False, inline_styles=True, code_format="<pre style='line-height:1.2'>{code}</pre>"
        )
        return {"text/html": html, "text/plain": paper.export_text()}


def _new_display() -> _Terminal | _Notebook:
    console = Console(stderr=True)
    return _Notebook() if console.is_jupyter else _Terminal(console)


_display: _Terminal | _Notebook | None = None
_lock = RLock()
