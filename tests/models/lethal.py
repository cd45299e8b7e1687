"""A job as it is sent to workers, whose model ends them."""

import os
import signal
from functools import cached_property
from typing import Any

from deplda.models.predict_shards import _Job
from deplda.models.registry import load


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

    def _likeliest(self, x: Any, *asked: Any) -> Any:
        if (x.data == 666).any():
            os.kill(os.getpid(), signal.SIGKILL)
        return self._model._likeliest(x, *asked)
