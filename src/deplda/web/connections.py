"""Connections that tell the room what the service waits for."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any

import h11
from starlette.types import Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from deplda.web.room import Client

_LINGERING_SECONDS = 1.0  # for a client that still sends to see the answer
_KERNEL_BUFFER = 1 << 15
_QUEUE = 2_048


class Connection(H11Protocol):
    """uvicorn's HTTP/1.1, as a client in the room of the application that it serves.

    After an answer to an incomplete request, and after any answer while there are as many
    connections as there may be, the connection is closed.
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._room = self.app_state["room"]
        self._limits, self._peer = self._room.limits, Client(self._room)
        self._application, self.app = self.app, self._run_application

    def enter(self, transport: Any) -> None:
        """Take a place in the room: for the TLS handshake if there is one, then for requests."""
        self._peer.leave()
        self._peer = Client(self._room, transport.abort)
        self.app_state = self.app_state | {"client": self._peer}
        self._peer.wait_for("headers", self._limits.reading_seconds)

    def connection_made(self, transport: Any) -> None:
        """Write so that the kernel says what the client does not take."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=1, low=0)
        connected = transport.get_extra_info("socket")
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _KERNEL_BUFFER)
        self.enter(transport)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request, or several requests."""
        self._follow(is_beginning=True)
        super().data_received(data)
        self._follow()

    def on_response_complete(self) -> None:
        """Be ready for the next request, which may be there."""
        super().on_response_complete()
        self._follow()

    def pause_writing(self) -> None:
        """Wait for the client to take the answer."""
        super().pause_writing()
        self._follow()

    def resume_writing(self) -> None:
        """Continue, as the client has taken all that was written."""
        super().resume_writing()
        self._follow()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the room."""
        self._peer.leave()
        super().connection_lost(exc)

    def _follow(self, *, is_beginning: bool = False) -> None:
        """Say which step of the client the service waits for now."""
        limits, state = self._limits, self.conn.their_state
        if self.flow.write_paused:
            self._peer.wait_for("taking", limits.sending_seconds)
        elif state is h11.SEND_BODY:
            self._peer.wait_for("body")
        elif state is not h11.IDLE:
            self._peer.wait_for(None)
        elif is_beginning or not self.cycle or self.conn.trailing_data[0]:
            self._peer.wait_for("headers", limits.reading_seconds)
        else:
            self._peer.wait_for("next request")  # uvicorn closes it after `idle_seconds`

    async def _run_application(self, scope: Scope, receive: Receive, send: Send) -> None:
        unread = False
        names = {name for name, _ in scope["headers"]}
        # A proxy may read such a request with the other length, so what follows is not trusted.
        is_doubtful = {b"transfer-encoding", b"content-length"} <= names

        async def send_and_close(message: Message) -> None:
            nonlocal unread
            if message["type"] == "http.response.start":
                unread = self.conn.their_state is h11.SEND_BODY
                is_full = len(self._room.clients) >= self._limits.connections
                if unread or is_doubtful or is_full:
                    headers = [*message["headers"], (b"connection", b"close")]
                    message = {**message, "headers": headers}
            elif unread and not message.get("more_body", False):
                await send({**message, "more_body": True})
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LINGERING_SECONDS):
                        # Closed at once, a client that still sends might not see the answer.
                        while self.conn.their_state is h11.SEND_BODY:
                            if not (await receive()).get("more_body", False):
                                break
                message = {"type": "http.response.body"}
            await send(message)

        await self._application(scope, receive, send_and_close)


class EventLoop(asyncio.SelectorEventLoop):
    """An event loop that accepts few connections at a time and counts them before TLS."""

    async def create_server(self, *args: Any, **options: Any) -> Any:
        """Accept as many connections at a time as the backlog, and let more wait in the kernel."""
        server = await super().create_server(*args, **options)
        for listener in server.sockets:
            with listener.dup() as same:
                same.listen(_QUEUE)
        return server

    def _make_ssl_transport(self, sock: Any, protocol: Any, *args: Any, **options: Any) -> Any:
        transport = super()._make_ssl_transport(sock, protocol, *args, **options)  # type: ignore[misc]
        if isinstance(protocol, Connection):
            protocol.enter(transport)
        return transport
