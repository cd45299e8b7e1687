"""Around every request: security headers, a time limit, one line of log, no stack trace to see."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deplda.web.answers import Error
from deplda.web.counters import Metrics

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
_ENCODED = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]


def json_response(
    answer: Any, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Return an answer as JSON that nobody keeps."""
    return Response(
        msgspec.json.encode(answer), status, {"Cache-Control": "no-store", **(headers or {})},
        "application/json",
    )  # fmt: skip


class Guard:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, metrics: Metrics, seconds: float) -> None:
        self.app, self.metrics, self.seconds = app, metrics, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                took = f"total;dur={(time.perf_counter() - began) * 1e3:.1f}"
                message["headers"] = [
                    *message["headers"], *_ENCODED, (b"server-timing", took.encode()),
                ]  # fmt: skip
            await send(message)

        try:
            async with asyncio.timeout(self.seconds):  # a client that never reads its answer
                await self.app(scope, receive, send_guarded)
        except Exception:
            log.exception("%s failed", _asked(scope))
            if status:
                raise  # half an answer is out: the server hangs up
            answer = json_response(Error("something went wrong here; it is in the log"), 500)
            await answer(scope, receive, send_guarded)
        finally:
            seconds = time.perf_counter() - began
            endpoint = getattr(scope.get("endpoint"), "__name__", "none")
            self.metrics.count(endpoint, status, seconds)
            log.info("%s %d %.1f ms", _asked(scope), status, seconds * 1e3)


def _asked(scope: Scope) -> str:
    """Return method and path as they were sent, percent signs and all: a line stays a line."""
    path = scope.get("raw_path", b"").decode("ascii", "backslashreplace")
    return f"{scope['method']} {path[:200]}"
