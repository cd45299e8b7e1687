"""The service stopped and killed: what it began it finishes, and it comes back as it was."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.abuse.conftest import Amount
from tests.web.serving import slow_model, started, text_model

ASK = {"documents": [{"text": "the court heard the team, a game of the league"}]}
LONG = {"documents": [{"text": "in court, a game of the league" * 6}]}


def ask(address: str, body: object) -> bytes:
    answer = httpx.post(f"{address}/v1/suggest", json=body, timeout=300)
    assert answer.status_code == 200, answer.text
    return answer.content


@pytest.mark.slow
def test_killed_it_comes_back_at_the_same_port_with_the_same_answers(
    amount: Amount, tmp_path: Path
) -> None:
    model, port, expected = text_model(), 0, b""
    for number in range(amount(1, 20) + 1):
        with started(model, tmp_path, port=port) as (process, address, _):
            found = ask(address, ASK)
            assert number == 0 or found == expected
            port, expected = urlsplit(address).port or 0, found
            with httpx.Client(base_url=address) as open_while_it_dies:
                open_while_it_dies.get("/health")
                process.send_signal(signal.SIGKILL)
                assert process.wait(60) == -signal.SIGKILL


@pytest.mark.slow  # tests/web/test_server.py stops it once
def test_stopped_it_finishes_what_is_running_and_ends_well(amount: Amount, tmp_path: Path) -> None:
    model = slow_model()
    for _ in range(amount(1, 20)):
        with started(model, tmp_path) as (process, address, log), ThreadPoolExecutor() as clients:
            asked = [clients.submit(ask, address, LONG) for _ in range(2)]
            while not httpx.get(f"{address}/metrics").text.rstrip().endswith(" 2"):
                assert not any(one.done() for one in asked), "the model is too fast for this test"
            process.send_signal(signal.SIGTERM)
            assert asked[0].result() == asked[1].result()
            assert process.wait(120) == 0, "".join(log)
