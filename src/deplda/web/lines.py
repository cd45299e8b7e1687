"""Documents as a stream of lines, answered by one, in their order and in constant memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import msgspec
from msgspec import structs
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from deplda.errors import DepldaError
from deplda.models.suggesting import Asked
from deplda.web.answers import LineError, Suggested, SuggestedLine
from deplda.web.counters import Counters
from deplda.web.limits import Limits
from deplda.web.requests import check_media_type, decode_json
from deplda.web.room import Client
from deplda.web.service import ModelService
from deplda.web.work import Work

log = logging.getLogger("deplda.web")

MEDIA_TYPE = "application/x-ndjson"
_AHEAD = 32
"""Documents of a stream that wait for the model: others who ask are to have their turn."""
_ALL_AHEAD = 128
"""Documents of all streams that wait for the model."""


class Streams:
    """The streams of a process, which take turns."""

    def __init__(self, limits: Limits, work: Work, kind: Any, counters: Counters) -> None:
        self.limits, self.work, self.counters = limits, work, counters
        self.line_type, self.turns = kind, asyncio.Semaphore(_ALL_AHEAD)

    def answer(self, request: Request, service: ModelService, wanted: Asked) -> Response:
        """Return what answers the lines of a request when it is called.

        The model stays the same for all of them.
        """
        check_media_type(request, MEDIA_TYPE)
        return _Stream(self, request.state.client, service, wanted)


class _Asked(NamedTuple):
    """A line that waits for its answer."""

    size: int
    number: int
    id: str | None
    found: asyncio.Future[Suggested] | str
    """What is suggested, or what is wrong with the line."""


class _Stream(Response):
    """Reads lines, has them answered, and sends the answers, all at the same time.

    What is held, lines and answers, is little: nothing more is read while it is too much.
    """

    media_type = MEDIA_TYPE

    def __init__(
        self, streams: Streams, client: Client, service: ModelService, wanted: Asked
    ) -> None:
        self.status_code, self.background = 200, None
        self.init_headers({"Cache-Control": "no-store"})
        self._streams, self._client = streams, client
        self._service, self._wanted = service, wanted
        self._waiting: asyncio.Queue[_Asked | None] = asyncio.Queue(_AHEAD)
        self._answers: list[bytes] = []
        self._is_over, self._changed = False, asyncio.Condition()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer; the first answer, before which nothing is sent, lets a client send its lines."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._read(receive))
            group.create_task(self._collect())
            body = await self._next_answers(0)
            start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
            await send(start)
            while body:
                await send({"type": "http.response.body", "body": body, "more_body": True})
                self._client.restart()
                body = await self._next_answers(len(body))
            await send({"type": "http.response.body", "body": b""})

    async def _read(self, receive: Receive) -> None:
        """Ask for an answer to each line, as far ahead as may be."""
        number, limits, client = 0, self._streams.limits, self._client
        try:
            async for line in _lines(receive, limits, client):
                number += 1
                async with self._changed:
                    await self._changed.wait_for(lambda: client.n_bytes <= limits.stream_bytes)
                    client.count(len(line or b""))
                await self._waiting.put(await self._ask(number, line))
        except TimeoutError:
            problem = f"the line did not come within {limits.reading_seconds:g} s"
            await self._waiting.put(_Asked(0, number + 1, None, problem))
        except HTTPException as error:
            await self._waiting.put(_Asked(0, number + 1, None, error.detail))
        await self._waiting.put(None)

    async def _ask(self, number: int, line: bytes | None) -> _Asked:
        """Return a line that waits for its answer; None is one that was too long."""
        streams, size = self._streams, len(line or b"")
        if line is None:
            most = f"{streams.limits.body_bytes:,}"
            return _Asked(size, number, None, f"the line has more than {most} bytes; send less")
        try:
            document = decode_json(line, streams.line_type, "the line")
        except HTTPException as error:
            return _Asked(size, number, None, error.detail)
        await streams.turns.acquire()
        found = streams.work.do_soon(self._service.suggest, (document, "$"), self._wanted)
        found.add_done_callback(lambda _: streams.turns.release())
        return _Asked(size, number, document.id, found)

    async def _collect(self) -> None:
        """Take answers in their order, and let them be sent."""
        while (asked := await self._waiting.get()) is not None:
            answer = await _answer(asked)
            self._streams.counters.count_documents(isinstance(answer, SuggestedLine))
            line = msgspec.json.encode(answer) + b"\n"
            async with self._changed:
                self._answers.append(line)
                self._client.count(len(line) - asked.size)
                self._changed.notify_all()
        async with self._changed:
            self._is_over = True
            self._changed.notify_all()

    async def _next_answers(self, n_sent: int) -> bytes:
        """Drop the answers that were sent; return the next ones, as soon as there are some."""
        async with self._changed:
            self._client.count(-n_sent)
            self._changed.notify_all()
            await self._changed.wait_for(lambda: self._answers or self._is_over)
            answers, self._answers = b"".join(self._answers), []
        return answers


async def _answer(asked: _Asked) -> SuggestedLine | LineError:
    """Return the answer to a line, or why there is none."""
    _, number, id, found = asked
    if isinstance(found, str):
        return LineError(found, number, id)
    try:
        return SuggestedLine(**structs.asdict(await found), line=number, id=id)
    except HTTPException as error:
        return LineError(error.detail, number, id)
    except DepldaError as error:
        return LineError(str(error), number, id)
    except Exception:
        log.exception("line %d of a stream failed", number)
        return LineError("something went wrong here; it is in the log", number, id)


async def _lines(receive: Receive, limits: Limits, client: Client) -> AsyncIterator[bytes | None]:
    """Yield the lines of a body, None for one that is too long; raise if one is slow.

    When the client is gone, the lines that came in full are the last.
    """
    clock, begun, is_long, more = asyncio.get_running_loop().time, bytearray(), False, True
    most, seconds = limits.body_bytes, limits.reading_seconds
    latest = clock() + seconds
    while more:
        async with asyncio.timeout_at(latest):
            message = await receive()
        if message["type"] == "http.disconnect":
            return
        more = message.get("more_body", False)
        *ends, beginning = message.get("body", b"").split(b"\n")
        for end in ends:
            client.count(-len(begun))
            begun += end
            yield None if is_long or len(begun) > most else bytes(begun)
            begun, is_long = bytearray(), False
            latest = clock() + seconds
        begun += beginning
        client.hold(len(beginning))
        if len(begun) > most:
            client.count(-len(begun))
            begun, is_long = bytearray(), True
    if begun or is_long:
        yield None if is_long else bytes(begun)
