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
        self._registry, self._n_open = CollectorRegistry(), n_open
        registry = self._registry
        self._requests = Counter(
            "deplda_requests", "Answered requests.", ["worker", "endpoint", "status"],
            registry=registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "deplda_request_seconds", "Time from a request to the end of its answer.",
            ["worker", "endpoint"], buckets=_BUCKETS, registry=registry,
        )  # fmt: skip
        self._documents = Counter("deplda_documents", "Documents.", ["worker"], registry=registry)
        self._open = Gauge("deplda_open_requests", "Open requests.", ["worker"], registry=registry)

    def count_documents(self, n: int) -> None:
        """Count documents that got labels or an explanation."""
        self._documents.labels(os.getpid()).inc(n)

    def count(self, endpoint: str, status: int, seconds: float) -> None:
        """Count one request."""
        worker = os.getpid()  # workers may be forked after this object was made
        self._requests.labels(worker, endpoint, status).inc()
        self._seconds.labels(worker, endpoint).observe(seconds)

    def text(self) -> bytes:
        """Return all counters in Prometheus' text format."""
        self._open.labels(os.getpid()).set(self._n_open())
        return generate_latest(self._registry)
