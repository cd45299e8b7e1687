"""Several models in one service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from deplda import InputError
from deplda.web import Limits, create_app
from deplda.web.projects import check_ids, id_of, open_feedback
from tests.web.serving import assert_rejected, running, suggest, svm_model, text_model


@pytest.fixture(scope="module")
def two(model: Any) -> Iterator[httpx.Client]:
    models = {"law-en": model, "sport_2": text_model({"SPORT": "GAMES"})}
    with running(models) as address, httpx.Client(base_url=address) as client:
        yield client


def labels_of(client: httpx.Client, **query: Any) -> set[str]:
    return {each["label"] for each in client.get("/v1/labels", params=query).json()["labels"]}


def test_the_first_is_asked_unless_another_is_named(two: httpx.Client, model: Any) -> None:
    assert labels_of(two) == labels_of(two, project="law-en") == {"LAW", "SPORT", "COMPANIES"}
    assert labels_of(two, project="sport_2") == {"LAW", "GAMES", "COMPANIES"}
    assert two.get("/v1/model").json()["project"] == "law-en"
    named = {"project": "sport_2"}
    assert two.get("/v1/model", params=named).json()["project"] == "sport_2"
    assert two.get("/v1/labels/GAMES", params=named).status_code == 200
    assert two.get("/v1/labels/GAMES").status_code == 404
    assert two.get("/v1/topics", params=named).status_code == 200
    body: Any = {"documents": [{"text": "a game in the arena"}], "cutoff": 1}
    (found,) = two.post("/v1/suggest", params=named, json=body).json()["documents"]
    assert [each["label"] for each in found["labels"]] == ["GAMES"]
    (found,) = suggest(two, *body["documents"], cutoff=1)
    assert [each["label"] for each in found["labels"]] == ["SPORT"]
    body = {"document": body["documents"][0], "k": 1}
    (reason,) = two.post("/v1/explain", params=named, json=body).json()["labels"]
    assert reason["label"] == "GAMES"


@pytest.mark.parametrize("path", ["/v1/labels", "/v1/labels/LAW", "/v1/topics", "/v1/model"])
def test_a_project_that_is_not_there_is_said(path: str, two: httpx.Client) -> None:
    answer = two.get(path, params={"project": "x" * 200})
    assert_rejected(answer, 404, "xxx…'; there is law-en and sport_2")
    answer = two.get(path, params={"project": ["law-en", "sport_2"]})
    assert_rejected(answer, 422, "names a parameter twice")


@pytest.mark.parametrize("id", ["", "a b", "é", "-a", "a/b", "a" * 101, "a\n"])
def test_ids_can_stand_in_an_address_as_they_are(id: str) -> None:
    with pytest.raises(InputError, match="as in yso-fi"):
        create_app({id: svm_model()})


def test_ids_are_distinct_and_there_is_one() -> None:
    with pytest.raises(InputError, match="two projects have the id 'a'; name each"):
        check_ids(["a", "b", "a"])


@pytest.mark.parametrize(
    ("path", "id"),
    [("models/yso-fi", "yso-fi"), ("models/yso-fi/", "yso-fi"), ("my model.v2", "my-model-v2"),
     ("/", "model"), ("__", "model"), ("m" * 120, "m" * 100)],
)  # fmt: skip
def test_a_model_without_an_id_has_its_folders_name(path: str, id: str) -> None:
    assert id_of(path) == id
    check_ids([id_of(path)])


def test_each_project_has_its_own_file_to_learn_from(tmp_path: Path) -> None:
    one, limits = tmp_path / "one.jsonl", Limits()
    assert open_feedback(None, ["a"], limits) == {}
    assert open_feedback(one, ["a"], limits)["a"].path == one
    assert set(open_feedback({"b": one}, ["a", "b"], limits)) == {"b"}
    with pytest.raises(InputError, match=r"cannot hold what 2 models are to learn.*a=FILE"):
        open_feedback(one, ["a", "b"], limits)
    with pytest.raises(InputError, match="no project 'c' to learn; there is a and b"):
        open_feedback({"c": one}, ["a", "b"], limits)
    with pytest.raises(InputError, match="the same file"):
        open_feedback({"a": one, "b": tmp_path / "." / "one.jsonl"}, ["a", "b"], limits)
