"""The service under load: suggestions a second, their time, CPU, errors and memory.

Run: ``python -m benchmarks.web [--data-dir DIR] [--requests N] [--clients N] [--workers 1 2 4]
[--flat N]``. With a data folder, HybridLDA with its defaults is fitted on the texts of eurlex20k;
without, on a generated power-law corpus of that size. Each service is a process, or a few, of its
own; clients are threads of this one, on the same machine and on the same cores. What is compared is
measured in turn, in rounds, so that a busy machine slows down each alike; CPU seconds of the
service say what a request costs whatever else runs. Memory is measured of one service after the
other, or they would share what is counted.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.power_law import power_law
from deplda import HybridLDA, WordCounter

WORDS = 400
_ALONE = "from deplda.web import work; work._AT_ONCE = 1; from deplda.cli import main; main()"
"""A service that scores each document by itself."""
_TICKS = os.sysconf("SC_CLK_TCK")
Documents = list[dict[str, Any]]


# What is served -----------------------------------------------------------------------------------


def from_texts(data_dir: Path) -> tuple[HybridLDA, Documents]:
    texts, labels = [], []
    with gzip.open(data_dir / "eurlex20k" / "text.jsonl.gz", "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            texts.append(f"{record['title']}\n{record['text']}")
            labels.append(record["concepts"])
    words = (text.split() for text in texts[::50])
    documents = [{"text": " ".join(some[:WORDS])} for some in words if len(some) >= WORDS]
    counter = WordCounter()
    return HybridLDA().fit(counter.fit_transform(texts), labels, counter=counter), documents


def from_nothing() -> tuple[HybridLDA, Documents]:
    corpus = power_law(19_348, 3_800, 16_000, tokens_per_document=WORDS)
    documents = []
    for row in range(0, len(corpus), 100):
        one = corpus[[row]].counts
        names = (corpus.vocabulary[w] for w in one.indices)
        documents.append({"words": dict(zip(names, one.data.tolist(), strict=True))})
    return HybridLDA().fit(corpus), documents


class Service:
    """``deplda serve`` of a model: its processes, what they have used, and where it listens."""

    def __init__(self, model: Path | str, *options: str, together: bool = True) -> None:
        start = ["-m", "deplda"] if together else ["-c", _ALONE]
        command = [sys.executable, *start, "serve", str(model), "--port=0", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        log, self.port = self.process.stderr, 0
        n_left = next((int(o.partition("=")[2]) for o in options if o.startswith("--workers=")), 1)
        for line in log:
            n_left -= "startup complete" in line
            if found := re.search(r"running on http://127.0.0.1:(\d+)", line):
                self.port = int(found[1])
            if self.port and n_left <= 0:
                # Somebody has to read the log, or the server waits for it.
                threading.Thread(target=lambda: [*log], daemon=True).start()
                return
        raise SystemExit("the server did not start")

    def processes(self) -> list[int]:
        """Return the service's own process and those that it has started."""
        parent = self.process.pid
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="utf-8")
        return [parent, *map(int, children.split())]

    def cpu_seconds(self) -> float:
        """Return what all of its processes have used."""
        fields = (Path(f"/proc/{pid}/stat").read_text() for pid in self.processes())
        return sum(sum(map(int, each.rsplit(")")[-1].split()[11:13])) for each in fields) / _TICKS

    def megabytes(self) -> float:
        """Return the memory of all of its processes; what they share is counted once (PSS)."""
        texts = (Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in self.processes())
        found = [re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE) for text in texts]
        return sum(int(each[1]) for each in found if each) / 1024

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait()


@contextmanager
def served(model: Path | str, *options: str, together: bool = True) -> Iterator[Service]:
    service = Service(model, *options, together=together)
    try:
        yield service
    finally:
        service.stop()


# Those who ask ------------------------------------------------------------------------------------


class Answer(NamedTuple):
    """What came back."""

    status: int
    server_ms: float
    body: bytes


class Client:
    """One connection that stays open; it does little itself, since it has the service's cores."""

    def __init__(self, port: int) -> None:
        self.line = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.reader = self.line.makefile("rb")

    def post(self, path: str, body: bytes) -> Answer:
        """Send JSON, and return the answer."""
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        self.line.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        status, length, took = int(self.reader.readline().split()[1]), 0, float("nan")
        while (line := self.reader.readline()) != b"\r\n":
            name, _, value = line.lower().partition(b":")
            length = int(value) if name == b"content-length" else length
            took = float(value.partition(b"dur=")[2]) if name == b"server-timing" else took
        return Answer(status, took, self.reader.read(length))


def one_by_one(port: int, path: str, bodies: list[bytes], n: int) -> np.ndarray[Any, Any]:
    client = Client(port)
    for body in bodies[:10]:
        client.post(path, body)
    return np.array([client.post(path, bodies[i % len(bodies)]).server_ms for i in range(n)])


@dataclass
class Load:
    """What requests of many clients took."""

    n: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    times: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    def add(self, service: Service, bodies: list[bytes], n: int, clients: int) -> None:
        """Send n requests; mutate this."""
        times: list[list[float]] = [[] for _ in range(clients)]
        statuses: list[Counter[int]] = [Counter() for _ in range(clients)]

        def run(number: int) -> None:
            client = Client(service.port)
            for i in range(number, n, clients):
                begin = time.perf_counter()
                answer = client.post("/v1/suggest", bodies[i % len(bodies)])
                times[number].append(time.perf_counter() - begin)
                statuses[number][answer.status] += 1

        threads = [threading.Thread(target=run, args=(number,)) for number in range(clients)]
        cpu, begin = service.cpu_seconds(), time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.seconds += time.perf_counter() - begin
        self.cpu += service.cpu_seconds() - cpu
        self.n += n
        self.times += [each for some in times for each in some]
        self.statuses += sum(statuses, Counter())

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.n / self.seconds


# What is measured ---------------------------------------------------------------------------------


def compare(
    services: dict[str, Service], bodies: list[bytes], n: int, clients: int, rounds: int
) -> Table:
    """Return what each service does with the same load, in turn; ratios are to the first."""
    loads = {name: Load() for name in services}
    for service in services.values():
        Load().add(service, bodies, 300, clients)
    for _ in range(rounds):
        for name, service in services.items():
            loads[name].add(service, bodies, n // rounds, clients)
    table = Table(
        "service", "a second", "ratio", "p50 / p95 / p99 ms", "CPU ms a request", "answers",
        title=f"{n:,} requests of {clients} clients each",
    )  # fmt: skip
    first = next(iter(loads.values()))
    for name, load in loads.items():
        p50, p95, p99 = np.percentile(np.array(load.times) * 1e3, [50, 95, 99])
        table.add_row(
            name, f"{load.rate:.0f}", f"{load.rate / first.rate:.2f}",
            f"{p50:.0f} / {p95:.0f} / {p99:.0f}", f"{load.cpu / load.n * 1e3:.2f}",
            ", ".join(f"{status}: {k:,}" for status, k in sorted(load.statuses.items())),
        )  # fmt: skip
    return table


def memory(model: Path, workers: list[int], bodies: list[bytes], n: int, clients: int) -> Table:
    """Return what services of so many workers hold, before and after many requests."""
    table = Table("workers", "MB (PSS) before", f"after {n:,} requests")
    for each in workers:
        with served(model, f"--workers={each}") as service:
            Load().add(service, bodies, 500, clients)
            before = service.megabytes()
            Load().add(service, bodies, n, clients)
            table.add_row(str(each), f"{before:.0f}", f"{service.megabytes():.0f}")
    return table


def alone(service: Service, documents: Documents) -> Table:
    suggest = [json.dumps({"documents": [one]}).encode() for one in documents]
    explain = [json.dumps({"document": one, "k": 10}).encode() for one in documents]
    table = Table("one client", "")
    for name, path, bodies, n in (
        ("suggest", "/v1/suggest", suggest, 300),
        ("explain 10 labels", "/v1/explain", explain, 100),
    ):
        found = one_by_one(service.port, path, bodies, n)
        told = f"{np.median(found):.1f} / {np.percentile(found, 95):.1f} ms"
        table.add_row(f"{name}, server time, median / 95 %", told)
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in documents)
    before, cpu = service.megabytes(), service.cpu_seconds()
    seconds = stream(service.port, lines, 10)
    n, cpu = 10 * len(documents), service.cpu_seconds() - cpu
    table.add_row(
        f"a stream of {n:,} documents",
        f"{n / seconds:.0f} a second, {cpu / n * 1e3:.2f} CPU ms each, "
        f"{before:.0f} and then {service.megabytes():.0f} MB",
    )
    return table


def stream(port: int, lines: bytes, times: int) -> float:
    """Send lines so many times in one request, and read meanwhile; return the seconds."""
    line = socket.create_connection(("127.0.0.1", port), timeout=60)
    head = "POST /v1/suggest-lines HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    head += f"Content-Type: application/x-ndjson\r\nContent-Length: {len(lines) * times}\r\n\r\n"
    begin, n = time.perf_counter(), 0
    line.sendall(head.encode())
    sending = threading.Thread(target=line.sendall, args=[lines * times])
    sending.start()
    while piece := line.recv(1 << 16):
        n += piece.count(b'"line":')
    assert n == lines.count(b"\n") * times, n
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--requests", type=int, default=4_000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--flat", type=int, default=10_000, help="requests between looks at memory")
    asked = parser.parse_args()
    model, documents = from_nothing() if asked.data_dir is None else from_texts(asked.data_dir)
    bodies = [json.dumps({"documents": [one]}).encode() for one in documents]
    console = Console(width=120)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        console.print(f"{len(documents)} documents of {WORDS} words, in turn")
        with served(path) as service:
            console.print(alone(service, documents))
        with ExitStack() as running:
            services = {
                "1 worker, each document by itself": running.enter_context(
                    served(path, together=False)
                )
            } | {
                f"{n} worker{'s' * (n > 1)}": running.enter_context(served(path, f"--workers={n}"))
                for n in asked.workers
            }
            console.print(compare(services, bodies, asked.requests, asked.clients, asked.rounds))
        console.print(memory(path, asked.workers, bodies, asked.flat, asked.clients))


if __name__ == "__main__":
    main()
