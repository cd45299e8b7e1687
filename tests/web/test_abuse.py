"""Input that no honest client sends: 4xx and a sentence, never a crash, never a stack trace."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from deplda.web import Limits
from deplda.web.server import Patient
from tests.web.serving import running, text_model

TINY = Limits(
    body_bytes=2_000, documents=2, characters=500, words=3, tokens=600, labels=9, explained=2,
    page=3, waiting=1, seconds=5, reading_seconds=1,
)  # fmt: skip
NESTED = b'{"documents":' + b"[" * 900 + b"]" * 900 + b"}"


@pytest.fixture(scope="module")
def tiny(model: Any) -> Iterator[httpx.Client]:
    with running(model, TINY) as address, httpx.Client(base_url=address) as found:
        yield found


def post(client: httpx.Client, path: str, body: bytes | str) -> httpx.Response:
    return client.post(path, content=body, headers={"Content-Type": "application/json"})


def assert_refused(answer: httpx.Response, status: int, part: str) -> None:
    assert (answer.status_code, part in answer.json()["error"]) == (status, True), answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("body", "status", "part"),
    [
        (b"", 400, "not JSON"),
        (b'{"documents": [{"text": "a"}', 400, "not JSON"),
        (b'{"documents": [{"text": "\xff"}]}', 400, "not JSON"),
        (b'{"documents": [{"text": "a\x00"}]}', 400, "not JSON"),
        (b'{"documents": [{"text": "\\ud800"}]}', 400, "not JSON"),
        (b'{"documents": [{"text": "a"}], "threshold": NaN}', 400, "not JSON"),
        (b"\x00" * 100, 400, "not JSON"),
        (NESTED, 422, "$.documents[0]"),
        (b'{"x": ' + b"[" * 1900, 422, "unknown field `x`"),
        (b"[]", 422, "Expected `object`, got `array`"),
        (b"null", 422, "got `null`"),
        (b'{"documents": []}', 422, "length >= 1"),
        (b'{"documents": [{}]}', 422, "a document is"),
        (b'{"documents": [{"text": "a", "words": {}}]}', 422, "a document is"),
        (b'{"documents": [{"text": null}]}', 422, "$.documents[0].text"),
        (b'{"documents": [{"text": 7}]}', 422, "got `int`"),
        (b'{"documents": [{"text": "a\\u0000"}]}', 422, "character 2 is null"),
        (b'{"documents": [{"text": "a"}, {"text": "a"}, {"text": "a"}]}', 422, "length <= 2"),
        (b'{"documents": [{"text": "%s"}]}' % (b"a" * 501), 422, "length <= 500"),
        (b'{"documents": [{"words": {"a": 1, "b": 1, "c": 1, "d": 1}}]}', 422, "length <= 3"),
        (b'{"documents": [{"words": {"a": 0}}]}', 422, ">= 1"),
        (b'{"documents": [{"words": {"a": 1.5}}]}', 422, "multiple of 1"),
        (b'{"documents": [{"words": {"a": "1"}}]}', 422, "got `str`"),
        (b'{"documents": [{"words": {"court": 500, "game": 101}}]}', 422, "601 tokens are more"),
        (b'{"documents": [{"text": "a"}], "k": 10000}', 422, "<= 9"),
        (b'{"documents": [{"text": "a"}], "k": 0}', 422, ">= 1"),
        (b'{"documents": [{"text": "a"}], "k": -1e308}', 422, ">= 1"),
        (b'{"documents": [{"text": "a"}], "k": 1e999}', 422, "out of range"),
        (b'{"documents": [{"text": "a"}], "k": ' + b"9" * 1000 + b"}", 422, "$.k"),
        (b'{"documents": [{"text": "a"}], "k": true}', 422, "got `bool`"),
        (b'{"documents": [{"text": "a"}], "threshold": "0"}', 422, "$.threshold"),
        (b" " * 2_001, 413, "more than 2,000 bytes"),
    ],
)
def test_bodies_of_another_kind_are_refused(
    tiny: httpx.Client, body: bytes, status: int, part: str
) -> None:
    assert_refused(post(tiny, "/v1/suggest", body), status, part)


@pytest.mark.parametrize(
    ("path", "status", "part"),
    [
        ("/v1/labels?page=0", 422, ">= 1"),
        ("/v1/labels?page=99999999999999999999", 422, "$.page"),
        ("/v1/labels?size=4", 422, "<= 3"),
        ("/v1/labels?page=x", 422, "got `str`"),
        ("/v1/labels?page=1&page=2", 422, "twice"),
        ("/v1/labels?sort=size", 422, "Invalid enum value"),
        ("/v1/labels?other=1", 422, "unknown field"),
        ("/v1/labels?search=" + "x" * 201, 422, "length <= 200"),
        ("/v1/labels/NOTHING", 404, "no label 'NOTHING'"),
        ("/v1/labels/" + "x" * 5_000, 404, "no label 'xxx"),
        ("/v1/labels/%00", 404, r"no label '\x00'"),
        ("/v1/labels/%ff%fe", 404, "no label"),
        ("/v1/topics?set=-1", 422, ">= 0"),
        ("/v1/nothing", 404, "nothing at this address"),
        ("/static/nothing.js", 404, "nothing at this address"),
    ],
)
def test_addresses_of_nothing_are_refused(
    tiny: httpx.Client, path: str, status: int, part: str
) -> None:
    assert_refused(tiny.get(path), status, part)


def test_other_methods_and_types_are_refused(tiny: httpx.Client) -> None:
    answer = tiny.get("/v1/suggest")
    assert_refused(answer, 405, "GET is not allowed")
    assert answer.headers["allow"] == "POST"
    assert_refused(tiny.delete("/v1/labels/LAW"), 405, "DELETE is not allowed")
    form = tiny.post("/v1/suggest", data={"documents": "a"})
    assert_refused(form, 415, "Content-Type: application/json")


def test_an_endless_body_is_cut_off(tiny: httpx.Client) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(3):
            yield b" " * 1_000

    answer = tiny.post(
        "/v1/suggest", content=pieces(), headers={"Content-Type": "application/json"}
    )
    assert_refused(answer, 413, "more than 2,000 bytes")


def dial(address: str) -> socket.socket:
    there = urlsplit(address)
    return socket.create_connection((there.hostname, there.port), timeout=20)


def listen(line: socket.socket) -> bytes:
    """Return all that comes until the server hangs up."""
    found = b""
    with suppress(ConnectionResetError):  # it hung up before it had heard all
        while piece := line.recv(65536):
            found += piece
    return found


def say(address: str, words: bytes) -> bytes:
    with dial(address) as line:
        line.sendall(words)
        return listen(line)


@pytest.mark.parametrize(
    "path",
    [
        b"/static/../app.py",
        b"/static/%2e%2e/app.py",
        b"/static/..%2f..%2fapp.py",
        b"/static/..%5capp.py",
        b"/static//etc/passwd",
        b"/static/%2fetc%2fpasswd",
        b"/static/index.html%00.js",
        b"//etc/passwd",
        b"/../../../../etc/passwd",
        b"/static/",
        b"/%ff%00",
    ],
)
def test_no_path_leads_out_of_the_page(address: str, path: bytes) -> None:
    answer = say(address, b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400"))
    for secret in (b"root:", b"create_app", b"Traceback"):
        assert secret not in answer


def test_what_is_no_http_is_refused_and_the_server_lives(
    address: str, client: httpx.Client
) -> None:
    assert say(address, b"\x16\x03\x01\x02\x00nonsense\r\n\r\n").startswith(b"HTTP/1.1 400")
    long = b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000
    assert not say(address, long + b"\r\n\r\n").startswith(b"HTTP/1.1 2")
    assert client.get("/health").status_code == 200


def test_a_slow_body_is_answered_408(tiny: httpx.Client) -> None:
    head = b"POST /v1/suggest HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    more = b"Connection: close\r\nContent-Length: 100\r\n\r\n{"
    answer = say(str(tiny.base_url), head + more)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"did not come within 1 s" in answer


def test_clients_who_never_finish_their_headers_are_hung_up_on(model: Any) -> None:
    class Impatient(Patient):
        seconds = 0.3

    whole = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    with running(model, http=Impatient, timeout_keep_alive=60) as address:
        assert say(address, b"") == b""
        assert say(address, b"GET /health HT") == b""
        with dial(address) as line:
            line.sendall(whole)
            answer = b""
            while not answer.endswith(b"}"):  # head and body may come apart
                answer += line.recv(65536)
            assert answer.startswith(b"HTTP/1.1 200")
            line.sendall(b"GET /he")  # the next request on the same line
            assert listen(line) == b""


def test_a_full_queue_is_answered_503_and_empties_again() -> None:
    model: Any = text_model()
    rank, go = model.rank, threading.Event()
    ask = {"documents": [{"text": "court"}]}
    with (
        running(model, TINY, threads=1) as address,
        httpx.Client(base_url=address, timeout=20) as client,
    ):
        model.rank = lambda *asked: go.wait(20) and rank(*asked)
        answers: list[int] = []

        def wait_for_one() -> None:
            answers.append(client.post("/v1/suggest", json=ask).status_code)

        waiting = [threading.Thread(target=wait_for_one) for _ in range(2)]
        for thread in waiting:
            thread.start()
        while "deplda_open_requests" not in (text := client.get("/metrics").text) or not (
            text.rstrip().endswith(" 2")
        ):
            pass
        for _ in range(20):
            refused = client.post("/v1/suggest", json=ask)
            assert_refused(refused, 503, "2 requests are waiting")
            assert refused.headers["retry-after"] == "2"
        assert client.get("/health").status_code == 200
        go.set()
        for thread in waiting:
            thread.join()
        assert answers == [200, 200]
        assert client.post("/v1/suggest", json=ask).status_code == 200
        assert 'deplda_refused_total{worker="' in client.get("/metrics").text


def test_work_that_takes_too_long_is_answered_503() -> None:
    model: Any = text_model()
    rank, go = model.rank, threading.Event()
    limits = Limits(seconds=1)
    with (
        running(model, limits, threads=1) as address,
        httpx.Client(base_url=address, timeout=20) as client,
    ):
        model.rank = lambda *asked: go.wait(20) and rank(*asked)
        documents = [{"text": "court"}] * 2
        late = client.post("/v1/suggest", json={"documents": documents})
        assert_refused(late, 503, "no answer within 1 s")
        assert late.headers["retry-after"] == "2"
        go.set()
        assert client.post("/v1/suggest", json={"documents": documents}).status_code == 200


def test_a_mistake_of_ours_is_logged_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    model: Any = text_model()
    with running(model) as address, httpx.Client(base_url=address) as client:

        def fail(*_: Any) -> None:
            raise RuntimeError("secret of the house")

        model.rank = fail
        with caplog.at_level(logging.ERROR, "deplda.web"):
            answer = client.post("/v1/suggest", json={"documents": [{"text": "court"}]})
    assert_refused(answer, 500, "something went wrong here")
    assert "secret" not in answer.text
    assert "secret of the house" in caplog.text


def test_every_answer_has_the_security_headers(client: httpx.Client) -> None:
    for path in ("/", "/static/main.js", "/v1/model", "/nothing", "/metrics"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in policy
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers


def test_assets_are_asked_for_again_by_their_tag(client: httpx.Client) -> None:
    first = client.get("/static/main.js")
    again = client.get("/static/main.js", headers={"If-None-Match": first.headers["etag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert first.headers["content-type"] == "text/javascript; charset=utf-8"


def test_answers_are_json_that_nothing_in_them_can_break(client: httpx.Client) -> None:
    hostile = "</script><script>alert(1)</script>\u2028 court"
    body = json.dumps({"document": {"text": hostile}})
    answer = post(client, "/v1/explain", body)
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["spans"][-1][2] == "court"
