"""Counters of the service, as Prometheus reads them."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter, defaultdict
from itertools import accumulate

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Counters:
    """How many requests of what kind there were, and how long they took.

    It is written to on the event loop alone, so that nothing has to be locked.
    """

    def __init__(self) -> None:
        self.documents = 0
        self._requests: Counter[tuple[str, int]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._buckets: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(_BUCKETS) + 1))

    def count(self, endpoint: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests[endpoint, status] += 1
        self._seconds[endpoint] += seconds
        self._buckets[endpoint][bisect_left(_BUCKETS, seconds)] += 1

    def text(self, n_open: int, n_rejected: int) -> str:
        """Return all of it; each process speaks for itself, so its number is a label."""
        me = f'worker="{os.getpid()}"'
        lines = ["# TYPE deplda_requests_total counter"]
        lines += [
            f'deplda_requests_total{{{me},endpoint="{endpoint}",status="{status}"}} {n}'
            for (endpoint, status), n in sorted(self._requests.items())
        ]
        name = "deplda_request_seconds"
        lines.append(f"# TYPE {name} histogram")
        for endpoint, counts in sorted(self._buckets.items()):
            labels = f'{me},endpoint="{endpoint}"'
            for bound, total in zip([*_BUCKETS, "+Inf"], accumulate(counts), strict=True):
                lines.append(f'{name}_bucket{{{labels},le="{bound}"}} {total}')
            lines.append(f"{name}_sum{{{labels}}} {self._seconds[endpoint]:.6f}")
            lines.append(f"{name}_count{{{labels}}} {sum(counts)}")
        for name, kind, value in (
            ("deplda_documents_total", "counter", self.documents),
            ("deplda_refused_total", "counter", n_rejected),
            ("deplda_open_requests", "gauge", n_open),
        ):
            lines += [f"# TYPE {name} {kind}", f"{name}{{{me}}} {value}"]
        return "\n".join(lines) + "\n"
