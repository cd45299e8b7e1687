"""The service under load: time of a suggestion at EUR-Lex size, throughput, errors, memory.

Run: ``python -m benchmarks.web [--data-dir DIR] [--requests N] [--clients N]``. With a data folder,
DependencyLDA with its defaults is fitted on the texts of eurlex20k; without, on a generated
power-law corpus of that size. The server is a process of its own; clients are threads of this one,
on the same machine and on the same cores.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from deplda import DependencyLDA, WordCounter, datasets

WORDS = 400
Documents = list[dict[str, Any]]


def from_texts(data_dir: Path) -> tuple[DependencyLDA, Documents]:
    texts, labels = [], []
    with gzip.open(data_dir / "eurlex20k" / "text.jsonl.gz", "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            texts.append(f"{record['title']}\n{record['text']}")
            labels.append(record["concepts"])
    counter = WordCounter()
    model = DependencyLDA().fit(counter.fit_transform(texts), labels, counter=counter)
    words = (text.split() for text in texts[::50])
    return model, [{"text": " ".join(some[:WORDS])} for some in words if len(some) >= WORDS]


def from_nothing() -> tuple[DependencyLDA, Documents]:
    corpus = datasets.power_law(19_348, 3_800, 16_000, tokens_per_document=WORDS)
    documents = []
    for row in range(0, len(corpus), 100):
        one = corpus[[row]].counts
        names = (corpus.vocabulary[w] for w in one.indices)
        documents.append({"words": dict(zip(names, one.data.tolist(), strict=True))})
    return DependencyLDA().fit(corpus), documents


class Client:
    """One connection to the server that stays open."""

    def __init__(self, port: int) -> None:
        self.line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def post(self, path: str, body: bytes) -> tuple[int, float]:
        """Return the status, and the server's time in milliseconds."""
        self.line.request("POST", path, body, {"Content-Type": "application/json"})
        answer = self.line.getresponse()
        answer.read()
        found = re.search(r"dur=([\d.]+)", answer.headers.get("server-timing", ""))
        return answer.status, float(found[1]) if found else float("nan")


def one_by_one(port: int, path: str, bodies: list[bytes], n: int) -> np.ndarray[Any, Any]:
    client = Client(port)
    for body in bodies[:10]:
        client.post(path, body)
    return np.array([client.post(path, bodies[i % len(bodies)])[1] for i in range(n)])


def load(port: int, bodies: list[bytes], n: int, clients: int) -> tuple[float, Any, dict[int, int]]:
    """Return the seconds that n requests of many clients took, each one's, and the statuses."""
    times, statuses, lock = list[float](), dict[int, int](), threading.Lock()

    def run(first: int) -> None:
        client = Client(port)
        for i in range(first, n, clients):
            begin = time.perf_counter()
            status, _ = client.post("/v1/suggest", bodies[i % len(bodies)])
            took = time.perf_counter() - begin
            with lock:
                times.append(took)
                statuses[status] = statuses.get(status, 0) + 1

    threads = [threading.Thread(target=run, args=(first,)) for first in range(clients)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - begin, np.array(times), statuses


def megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    found = re.search(r"VmRSS:\s+(\d+)", status)
    assert found
    return int(found[1]) / 1024


def start(model: Path | str) -> tuple[subprocess.Popen[str], int]:
    """Serve a model as ``deplda serve`` does; return the process and its port."""
    command = [sys.executable, "-m", "deplda", "serve", str(model), "--port=0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    log = process.stderr
    for line in log:
        if found := re.search(r"running on http://127.0.0.1:(\d+)", line):
            # Somebody has to read the log, or the server waits for it.
            threading.Thread(target=lambda: [*log], daemon=True).start()
            return process, int(found[1])
    raise SystemExit("the server did not start")


def measure(process: Any, port: int, documents: Documents, n: int, clients: int) -> Table:
    suggest = [json.dumps({"documents": [one]}).encode() for one in documents]
    explain = [json.dumps({"document": one, "k": 10}).encode() for one in documents]
    alone = one_by_one(port, "/v1/suggest", suggest, 300)
    why = one_by_one(port, "/v1/explain", explain, 100)
    load(port, suggest, 500, clients)
    before = megabytes(process.pid)
    seconds, times, statuses = load(port, suggest, n, clients)
    after = megabytes(process.pid)
    table = Table("what", "measured", title=f"{WORDS} words, {len(documents)} documents in turn")
    p50, p99 = np.percentile(times * 1e3, [50, 99])
    for row in (
        ("suggest, server time, median / 95 %", f"{np.median(alone):.1f} / "
         f"{np.percentile(alone, 95):.1f} ms"),
        ("explain 10 labels, server time, median / 95 %", f"{np.median(why):.1f} / "
         f"{np.percentile(why, 95):.1f} ms"),
        (f"{n:,} requests of {clients} clients", f"{n / seconds:.0f} a second"),
        ("their time, p50 / p99", f"{p50:.0f} / {p99:.0f} ms"),
        ("answers by status", ", ".join(f"{s}: {k:,}" for s, k in sorted(statuses.items()))),
        ("server memory before / after", f"{before:.0f} / {after:.0f} MB"),
    ):  # fmt: skip
        table.add_row(*row)
    return table


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--requests", type=int, default=4_000)
    parser.add_argument("--clients", type=int, default=32)
    asked = parser.parse_args()
    model, documents = from_nothing() if asked.data_dir is None else from_texts(asked.data_dir)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        process, port = start(Path(folder) / "model")
        try:
            Console().print(measure(process, port, documents, asked.requests, asked.clients))
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
