"""Counters of the service, for Prometheus."""

from __future__ import annotations

import os
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30)
"""Seconds."""


class Counters:
    """Requests, their duration, and documents; labelled with the worker, which has its own."""

    def __init__(self, n_open: Callable[[], int]) -> None:
        self._registry, self._worker = CollectorRegistry(), str(os.getpid())
        registry = self._registry
        self._requests = Counter(
            "deplda_requests", "Answered requests.", ["worker", "endpoint", "status"],
            registry=registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "deplda_request_seconds", "Time from a request to the end of its answer.",
            ["worker", "endpoint"], buckets=_BUCKETS, registry=registry,
        )  # fmt: skip
        documents = Counter("deplda_documents", "Documents.", ["worker"], registry=registry)
        self._documents = documents.labels(self._worker)
        waiting = Gauge("deplda_open_requests", "Open requests.", ["worker"], registry=registry)
        waiting.labels(self._worker).set_function(n_open)

    def count_documents(self, n: int) -> None:
        """Count documents that got labels or an explanation."""
        self._documents.inc(n)

    def count(self, endpoint: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(self._worker, endpoint, status).inc()
        self._seconds.labels(self._worker, endpoint).observe(seconds)

    def text(self) -> bytes:
        """Return all counters in Prometheus' text format."""
        return generate_latest(self._registry)
