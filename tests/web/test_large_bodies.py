"""Few bodies are large at a time; Annif's routes are tried with it (test_endpoints)."""

import asyncio
import time
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from deplda.web.large_bodies import LargeBodies
from deplda.web.limits import Limits
from deplda.web.work import Work

LIMITS = Limits(body_bytes=10, large_body_bytes=30, large_bodies=1, waiting=4, seconds=5)


def request(*pieces: bytes, gate: asyncio.Event | None = None) -> Request:
    """Return a request whose body comes in pieces, the last of them when the gate is open."""
    left = list(pieces)

    async def receive() -> dict[str, Any]:
        if len(left) == 1 and gate is not None:
            await gate.wait()
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    headers = [(b"content-type", b"text/plain")]
    return Request({"type": "http", "headers": headers, "state": {}}, receive)


def test_one_more_large_body_is_asked_to_come_later() -> None:
    work = Work(2, LIMITS.waiting, LIMITS.seconds)
    bodies = LargeBodies(LIMITS, work)

    async def asked(*pieces: bytes, gate: asyncio.Event | None = None) -> Any:
        def both(body: bytes, until: float) -> tuple[bytes, bool]:
            return body, until > time.monotonic()

        return await bodies.work_on(request(*pieces, gate=gate), "text/plain", both)

    async def scenario() -> None:
        gate = asyncio.Event()
        first = asyncio.create_task(asked(b"a" * 20, b"b", gate=gate))
        await asyncio.sleep(0.05)
        with pytest.raises(HTTPException, match="1 requests of more than 10 bytes are being read"):
            await asked(b"c" * 20)
        assert await asked(b"d" * 9) == (b"d" * 9, True)  # a small one is no trouble
        gate.set()
        assert await first == (b"a" * 20 + b"b", True)
        assert await asked(b"e" * 20) == (b"e" * 20, True)
        with pytest.raises(HTTPException, match="the body has more than 30 bytes"):
            await asked(b"f" * 31)
        assert await asked(b"g" * 30) == (b"g" * 30, True)

    asyncio.run(scenario())
    work.stop()
