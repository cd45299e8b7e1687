"""Around every request: security headers, one line of log, no stack trace to see."""

from __future__ import annotations

import logging
import time

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deplda.web.counters import Counters
from deplda.web.http_errors import refusal
from deplda.web.room import Client, Room

log = logging.getLogger("deplda.web")

_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class HardeningMiddleware:
    """The outermost layer: makes every answer safe to show, and counts and logs every request."""

    def __init__(self, app: ASGIApp, counters: Counters, room: Room) -> None:
        self.app, self.counters, self.room = app, counters, room

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0
        client: Client = scope.setdefault("state", {}).setdefault("client", Client(self.room))

        async def send_hardened(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("cache-control", "no-cache")
                took = (time.perf_counter() - began) * 1e3
                headers["server-timing"] = f"total;dur={took:.1f}"
            await send(message)

        try:
            await self.app(scope, receive, send_hardened)
        except Exception:
            log.exception("%s failed", _asked(scope))
            if status:
                raise  # half an answer is out: the server hangs up
            answer = refusal(scope, "something went wrong here; it is in the log", 500)
            await answer(scope, receive, send_hardened)
        finally:
            client.count(-client.n_bytes)
            seconds = time.perf_counter() - began
            endpoint = getattr(scope.get("endpoint"), "__name__", "none")
            self.counters.count(endpoint, status, seconds)
            log.info("%s %d %.1f ms", _asked(scope), status, seconds * 1e3)


def _asked(scope: Scope) -> str:
    """Return method and path as they were sent, percent signs and all: a line stays a line."""
    path = scope.get("raw_path", b"").decode("ascii", "backslashreplace")
    return f"{scope['method']} {path[:200]}"
