"""Label Studio's requests, as they were recorded, against a real server."""

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import httpx
import pytest

from deplda import Concept, Vocabulary
from tests.web.label_studio.recordings import recorded
from tests.web.serving import TINY, assert_rejected, running, svm_model, text_model

LAW, SPORT = "http://x/law", "http://x/sport"
SECRET = "0123456789abcdef0123456789abcdef01234567"  # noqa: S105  # it looks like one


def concept_model() -> Any:
    model: Any = text_model({"LAW": LAW, "SPORT": SPORT})
    model.vocabulary_ = Vocabulary(
        [Concept(uri=LAW, names={"en": "law"}), Concept(uri=SPORT, names={"en": "sport"})]
    )
    return model


@contextmanager
def served(tmp_path: Path, **access: Any) -> Iterator[httpx.Client]:
    models = {"plain": text_model(), "yso-en": concept_model()}
    with running(models, **access) as address, httpx.Client(base_url=address) as client:
        yield client


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("learn")
    return {name: folder / f"{name}.jsonl" for name in ("plain", "yso-en")}


@pytest.fixture(scope="module")
def client(kept: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Any:
    with served(tmp_path_factory.mktemp("x"), learn=kept) as client:
        yield client


def replay(client: httpx.Client, prefix: str, request: dict[str, Any]) -> httpx.Response:
    sent = {} if request["body"] is None else {"json": request["body"]}
    return client.request(request["method"], f"{prefix}{request['path']}", **sent)


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize(
    ("name", "prefix", "project"),
    [("choices", "", "plain"), ("choices", "/label-studio/plain", "plain"),
     ("taxonomy", "/label-studio/yso-en", "yso-en")],
)  # fmt: skip
def test_what_was_recorded_is_answered_as_label_studio_wants_it(
    name: str, prefix: str, project: str, client: httpx.Client, kept: dict[str, Path]
) -> None:
    n_before, version = len(lines(kept[project])), None
    for request in recorded(name):
        answer = replay(client, prefix, request)
        body = request["body"] or {}
        if request["path"] == "/versions":  # Label Studio takes it for: no versions
            assert answer.status_code == 404
        elif request["path"] == "/webhook":
            is_decision = body["action"] in ("ANNOTATION_CREATED", "ANNOTATION_UPDATED")
            is_kept = is_decision and not body["annotation"]["was_cancelled"]
            assert answer.status_code == (201 if is_kept else 200), answer.text
            assert answer.json()["kept"] == int(is_kept)
        else:
            assert answer.status_code == 200, answer.text
        if request["path"] == "/setup":
            version = answer.json()["model_version"]
            assert version.startswith(f"{project} 20")
        elif request["path"] == "/predict":
            results = answer.json()["results"]
            assert len(results) == len(body["tasks"])
            check_predictions(name, results, version)
    text = "the judge heard the coach"
    labels = ["LAW", "SPORT"] if name == "choices" else [LAW, "society"]
    new = lines(kept[project])[n_before:]
    assert [(line["text"], line["labels"]) for line in new] == [(text, labels)] * 2


def check_predictions(name: str, results: list[Any], version: str | None) -> None:
    for result in results:
        assert result["model_version"] == version
        for region in result["result"]:
            assert 0 < result["score"] <= 1
            assert (region["from_name"], region["to_name"]) == ("subjects", "text")
            assert region["type"] == name
            assert set(map(str, region["value"][name])) <= (
                {"LAW", "SPORT"} if name == "choices" else
                {"['society', 'law']", "['society', 'sport']"}
            )  # fmt: skip
    assert results[0]["result"]


def test_annotations_are_not_kept_unless_the_service_learns(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        for request in recorded("choices"):
            if request["path"] == "/webhook":
                answer = replay(client, "", request)
                assert answer.status_code == 200
                assert answer.json()["kept"] == 0
                assert "--learn FILE" in answer.json()["reason"]


def test_the_access_token_is_neither_logged_nor_kept(
    client: httpx.Client, kept: dict[str, Path], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        for request in recorded("choices"):
            text = json.dumps(request).replace('"scrubbed"', f'"{SECRET}"')
            answer = replay(client, "/label-studio/plain", json.loads(text))
            assert SECRET not in answer.text
        broken = {"access_token": SECRET, "schema": f"<View>&{SECRET};"}
        assert client.post("/setup", json=broken).status_code == 409
        assert client.post("/setup", json={"access_token": SECRET}).status_code == 422
    assert caplog.records
    assert SECRET not in "".join(record.getMessage() for record in caplog.records)
    assert SECRET not in kept["plain"].read_text()


def test_what_cannot_be_answered_says_why_and_is_logged(
    client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    setup = next(each for each in recorded("choices") if each["path"] == "/setup")
    wrong = deepcopy(setup)
    wrong["body"]["schema"] = "<View>\n</View>"
    with caplog.at_level(logging.WARNING):
        answer = replay(client, "/label-studio/plain", wrong)
    assert_rejected(answer, 409, "has no <Choices> or <Taxonomy>")
    (record,) = caplog.records
    assert record.getMessage().startswith("plain: Label Studio's request is not answered: ")
    doctype = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><View>&a;</View>'
    wrong["body"]["schema"] = doctype
    assert_rejected(replay(client, "", wrong), 409, "has a document type")
    assert_rejected(client.post("/setup", json={"schema": 7}), 422, "Expected `str`")
    assert_rejected(client.post("/predict", content=b"{"), 415, "send Content-Type")
    answer = replay(client, "/label-studio/nothing", setup)
    assert_rejected(answer, 404, "there is no project 'nothing'; there is plain and yso-en")
    assert client.get("/label-studio/nothing/health").status_code == 404
    assert client.get("/label-studio/yso-en/health").json() == {
        "status": "ok", "model": "DependencyLDA",
    }  # fmt: skip


def test_a_model_without_topics_answers_too() -> None:
    request = next(each for each in recorded("choices") if each["path"] == "/predict")
    with running(svm_model()) as address, httpx.Client(base_url=address) as client:
        answer = replay(client, "", request)
    assert len(answer.json()["results"]) == 2


def test_very_many_tasks_are_rejected_quickly(client: httpx.Client) -> None:
    request = deepcopy(next(each for each in recorded("choices") if each["path"] == "/predict"))
    request["body"]["tasks"] = [{"id": 1, "data": {}}] * 500_000
    begin = time.monotonic()
    assert_rejected(replay(client, "", request), 422, "length <= 1000")
    assert time.monotonic() - begin < 20  # most of which is making the request
    event = {"action": "ANNOTATIONS_CREATED", "annotation": [{}] * 500_000, "task": [{}] * 500_000}
    assert client.post("/webhook", json=event).json()["kept"] == 0


def test_bodies_have_a_limit() -> None:
    request = deepcopy(next(each for each in recorded("choices") if each["path"] == "/predict"))
    with running(text_model(), TINY) as address, httpx.Client(base_url=address) as client:
        request["body"]["tasks"][0]["data"]["text"] = "court " * 1_000  # read as far as allowed
        assert replay(client, "", request).status_code == 200
        request["body"]["tasks"][0]["data"]["text"] = "court " * 5_000_000
        assert_rejected(replay(client, "", request), 413, "the body has more than")


def test_every_route_is_described(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    one, posts = "/label-studio/{project_id}", ("setup", "predict", "webhook")
    assert {f"{one}/health", *(f"{prefix}/{name}" for prefix in ("", one) for name in posts)} <= {
        *paths
    }
    (which,) = paths[f"{one}/predict"]["post"]["parameters"]
    assert which["schema"]["enum"] == ["plain", "yso-en"]
    assert paths["/predict"]["post"]["parameters"] == []
    assert {"200", "201", "507"} <= set(paths["/webhook"]["post"]["responses"])
