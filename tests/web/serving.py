"""Models to serve, and a server to serve them in this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from deplda import DependencyLDA, FlatLDA, TfidfSVM, WordCounter
from deplda.web import Limits, create_app
from deplda.web.server import uvicorn_settings

TEXTS = [
    "the court heard the lawsuit against the company",
    "judge and jury in court",
    "the team won the game in the arena",
    "a game lost in the league",
    "the team sued the league in court",
    "the league and the team share an arena",
] * 3
LABELS = [["LAW", "COMPANIES"], ["LAW"], ["SPORT"], ["SPORT"], ["LAW", "SPORT"], ["SPORT"]] * 3
HOSTILE = {
    "LAW": '<script>document.title="broken"</script>',
    "SPORT": '"><img src=x onerror=alert(1)>',
    "COMPANIES": "../../etc/passwd?a=1#b%00",
}
SMALL: dict[str, Any] = {"n_topics": 3, "n_topic_chains": 2, "n_topic_sweeps": 5}


def text_model(names: dict[str, str] | None = None, **settings: Any) -> DependencyLDA:
    """Return a small model that reads texts; `names` are other names for its labels."""
    counter = WordCounter()
    labels = [[(names or {}).get(label, label) for label in some] for some in LABELS]
    counts = counter.fit_transform(TEXTS)
    return DependencyLDA(**(SMALL | settings)).fit(counts, labels, counter=counter)


def slow_model() -> DependencyLDA:
    """Return a model that takes a second or more for a dozen words."""
    return text_model(inference="sampled", burn_in=1_000_000, n_samples=1)


def svm_model() -> TfidfSVM:
    counter = WordCounter()
    return TfidfSVM().fit(counter.fit_transform(TEXTS), LABELS, counter=counter)


def model_of_counts() -> FlatLDA:
    """Return a model that knows neither texts nor the names of words."""
    return FlatLDA().fit(WordCounter().fit_transform(TEXTS), LABELS)


@contextmanager
def running(
    model: Any, limits: Limits | None = None, *, threads: int = 2, **settings: Any
) -> Iterator[str]:
    """Serve a model on a free port; yield the address."""
    app = create_app(model, limits, threads=threads)
    how = uvicorn_settings(limits or Limits()) | settings
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", **how))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
