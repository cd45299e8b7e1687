"""Connections: clients who are slow, endless, deaf or too many."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.serving import TINY, certificate, dial, listen, running, say

HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
ENDLESS = b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n%s\r\n"
JSON = b"Content-Type: application/json\r\n"


@pytest.fixture(scope="module")
def quick(model: Any) -> Iterator[str]:
    with running(model, TINY) as found:
        yield found


def answered(line: socket.socket) -> bytes:
    """Return the next answer of a line that stays open; all of them are short JSON."""
    found = b""
    while not found.endswith(b"}"):  # head and body may come apart
        piece = line.recv(65536)
        assert piece, found
        found += piece
    return found


def drip(line: socket.socket, piece: bytes = b"1\r\nx\r\n") -> float:
    """Send a little again and again, until the server hangs up; return how long it took."""
    began = time.monotonic()
    with suppress(OSError):
        while time.monotonic() < began + 60:
            line.sendall(piece)
            time.sleep(0.1)
    return time.monotonic() - began


def test_clients_who_never_finish_their_headers_are_hung_up_on(quick: str) -> None:
    assert say(quick, b"") == b""
    assert say(quick, b"GET /health HT") == b""
    with dial(quick) as line:
        line.sendall(HEALTH)
        assert answered(line).startswith(b"HTTP/1.1 200")
        line.sendall(b"GET /he")  # the next request on the same line
        assert listen(line) == b""


def test_headers_that_trickle_in_are_not_waited_for(quick: str) -> None:
    with dial(quick) as line:
        line.sendall(HEALTH[:-2])
        assert drip(line, b"X: y\r\n") < 30
    with dial(quick) as line:  # a request and the beginning of the next, which trickles in too
        line.sendall(HEALTH + HEALTH[:-2])
        assert answered(line).startswith(b"HTTP/1.1 200")
        assert drip(line, b"X: y\r\n") < 30


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        (b"/nothing", b"", b"404"),
        (b"/health", b"", b"405"),
        (b"/v1/suggest", b"", b"415"),
        (b"/v1/suggest", JSON, b"408"),
    ],
)
def test_an_endless_body_is_answered_and_hung_up_on_wherever_it_goes(
    quick: str, path: bytes, headers: bytes, status: bytes
) -> None:
    with dial(quick) as line:
        line.sendall(ENDLESS % (path, headers))
        assert drip(line) < 30
        answer = listen(line)
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert answer.count(b"connection: close") == 1


def test_who_sends_too_much_still_sees_why_it_was_rejected(quick: str) -> None:
    with dial(quick) as line:
        line.sendall(b"POST /v1/suggest HTTP/1.1\r\nHost: localhost\r\n" + JSON)
        line.sendall(b"Content-Length: 3000000\r\n\r\n" + b" " * 3_000_000)
        answer = listen(line)
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"more than 2,000 bytes" in answer


def test_an_answer_that_is_not_taken_is_not_kept(quick: str) -> None:
    """A server that waits for ever would in the end have sent all of it."""
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        host, port = quick.removeprefix("http://").split(":")
        deaf.connect((host, int(port)))
        deaf.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 300)
        time.sleep(3)  # three times as long as it has to take what is written
        taken = listen(deaf)
    assert taken.startswith(b"HTTP/1.1 200")
    assert taken.count(b"HTTP/1.1 200") < 100


def test_over_tls_all_is_as_without(model: Any, tmp_path: Path) -> None:
    tls = certificate(tmp_path)
    context = ssl.create_default_context(cafile=tls[0])
    with running(model, TINY, tls=tls) as address, dial(address):  # which never says anything
        assert httpx.get(f"{address}/v1/model", verify=context).status_code == 200
        with context.wrap_socket(dial(address), server_hostname="127.0.0.1") as line:
            line.sendall(ENDLESS % (b"/nothing", b""))
            assert drip(line) < 30
        with context.wrap_socket(dial(address), server_hostname="127.0.0.1") as deaf:
            deaf.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 900)
            time.sleep(3)
            taken = 0
            with suppress(OSError):
                while piece := deaf.recv(65536):
                    taken += len(piece)
        assert 0 < taken < 900 * 5_000
        assert httpx.get(f"{address}/v1/model", verify=context).status_code == 200


@pytest.mark.slow
def test_those_who_never_agree_on_tls_make_room_for_others(model: Any, tmp_path: Path) -> None:
    tls = certificate(tmp_path)
    context = ssl.create_default_context(cafile=tls[0])
    limits = replace(TINY, connections=8)
    with running(model, limits, tls=tls) as address, ExitStack() as lines:
        silent = [lines.enter_context(dial(address)) for _ in range(12)]
        assert httpx.get(f"{address}/health", verify=context).status_code == 200
        assert listen(silent[0]) == b""  # long before the handshake's time is over
        assert httpx.get(f"{address}/health", verify=context).status_code == 200


def test_after_a_request_of_two_lengths_nothing_more_is_answered(model: Any) -> None:
    body = b'{"documents":[{"text":"a"}]}'
    chunk = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    with running(model, TINY) as address, dial(address) as line:
        line.sendall(
            b"POST /v1/suggest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n%s"
            % (len(chunk), chunk)
            + HEALTH
        )
        assert listen(line).count(b"HTTP/1.1 ") == 1


def test_a_connection_that_asks_nothing_more_is_closed(model: Any) -> None:
    with running(model, replace(TINY, idle_seconds=1)) as address, dial(address) as line:
        line.sendall(HEALTH)
        assert listen(line).startswith(b"HTTP/1.1 200")


def test_for_a_newcomer_the_one_that_has_waited_longest_goes(model: Any) -> None:
    limits = replace(TINY, connections=4, reading_seconds=60)
    with running(model, limits) as address, ExitStack() as lines:
        slow = [lines.enter_context(dial(address)) for _ in range(3)]
        for line in slow:
            line.sendall(HEALTH[:9])
        time.sleep(0.2)
        slow[0].sendall(HEALTH[9:])
        assert answered(slow[0]).startswith(b"HTTP/1.1 200")
        lines.enter_context(dial(address))
        assert httpx.get(f"{address}/health").status_code == 200
        assert listen(slow[1]) == b""  # slow[0] came before it, and has asked something since
        for line in (slow[0], slow[2]):
            line.sendall(HEALTH if line is slow[0] else HEALTH[9:])
            assert answered(line).startswith(b"HTTP/1.1 200")


def test_when_there_are_as_many_as_may_be_an_answer_closes_its_connection(model: Any) -> None:
    limits = replace(TINY, connections=2, reading_seconds=60)
    with running(model, limits) as address, dial(address), dial(address) as line:
        time.sleep(0.2)
        line.sendall(HEALTH * 5)
        assert listen(line).count(b"HTTP/1.1 200") == 1


def test_many_who_send_nothing_keep_nobody_out(model: Any) -> None:
    limits = replace(TINY, connections=5, reading_seconds=60)
    with running(model, limits) as address, ExitStack() as lines:
        for _ in range(30):
            lines.enter_context(dial(address))
        for _ in range(5):
            assert httpx.get(f"{address}/health").status_code == 200
