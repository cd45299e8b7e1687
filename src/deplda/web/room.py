"""Limited room for clients: their connections, and the bytes that the service holds for them.

One rule applies to both. If there are too many, the client that has kept the service waiting
longest is disconnected. A client that sends fast does not keep the service waiting, nor does a
client whose request is being answered.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Literal

from deplda.web.http_errors import busy
from deplda.web.limits import Limits

Step = Literal["headers", "body", "taking", "next request"]
"""What the service waits for a client to do: send a part of a request, take an answer, …"""
_FAST = 1 << 20  # bytes per second at which a client does not keep the service waiting


class Room:
    """The clients of a process, and how many connections and bytes they may have together."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.clients = set[Client]()
        self.waiting = set[Client]()
        """The clients that the service waits for."""
        self.n_bytes = 0

    def make(self, newcomer: Client) -> bool:
        """Disconnect clients that are slower than the newcomer; return whether its bytes fit."""
        limits = self.limits
        while (large := self.n_bytes > limits.held_bytes) or len(self.clients) > limits.connections:
            others = (c for c in self.waiting if c.n_bytes or not large)
            slowest = min(others, key=lambda c: c.since, default=newcomer)
            if slowest is newcomer:
                break
            slowest.disconnect()
        return self.n_bytes <= limits.held_bytes


class Client:
    """A client, the bytes held for it, and the step that the service waits for it to take.

    `abort` closes its connection; a client without it has its connection to another server.
    """

    def __init__(self, room: Room, abort: Callable[[], None] | None = None) -> None:
        self.n_bytes = 0
        self.since = time.monotonic()
        """When the wait began, later by the time in which a fast client sends what came since."""
        self._room, self._abort = room, abort
        self._step: Step | None = None
        self._timer: asyncio.TimerHandle | None = None
        if abort:
            room.clients.add(self)
            room.make(self)

    def wait_for(self, step: Step | None, seconds: float | None = None) -> None:
        """Wait for a step, at most for `seconds`; None means that the service works.

        Headers and body of a request are one wait.
        """
        if step == self._step or self not in self._room.clients:
            return
        is_same_wait = (self._step, step) == ("headers", "body")
        if self._timer:
            self._timer.cancel()
        self._step, self._timer = step, None
        if step is None:
            self._room.waiting.discard(self)
        elif not is_same_wait:
            self._room.waiting.add(self)
            self.restart()
        if seconds is not None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self.disconnect)

    def restart(self) -> None:
        """Begin a new wait for the same step."""
        self.since = time.monotonic()

    def hold(self, n_bytes: int) -> None:
        """Count bytes that are held for the client; raise 503 if no slower client can make room."""
        self.count(n_bytes)
        self.since = min(time.monotonic(), self.since + n_bytes / _FAST)
        if not self._room.make(self):
            raise busy(f"{self._room.n_bytes:,} bytes are held; try again in a few seconds")

    def count(self, n_bytes: int) -> None:
        """Count bytes that are held for the client; negative ones are held no longer."""
        n_bytes = max(n_bytes, -self.n_bytes)
        self.n_bytes += n_bytes
        self._room.n_bytes += n_bytes

    def leave(self) -> None:
        """Remove the connection."""
        self.wait_for(None)
        self._room.clients.discard(self)

    def disconnect(self) -> None:
        """Close the connection, and count nothing of it any more."""
        self.leave()
        self.count(-self.n_bytes)
        if self._abort:
            self._abort()
