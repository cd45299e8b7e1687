"""Work as it is sent to workers: functions of a module."""

import os
import signal
import time
from functools import cached_property
from pathlib import Path
from typing import Any

from deplda.engine.execution import n_workers
from deplda.engine.pool import Stop, Stopped
from deplda.models.predict_shards import _Job
from deplda.models.registry import load


def slowly(seconds: float, item: int, stop: Stop) -> int:
    time.sleep(seconds)
    return item


def deadly(item: int, stop: Stop) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def failing(item: int, stop: Stop) -> int:
    return n_workers(item)


def until_stopped(folder: Path, item: int, stop: Stop) -> None:
    (folder / "begun").touch()
    while not stop.is_set():
        time.sleep(0.02)
    (folder / "stopped").touch()
    raise Stopped


class LethalJob(_Job):
    """A job whose model ends the worker at one document."""

    @cached_property
    def model(self) -> Any:
        return _Lethal(load(self.path))


class _Lethal:
    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def rank(self, x: Any, k: int) -> Any:
        if (x.data == 666).any():
            os.kill(os.getpid(), signal.SIGKILL)
        return self._model.rank(x, k)
