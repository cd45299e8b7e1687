"""Input that no honest client sends: 4xx and a sentence, never a crash, never a stack trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.web.serving import TINY, assert_rejected, post, running, say

NESTED = b'{"documents":' + b"[" * 900 + b"]" * 900 + b"}"


@pytest.fixture(scope="module")
def tiny(model: Any) -> Iterator[httpx.Client]:
    with running(model, TINY) as address, httpx.Client(base_url=address) as found:
        yield found


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
def test_bodies_of_another_kind_are_rejected(
    tiny: httpx.Client, body: bytes, status: int, part: str
) -> None:
    assert_rejected(post(tiny, "/v1/suggest", body), status, part)


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
def test_addresses_of_nothing_are_rejected(
    tiny: httpx.Client, path: str, status: int, part: str
) -> None:
    assert_rejected(tiny.get(path), status, part)


def test_other_methods_and_types_are_rejected(tiny: httpx.Client) -> None:
    answer = tiny.get("/v1/suggest")
    assert_rejected(answer, 405, "GET is not allowed")
    assert answer.headers["allow"] == "POST"
    assert_rejected(tiny.delete("/v1/labels/LAW"), 405, "DELETE is not allowed")
    form = tiny.post("/v1/suggest", data={"documents": "a"})
    assert_rejected(form, 415, "Content-Type: application/json")


def test_an_endless_body_is_cut_off(tiny: httpx.Client) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(3):
            yield b" " * 1_000

    answer = tiny.post(
        "/v1/suggest", content=pieces(), headers={"Content-Type": "application/json"}
    )
    assert_rejected(answer, 413, "more than 2,000 bytes")


def test_a_slow_body_is_answered_408(tiny: httpx.Client) -> None:
    head = b"POST /v1/suggest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    more = b"Connection: close\r\nContent-Length: 100\r\n\r\n{"
    answer = say(str(tiny.base_url), head + more)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"did not come within 1 s" in answer
