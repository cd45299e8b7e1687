"""Work as it is sent to workers: functions of a module."""

import os
import signal
import time
from pathlib import Path

from deplda.engine.execution import n_workers
from deplda.engine.pool import Stop, Stopped


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
