"""The server as it is started from a shell: shutdown, log, several processes, odd clients."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from deplda import InputError, ReadError
from deplda.web import serve
from tests.web.serving import say, slow_model, started, text_model

ASK = {"documents": [{"text": "the whistleblower" + " in court, a game of the league" * 6}]}


def test_shutdown_finishes_what_is_running_and_the_log_has_no_text(tmp_path: Path) -> None:
    with started(slow_model(), tmp_path) as (process, address, log):
        answers: list[int] = []

        def ask() -> None:
            answers.append(httpx.post(f"{address}/v1/suggest", json=ASK, timeout=300).status_code)

        thread = threading.Thread(target=ask)
        thread.start()
        while not httpx.get(f"{address}/metrics").text.rstrip().endswith(" 1.0"):
            assert not answers, "the model is too fast for this test"
        process.send_signal(signal.SIGTERM)
        thread.join()
        assert process.wait(30) == 0
    assert answers == [200]
    text = "".join(log)
    assert re.search(r"INFO POST /v1/suggest 200 \d+\.\d ms", text)
    assert "whistleblower" not in text


def worker_of(address: str) -> int:
    """Return the process that answers a new connection."""
    return int(httpx.get(f"{address}/metrics").text.partition('worker="')[2].partition('"')[0])


def test_several_processes_answer_alike_and_all_take_part(model: Any, tmp_path: Path) -> None:
    learn = tmp_path / "feedback.jsonl"
    with started(
        model, tmp_path, "--workers=2", f"--learn={learn}", n_processes=2
    ) as (_, address, _):  # fmt: skip
        found = {httpx.post(f"{address}/v1/suggest", json=ASK).text for _ in range(10)}
        first = worker_of(address)
        wait_for(lambda: worker_of(address) != first, "another worker")
        taught = [{"text": "a game", "subjects": [{"uri": "SPORT"}]}]
        learned = [
            httpx.post(f"{address}/v1/projects/model/learn", json=taught).status_code
            for _ in range(10)
        ]
    assert len(found) == 1
    assert learned == [204] * 10
    assert len(learn.read_text().splitlines()) == 10


def wait_for(happened: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline, f"{what} did not come"


def test_a_worker_that_is_killed_is_replaced_by_one_that_has_the_model_of_now(
    model: Any, tmp_path: Path
) -> None:
    def label(answer: httpx.Response) -> str:
        return str(answer.json()["documents"][0]["labels"][0]["label"])

    asked = ASK | {"cutoff": 1}
    with started(model, tmp_path, "--workers=2", n_processes=2) as (_, address, log):
        assert label(httpx.post(f"{address}/v1/suggest", json=asked)) == "SPORT"
        text_model({"SPORT": "GAMES"}).save(tmp_path / "model")
        wait_for(lambda: "".join(log).count("loaded anew") == 2, "the model")
        os.kill(worker_of(address), signal.SIGKILL)
        wait_for(lambda: "".join(log).count("startup complete") == 3, "another worker")
        found = {label(httpx.post(f"{address}/v1/suggest", json=asked)) for _ in range(20)}
    assert found == {"GAMES"}


def test_without_the_extra_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['starlette'] = None; import deplda.web"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'deplda[web]'" in done.stderr.splitlines()[-1]


def test_what_cannot_be_served_is_said_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such folder"):
        serve(tmp_path / "nothing", port=0)
    with pytest.raises(InputError, match="workers is 0; it must be a whole number from 1 to 64"):
        serve(tmp_path, workers=0)
    with pytest.raises(InputError, match="port 0 cannot be listened at"):
        serve(tmp_path, host="host.invalid", port=0)
    with pytest.raises(InputError, match="port is 70000; it must be a whole number from 0"):
        serve(tmp_path, port=70000)


def test_what_is_not_http_is_rejected_and_the_server_lives(
    address: str, client: httpx.Client
) -> None:
    assert say(address, b"\x16\x03\x01\x02\x00nonsense\r\n\r\n").startswith(b"HTTP/1.1 400")
    long = b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000
    assert not say(address, long + b"\r\n\r\n").startswith(b"HTTP/1.1 2")
    assert client.get("/health").status_code == 200
