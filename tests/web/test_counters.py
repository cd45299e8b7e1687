"""The counters of the service."""

from __future__ import annotations

import re

import httpx

from tests.web.serving import suggest


def test_metrics_count_requests_by_endpoint_and_status(client: httpx.Client) -> None:
    def count(pattern: str) -> int:
        found = re.search(pattern, client.get("/metrics").text)
        return int(found[1]) if found else 0

    answered = r'deplda_requests_total{endpoint="suggest",status="200",worker="\d+"} (\d+)'
    rejected = r'deplda_requests_total{endpoint="suggest",status="422",worker="\d+"} (\d+)'
    documents = r'deplda_documents_total{worker="\d+"} (\d+)'
    timed = r'deplda_request_seconds_bucket{endpoint="suggest",le="\+Inf",worker="\d+"} (\d+)'
    patterns = [answered, rejected, documents, timed]
    before = [count(pattern) for pattern in patterns]
    suggest(client, {"text": "court"}, {"text": "game"})
    client.post("/v1/suggest", json={"documents": []})
    after = [count(pattern) for pattern in patterns]
    assert [b - a for a, b in zip(before, after, strict=True)] == [1, 1, 2, 2]
