"""Around every request: security headers, errors that are logged and not shown."""

from __future__ import annotations

import json
import logging
from typing import Any

import httpx
import pytest

from tests.web.serving import assert_rejected, post, running, text_model


def test_every_answer_has_the_security_headers(client: httpx.Client) -> None:
    for path in ("/", "/static/main.js", "/v1/model", "/nothing", "/metrics"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in policy
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers


def test_answers_are_json_that_nothing_in_them_can_break(client: httpx.Client) -> None:
    hostile = "</script><script>alert(1)</script>\u2028 court"
    body = json.dumps({"document": {"text": hostile}})
    answer = post(client, "/v1/explain", body)
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["spans"][-1][2] == "court"


def test_a_mistake_of_ours_is_logged_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    model: Any = text_model()
    with running(model) as address, httpx.Client(base_url=address) as client:

        def fail(*_: Any) -> None:
            raise RuntimeError("secret of the house")

        model._likeliest = fail
        with caplog.at_level(logging.ERROR, "deplda.web"):
            answer = client.post("/v1/suggest", json={"documents": [{"text": "court"}]})
    assert_rejected(answer, 500, "something went wrong here")
    assert "secret" not in answer.text
    assert "secret of the house" in caplog.text
