"""Crowds of rude clients, and honest ones beside them whose answers are counted."""

from __future__ import annotations

import asyncio
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx


class Rude(NamedTuple):
    """What a rude client sends at once, and what again and again; it reads nothing."""

    first: bytes
    again: bytes


_POST = b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
_GET = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
_SIX_BYTES = b"1\r\nx\r\n"
KINDS = {
    "endless bodies": Rude(
        _POST % b"/v1/suggest" + b"Content-Type: application/json\r\n\r\n", _SIX_BYTES
    ),
    "endless bodies to nowhere": Rude(_POST % b"/nothing" + b"\r\n", _SIX_BYTES),
    "answers not taken": Rude(_GET * 24, _GET),
    "endless headers": Rude(b"GET /health HTTP/1.1\r\nHost: localhost\r\n", b"X: y\r\n"),
    "silence": Rude(b"", b""),
}


SLOW_STREAMS = Rude(
    _POST % b"/v1/suggest-lines" + b"Content-Type: application/x-ndjson\r\n\r\n", b"1\r\n\n\r\n"
)
"""Empty lines, which are answered by errors."""
SLOW_LARGE_BODIES = Rude(
    b"POST /v1/detect-language HTTP/1.1\r\nHost: localhost\r\nContent-Length: 120000\r\n"
    b"Content-Type: application/json\r\n\r\n" + b" " * 100_000,
    b" ",
)


class Question(NamedTuple):
    """What an honest client sends, all at once."""

    path: str
    media_type: str
    body: bytes


SUGGEST = Question(
    "/v1/suggest", "application/json", b'{"documents": [{"text": "the court heard the team"}]}'
)
LINES = Question("/v1/suggest-lines", "application/x-ndjson", b'{"text": "court"}\n' * 20)
LARGE_BODY = Question(
    "/v1/detect-language",
    "application/json",
    b'{"text": "%s", "languages": ["en"]}' % (b"court " * 20_000),
)


@contextmanager
def crowd(address: str, kind: Rude, n: int, pause: float) -> Iterator[list[int]]:
    """Have n rude clients, who come back when they are hung up on; yield how often they came."""
    came, ends = [0], threading.Event()
    thread = threading.Thread(
        target=lambda: asyncio.run(_meet(address, kind, n, pause, came, ends))
    )
    thread.start()
    try:
        yield came
    finally:
        ends.set()
        thread.join()


async def _meet(
    address: str, kind: Rude, n: int, pause: float, came: list[int], ends: threading.Event
) -> None:
    there = urlsplit(address)
    chance = random.Random(1)  # noqa: S311
    clients = [
        asyncio.create_task(
            _be_rude((there.hostname, there.port), kind, pause, chance.uniform(0, pause), came)
        )
        for _ in range(n)
    ]
    while not ends.is_set():
        await asyncio.sleep(0.05)
    for client in clients:
        client.cancel()
    await asyncio.gather(*clients, return_exceptions=True)


async def _be_rude(there: Any, kind: Rude, pause: float, delay: float, came: list[int]) -> None:
    loop = asyncio.get_running_loop()
    await asyncio.sleep(delay)
    while True:
        with socket.socket() as line, suppress(OSError):
            line.setblocking(False)
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            await loop.sock_connect(line, there)
            came[0] += 1
            await loop.sock_sendall(line, kind.first)
            while True:
                await asyncio.sleep(pause)
                await loop.sock_sendall(line, kind.again or _if_open(line))
        await asyncio.sleep(pause)


def _if_open(line: socket.socket) -> bytes:
    """Return nothing; raise if the server has hung up on a client who sends nothing."""
    with suppress(BlockingIOError):
        if not line.recv(1):
            raise ConnectionResetError
    return b""


@dataclass
class Honest:
    """What honest clients, who each time make a new connection, got."""

    answered: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def longest_refusal(self, began: float, ended: float) -> float:
        """Return the longest time in which no client had an answer."""
        times = [began, *sorted(self.answered), ended]
        return max(b - a for a, b in pairwise(times))


def ask_for(
    address: str, seconds: float, n: int = 3, pause: float = 0.2, question: Question = SUGGEST
) -> list[Honest]:
    """Have n honest clients ask for a while; return what each got."""
    until = time.monotonic() + seconds
    found = [Honest() for _ in range(n)]
    threads = [
        threading.Thread(target=_ask, args=(address, until, pause, question, one)) for one in found
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def _ask(address: str, until: float, pause: float, question: Question, got: Honest) -> None:
    headers = {"Content-Type": question.media_type}
    while time.monotonic() < until:
        began = time.monotonic()
        try:
            answer = httpx.post(
                address + question.path, content=question.body, headers=headers, timeout=30
            )
        except httpx.TransportError as error:
            got.refused.append(repr(error))
        else:
            if answer.status_code == 200:
                got.answered.append(time.monotonic())
                got.slowest = max(got.slowest, got.answered[-1] - began)
            else:
                got.refused.append(str(answer.status_code))
        time.sleep(pause)
