"""What users see of compilation: a line on standard error, and where its results are cached."""

from __future__ import annotations

import sys
from multiprocessing import parent_process
from pathlib import Path
from threading import Timer
from typing import Any

from numba.core.event import Listener

DELAY = 1.0
"""Seconds. One kernel takes longer only where all of them are missing from the cache."""
_MESSAGE = "Compiling numerical code; once per installation, about half a minute\n"


class Notice(Listener):
    """A message when compilation takes long: once per process, and none in worker processes.

    Numba sends no events for kernels that it loads from its cache.
    """

    def __init__(self) -> None:
        self._depth, self._is_done = 0, False
        self._timer: Timer | None = None

    def on_start(self, event: Any) -> None:
        """Start the timer with the outermost kernel; kernels that it calls compile within it."""
        if not _is_ours(event):
            return
        self._depth += 1
        if self._depth == 1 and not self._is_done and parent_process() is None:
            self._timer = Timer(DELAY, self._show)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: Any) -> None:
        """Stop the timer."""
        if not _is_ours(event):
            return
        self._depth -= 1
        if self._depth == 0 and self._timer is not None:
            self._timer.cancel()

    def _show(self) -> None:
        self._is_done = True
        sys.stderr.write(_MESSAGE)


def _is_ours(event: Any) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).startswith("deplda.")


def cache_folder() -> Path:
    """Return the folder of the compiled kernels."""
    from deplda.kernels.random import document_key

    return Path(str(document_key.stats.cache_path))
