"""Models that are replaced while a real server answers."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from deplda.web import reload
from tests.web.serving import started, text_model

IN_A_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "deplda", *sys.argv[1:]])
"""
ASK = {"documents": [{"text": "a game in the arena"}], "cutoff": 1}


@pytest.fixture(scope="module")
def renamed() -> Any:
    return text_model({"SPORT": "GAMES"})


@contextmanager
def asked_all_the_time(address: str) -> Iterator[list[str]]:
    """Ask on two connections that stay open, and on new ones; yield the labels as they come."""
    found: list[str] = []
    end = threading.Event()

    def ask(client: Any) -> None:
        while not end.is_set():
            answer = client.post(f"{address}/v1/suggest", json=ASK, timeout=60)
            label = answer.json()["documents"][0]["labels"][0]["label"] if answer else ""
            found.append(label if answer.status_code == 200 else str(answer.status_code))

    with httpx.Client() as one, httpx.Client() as other:
        threads = [threading.Thread(target=ask, args=[client]) for client in (one, other, httpx)]
        for thread in threads:
            thread.start()
        try:
            yield found
        finally:
            end.set()
            for thread in threads:
                thread.join()


def wait_for(happened: Callable[[], bool], log: list[str]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline, "".join(log[-20:])
        time.sleep(0.05)


def test_a_model_that_is_replaced_is_loaded_anew_and_no_request_fails(
    model: Any, renamed: Any, tmp_path: Path
) -> None:
    with (
        started(model, tmp_path) as (process, address, log),
        asked_all_the_time(address) as found,
    ):
        wait_for(lambda: len(found) > 20, log)
        assert set(found) == {"SPORT"}
        renamed.save(tmp_path / "model")
        wait_for(lambda: found[-1] == "GAMES", log)
        card = tmp_path / "model" / "card.json"
        card.write_text(card.read_text().replace('"id": "', '"id": "0'))
        wait_for(lambda: "is not taken, and the model loaded before stays" in "".join(log), log)
        model.save(tmp_path / "model")
        wait_for(lambda: found[-1] == "SPORT", log)
        n_loaded = "".join(log).count("loaded anew")
        process.send_signal(signal.SIGHUP)  # nothing was replaced, and it is loaded all the same
        wait_for(lambda: "".join(log).count("loaded anew") > n_loaded, log)
        subprocess.run(["rm", "-r", tmp_path / "model"], check=True)
        wait_for(lambda: "is gone; the model stays as it was loaded" in "".join(log), log)
        n = len(found)
        wait_for(lambda: len(found) > n + 20, log)
    assert set(found) == {"SPORT", "GAMES"}
    assert process.returncode == 0
    loaded = f"INFO model: loaded anew from {tmp_path / 'model'}: a DependencyLDA of 3 labels"
    assert loaded in "".join(log)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory from /proc")
def test_a_reloaded_card_with_one_long_label_takes_little_memory(
    model: Any, tmp_path: Path
) -> None:
    with started(model, tmp_path) as (process, _, log):
        before, path = peak_mb(process.pid), tmp_path / "model" / "card.json"
        labels = [*map(str, range(2_000)), "x" * 200_000]
        path.write_text(
            json.dumps(json.loads(path.read_bytes()) | {"labels": labels, "object_labels": False})
        )
        process.send_signal(signal.SIGHUP)
        wait_for(lambda: "is not taken" in "".join(log), log)
        assert peak_mb(process.pid) < before + 200


def peak_mb(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024


def test_a_hangup_of_the_parent_reaches_all_workers(
    model: Any, renamed: Any, tmp_path: Path
) -> None:
    with (
        started(model, tmp_path, "--workers=2", n_processes=2) as (process, address, log),
        asked_all_the_time(address) as found,
    ):
        wait_for(lambda: len(found) > 20, log)
        process.send_signal(signal.SIGHUP)
        wait_for(lambda: "".join(log).count("loaded anew") == 2, log)
        renamed.save(tmp_path / "model")
        wait_for(lambda: set(found[-50:]) == {"GAMES"}, log)
    assert set(found) == {"SPORT", "GAMES"}
    assert "died" not in "".join(log)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_service_whose_terminal_is_closed_ends(workers: int, model: Any, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    terminal, other_end = pty.openpty()
    serve = ["serve", str(tmp_path / "model"), "--port=0", f"--workers={workers}"]
    ends: Any = dict.fromkeys(("stdin", "stdout", "stderr"), other_end)
    process = subprocess.Popen([sys.executable, "-c", IN_A_TERMINAL, *serve], **ends)
    os.close(other_end)
    log = ""
    while log.count("startup complete") < workers:
        log += os.read(terminal, 4096).decode()
    process.send_signal(signal.SIGHUP)  # of somebody else: the terminal is still there
    while log.count("loaded anew") < workers:
        log += os.read(terminal, 4096).decode()
    os.close(terminal)
    assert process.wait(60) == 0


def test_a_service_that_is_to_end_with_its_terminal_is_told_from_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup may have had it ignored
    monkeypatch.setattr(reload, "has_terminal", lambda: True)
    monkeypatch.setenv("DEPLDA_LEAVES_WITH_TERMINAL", "")
    with reload.hangups_ignored():
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        assert reload.leaves_with_terminal()
        with reload.hangups_ignored():  # as nohup has it
            assert not reload.leaves_with_terminal()
    monkeypatch.setattr(reload, "has_terminal", lambda: False)
    with reload.hangups_ignored():
        assert not reload.leaves_with_terminal()
    assert signal.signal(signal.SIGHUP, before) == signal.SIG_DFL
