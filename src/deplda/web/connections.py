"""Connections: how long a client may take, and who has to go when there are too many."""

from __future__ import annotations

import asyncio
import socket
from collections import OrderedDict
from contextlib import suppress
from typing import Any

import h11
from starlette.types import Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from deplda.web.limits import Limits

_LINGERING_SECONDS = 1.0
"""How long a client who is still sending may go on before an answer's connection is closed."""
_HANDSHAKE_SECONDS = 10.0
_KERNEL_BUFFER = 1 << 15
_QUEUE = 2_048


class ConnectionTable:
    """The connections of a process that wait for their client, the longest waiting first."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.waiting: OrderedDict[GuardedConnection, None] = OrderedDict()
        self.handshakes: OrderedDict[GuardedConnection, Any] = OrderedDict()
        """Connections that have not agreed on TLS yet, and their transports."""

    def is_full(self, connections: set[Any]) -> bool:
        """Return whether the next one to come takes the place of another."""
        return len(connections) >= self.limits.connections

    def make_room(self, connections: set[Any]) -> None:
        """Hang up on those who have waited longest, until there are no more than may be.

        The last one has only just come. Those that are being answered are not waiting: they are
        as few as the queue of work is long.
        """
        while len(connections) > self.limits.connections and len(self.waiting) > 1:
            oldest, _ = self.waiting.popitem(last=False)
            connections.discard(oldest)
            oldest.transport.abort()

    def begin_handshake(self, connection: GuardedConnection, transport: Any) -> None:
        """Count a connection that has to agree on TLS; of too many the oldest is hung up on."""
        self.handshakes[connection] = transport
        while len(self.handshakes) > max(1, self.limits.connections // 2):
            _, oldest = self.handshakes.popitem(last=False)
            oldest.abort()


class GuardedConnection(H11Protocol):
    """HTTP/1.1 as uvicorn has it, with a time limit for all that a client has to do.

    A request has to be there in `reading_seconds` from its first byte: before the end of its
    headers the client is hung up on, after it the application says 408. What is written has to be
    taken in `sending_seconds`. After an answer to a request that has not come in full, and after
    any while there are as many connections as may be, the connection is closed.
    """

    def __init__(self, *args: Any, table: ConnectionTable, **named: Any) -> None:
        super().__init__(*args, **named)
        self._table = table
        self._application, self.app = self.app, self._run_application
        self._read_by: float | None = None
        self._headers, self._sending = _Clock(), _Clock()

    def connection_made(self, transport: Any) -> None:
        """Give the first request its time, and the connection its place."""
        super().connection_made(transport)
        self._table.handshakes.pop(self, None)
        # To be told of what is not taken, most of which must not be in the kernel's buffer.
        transport.set_write_buffer_limits(high=1, low=0)
        line = transport.get_extra_info("socket")
        line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _KERNEL_BUFFER)
        self._start_reading()
        self._follow()
        self._table.make_room(self.connections)

    def begin_handshake(self, transport: Any) -> None:
        """Take a place among those that have not agreed on TLS yet."""
        self._table.begin_handshake(self, transport)

    def data_received(self, data: bytes) -> None:
        """Give each request its time from its first byte."""
        if self._read_by is None and self.conn.their_state is h11.IDLE:
            self._start_reading()
        super().data_received(data)
        self._follow()

    def on_response_complete(self) -> None:
        """Be ready for the next request, whose beginning may be there already."""
        self._read_by = None
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._start_reading()
        self._follow()

    def pause_writing(self) -> None:
        """Give the client its time to take what is written."""
        super().pause_writing()
        latest = self.loop.time() + self._table.limits.sending_seconds
        self._sending.start(self.loop.call_at(latest, self.transport.abort))
        self._follow()

    def resume_writing(self) -> None:
        """Go on, as all has been taken."""
        self._sending.stop()
        super().resume_writing()
        self._follow()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clocks."""
        self._headers.stop()
        self._sending.stop()
        self._table.waiting.pop(self, None)
        super().connection_lost(exc)

    def _start_reading(self) -> None:
        self._read_by = self.loop.time() + self._table.limits.reading_seconds
        self._headers.start(self.loop.call_at(self._read_by, self.transport.abort))

    def _follow(self) -> None:
        """Keep the headers' clock and the place in the table in step with the request."""
        if self.conn.their_state is not h11.IDLE:
            self._headers.stop()
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY) or self._sending.runs:
            self._table.waiting.setdefault(self)
        else:
            self._table.waiting.pop(self, None)

    async def _run_application(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; close the connection if not all of it has come, or others wait."""
        self._read_by = self._read_by or self.loop.time() + self._table.limits.reading_seconds
        scope["state"]["read_by"] = self._read_by
        unread = False
        names = {name for name, _ in scope["headers"]}
        # A proxy in front may take it for another length than we do; what follows is not trusted.
        is_doubtful = {b"transfer-encoding", b"content-length"} <= names

        async def send_and_close(message: Message) -> None:
            nonlocal unread
            if message["type"] == "http.response.start":
                unread = self.conn.their_state is h11.SEND_BODY
                if unread or is_doubtful or self._table.is_full(self.connections):
                    headers = [*message["headers"], (b"connection", b"close")]
                    message = {**message, "headers": headers}
            elif unread and not message.get("more_body", False):
                await send({**message, "more_body": True})
                if self.conn.their_state is h11.SEND_BODY:  # or the rest has come meanwhile
                    await _discard(receive)
                message = {"type": "http.response.body"}
            await send(message)

        await self._application(scope, receive, send_and_close)


class _Clock:
    """A timer that runs or does not."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None

    @property
    def runs(self) -> bool:
        return self._timer is not None

    def start(self, timer: asyncio.TimerHandle) -> None:
        self.stop()
        self._timer = timer

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class EventLoop(asyncio.SelectorEventLoop):
    """The loop whose servers let in few at a time, and do not wait a minute for TLS to begin."""

    async def create_server(self, *args: Any, **how: Any) -> Any:
        """Listen; the backlog is how many come in at a time, many more may stand in the queue."""
        if how.get("ssl"):
            how["ssl_handshake_timeout"] = how["ssl_shutdown_timeout"] = _HANDSHAKE_SECONDS
        server = await super().create_server(*args, **how)
        for listener in server.sockets:
            with listener.dup() as same:
                same.listen(_QUEUE)
        return server

    def _make_ssl_transport(self, line: Any, protocol: Any, *args: Any, **how: Any) -> Any:
        """Let a connection be counted before it has agreed on TLS, which it may never do."""
        transport = super()._make_ssl_transport(line, protocol, *args, **how)  # type: ignore[misc]
        if isinstance(protocol, GuardedConnection):
            protocol.begin_handshake(transport)
        return transport


async def _discard(receive: Receive) -> None:
    """Read on for a moment: closed at once, a client who still sends might not see the answer."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGERING_SECONDS):
            while (await receive()).get("more_body", False):
                pass
