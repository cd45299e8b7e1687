"""Work on threads: a full queue and long work are answered 503."""

from __future__ import annotations

import threading
from typing import Any

import httpx

from deplda.web import Limits
from tests.web.serving import TINY, assert_rejected, running, text_model


def test_a_full_queue_is_answered_503_and_empties_again() -> None:
    model: Any = text_model()
    suggest, go = model._likeliest, threading.Event()
    ask = {"documents": [{"text": "court"}]}
    with (
        running(model, TINY, threads=1) as address,
        httpx.Client(base_url=address, timeout=300) as client,
    ):
        model._likeliest = lambda *asked: go.wait(20) and suggest(*asked)
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
            rejected = client.post("/v1/suggest", json=ask)
            assert_rejected(rejected, 503, "2 requests are waiting")
            assert rejected.headers["retry-after"] == "2"
        assert client.get("/health").status_code == 200
        go.set()
        for thread in waiting:
            thread.join()
        assert answers == [200, 200]
        assert client.post("/v1/suggest", json=ask).status_code == 200
        assert 'deplda_refused_total{worker="' in client.get("/metrics").text


def test_work_that_takes_too_long_is_answered_503() -> None:
    model: Any = text_model()
    suggest, go = model._likeliest, threading.Event()
    limits = Limits(seconds=1)
    with (
        running(model, limits, threads=1) as address,
        httpx.Client(base_url=address, timeout=300) as client,
    ):
        model._likeliest = lambda *asked: go.wait(20) and suggest(*asked)
        documents = [{"text": "court"}] * 2
        late = client.post("/v1/suggest", json={"documents": documents})
        assert_rejected(late, 503, "no answer within 1 s")
        assert late.headers["retry-after"] == "2"
        go.set()
        assert client.post("/v1/suggest", json={"documents": documents}).status_code == 200
