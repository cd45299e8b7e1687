"""The server as it is started from a shell: shutdown, log, several processes, odd clients."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from deplda import InputError, ReadError
from deplda.web import serve
from deplda.web.server import SlowHeaderTimeout
from tests.web.serving import dial, listen, running, say, slow_model

ASK = {"documents": [{"text": "the whistleblower" + " in court, a game of the league" * 6}]}


@contextmanager
def started(model: Any, folder: Path, workers: int = 1) -> Iterator[tuple[Any, str, list[str]]]:
    """Serve a model from a process of its own; yield the process, its address, its log."""
    model.save(folder / "model")
    command = [
        sys.executable, "-m", "deplda", "serve", str(folder / "model"), "--port=0",
        f"--workers={workers}",
    ]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    log: list[str] = []
    stderr = process.stderr
    reader = threading.Thread(target=lambda: log.extend(iter(stderr.readline, "")))
    reader.start()
    try:
        yield process, _address(process, log, workers), log
    finally:
        process.terminate()
        process.wait(30)
        reader.join()
        stderr.close()


def _address(process: Any, log: list[str], workers: int) -> str:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline and process.poll() is None:
        text = "".join(log)
        found = re.search(r"running on (http://127.0.0.1:\d+)", text)
        if found and text.count("startup complete") >= workers:
            return found[1]
        time.sleep(0.05)
    pytest.fail("the server did not start:\n" + "".join(log))


def test_shutdown_finishes_what_is_running_and_the_log_has_no_text(tmp_path: Path) -> None:
    with started(slow_model(), tmp_path) as (process, address, log):
        answers: list[int] = []

        def ask() -> None:
            answers.append(httpx.post(f"{address}/v1/suggest", json=ASK, timeout=300).status_code)

        thread = threading.Thread(target=ask)
        thread.start()
        while not httpx.get(f"{address}/metrics").text.rstrip().endswith(" 1"):
            assert not answers, "the model is too fast for this test"
        process.send_signal(signal.SIGTERM)
        thread.join()
        assert process.wait(30) in (0, -signal.SIGTERM)
    assert answers == [200]
    text = "".join(log)
    assert re.search(r"INFO POST /v1/suggest 200 \d+\.\d ms", text)
    assert "whistleblower" not in text


@pytest.mark.slow
def test_several_processes_answer_alike(model: Any, tmp_path: Path) -> None:
    with started(model, tmp_path, workers=2) as (_, address, _):
        found = {httpx.post(f"{address}/v1/suggest", json=ASK).text for _ in range(10)}
    assert len(found) == 1


def test_without_the_extra_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['starlette'] = None; import deplda.web"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'deplda[web]'" in done.stderr.splitlines()[-1]


def test_what_cannot_be_served_is_said_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such folder"):
        serve(tmp_path / "nothing", port=0)
    with pytest.raises(InputError, match="workers is 0; it must be from 1 to 64"):
        serve(tmp_path, workers=0)
    with pytest.raises(InputError, match="port 0 cannot be listened at"):
        serve(tmp_path, host="host.invalid", port=0)
    with pytest.raises(InputError, match="port is 70000; it must be from 0 to 65535"):
        serve(tmp_path, port=70000)


def test_what_is_not_http_is_rejected_and_the_server_lives(
    address: str, client: httpx.Client
) -> None:
    assert say(address, b"\x16\x03\x01\x02\x00nonsense\r\n\r\n").startswith(b"HTTP/1.1 400")
    long = b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000
    assert not say(address, long + b"\r\n\r\n").startswith(b"HTTP/1.1 2")
    assert client.get("/health").status_code == 200


def test_clients_who_never_finish_their_headers_are_hung_up_on(model: Any) -> None:
    class ShortTimeout(SlowHeaderTimeout):
        seconds = 0.3

    whole = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    with running(model, http=ShortTimeout, timeout_keep_alive=60) as address:
        assert say(address, b"") == b""
        assert say(address, b"GET /health HT") == b""
        with dial(address) as line:
            line.sendall(whole)
            answer = b""
            while not answer.endswith(b"}"):  # head and body may come apart
                answer += line.recv(65536)
            assert answer.startswith(b"HTTP/1.1 200")
            line.sendall(b"GET /he")  # the next request on the same line
            assert listen(line) == b""
