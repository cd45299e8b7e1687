"""The real annif-client against a real server process, and what becomes of what it sends."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import deplda
from tests.cli.running import run
from tests.web.annif.models import LAW, SPORT, thesaurus_model
from tests.web.serving import started

requests: Any = pytest.importorskip("requests")
annif_client = pytest.importorskip("annif_client")

COURT = "the jury of the court"
NEW = "http://x/new"


class Service:
    """A server process, a client of it, and the files of both."""

    def __init__(self, folder: Path, address: str) -> None:
        self.feedback, self.model, self.next = (
            folder / name for name in ("feedback.jsonl", "model", "next")
        )
        self.client = annif_client.AnnifClient(f"{address}/v1/")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("annif")
    options = ["--project-id=law-fi", f"--learn={folder / 'feedback.jsonl'}"]
    with started(thesaurus_model(), folder, *options) as (_, address, _):
        yield Service(folder, address)


def test_what_there_is(service: Service) -> None:
    assert service.client.api_info["version"] == deplda.__version__
    (project,) = service.client.projects
    assert project == service.client.get_project("law-fi")
    assert (project["project_id"], project["is_trained"]) == ("law-fi", True)
    with pytest.raises(ValueError, match="there is no project 'yso-fi'; there is law-fi"):
        service.client.get_project("yso-fi")


def test_suggestions(service: Service) -> None:
    found = service.client.suggest("law-fi", COURT)
    assert [each["uri"] for each in found] == [LAW, SPORT]
    assert service.client.suggest("law-fi", io.StringIO(COURT), limit=1) == found[:1]
    threshold = found[0]["score"]
    assert service.client.suggest("law-fi", COURT, threshold=threshold) == found[:1]
    documents = [{"document_id": "a", "text": COURT}, {"text": "a game"}]
    batch = service.client.suggest_batch("law-fi", documents, limit=1, threshold=0.01)
    assert [each["document_id"] for each in batch] == ["a", None]
    assert [each["results"][0]["uri"] for each in batch] == [LAW, SPORT]
    for ask, given in (("suggest", ""), ("suggest_batch", []), ("learn", [])):
        with pytest.raises(ValueError, match="there is no project"):
            getattr(service.client, ask)("yso-fi", given)
    long = "the court of the city " * 50_000  # 1.1 million characters, 200,000 are read
    assert service.client.suggest("law-fi", long, limit=1)[0]["uri"] == LAW


def test_languages(service: Service) -> None:
    found = service.client.detect_language(io.StringIO("Kissa istuu puussa"), ["en", "fi"])
    assert found["results"][0]["language"] == "fi"


def test_what_is_sent_is_learned(service: Service) -> None:
    documents = [
        {"text": "a whistle of the referee", "subjects": [{"uri": NEW, "label": "new"}]},
        {"text": "the judge of the court", "subjects": [{"uri": LAW}]},
    ]
    assert service.client.learn("law-fi", documents).status_code == 204
    done = run("learn", service.model, service.feedback, "-o", service.next)
    assert "learned from 2 documents" in done.output
    assert "1 known label, 1 new one ('http://x/new')" in done.output
    learned: Any = deplda.load(service.next)
    assert {LAW, SPORT, "COMPANIES", NEW} == set(learned.classes_.tolist())
    assert learned.label_sets_.shape[0] == 18 + 2


def sending(client: Any, name: str, told: list[str], end: threading.Event) -> threading.Thread:
    """Send documents to learn from, one after the other; `told` are those that were confirmed."""

    def send() -> None:
        for number in count():
            text = f"{name} {number} " + "x" * 100_000
            try:
                client.learn("model", [{"text": text, "subjects": [{"uri": LAW}]}])
            except requests.RequestException:
                if end.is_set():
                    return
                continue
            told.append(f"{name} {number}")
            if end.is_set():
                return

    thread = threading.Thread(target=send)
    thread.start()
    return thread


def assert_kept(feedback: Path, told: list[str]) -> set[str]:
    """See that what was confirmed is there once, and no line is broken but the last."""
    *whole, _ = feedback.read_bytes().split(b"\n")
    found = [" ".join(json.loads(line)["text"].split()[:2]) for line in whole]
    assert len(found) == len(set(found))
    assert set(told) <= set(found)
    return set(found) - set(told)


def test_what_was_confirmed_is_there_after_a_kill(tmp_path: Path) -> None:
    feedback, told, end = tmp_path / "feedback.jsonl", list[str](), threading.Event()
    with started(thesaurus_model(), tmp_path, f"--learn={feedback}") as (process, address, _):
        client = annif_client.AnnifClient(f"{address}/v1/")
        threads = [sending(client, name, told, end) for name in ("a", "b")]
        while len(told) < 20:
            assert process.poll() is None
            time.sleep(0.01)
        end.set()
        process.send_signal(signal.SIGKILL)
        for thread in threads:
            thread.join()
    assert len(assert_kept(feedback, told)) <= 2  # on disk, and killed before it could be said


@pytest.mark.slow
def test_of_several_workers_one_may_be_killed(tmp_path: Path) -> None:
    feedback, told, end = tmp_path / "feedback.jsonl", list[str](), threading.Event()
    how: Any = {"n_processes": 2}
    with started(thesaurus_model(), tmp_path, "--workers=2", f"--learn={feedback}", **how) as found:
        _, address, log = found
        workers = re.findall(r"Started server process \[(\d+)\]", "".join(log))
        client = annif_client.AnnifClient(f"{address}/v1/")
        threads = [sending(client, name, told, end) for name in ("a", "b", "c")]
        while len(told) < 30:
            time.sleep(0.01)
        os.kill(int(workers[0]), signal.SIGKILL)
        n = len(told)
        while len(told) < n + 30:
            time.sleep(0.01)
        end.set()
        for thread in threads:
            thread.join()
    assert_kept(feedback, told)
    assert feedback.read_bytes().endswith(b"\n")
