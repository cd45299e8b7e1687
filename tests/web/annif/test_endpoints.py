"""Annif's routes: what they answer, what they reject, and in which form."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.annif.models import LAW, SPORT
from tests.web.serving import running

COURT = "the jury of the court"
ONE = "/v1/projects/law-fi"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def results(answer: httpx.Response) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def assert_problem(answer: httpx.Response, status: int, part: str) -> None:
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    told = answer.json()
    assert set(told) == {"type", "title", "status", "detail"}
    assert (answer.status_code, told["status"]) == (status, status), answer.text
    assert part in told["detail"], told
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_projects_and_vocabularies_are_listed(annif: httpx.Client) -> None:
    assert set(annif.get("/v1/").json()) == {"title", "version"}
    vocab = {"vocab_id": "law-fi", "languages": ["en", "fi"], "size": 3, "loaded": True}
    assert annif.get("/v1/vocabs").json()["vocabs"][0] == vocab
    listed = annif.get("/v1/projects").json()["projects"]
    assert [project["project_id"] for project in listed] == ["law-fi", "plain", "counts", "scores"]
    one = annif.get(ONE).json()
    assert one == listed[0]
    time = one.pop("modification_time")
    assert time.endswith("+00:00")
    assert one == {
        "project_id": "law-fi", "name": "DependencyLDA of 3 labels", "language": "und",
        "backend": {"backend_id": "deplda"}, "vocab": vocab, "vocab_language": "fi",
        "is_trained": True,
    }  # fmt: skip
    assert [project["is_trained"] for project in listed] == [True, True, False, False]


def test_a_text_gets_addresses_names_and_probabilities(annif: httpx.Client) -> None:
    data: Any = {"text": COURT, "metadata_title": "x", "project": "other"}
    found = results(annif.post(f"{ONE}/suggest", data=data))
    assert [each["uri"] for each in found] == [LAW, SPORT]
    assert found[0]["label"] == "laki"
    assert [each["notation"] for each in found] == ["34", None]
    assert 1 >= found[0]["score"] >= found[1]["score"] > 0
    best = results(annif.post(f"{ONE}/suggest", data=data | {"limit": 1, "language": "en"}))
    assert best == [found[0] | {"label": "Law"}]
    between = (found[0]["score"] + found[1]["score"]) / 2
    assert results(annif.post(f"{ONE}/suggest", data=data | {"threshold": between})) == found[:1]
    assert results(annif.post(f"{ONE}/suggest", data=data | {"limit": 0})) == []
    assert results(annif.post(f"{ONE}/suggest", data=data | {"language": ""})) == found


def test_without_a_thesaurus_labels_are_their_own_address(annif: httpx.Client) -> None:
    found = results(annif.post("/v1/projects/plain/suggest", data={"text": COURT}))
    assert {each["uri"] for each in found} == {"LAW", "SPORT", "COMPANIES"}
    assert all(each["uri"] == each["label"] for each in found)
    ours = annif.post(
        "/v1/suggest", params={"project": "plain"},
        json={"documents": [{"text": COURT}], "cutoff": 3},
    )  # fmt: skip
    (ours,) = ours.json()["documents"]
    assert [each["score"] for each in found] == [each["probability"] for each in ours["labels"]]


def test_several_texts_are_answered_in_their_order(annif: httpx.Client) -> None:
    documents = [{"text": COURT, "document_id": "a"}, {"text": "a game", "metadata": {"x": "y"}}]
    query: Any = {"limit": 1, "language": "en"}
    answer = annif.post(f"{ONE}/suggest-batch", json={"documents": documents}, params=query)
    found = answer.json()
    assert [each["document_id"] for each in found] == ["a", None]
    assert [each["results"][0]["label"] for each in found] == ["Law", "Sport"]
    alone = annif.post(f"{ONE}/suggest", data={"text": COURT} | query)
    assert results(alone) == found[0]["results"]
    assert annif.post(f"{ONE}/suggest-batch", json={"documents": []}).json() == []


def test_long_texts_are_read_as_far_as_the_limits_go_and_a_header_says_so(
    annif: httpx.Client,
) -> None:
    long = "court " * 600
    answer = annif.post(f"{ONE}/suggest", data={"text": long})
    # 1,000 characters are 167 words, which is too many: half of them are read.
    assert answer.headers["deplda-truncated"] == "0;read=500;given=3600"
    assert results(answer) == results(annif.post(f"{ONE}/suggest", data={"text": long[:500]}))
    texts = [COURT, "ä" * 1_500, COURT, long]
    batch = {"documents": [{"text": text} for text in texts]}
    answer = annif.post(f"{ONE}/suggest-batch", json=batch)
    told = "1;read=1000;given=1500, 3;read=500;given=3600"
    assert answer.headers["deplda-truncated"] == told
    asked = {"text": "the court of the city. " * 200, "languages": ["en"]}
    answer = annif.post("/v1/detect-language", json=asked)
    assert answer.headers["deplda-truncated"] == "0;read=2000;given=4600"
    answer = annif.post(f"{ONE}/suggest", data={"text": COURT})
    assert "deplda-truncated" not in answer.headers


def test_languages_are_told(annif: httpx.Client) -> None:
    asked = {"text": "Kissa istuu puussa ja laulaa", "languages": ["en", "fi"]}
    found = results(annif.post("/v1/detect-language", json=asked))
    assert [each["language"] for each in found] == ["fi", None, "en"]
    assert found[0]["score"] > 0.9
    assert sum(each["score"] for each in found) == pytest.approx(1)
    for languages in ([], ["en"] * 6, ["e"], ["xx"], ["english"], "en", [1]):
        answer = annif.post("/v1/detect-language", json=asked | {"languages": languages})
        assert_problem(answer, 400, "languages")


def test_a_model_that_tells_no_probabilities_says_what_to_do(annif: httpx.Client) -> None:
    answer = annif.post("/v1/projects/scores/suggest", data={"text": COURT})
    assert_problem(answer, 409, "calibrate(X, y)")
    answer = annif.post("/v1/projects/counts/suggest", data={"text": COURT})
    assert_problem(answer, 409, "train it from texts")


@pytest.mark.parametrize(
    ("path", "body", "status", "part"),
    [
        ("/v1/projects/nobody/suggest", "text=x", 404, "no project 'nobody'; there is law-fi,"),
        (f"{ONE}/suggest", "", 400, "`text`"),
        (f"{ONE}/suggest", "text=x&limit=-1", 400, "`int` >= 0"),
        (f"{ONE}/suggest", "text=x&limit=ten", 400, "$.limit"),
        (f"{ONE}/suggest", "text=x&limit=", 400, "$.limit"),
        (f"{ONE}/suggest", "text=x&limit=99999999999", 400, "$.limit"),
        (f"{ONE}/suggest", "text=x&threshold=1.01", 400, "`float` <= 1.0"),
        (f"{ONE}/suggest", "text=x&threshold=nan", 400, "$.threshold"),
        (f"{ONE}/suggest", "text=x&text=y", 400, "twice"),
        (f"{ONE}/suggest", "text=x&language=sv", 400, "has labels in en, fi; ask for"),
        ("/v1/projects/plain/suggest", "text=x&language=sv", 400, "does not say of what language"),
        (f"{ONE}/suggest", "text=%ff%fe", 400, "not in UTF-8"),
        (f"{ONE}/suggest", b"text=\xff", 400, "not in UTF-8"),
        (f"{ONE}/suggest", "text=x" + "&a=b" * 1_000, 400, "more than 1,000 fields"),
        (f"{ONE}/suggest", "text=" + "x" * 20_000, 413, "more than 20,000 bytes"),
    ],
)
def test_forms_that_are_wrong_are_said_to_be(
    path: str, body: Any, status: int, part: str, annif: httpx.Client
) -> None:
    assert_problem(annif.post(path, content=body, headers=FORM), status, part)


@pytest.mark.parametrize(
    "body", ["text=court%00y", "text=court+%zz%", "a=&text=court+&&=", "text=court%f0%9f%98%80"]
)
def test_forms_that_are_odd_are_read(body: str, annif: httpx.Client) -> None:
    assert results(annif.post(f"{ONE}/suggest", content=body, headers=FORM))


@pytest.mark.parametrize("text", ["", "+", "%0A%09", "xyzzy+qwertzz"])
def test_nothing_is_suggested_of_a_text_without_vocabulary_words(
    text: str, annif: httpx.Client
) -> None:
    assert results(annif.post(f"{ONE}/suggest", content=f"text={text}", headers=FORM)) == []


def test_bodies_of_another_form_are_rejected(annif: httpx.Client) -> None:
    batch, learn = f"{ONE}/suggest-batch", "/v1/projects/plain/learn"
    many = {"documents": [{"text": "x"}] * 33}
    assert_problem(annif.post(batch, json=many), 400, "length <= 32")
    assert_problem(annif.post(batch, json={"documents": [{}]}), 400, "$.documents[0]")
    assert_problem(annif.post(batch, json=[]), 400, "Expected `object`")
    assert_problem(annif.post(batch, json={"documents": []}, params={"limit": -1}), 400, "$.limit")
    assert_problem(annif.post(batch, content=b"{", headers={"Content-Type": "application/json"}),
                   400, "not JSON")  # fmt: skip
    for path in (batch, learn, "/v1/detect-language"):
        assert_problem(annif.post(path, data={"text": "x"}), 415, "application/json")
    form = f"{ONE}/suggest"
    assert_problem(annif.post(form, json={"text": "x"}), 415, "x-www-form-urlencoded")
    assert_problem(annif.post(form, files={"text": b"x"}), 415, "x-www-form-urlencoded")
    assert_problem(annif.get(form), 405, "GET is not allowed")
    assert_problem(annif.get("/v1/projects/law-fi/train"), 404, "nothing at this address")
    assert_problem(annif.get("/v1/projects/x%2Fy"), 404, "")
    assert annif.get("/v1/projectsx").headers["content-type"] == "application/json"


def test_documents_to_learn_from_are_on_disk_when_that_is_said(
    annif: httpx.Client, feedback: Path
) -> None:
    path = "/v1/projects/plain/learn"
    document = {
        "text": "a\ncourt\0",
        "subjects": [{"uri": "LAW", "label": "law"}],
        "metadata": {},
    }
    answer = annif.post(path, json=[document, document | {"subjects": []}])
    assert (answer.status_code, answer.content) == (204, b"")
    lines = [json.loads(line) for line in feedback.read_bytes().splitlines()]
    assert [(line["text"], line["labels"]) for line in lines[-2:]] == [
        ("a\ncourt\0", ["LAW"]), ("a\ncourt\0", []),
    ]  # fmt: skip
    before = feedback.read_bytes()
    for body, part in [
        ([{"text": "x"}], "`subjects`"),
        ([document, {"subjects": []}], "`text`"),
        *(
            ([document | {"subjects": [{"uri": uri}]}], "uri")
            for uri in ("", " ", "a\nb", "\0", "x" * 2_001)
        ),
        ([document | {"subjects": [{"label": "law"}]}], "`uri`"),
        ([document | {"subjects": [{"uri": "x"}] * 51}], "length <= 50"),
        (document, "Expected `array`"),
        ([document] * 41, "length <= 40"),
    ]:
        assert_problem(annif.post(path, json=body), 400, part)
    full = [{"text": "x" * 3_000, "subjects": []}]
    assert_problem(annif.post(path, json=full), 507, "more than 3,000 bytes; move it away")
    assert feedback.read_bytes() == before
    assert annif.post(path, json=[]).status_code == 204


def test_nothing_is_learned_unless_it_is_asked_for(annif: httpx.Client) -> None:
    document = {"text": "x", "subjects": [{"uri": "LAW"}]}
    assert_problem(annif.post(f"{ONE}/learn", json=[document]), 403, "--learn FILE")


def test_the_token_is_asked_for_and_may_be_a_password(model: Any) -> None:
    token = "0123456789abcdef"  # noqa: S105
    with running({"a": model}, token=token) as address:
        refused = httpx.get(f"{address}/v1/projects/a")
        assert_problem(refused, 401, "send the service's token")
        assert refused.headers["www-authenticate"].startswith("Bearer")
        for user in ("annif", ""):
            basic = httpx.get(f"{address}/v1/projects/a", auth=(user, token))
            assert basic.status_code == 200
        assert httpx.get(f"{address}/v1/projects/a", auth=("annif", "wrong")).status_code == 401
        for value in ("Basic %%%", "Basic", f"Basic {token}", f"Digest {token}"):
            odd = {"Authorization": value}
            assert httpx.get(f"{address}/v1/projects/a", headers=odd).status_code == 401
        other = httpx.get(f"{address}/v1/", headers={"Host": "elsewhere"})
        assert_problem(other, 421, "not known by the host")


def test_requests_are_counted_apart_from_ours(annif: httpx.Client) -> None:
    results(annif.post(f"{ONE}/suggest", data={"text": COURT}))
    assert 'endpoint="annif_suggest",status="200"' in annif.get("/metrics").text


def test_documents_of_several_clients_at_once_are_all_kept(model: Any, tmp_path: Path) -> None:
    path = tmp_path / "feedback.jsonl"
    with running({"a": model}, learn=path, threads=4) as address:

        def send(name: int) -> None:
            with httpx.Client() as client:
                for number in range(10):
                    text = f"{name} {number} " + "x" * 10_000
                    body = [{"text": text, "subjects": []}]
                    answer = client.post(f"{address}/v1/projects/a/learn", json=body)
                    assert answer.status_code == 204

        threads = [threading.Thread(target=send, args=[name]) for name in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    lines = [json.loads(line)["text"].split()[:2] for line in path.read_bytes().splitlines()]
    assert sorted(map(tuple, lines)) == [(str(n), str(m)) for n in range(5) for m in range(10)]


def test_every_route_is_described_with_its_choices(annif: httpx.Client) -> None:
    description = annif.get("/openapi.json").json()
    paths = description["paths"]
    one = "/v1/projects/{project_id}"
    ours = {path for path in paths if path.startswith(("/v1/projects", "/v1/vocabs", "/v1/detect"))}
    assert ours | {"/v1/"} == {
        "/v1/", "/v1/vocabs", "/v1/projects", one, f"{one}/suggest", f"{one}/suggest-batch",
        f"{one}/learn", "/v1/detect-language",
    }  # fmt: skip
    which, *wanted = paths[f"{one}/suggest-batch"]["post"]["parameters"]
    assert which["schema"]["enum"] == ["law-fi", "plain", "counts", "scores"]
    schemas: Any = {each["name"]: each["schema"] for each in wanted}
    assert schemas["language"]["enum"] == ["", "en", "fi", "und"]
    assert schemas["limit"]["default"] == 10
    learned = paths[f"{one}/learn"]["post"]["responses"]
    assert {"204", "403", "507"} <= set(learned)
    problem = learned["404"]["content"]["application/problem+json"]["schema"]
    assert problem["$ref"].endswith("/Problem")
