"""Crowds: whatever many clients do slowly, or never, nobody else is kept out for long."""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.abuse.conftest import Amount
from tests.abuse.crowds import (
    KINDS,
    LARGE_BODY,
    LINES,
    SLOW_LARGE_BODIES,
    SLOW_STREAMS,
    Question,
    Rude,
    ask_for,
    crowd,
)
from tests.web.serving import dial, started_with_limits, text_model

LONGEST_REFUSAL = 10  # seconds
IMPATIENT = {"reading_seconds": 1, "sending_seconds": 1, "idle_seconds": 1}
SCARCE = {"large_body_bytes": 1 << 20, "body_bytes": 64 << 10}
FEW_DESCRIPTORS = 200  # which leave room for 61 connections
Server = tuple[Any, str, list[str]]


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start an impatient server that may open few files."""
    few = (FEW_DESCRIPTORS, FEW_DESCRIPTORS)
    with started_with_limits(
        text_model(), tmp_path_factory.mktemp("few"), IMPATIENT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, few),
    ) as found:  # fmt: skip
        yield found


@pytest.fixture(scope="module")
def server(amount: Amount, request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Any]:
    """Return the impatient server; in full, start one that is as patient as it is by default."""
    if amount(0, 1) == 0:
        yield request.getfixturevalue("few")
        return
    with started_with_limits(text_model(), tmp_path_factory.mktemp("crowds"), {}) as found:
        yield found


@pytest.fixture
def descriptors(amount: Amount) -> Iterator[int]:
    """Let this process open as many connections as it takes; return how many."""
    needed = amount(100, 2_000) + 500
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= hard < needed:
        pytest.skip(f"it takes {needed} open files, and this process may have {hard} (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    yield needed - 500
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_is_kept_out_by_a_crowd(
    server: Server, descriptors: int, amount: Amount, kind: str, record_property: Any
) -> None:
    process, address, _ = server
    with crowd(address, KINDS[kind], descriptors, pause=amount(5, 30) / 10) as came:
        began = time.monotonic()
        while came[0] < descriptors:
            assert time.monotonic() < began + 120, f"of {descriptors}, {came[0]} got in"
            time.sleep(0.05)
        began = time.monotonic()
        found = ask_for(address, amount(1, 60))
        ended = time.monotonic()
    got = {
        "came": came[0],
        "answered": sum(len(one.answered) for one in found),
        "refused": Counter(why for one in found for why in one.refused),
        "slowest": max(one.slowest for one in found),
    }
    longest = max(one.longest_refusal(began, ended) for one in found)
    record_property(kind, f"{got}, longest refusal {longest:.1f} s")
    assert process.poll() is None
    assert all(one.answered for one in found), got
    assert longest <= LONGEST_REFUSAL, got


@pytest.mark.parametrize(
    ("kind", "question"), [(SLOW_STREAMS, LINES), (SLOW_LARGE_BODIES, LARGE_BODY)]
)
def test_slow_clients_keep_nobody_from_what_is_scarce(
    tmp_path: Path, amount: Amount, kind: Rude, question: Question
) -> None:
    """The crowd wants more than there is: 60 clients for 40 connections or 20 bodies.

    In full, five times as many for five times the room, in which 32 honest clients fit.
    """
    scale = amount(1, 5)
    n, connections, held_bytes = 60 * scale, 40 * scale, (2 << 20) * scale
    limits = SCARCE | {"connections": connections, "held_bytes": held_bytes}
    with (
        started_with_limits(text_model(), tmp_path, limits) as (process, address, _),
        crowd(address, kind, n, pause=2) as came,
    ):
        while came[0] < n:
            time.sleep(0.05)
        began = time.monotonic()
        honest = ask_for(address, amount(5, 60), n=amount(3, 32), question=question)
        ended = time.monotonic()
        assert process.poll() is None
    refused = Counter(why for one in honest for why in one.refused)
    n_answered = sum(len(one.answered) for one in honest)
    assert refused.total() <= n_answered / 100, (n_answered, refused)
    assert max(one.longest_refusal(began, ended) for one in honest) <= LONGEST_REFUSAL


def test_with_few_descriptors_it_lives_and_answers_when_the_crowd_has_gone(
    few: Server, amount: Amount
) -> None:
    process, address, log = few
    assert httpx.get(f"{address}/v1/model").json()["limits"]["connections"] < FEW_DESCRIPTORS
    for _ in range(amount(1, 5)):
        with ExitStack() as lines:
            for _ in range(amount(60, 300)):
                lines.enter_context(dial(address)).sendall(b"GET /health HTTP/1.1\r\n")
        answer = httpx.get(f"{address}/health", timeout=60)
        assert (answer.status_code, process.poll()) == (200, None), "".join(log[-50:])
