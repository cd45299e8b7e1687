"""The processes of an experiment's units, begun before there is a task: they import meanwhile."""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from typing import Any, Self

import msgspec

from deplda.experiments.results import Unit
from deplda.experiments.unit import Task


class Processes:
    """Processes that wait for a task each; more are begun where these are used up."""

    def __init__(self, n: int) -> None:
        self._waiting = deque(_begun() for _ in range(n))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._waiting:
            process.kill()
            process.communicate()

    def run(self, task: Task) -> Unit:
        """Return the unit, failed with the last lines of its error if its process does."""
        try:
            process = self._waiting.popleft()
        except IndexError:
            process = _begun()
        try:
            output, errors = process.communicate(msgspec.json.encode(task))
        except BaseException:
            process.kill()
            process.wait()
            raise
        if process.returncode == 0:
            found: dict[str, Any] = msgspec.json.decode(output)
            return Unit(task.model, task.split, "done", found=found)
        lines = errors.decode(errors="replace").strip().splitlines()
        error = lines[-1] if lines else f"its process ended with {process.returncode}"
        return Unit(task.model, task.split, "failed", error=error)


def _begun() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "deplda.experiments.unit"],  # not from the current folder
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
