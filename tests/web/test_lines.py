"""Documents as a stream of lines: answers in order, while lines still come, in little memory."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import httpx
import pytest

from deplda.web import Limits
from tests.web.serving import (
    TEXTS,
    assert_rejected,
    dial,
    listen,
    model_of_counts,
    running,
    suggest,
    text_model,
)

PATH, KIND = "/v1/suggest-lines", {"Content-Type": "application/x-ndjson"}
SMALL = Limits(
    body_bytes=500, stream_bytes=2_000, seconds=30, reading_seconds=1, sending_seconds=60
)


def lines_of(documents: list[Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in documents)


def ask(client: httpx.Client, content: Any, **query: Any) -> list[dict[str, Any]]:
    answer = client.post(PATH, content=content, headers=KIND, params=query, timeout=60)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.headers["x-content-type-options"] == "nosniff"
    return [json.loads(line) for line in answer.text.splitlines()]


def wait_for(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline


def test_each_line_is_answered_in_its_place_as_suggest_does(client: httpx.Client) -> None:
    texts = [*TEXTS, "", "zzz"] * 20
    documents = [{"text": text, "id": f"no {n}"} for n, text in enumerate(texts)]
    found = ask(client, lines_of(documents), cutoff=2, k=1)
    assert [(one.pop("line"), one.pop("id")) for one in found] == [
        (n + 1, f"no {n}") for n in range(len(texts))
    ]
    for text, one in list(zip(texts, found, strict=True))[:20]:
        assert [one] == suggest(client, {"text": text}, cutoff=2, k=1)
    (last,) = ask(client, b'{"words": {"court": 2}}')  # no end of line is needed
    assert last["n_tokens"] == 2
    assert ask(client, b"") == []


def test_a_bad_line_is_answered_by_an_error_and_the_others_are_answered(
    client: httpx.Client,
) -> None:
    good = b'{"text": "court"}'
    bad = [b"", b"{", b"[]", b'{"text": 1}', b'{"id": "a"}', b'{"text": "a", "words": {}}', b"\xff"]
    found = ask(client, b"\n".join([good, *bad, good]))
    assert [one["line"] for one in found] == [*range(1, len(bad) + 3)]
    assert found[-1] == found[0] | {"line": len(bad) + 2}
    assert all(one.keys() == {"error", "line", "id"} for one in found[1:-1])
    assert found[1]["error"].startswith("the line is not JSON in UTF-8")
    assert "a document is" in found[5]["error"]


def test_what_the_model_cannot_take_is_said_in_its_place() -> None:
    with running(model_of_counts()) as address, httpx.Client(base_url=address) as client:
        found = ask(client, lines_of([{"text": "court", "id": "x"}, {"words": {"word0": 1}}]))
        unlikely = ask(client, lines_of([{"words": {"word0": 1}}]), threshold=0.5)
    assert "this model knows counts alone" in found[0]["error"]
    assert (found[0]["id"], found[1]["n_tokens"]) == ("x", 1)
    assert ("no probabilities" in str(unlikely)) == (not model_of_counts().has_probabilities)


def test_what_is_asked_wrongly_is_refused_before_anything_is_read(client: httpx.Client) -> None:
    for query in ({"k": 0}, {"cutoff": "best"}, {"threshold": 2}, {"what": 1}):
        refused = client.post(PATH, content=b"{}", headers=KIND, params=query)
        assert refused.status_code == 422, query
    assert_rejected(client.post(PATH, json={}), 415, "send Content-Type: application/x-ndjson")
    assert_rejected(
        client.post(PATH, content=b"", headers=KIND, params={"project": "x"}), 404, "no project"
    )


def test_each_project_answers_its_own_lines() -> None:
    models = {"one": text_model(), "other": text_model({"SPORT": "GAMES"})}
    with running(models) as address, httpx.Client(base_url=address) as client:
        told = {
            project: ask(client, b'{"text": "a game in the arena"}', project=project, cutoff=1)
            for project in models
        }
    labels = {project: line["labels"][0]["label"] for project, (line,) in told.items()}
    assert labels == {"one": "SPORT", "other": "GAMES"}


def test_answers_come_while_lines_are_still_sent(address: str) -> None:
    sent: list[dict[str, Any]] = []
    with dial(address) as line, line.makefile("rb") as answers:
        head = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
        line.sendall(f"{head}Content-Type: application/x-ndjson\r\n\r\n".encode())
        for number in range(1, 4):
            document = lines_of([{"text": "court", "id": str(number)}])
            line.sendall(f"{len(document):x}\r\n".encode() + document + b"\r\n")
            if number == 1:
                assert b"200" in answers.readline()
                while answers.readline() != b"\r\n":
                    pass
            size = int(answers.readline(), 16)
            sent.append(json.loads(answers.read(size + 2)))
        line.sendall(b"0\r\n\r\n")
        begin = time.monotonic()
        assert answers.read() == b"0\r\n\r\n"
        assert time.monotonic() - begin < 0.9  # nobody waits for what has come already
    assert [(one["line"], one["id"]) for one in sent] == [(1, "1"), (2, "2"), (3, "3")]


@pytest.fixture(scope="module")
def small() -> Iterator[httpx.Client]:
    with (
        running(text_model(), SMALL) as address,
        httpx.Client(base_url=address, timeout=60) as found,
    ):
        yield found


def test_a_line_that_is_too_long_is_not_kept(small: httpx.Client) -> None:
    long, good = b'{"text": "' + b"a" * 300_000 + b'"}\n', b'{"text": "court"}\n'
    found = ask(small, [good, long, good, long[:600]])
    assert [one.get("error") for one in found] == [
        None, "the line has more than 500 bytes; send less", None,
        "the line has more than 500 bytes; send less",
    ]  # fmt: skip


def test_a_line_that_does_not_come_ends_the_stream(small: httpx.Client) -> None:
    def slowly() -> Iterator[bytes]:
        yield b'{"text": "court"}\n{"text":'
        time.sleep(3)
        yield b'"judge"}\n'

    found = ask(small, slowly())
    assert "labels" in found[0]
    assert found[1:] == [{"error": "the line did not come within 1 s", "line": 2, "id": None}]


def open_line(client: httpx.Client) -> Any:
    line = dial(str(client.base_url))
    head = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n"
    line.sendall(f"{head}Content-Type: application/x-ndjson\r\n\r\n".encode())
    return line


def test_slow_streams_keep_nobody_from_a_stream(small: httpx.Client) -> None:
    with ExitStack() as lines:
        for _ in range(20):
            lines.enter_context(open_line(small)).sendall(b'{"text": "court"}\n{"text": ')
        assert "labels" in ask(small, b'{"text": "court"}')[0]
        assert suggest(small, {"text": "court"})


def test_the_stream_that_is_slowest_goes_when_too_many_bytes_are_held() -> None:
    limits = Limits(large_body_bytes=50_000, held_bytes=50_000)
    with (
        running(text_model(), limits) as address,
        httpx.Client(base_url=address, timeout=60) as client,
        ExitStack() as lines,
    ):
        begun = b'{"text": "' + b"a" * 20_000
        slow, faster = (lines.enter_context(open_line(client)) for _ in range(2))
        slow.sendall(b'{"text": "court"}\n' + begun)
        assert slow.recv(1)
        faster.sendall(begun)
        time.sleep(0.2)
        faster.sendall(b' court"}\n')  # an answer begins a new wait
        assert faster.recv(1)
        faster.sendall(begun)
        time.sleep(0.2)
        assert "labels" in ask(client, b'{"text": "court"}\n' + begun + b'"}')[0]
        slow.settimeout(10)
        assert b"labels" in listen(slow)  # and then it was disconnected
        faster.sendall(b' court"}\n')
        assert faster.recv(1)


def send_on(line: Any, document: bytes) -> None:
    """Send it again and again, until no more is taken for three seconds."""
    line.settimeout(3)
    while True:
        line.sendall(document)


def n_answered(client: httpx.Client) -> int:
    found = re.search(r"deplda_documents_total\{.*\} (\S+)", client.get("/metrics").text)
    assert found
    return int(float(found[1]))


def test_nothing_more_is_read_while_the_client_takes_no_answers() -> None:
    with (
        running(text_model(), replace(SMALL, reading_seconds=60)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
        open_line(client) as line,
    ):
        with pytest.raises(TimeoutError):
            send_on(line, b'{"text": "the court heard the lawsuit"}\n')
        before = n_answered(client)
        assert n_answered(client) == before > 0
        line.settimeout(60)
        taking = threading.Thread(target=listen, args=[line])
        taking.start()
        wait_for(lambda: n_answered(client) > before)
        line.shutdown(socket.SHUT_WR)
        taking.join()
