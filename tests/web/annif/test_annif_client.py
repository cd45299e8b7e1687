"""The real annif-client against a real server process, and what becomes of what it sends."""

from __future__ import annotations

import io
import json
import signal
import threading
from collections.abc import Iterator
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
    assert "1 known labels, 1 new ones (http://x/new)" in done.output
    learned: Any = deplda.load(service.next)
    assert {LAW, SPORT, "COMPANIES", NEW} == set(learned.classes_.tolist())
    assert learned.label_sets_.shape[0] == 18 + 2


def test_what_was_confirmed_is_there_after_a_kill(tmp_path: Path) -> None:
    feedback = tmp_path / "feedback.jsonl"
    with started(thesaurus_model(), tmp_path, f"--learn={feedback}") as (process, address, _):
        client, told = annif_client.AnnifClient(f"{address}/v1/"), list[str]()

        def send(name: str) -> None:
            number = 0
            while True:
                text = f"{name} {number} " + "x" * 100_000
                try:
                    client.learn("model", [{"text": text, "subjects": [{"uri": LAW}]}])
                except requests.RequestException:
                    return
                told.append(f"{name} {number}")
                number += 1

        threads = [threading.Thread(target=send, args=[name]) for name in ("a", "b")]
        for thread in threads:
            thread.start()
        while len(told) < 20:
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        for thread in threads:
            thread.join()
    *whole, _ = feedback.read_bytes().split(b"\n")
    found = [" ".join(json.loads(line)["text"].split()[:2]) for line in whole]
    assert set(told) <= set(found)
    assert len(found) == len(set(found))
    assert len(set(found) - set(told)) <= 2  # on disk, and killed before it could be said
