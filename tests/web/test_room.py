"""Room for clients: the one that has kept the service waiting longest makes room for others."""

from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack
from types import SimpleNamespace

import httpx
import pytest
from starlette.exceptions import HTTPException

from deplda.web import Limits, create_app
from deplda.web.room import Client, Room
from tests.web.serving import dial, listen, running, text_model


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the time that the room reads, which a test sets."""
    now = [100.0]
    # Not the clock of all modules: event loops of other tests' servers would wait for hours.
    monkeypatch.setattr("deplda.web.room.time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


class Clients:
    """A room with clients by name."""

    def __init__(self, connections: int = 10, held_bytes: int = 100) -> None:
        limits = Limits(connections=connections, held_bytes=held_bytes, large_body_bytes=1)
        self.room, self.disconnected, self.refused = Room(limits), list[str](), 0

    def enter(self, name: str) -> Client:
        client = Client(self.room, lambda: self.disconnected.append(name))
        client.wait_for("headers")
        return client


def test_the_slowest_connection_goes() -> None:
    clients = Clients(connections=3)
    working, slow, faster = (clients.enter(name) for name in ("working", "slow", "faster"))
    working.wait_for(None)
    slow.wait_for("body")  # of the same request: the wait continues
    clients.enter("a")
    assert clients.disconnected == ["slow"]
    faster.wait_for(None)
    faster.wait_for("next request")
    clients.enter("b")
    assert clients.disconnected == ["slow", "a"]
    clients.enter("c")
    assert clients.disconnected == ["slow", "a", "faster"]


def test_those_that_are_worked_for_stay_and_the_newcomer_too() -> None:
    clients = Clients(connections=2)
    for _ in range(2):
        clients.enter("working").wait_for(None)
    newcomer = clients.enter("newcomer")
    newcomer.hold(10)
    assert clients.disconnected == []
    clients.enter("another")
    assert clients.disconnected == ["newcomer"]


def test_the_slowest_client_that_holds_bytes_goes() -> None:
    clients = Clients(held_bytes=100)
    clients.enter("holds nothing")
    one, other = clients.enter("one"), clients.enter("other")
    one.hold(60)
    other.hold(40)
    one.restart()
    clients.enter("third").hold(10)
    assert (clients.disconnected, clients.room.n_bytes) == (["other"], 70)
    one.wait_for(None)
    with pytest.raises(HTTPException, match="101 bytes are held; try again") as refused:
        clients.enter("large").hold(41)  # the third makes room, which is not enough
    assert (refused.value.status_code, clients.disconnected) == (503, ["other", "third"])
    one.count(-1_000)
    assert clients.room.n_bytes == 41
    one.leave()
    one.wait_for("body")
    assert one not in clients.room.waiting


def test_a_wait_begins_with_the_request_and_with_what_a_stream_is_answered(
    clock: list[float],
) -> None:
    client = Clients().enter("client")
    clock[0] = 103
    client.wait_for("body")
    assert client.since == 100
    client.restart()
    assert client.since == 103


def test_a_client_that_sends_fast_does_not_keep_the_service_waiting(clock: list[float]) -> None:
    clients = Clients(held_bytes=10 << 20)
    fast, slow = clients.enter("fast"), clients.enter("slow")
    slow.hold(4 << 20)
    for _ in range(4):
        clock[0] += 1
        fast.hold(1 << 20)
    clients.enter("newcomer").hold(3 << 20)
    assert clients.disconnected == ["slow"]


def test_a_crowd_of_slow_clients_disconnects_no_honest_one(clock: list[float]) -> None:
    """In each turn a slow client comes and never ends; honest ones need three turns for a body."""
    clients = Clients(connections=8, held_bytes=100)
    honest: list[Client] = []
    for turn in range(2_000):
        clock[0] += 0.1
        clients.enter("slow").hold(20)
        honest.append(clients.enter("honest"))
        for client in honest:
            client.wait_for("body")
            client.hold(8)
        if turn >= 2:
            done = honest.pop(0)
            done.wait_for(None)
            done.count(-24)
            done.leave()
    assert set(clients.disconnected) == {"slow"}
    assert len(clients.disconnected) > 1_900


def test_a_step_that_takes_too_long_disconnects_its_client() -> None:
    async def scenario() -> list[str]:
        clients = Clients()
        clients.enter("quick").wait_for("taking", 0.01)
        clients.enter("done").wait_for("taking", 0.01)
        done = next(c for c in clients.room.clients if c.since is not None)
        done.wait_for(None)
        await asyncio.sleep(0.1)
        return clients.disconnected

    assert len(asyncio.run(scenario())) == 1


BODY = b'[{"text": "' + b"a" * 8_000
HEAD = b"POST /v1/detect-language HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def test_slow_large_bodies_make_room_for_others() -> None:
    limits = Limits(body_bytes=2_000, large_body_bytes=20_000, held_bytes=25_000)
    document = {"text": "a" * 9_000, "languages": ["en"]}
    with running(text_model(), limits) as address, ExitStack() as lines:
        slow = [lines.enter_context(dial(address)) for _ in range(2)]
        for line in slow:
            line.sendall(HEAD + b"Content-Length: 9000\r\n\r\n" + BODY)
            time.sleep(0.2)
        for _ in range(20):
            answer = httpx.post(f"{address}/v1/detect-language", json=document)
            assert answer.status_code == 200, answer.text
        assert listen(slow[0]) == b""
        slow[1].sendall(b"a" * (9_000 - len(BODY)))  # no JSON, but all of it was read
        assert slow[1].recv(65536).startswith(b"HTTP/1.1 400")


def test_on_another_server_too_many_bytes_are_refused() -> None:
    limits = Limits(large_body_bytes=1_000, held_bytes=1_000)
    app = create_app(text_model(), limits)

    async def ask(n: int) -> int:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            document = {"documents": [{"text": "a" * n}]}
            return (await client.post("/v1/suggest", json=document)).status_code

    assert [asyncio.run(ask(n)) for n in (2_000, 10)] == [503, 200]
