"""Progress of long work, on standard error: drawn in a terminal, silent elsewhere."""

from __future__ import annotations

import logging
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock, Timer

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

logger = logging.getLogger("deplda")

Report = Callable[[int, int, float], None]
"""Called after each sweep with (chain, sweep, log-likelihood)."""


def is_shown(progress: bool | None) -> bool:
    """Return whether to draw: as asked, or by default if standard error is a terminal."""
    return sys.stderr.isatty() if progress is None else progress


@contextmanager
def sweeps(
    what: str, n_chains: int, n_sweeps: int, n_tokens: int, progress: bool | None
) -> Iterator[Report | None]:
    """Give a function to report sweeps to: done, tokens per second, time left, log-likelihood."""
    with _bar(what, n_chains * n_sweeps, "sweeps", progress) as update:
        if update is None:
            yield None
            return
        done: dict[int, int] = {}
        resumed: dict[int, int] = {}
        begin, lock = time.monotonic(), Lock()

        def report(chain: int, sweep: int, log_likelihood: float) -> None:
            with lock:
                if chain not in done and sweep > 1:
                    resumed[chain] = sweep  # taken over from a checkpoint, not swept now
                done[chain] = sweep
                swept = sum(done.values()) - sum(resumed.values())
                rate = swept * n_tokens / max(time.monotonic() - begin, 1e-9)
                level = "" if math.isnan(log_likelihood) else f" log-lik {log_likelihood:.4e}"
                update(completed=sum(done.values()), note=f"{rate / 1e6:.1f}M tokens/s{level}")

        yield report


@contextmanager
def counted(
    what: str, n: int | None, things: str, progress: bool | None
) -> Iterator[Callable[[int], None]]:
    """Give a function that is told of more things done: how many of all, and time left."""
    with _bar(what, n, things, progress) as update:
        yield lambda more: None if update is None else update(advance=more)


@contextmanager
def _bar(
    what: str, total: int | None, things: str, progress: bool | None
) -> Iterator[Callable[..., None] | None]:
    """Draw a bar and give what moves it, or None where nothing is drawn."""
    if not is_shown(progress):
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        MofNCompleteColumn(),
        TextColumn(f"{things} {{task.fields[note]}}"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        yield partial(bar.update, bar.add_task(what, total=total, note=""))


@contextmanager
def compiling(progress: bool | None, seconds: float = 0.7) -> Iterator[None]:
    """Say that kernels are being compiled if this takes longer than it does from the cache."""

    def tell() -> None:
        message = "compiling the kernels, once after installation …"
        logger.info(message)
        if is_shown(progress):
            Console(stderr=True).print(message)

    timer = Timer(seconds, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
