"""Requests that no honest client sends, in number: each is answered in HTTP, and nothing stays."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes, urlsplit

import h11
import httpx
import pytest

from tests.abuse.conftest import Amount
from tests.abuse.mutation import mutated_bytes, mutated_value
from tests.web.serving import post, started_with_limits, text_model

TEXT = "The court heard the team; a game of the league, the jury and a lawsuit."
CONFIG = (
    '<View><Text name="t" value="$text"/><Taxonomy name="c" toName="t"><Choice value="society">'
    '<Choice value="LAW"/></Choice></Taxonomy></View>'
)
BODIES: dict[str, list[Any]] = {
    "/v1/suggest": [
        {"documents": [{"text": TEXT}, {"words": {"court": 2, "game": 1}}], "k": 3},
        {"documents": [{"text": TEXT}], "k": 10, "threshold": 0.1},
    ],
    "/v1/explain": [
        {"document": {"text": TEXT}, "k": 2, "n_words": 5},
        {"document": {"words": {"court": 2, "game": 1}}, "k": 1},
    ],
    "/v1/projects/model/suggest-batch?limit=2": [
        {"documents": [{"text": TEXT, "document_id": "a", "metadata": {"b": "c"}}, {"text": ""}]},
    ],
    "/v1/projects/model/learn": [
        [{"text": TEXT, "subjects": [{"uri": "LAW", "label": "law"}], "metadata": {"b": "c"}}],
    ],
    "/v1/detect-language": [{"text": TEXT, "languages": ["en", "fi"]}],
    "/setup": [{"schema": CONFIG, "access_token": "a", "extra_params": None}],
    "/label-studio/model/predict": [
        {
            "tasks": [{"id": 1, "data": {"text": TEXT}}, {"data": {"text": ""}}],
            "label_config": CONFIG,
        },
    ],
    "/webhook": [
        {
            "action": "ANNOTATION_CREATED",
            "project": {"id": 1, "label_config": CONFIG},
            "task": {"id": 1, "data": {"text": TEXT}},
            "annotation": {
                "result": [{"from_name": "c", "value": {"taxonomy": [["society", "LAW"]]}}],
                "was_cancelled": False,
            },
        },
    ],
}
FORMS = [b"text=The+court&limit=2&threshold=0.1&language=&metadata_a=b", b"text=%C3%A4%20court"]
PATHS = [
    b"/", b"/health", b"/health/", b"/metrics", b"/openapi.json", b"/v1/model", b"/v1/labels",
    b"/v1/labels/LAW", b"/v1/labels/%2e%2e", b"/v1/topics", b"/v1/suggest", b"/v1/explain",
    b"/v1/", b"/v1", b"/v1/vocabs", b"/v1/projects", b"/v1/projects/model", b"/v1/projects/%2e%2e",
    b"/v1/projects/model/suggest", b"/v1/projects/model/learn", b"/v1/detect-language",
    b"/setup", b"/label-studio/model/health", b"/label-studio/%2e%2e/predict",
    b"/static/main.js", b"/static/..%2fapp.py", b"/%ff%00", b"//", b"*", b"localhost:80",
    b"http://localhost/health", b"/" + b"a" * 5_000,
]  # fmt: skip
QUERIES = [
    b"", b"?", b"?page=1&size=2", b"?search=co&sort=name", b"?set=0", b"?page=-1", b"?page=1e9",
    b"?set=99999999999999999999", b"?sort=%00", b"?search=" + b"%ff" * 300, b"?a&a&a", b"?=&&=;",
    b"?project=model", b"?project=%00", b"?project=a&project=b", b"?page=%D9%A1",
    b"?search=%F0%9F%98%80",
]  # fmt: skip
METHODS = [
    b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"PATCH", b"TRACE", b"CONNECT",
    b"PRI", b"get", b"G\x00T", b"M" * 300, b"",
]  # fmt: skip
HEADERS = [
    b"Content-Length: -1", b"Content-Length: 99999999999999999999", b"Content-Length: 3",
    b"Content-Length: 1, 2", b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked",
    b"Transfer-Encoding: \x0bchunked", b"Expect: 100-continue", b"Expect: x", b"Upgrade: websocket",
    b"Connection: Upgrade", b"Connection: keep-alive, close", b"Upgrade: h2c",
    b"Host: evil.example", b"Host: localhost", b"Content-Type: application/json",
    b"Content-Type: text/html", b"Content-Type: application/x-www-form-urlencoded",
    b"Content-Type: multipart/form-data; boundary=x",
    b"Content-Type: application/json; charset=utf-16", b"Content-Encoding: gzip",
    b"Range: bytes=0-", b"Range: bytes=5-1", b"Range: bytes=0-0,2-2,-1", b"Range: bytes=a-b",
    b"Range: bytes=" + b"0-0," * 500 + b"1-1", b"If-Range: x", b"If-None-Match: *",
    b"If-Modified-Since: yesterday", b"If-Modified-Since: Mon, 01 Jan 0000 00:00:00 GMT",
    b"Cookie: " + b"a=b; " * 1_000, b"Authorization: Bearer \xff", b"Origin: null",
    b"X-Forwarded-For: ' OR 1=1", b"X-Forwarded-Host: evil.example", b"Accept: \xc3\xa9", b":",
    b" folded: yes", b"No-Colon", b"Empty:", b"Accept-Encoding: gzip;q=nan",
]  # fmt: skip
CONTENTS = [
    b"", b"{}", b"0\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n", b"ffffffffffffffffff\r\n",
    json.dumps(BODIES["/v1/suggest"][0]).encode(), b"GET /health HTTP/1.1\r\n\r\n",
    FORMS[0], b"text=%", b"&" * 2_000,
]  # fmt: skip
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
LIMITS = {"reading_seconds": 1, "sending_seconds": 2, "idle_seconds": 1}
MOST_GROWTH = 50  # megabytes
AT_ONCE = 60


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, str, list[str]]]:
    with started_with_limits(text_model(), tmp_path_factory.mktemp("routes"), LIMITS) as found:
        yield found


def sane_answers(address: str) -> dict[str, bytes]:
    """Return what does not depend on what was asked before."""
    with httpx.Client(base_url=address, timeout=60) as client:
        found = {
            path: client.post(path, json=bodies[0])
            for path, bodies in BODIES.items()
            if not path.endswith("/learn")
        }
        for path in ("/health", "/", "/v1/model", "/v1/labels", "/v1/topics", "/openapi.json"):
            found[path] = client.get(path)
    assert {answer.status_code for answer in found.values()} == {200}
    return {path: answer.content for path, answer in found.items()}


def megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    found = re.search(r"VmRSS:\s+(\d+)", status)
    assert found
    return int(found[1]) / 1024


def is_error(answer: httpx.Response) -> bool:
    """Return whether an answer has the form of an error, ours or Annif's."""
    told = answer.json() if answer.content else {}
    is_annif = answer.headers.get("content-type") == "application/problem+json"
    return ("detail" if is_annif else "error") in told


def odd_body(chance: random.Random) -> tuple[str, bytes]:
    path = chance.choice([*BODIES])
    value = chance.choice(BODIES[path])
    if chance.random() < 0.7:
        return path, json.dumps(mutated_value(value, chance)).encode()
    return path, mutated_bytes(json.dumps(value).encode(), chance)


def odd_request(chance: random.Random) -> bytes:
    """Return the bytes of a request, of odd parts, or further damaged."""
    target = chance.choice(PATHS) + chance.choice(QUERIES)
    if chance.random() < 0.1:
        target = b"/" + quote_from_bytes(chance.randbytes(20)).encode()
    headers = [b"Host: localhost", b"Connection: close"][: chance.randint(0, 6)]
    headers += chance.sample(HEADERS, chance.randint(0, 3))
    chance.shuffle(headers)
    head = b"%s %s HTTP/%s\r\n" % (
        chance.choice(METHODS), target, chance.choice([b"1.1"] * 5 + [b"1.0", b"2.0", b"9", b""]),
    )  # fmt: skip
    whole = head + b"".join(line + b"\r\n" for line in headers) + b"\r\n" + chance.choice(CONTENTS)
    return mutated_bytes(whole, chance) if chance.random() < 0.5 else whole


async def answers_to(address: str, requests: list[bytes]) -> list[bytes]:
    """Send each request on a line of its own; return all that came until it was hung up."""
    turn = asyncio.Semaphore(AT_ONCE)
    there = urlsplit(address)

    async def ask(request: bytes) -> bytes:
        async with turn:
            reader, writer = await asyncio.open_connection(there.hostname, there.port)
            found = b""
            try:
                writer.write(request)
                while piece := await asyncio.wait_for(reader.read(65536), 60):
                    found += piece
            except ConnectionResetError:
                pass  # it hung up before it had heard all
            finally:
                writer.transport.abort()
            return found

    return await asyncio.gather(*map(ask, requests))


def statuses(request: bytes, answers: bytes) -> Iterator[int]:
    """Yield the status of each answer; raise if one is not HTTP, or not whole."""
    while answers:
        reader = h11.Connection(h11.CLIENT)
        # What is not HTTP, or comes after a HEAD, is answered with a body in any case.
        next_answer = answers.partition(b"\r\n\r\n")[2]
        bodiless = not next_answer or next_answer.startswith(b"HTTP/1.1 ")
        is_head = bodiless and request.lstrip(b"\r\n").startswith(b"HEAD ")
        method = b"HEAD" if is_head else b"GET"
        reader.send(h11.Request(method=method, target=b"/", headers=[(b"Host", b"x")]))
        reader.send(h11.EndOfMessage())
        reader.receive_data(answers)
        reader.receive_data(b"")
        while not isinstance(event := reader.next_event(), h11.EndOfMessage):
            assert isinstance(event, h11.Response | h11.Data | h11.InformationalResponse), event
            if isinstance(event, h11.Response):
                yield event.status_code
        answers = reader.trailing_data[0]


def test_odd_requests_are_answered_and_leave_nothing_behind(
    server: tuple[Any, str, list[str]], amount: Amount, record_property: Any
) -> None:
    process, address, log = server
    before, size_before = sane_answers(address), megabytes(process.pid)
    chance, seen = random.Random(7), Counter[int]()  # noqa: S311
    with httpx.Client(base_url=address, timeout=60) as client:
        for _ in range(amount(150, 7_500)):
            path, body = odd_body(chance)
            answer = post(client, path, body)
            seen[answer.status_code] += 1
            assert answer.status_code < 500 or answer.status_code == 503, body
            assert (answer.status_code < 300) != is_error(answer), body
            form = mutated_bytes(chance.choice(FORMS), chance)
            answer = client.post("/v1/projects/model/suggest", content=form, headers=FORM)
            seen[answer.status_code] += 1
            assert answer.status_code in (200, 400), form
            assert (answer.status_code == 200) != is_error(answer), form
    for _ in range(amount(1, 50)):
        requests = [odd_request(chance) for _ in range(150)]
        for request, told in zip(requests, asyncio.run(answers_to(address, requests)), strict=True):
            try:
                found = [*statuses(request, told)]
            except h11.RemoteProtocolError as error:
                pytest.fail(f"{error}: {request!r} was answered by {told!r}")
            assert all(status < 500 or status == 503 for status in found), (request, told)
            seen.update(found or [0])
        assert process.poll() is None, "".join(log[-50:])
    record_property("statuses, 0 is hung up on", str(seen))
    record_property("MB before and after", f"{size_before:.0f}, {megabytes(process.pid):.0f}")
    assert len(seen) > 6, seen
    assert sane_answers(address) == before
    assert megabytes(process.pid) < size_before + MOST_GROWTH
    assert not [line for line in log if "Traceback" in line], "".join(log)
