"""Models to serve, a server to serve them in this process, and ways to ask it."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn

from deplda import DependencyLDA, FlatLDA, HybridLDA, TfidfSVM, WordCounter
from deplda.data.vocabulary import Concept, Vocabulary
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
TINY = Limits(
    body_bytes=2_000, documents=2, characters=500, words=3, tokens=600, labels=9, explained=2,
    page=3, waiting=1, seconds=5, reading_seconds=1, sending_seconds=1, idle_seconds=60,
)  # fmt: skip
SMALL: dict[str, Any] = {"n_topics": 3, "n_topic_chains": 2, "n_topic_sweeps": 5}


def text_model(names: dict[str, str] | None = None, **settings: Any) -> DependencyLDA:
    """Return a small model that reads texts; `names` are other names for its labels."""
    counter = WordCounter(language=None)
    labels = [[(names or {}).get(label, label) for label in some] for some in LABELS]
    counts = counter.fit_transform(TEXTS)
    return DependencyLDA(**(SMALL | settings)).fit(counts, labels, counter=counter)


def bilingual_model() -> DependencyLDA:
    """Return a model of texts counted as Finnish, whose labels have English and Finnish names."""
    counter = WordCounter(language="fi")
    counts = counter.fit_transform(TEXTS)
    model = DependencyLDA(**SMALL).fit(counts, LABELS, counter=counter)
    model.vocabulary_ = Vocabulary(
        [
            Concept(uri="LAW", names={"en": "Law", "fi": "laki"}, related=("SPORT",)),
            Concept(uri="SPORT", names={"en": "Sport", "fi": "urheilu"}),
            Concept(uri="COMPANIES", names={"en": "Companies"}),
        ]
    )
    return model


def slow_model() -> DependencyLDA:
    """Return a model that takes a second or more for a dozen words."""
    return text_model(inference="sampled", burn_in=1_000_000, n_samples=1, n_held_out=0)


def svm_model() -> TfidfSVM:
    counter = WordCounter(language=None)
    return TfidfSVM().fit(counter.fit_transform(TEXTS), LABELS, counter=counter)


def hybrid_model() -> HybridLDA:
    counter = WordCounter(language=None)
    return HybridLDA(**SMALL).fit(counter.fit_transform(TEXTS), LABELS, counter=counter)


def model_of_counts() -> FlatLDA:
    """Return a model that knows neither texts nor the names of words."""
    return FlatLDA().fit(WordCounter(language=None).fit_transform(TEXTS), LABELS)


def assert_rejected(answer: httpx.Response, status: int, part: str) -> None:
    assert (answer.status_code, part in answer.json()["error"]) == (status, True), answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "Traceback" not in answer.text


def post(client: httpx.Client, path: str, body: bytes | str) -> httpx.Response:
    return client.post(path, content=body, headers={"Content-Type": "application/json"})


def suggest(client: httpx.Client, *documents: Any, **asked: Any) -> Any:
    answer = client.post("/v1/suggest", json={"documents": list(documents), **asked})
    assert answer.status_code == 200, answer.text
    return answer.json()["documents"]


def certificate(folder: Path, name: str = "tls") -> tuple[Path, Path]:
    """Make a certificate of 127.0.0.1 and its key; skip the test where there is no openssl."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl to make certificates with")
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )  # fmt: skip
    return cert, key


def dial(address: str) -> socket.socket:
    there = urlsplit(address)
    return socket.create_connection((there.hostname, there.port), timeout=300)


def listen(line: socket.socket) -> bytes:
    """Return all that comes until the server hangs up."""
    found = b""
    with suppress(ConnectionResetError):  # it hung up before it had heard all
        while piece := line.recv(65536):
            found += piece
    return found


def say(address: str, words: bytes) -> bytes:
    with dial(address) as line:
        line.sendall(words)
        return listen(line)


@contextmanager
def running(
    model: Any,
    limits: Limits | None = None,
    *,
    threads: int = 2,
    tls: tuple[Path, Path] | None = None,
    **access: Any,
) -> Iterator[str]:
    """Serve a model on a free port, over TLS with a certificate and its key; yield the address."""
    app = create_app(model, limits, threads=threads, **access)
    how = uvicorn_settings(limits or Limits())
    if tls:
        how |= {"ssl_certfile": tls[0], "ssl_keyfile": tls[1]}
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", **how))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        scheme = "https" if tls else "http"
        yield f"{scheme}://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


_WITH_LIMITS = """
import json, sys
from deplda.web import Limits, serve
serve(sys.argv[1], port=int(sys.argv[2]), limits=Limits(**json.loads(sys.argv[3])))
"""


@contextmanager
def started(
    model: Any, folder: Path, *options: str, port: int = 0, n_processes: int = 1, **how: Any
) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    """Serve a model by `deplda serve`; yield the process, its address and its log."""
    if not (folder / "model").exists():
        model.save(folder / "model")
    command = [
        "-m",
        "deplda",
        "--trust-model",
        "serve",
        str(folder / "model"),
        f"--port={port}",
        *options,
    ]
    with _process(command, n_processes, **how) as found:
        yield found


@contextmanager
def started_with_limits(
    model: Any, folder: Path, limits: dict[str, Any], **how: Any
) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    """Serve a model with other limits than the usual ones, which have no options."""
    if not (folder / "model").exists():
        model.save(folder / "model")
    with _process(
        ["-c", _WITH_LIMITS, str(folder / "model"), "0", json.dumps(limits)], 1, **how
    ) as found:
        yield found


@contextmanager
def _process(
    arguments: list[str], n_processes: int, environment: dict[str, str] | None = None, **how: Any
) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    process = subprocess.Popen(
        [sys.executable, *arguments], stderr=subprocess.PIPE, text=True,
        env=os.environ | (environment or {}), **how,
    )  # fmt: skip
    assert process.stderr is not None
    log: list[str] = []
    stderr = process.stderr
    reader = threading.Thread(target=lambda: log.extend(iter(stderr.readline, "")))
    reader.start()
    try:
        yield process, _address(process, log, n_processes), log
    finally:
        process.terminate()
        process.wait(60)
        reader.join()
        stderr.close()


def _address(process: subprocess.Popen[str], log: list[str], n_processes: int) -> str:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline and process.poll() is None:
        text = "".join(log)
        found = re.search(r"running on (https?://\S+:\d+)", text)
        if found and text.count("startup complete") >= n_processes:
            return found[1]
        time.sleep(0.05)
    pytest.fail("the server did not start:\n" + "".join(log))
