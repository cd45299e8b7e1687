"""What all engines have in common: a pool of workers, and what is sent to those elsewhere."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from hashlib import blake2b
from threading import Lock
from typing import Any, NamedTuple, Protocol

_SHARED_KEPT = 2


class Stopped(Exception):  # noqa: N818  # not an error: work ends early because it was asked to
    """Raised by work that was asked to stop."""


class Stop(Protocol):
    """What work looks at between two steps: whether it is still wanted."""

    def is_set(self) -> bool:
        """Return whether to stop."""


def check_stop(stop: Stop) -> None:
    """Raise `Stopped` if work is no longer wanted."""
    if stop.is_set():
        raise Stopped


class Pool(Protocol):
    """Workers that know the function and what it shares; they are sent items alone."""

    @property
    def size(self) -> int:
        """How many pieces are worked on at a time."""

    def submit(self, item: Any) -> Future[Any]:
        """Begin to work on an item."""

    def result(self, item: Any, future: Future[Any]) -> Any:
        """Wait for what an item gave; begin again if what it needs was lost with a worker."""

    def stop(self) -> None:
        """End what is under way, and wait for it where it shares our memory."""


class Parcel(NamedTuple):
    """A function and what it shares, as they travel to other processes."""

    name: str
    """The same for the same content, so that a worker can know that it has it."""
    data: bytes

    @classmethod
    def of(cls, function: Callable[..., Any], shared: tuple[Any, ...]) -> Parcel:
        """Pack a function of a module with its first arguments."""
        data = pickle.dumps(partial(function, *shared), protocol=5)
        return cls(blake2b(data, digest_size=16).hexdigest(), data)


_unpacked: OrderedDict[str, Callable[..., Any]] = OrderedDict()
_unpacking = Lock()


def unpacked(name: str, read: Callable[[], bytes]) -> Callable[..., Any]:
    """Return a parcel's content, unpacked once in this process; the last few are kept."""
    with _unpacking:
        if name not in _unpacked:
            _unpacked[name] = pickle.loads(read())  # noqa: S301  # packed by our own client
            while len(_unpacked) > _SHARED_KEPT:
                _unpacked.popitem(last=False)
        _unpacked.move_to_end(name)
        return _unpacked[name]
