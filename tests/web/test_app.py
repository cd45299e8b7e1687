"""The application: the page's files, other sites, labels of any name."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from deplda.web import create_app
from tests.web.serving import HOSTILE, running, say, text_model


def test_assets_are_asked_for_again_by_their_tag(client: httpx.Client) -> None:
    first = client.get("/static/main.js")
    again = client.get("/static/main.js", headers={"If-None-Match": first.headers["etag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert first.headers["content-type"] == "text/javascript; charset=utf-8"
    assert first.headers["cache-control"] == again.headers["cache-control"] == "no-cache"
    page = client.get("/")
    again = client.get("/", headers={"If-None-Match": page.headers["etag"]})
    assert (page.headers["content-type"], again.status_code) == ("text/html; charset=utf-8", 304)
    assert page.headers["cache-control"] == "no-cache"
    assert client.get("/v1/model").headers["cache-control"] == "no-store"


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
        b"/static/.",
        b"/static/..",
        b"/%ff%00",
    ],
)
def test_no_path_leads_out_of_the_page(address: str, path: bytes) -> None:
    answer = say(
        address, b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    assert answer.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400"))
    for secret in (b"root:", b"create_app", b"Traceback"):
        assert secret not in answer


def test_labels_of_any_name_are_found_by_it() -> None:
    names = [*HOSTILE.values()]
    with running(text_model(HOSTILE)) as address, httpx.Client(base_url=address) as client:
        for name in names:
            found = client.get("/v1/labels/" + "".join(f"%{byte:02x}" for byte in name.encode()))
            assert found.json()["label"] == name


def test_other_sites_may_use_the_api_only_if_they_are_named(
    model: Any, client: httpx.Client
) -> None:
    asking = {"Origin": "https://other.example", "Access-Control-Request-Method": "POST"}
    assert "access-control-allow-origin" not in client.get("/health", headers=asking).headers
    assert client.options("/v1/suggest", headers=asking).status_code == 405
    app = create_app(model, hosts=["here"], origins=["https://other.example"])
    transport = httpx.ASGITransport(app=app)

    async def ask(origin: str) -> str | None:
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as other:
            headers = {**asking, "Origin": origin}
            found = await other.options("/v1/suggest", headers=headers)
            return found.headers.get("access-control-allow-origin")

    assert asyncio.run(ask("https://other.example")) == "https://other.example"
    assert asyncio.run(ask("https://third.example")) is None
