"""Who may come in: names of the service, and its token."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from deplda import InputError
from deplda.web import create_app
from deplda.web.access import check_exposure, host_name, read_token
from tests.web.serving import assert_rejected, running, say

SECRET = "it-is-a-secret-of-ours"  # noqa: S105
SHOWN = {"Authorization": f"Bearer {SECRET}"}


@pytest.fixture(scope="module")
def closed(model: Any) -> Iterator[httpx.Client]:
    with (
        running(model, token=SECRET, origins=["https://other.example"]) as address,
        httpx.Client(base_url=address) as found,
    ):
        yield found


@pytest.mark.parametrize(
    "host",
    ["localhost", "LocalHost:8000", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8000"],
)
def test_the_loopback_has_its_names(client: httpx.Client, host: str) -> None:
    assert client.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example",
        "evil.example@localhost", "localhost@evil.example", "localhost:8000:1", "localhost/x",
        "[::1", "::1", "localhost:", "127.0.0.2", "", "a" * 5_000,
    ],
)  # fmt: skip
def test_what_is_meant_for_another_host_is_rejected(client: httpx.Client, host: str) -> None:
    for path in ("/", "/health", "/v1/model", "/nothing"):
        answer = client.get(path, headers={"Host": host})
        assert_rejected(answer, 421, "--allowed-host")
        assert len(answer.content) < 300


def test_a_request_without_a_host_is_rejected(address: str) -> None:
    assert say(address, b"GET /health HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 421")
    assert say(address, b"GET /health HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 400")
    twice = b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"
    assert say(address, twice).startswith(b"HTTP/1.1 400")


def test_nobody_is_sent_to_another_address(client: httpx.Client) -> None:
    for path in ("/health/", "/v1/model/", "/v1/suggest/", "//evil.example/health/"):
        answer = client.get(path)
        assert_rejected(answer, 404, "nothing at this address")
        assert "location" not in answer.headers


def test_names_of_hosts_are_read_and_what_is_none_is_said() -> None:
    assert host_name("Labels.Example.org") == "labels.example.org"
    assert host_name("::1") == host_name("[::1]") == "[::1]"
    for wrong in ("https://labels.example.org", "labels.example.org:80", "", "*", "a b", "[::1"):
        with pytest.raises(InputError, match="is not the name of a host; give it without"):
            host_name(wrong)


def test_without_the_token_only_the_page_and_health_are_there(closed: httpx.Client) -> None:
    for path in ("/health", "/", "/static/main.js", "/static/style.css"):
        assert closed.get(path).status_code == 200
    wrong = [
        {}, {"Authorization": ""}, {"Authorization": "Bearer"},
        {"Authorization": f"Basic {SECRET}"}, {"Authorization": SECRET},
        {"Authorization": f"Bearer {SECRET}x"}, {"Authorization": f"Bearer {SECRET[:-1]}"},
        {"Authorization": f"Bearer {SECRET.upper()}"}, {"Authorization": f"Bearer {SECRET} x"},
        {"Authorization": b"Bearer \xff\xfe"},
    ]  # fmt: skip
    paths = ("/v1/model", "/v1/labels/LAW", "/metrics", "/openapi.json", "/health/", "/nothing")
    for headers in wrong:
        for path in paths if headers == {} else paths[:1]:
            answer = closed.get(path, headers=headers)  # type: ignore[arg-type]
            assert_rejected(answer, 401, "Authorization: Bearer")
            assert answer.headers["www-authenticate"].startswith("Bearer")
    assert_rejected(closed.post("/v1/suggest", json={}), 401, "token")


def test_with_the_token_all_is_there(closed: httpx.Client) -> None:
    for path in ("/v1/model", "/v1/labels/LAW", "/metrics", "/openapi.json"):
        assert closed.get(path, headers=SHOWN).status_code == 200
    lower = {"Authorization": f"bearer {SECRET}"}
    assert closed.get("/v1/model", headers=lower).status_code == 200


def test_the_token_is_told_nowhere(closed: httpx.Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for path in ("/", "/v1/model", "/openapi.json", "/metrics", "/health", "/nothing"):
            answer = closed.get(path, headers=SHOWN)
            assert SECRET not in answer.text + str(answer.headers)
        closed.get("/v1/model", headers={"Authorization": f"Bearer {SECRET}x"})
    of_ours = [each.getMessage() for each in caplog.records if each.name.startswith("deplda")]
    assert of_ours
    assert SECRET not in "".join(of_ours)
    with pytest.raises(InputError) as raised:
        create_app(None, token="short secret")  # type: ignore[arg-type]  # noqa: S106
    assert "short secret" not in str(raised.value)


def test_the_description_says_that_there_is_a_token(closed: httpx.Client) -> None:
    found = closed.get("/openapi.json", headers=SHOWN).json()
    assert found["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert found["paths"]["/v1/model"]["get"]["security"] == [{"token": []}]
    assert "security" not in found["paths"]["/health"]["get"]


def test_other_sites_that_are_named_may_send_the_token(closed: httpx.Client) -> None:
    asking = {
        "Origin": "https://other.example", "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }  # fmt: skip
    answer = closed.options("/v1/suggest", headers=asking)
    assert answer.status_code == 200
    assert "Authorization" in answer.headers["access-control-allow-headers"]


@pytest.mark.parametrize(
    ("token", "part"),
    [
        ("", "has 0 characters; it must have 16 or more"),
        ("x" * 15, "has 15 characters; it must have 16 or more"),
        ("x" * 16 + " ", "such as a blank"),
        ("x" * 16 + "\n", "such as a blank"),
        ("é" * 20, "other than ASCII"),
    ],
)
def test_a_poor_token_is_rejected_with_how_to_make_a_good_one(
    monkeypatch: pytest.MonkeyPatch, token: str, part: str
) -> None:
    monkeypatch.setenv("DEPLDA_TOKEN", token)
    with pytest.raises(InputError, match=re.escape(part)) as raised:
        read_token()
    assert 'python -c "import secrets; print(secrets.token_urlsafe())"' in str(raised.value)
    assert len(token) < 2 or token not in str(raised.value)


def test_what_other_machines_can_reach_needs_a_token() -> None:
    for host in ("127.0.0.1", "127.0.0.2", "::1", "localhost"):
        check_exposure(host, None)
    check_exposure("0.0.0.0", SECRET)  # noqa: S104
    for host in ("0.0.0.0", "::", "192.0.2.1"):  # noqa: S104
        with pytest.raises(InputError, match=r"set DEPLDA_TOKEN .* or serve at 127\.0\.0\.1, behi"):
            check_exposure(host, None)
