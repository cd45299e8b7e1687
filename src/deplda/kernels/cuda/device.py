"""A CUDA GPU: arrays put on it, kernels compiled and run; the only place that imports CuPy."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from deplda.errors import InputError

Result = TypeVar("Result")

SOURCES = Path(__file__).parent
LOG = logging.getLogger(__name__)
"""Told why work that a GPU may do is done on the CPU."""
# Of the free memory, what one piece of work may take: the rest is for results and for others.
_SHARE = 0.6


class Struct(NamedTuple):
    """Arrays on a GPU as the struct of their addresses, one struct for each tuple of arrays."""

    addresses: Any
    arrays: tuple[Any, ...]
    """Kept, since the addresses are good as long as the arrays live."""


class Gpu:
    """One CUDA device, and what was put on it for later use."""

    def __init__(self) -> None:
        self.kept: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()
        self._modules: dict[str, Any] = {}

    @cached_property
    def xp(self) -> Any:
        """The module of arrays on this GPU, with NumPy's names."""
        import cupy

        return cupy

    @property
    def name(self) -> str:
        """What its maker calls it."""
        found: bytes = self.xp.cuda.runtime.getDeviceProperties(self.xp.cuda.Device().id)["name"]
        return found.decode()

    def put(self, array: npt.ArrayLike) -> Any:
        """Return a copy of an array on the GPU."""
        with within_memory():
            return self.xp.asarray(array)

    def get(self, array: Any) -> Any:
        """Return an array of the GPU as one of ours."""
        return self.xp.asnumpy(array)

    def struct(self, *tuples: tuple[Any, ...]) -> Struct:
        """Put tuples of arrays on the GPU as structs of pointers, fields in the same order."""
        arrays = tuple(self.put(array) for fields in tuples for array in fields)
        addresses = np.array([self.address(array) for array in arrays], np.uint64)
        return Struct(self.put(addresses), arrays)

    def address(self, array: Any) -> int:
        """Return where an array of the GPU begins."""
        return int(array.data.ptr)

    def launch(
        self, source: str, kernel: str, blocks: int | tuple[int, int], threads: int, *arguments: Any
    ) -> None:
        """Begin a kernel of a source: ints are passed as int, floats as double."""
        grid = (blocks,) if isinstance(blocks, int) else blocks
        if all(grid):
            self.function(source, kernel)(grid, (threads,), tuple(map(_argument, arguments)))

    def function(self, source: str, kernel: str) -> Any:
        """Return a kernel, compiled on first use and kept on disk by CuPy."""
        if source not in self._modules:
            self._modules[source] = self.xp.RawModule(code=text_of(source), options=("-std=c++17",))
        return self._modules[source].get_function(kernel)

    def free(self) -> int:
        """Return how many bytes one piece of work may take."""
        unused = self.xp.get_default_memory_pool().free_bytes()
        return int(_SHARE * (self.xp.cuda.runtime.memGetInfo()[0] + unused))

    def release(self) -> None:
        """Give back all memory that nothing uses now, and what was kept for later use."""
        self.kept.clear()
        self.xp.get_default_memory_pool().free_all_blocks()


class GpuFullError(InputError):
    """The GPU's memory does not hold what is asked for."""


def refuse_large(needed: int, free: int) -> NoReturn:
    """Raise the error of work that needs more bytes at a time than are free for it."""
    raise GpuFullError(
        f"the GPU would need {needed / 1e9:,.2f} GB at a time but {free / 1e9:,.2f} GB are free "
        "for it; use device='cpu'"
    )


@contextmanager
def within_memory() -> Iterator[None]:
    """Raise a `GpuFullError` for an allocation that fails since others took the memory."""
    try:
        yield
    except MemoryError as error:
        raise GpuFullError(f"the memory is full ({error}); use device='cpu'") from error


def text_of(source: str) -> str:
    """Return a source with what it includes in its place: one text, the key of CuPy's cache."""
    seen: set[str] = set()

    def included(match: re.Match[str]) -> str:
        if match[1] in seen:
            return ""
        seen.add(match[1])
        return (SOURCES / match[1]).read_text(encoding="utf-8").replace("#pragma once\n", "")

    text = (SOURCES / f"{source}.cu").read_text(encoding="utf-8")
    return re.sub(r'#include "(.*)"\n', included, text)


def _argument(value: Any) -> Any:
    if isinstance(value, Struct):
        return value.addresses
    if isinstance(value, bool | int):
        return np.int32(value)
    return np.float64(value) if isinstance(value, float) else value


def missing() -> str | None:
    """Return what is not installed that a GPU needs, or None; CuPy is not imported for it."""
    return "CuPy is not installed: pip install 'deplda[gpu]'" if find_spec("cupy") is None else None


@cache
def problem() -> str | None:
    """Return why there is no GPU to work on, or None."""
    if reason := missing():
        return reason
    try:
        import cupy

        cupy.cuda.runtime.getDeviceCount()
        cupy.zeros(1)
    except Exception as error:  # a driver that is missing or too old shows itself in many ways
        return f"no CUDA GPU can be used ({error})"
    return None


@cache
def _gpu() -> Gpu:
    return Gpu()


def attempt(device: str, unable: str | None, work: Callable[[Gpu], Result]) -> Result | None:
    """Return what the work gives on the GPU, or None where the CPU is to do it.

    Where a GPU cannot do it, for what `unable` says, since there is none, or since its memory is
    too small, that is an error with "cuda"; with "auto" the CPU does it, and the log is told why.
    """
    if device == "cpu":
        return None
    reason = unable or problem()
    if reason is None:
        try:
            return work(_gpu())
        except GpuFullError as error:
            if device != "auto":
                raise
            reason = str(error)
    elif device != "auto":
        raise unusable(device, reason)
    LOG.info(reason)
    return None


def unusable(device: str, reason: str) -> InputError:
    """Return the error of a GPU that is asked for and cannot be had."""
    return InputError(f"device is {device!r}, but {reason}; use device='cpu' or 'auto'")


def choose(device: str, unable: str | None = None) -> Gpu | None:
    """Return the GPU to work on, or None for the CPU; see `attempt`."""
    return attempt(device, unable, lambda gpu: gpu)
