"""A service of labels that are concepts of a thesaurus."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from deplda.data.vocabulary import Concept, Vocabulary
from tests.models.test_knows_names import fitted, world
from tests.models.test_knows_names import never as never_learned
from tests.web.serving import assert_rejected, bilingual_model, running, suggest, text_model

LAW, SPORT = "http://x/law", "http://x/sport"
THESAURUS = Vocabulary(
    [
        Concept(
            uri=LAW, names={"en": "Law", "fi": "laki"}, synonyms={"fi": ("oikeus",)}, notation="34",
            broader=("http://x/society",), related=(SPORT, "http://elsewhere"),
            notes={"en": "Of courts."},
        ),
        Concept(uri=SPORT, names={"en": "Sport"}, broader=("http://x/society",)),
        Concept(uri="http://x/society", names={"fi": "yhteiskunta"}),
        Concept(uri="http://x/court", names={"fi": "tuomioistuimet"}, broader=(LAW,)),
    ]
)  # fmt: skip


@pytest.fixture(scope="module")
def named() -> Iterator[httpx.Client]:
    model: Any = text_model({"LAW": LAW, "SPORT": SPORT})
    model.vocabulary_, model.label_language_ = THESAURUS, "fi"
    with running(model) as address, httpx.Client(base_url=address) as client:
        yield client


def test_suggestions_have_names_addresses_and_notations(named: httpx.Client) -> None:
    (found,) = suggest(named, {"text": "the jury of the court"}, cutoff=1)
    (label,) = found["labels"]
    assert (label["label"], label["uri"], label["notation"]) == ("laki", LAW, "34")
    asked = {"document": {"text": "the jury of the court"}, "k": 1}
    (reason,) = named.post("/v1/explain", json=asked).json()["labels"]
    assert (reason["label"], reason["uri"], reason["notation"]) == ("laki", LAW, "34")


@pytest.mark.parametrize("search", ["laki", "LAW", "34", "oikeus"])
def test_labels_are_found_by_name_synonym_and_notation(search: str, named: httpx.Client) -> None:
    (found,) = named.get("/v1/labels", params={"search": search}).json()["labels"]
    assert (found["label"], found["uri"], found["notation"]) == ("laki", LAW, "34")


def test_a_label_has_what_the_thesaurus_says(named: httpx.Client) -> None:
    found = named.get("/v1/labels/laki").json()
    assert found["words"]
    assert found["concept"] == {
        "uri": LAW, "notation": "34", "synonyms": ["oikeus"], "note": "Of courts.",
        "broader": ["yhteiskunta"], "narrower": ["tuomioistuimet"], "related": ["Sport"],
        "labels": ["Sport"],
    }  # fmt: skip


def test_by_the_model_a_label_has_others_beside_it(named: httpx.Client) -> None:
    found = named.get("/v1/labels/laki").json()
    assert [each["label"] for each in found["companions"]] == ["COMPANIES", "Sport"]
    assert found["topics"]


@pytest.fixture(scope="module")
def by_name() -> Iterator[httpx.Client]:
    with running(fitted()) as address, httpx.Client(base_url=address) as client:
        yield client


def test_labels_that_were_never_learned_are_suggested_and_explained(by_name: httpx.Client) -> None:
    never = {concept.name("en"): concept.uri for concept in world().vocabulary}
    never = {name: uri for name, uri in never.items() if uri in never_learned()}
    seen = set()
    for text in world().new_texts[:20]:
        answer = by_name.post("/v1/explain", json={"document": {"text": text}, "k": 5}).json()
        n_words = len(text.split())
        assert answer["n_tokens"] + answer["n_unknown"] == n_words
        (found,) = suggest(by_name, {"text": text}, cutoff=5)
        assert found["n_tokens"] + found["n_unknown"] == n_words
        assert [each["label"] for each in found["labels"]] == [
            each["label"] for each in answer["labels"]
        ]
        for reason in answer["labels"]:
            if reason["label"] in never:
                seen.add(reason["label"])
                (begin, end), *_ = reason["named"]["places"]
                assert text[begin:end] == reason["named"]["as_written"]
                assert reason["uri"] == never[reason["label"]]
    assert seen
    for name in seen:
        label = by_name.get(f"/v1/labels/{name}").json()
        assert label["documents"] == 0
        assert label["words"] == label["distinctive"] == label["topics"] == []
        assert label["concept"]["uri"] == never[name]


@pytest.fixture(scope="module")
def bilingual() -> Iterator[httpx.Client]:
    with running(bilingual_model()) as address, httpx.Client(base_url=address) as client:
        yield client


def test_label_names_are_in_the_requested_language(bilingual: httpx.Client) -> None:
    card = bilingual.get("/v1/model").json()
    assert (card["label_language"], card["label_languages"]) == ("fi", ["en", "fi"])
    text = {"text": "judge and jury in court"}
    line = {"content": json.dumps(text), "headers": {"Content-Type": "application/x-ndjson"}}
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("post", "/v1/suggest", {"json": {"documents": [text], "cutoff": 1}}),
        ("post", "/v1/suggest-lines", line),
        ("post", "/v1/explain", {"json": {"document": text, "k": 1}}),
        ("get", "/v1/labels", {}), ("get", "/v1/labels/LAW", {}), ("get", "/v1/labels/laki", {}),
        ("post", "/v1/label-names", {"json": {"uris": ["LAW"]}}), ("get", "/v1/labels/Law", {}),
        ("get", "/v1/topics", {}),
    ]  # fmt: skip
    for method, path, how in asked:
        for params, name, other in (
            ({}, "laki", "Law"), ({"label_language": "fi"}, "laki", "Law"),
            ({"label_language": "en"}, "Law", "laki"),
        ):  # fmt: skip
            answer = bilingual.request(method, path, params=params, **how)
            assert answer.status_code == 200, answer.text
            assert f'"{name}"' in answer.text, (path, params)
            assert f'"{other}"' not in answer.text, (path, params)


def test_a_language_without_label_names_is_rejected(bilingual: httpx.Client) -> None:
    for language in ("sv", ""):
        answer = bilingual.get("/v1/labels", params={"label_language": language})
        assert_rejected(answer, 422, f"label_language is {language!r}")
        assert "has label names in en, fi" in answer.json()["error"]
    twice = bilingual.get("/v1/labels?label_language=fi&label_language=en")
    assert_rejected(twice, 422, "names a parameter twice")


def test_a_model_without_a_vocabulary_has_no_label_languages(address: str) -> None:
    card = httpx.get(f"{address}/v1/model").json()
    assert (card["label_language"], card["label_languages"]) == (None, [])
    answer = httpx.get(f"{address}/v1/labels", params={"label_language": "fi"})
    assert_rejected(answer, 422, "has label names in no known language")


def test_labels_are_listed_by_uri(bilingual: httpx.Client) -> None:
    found = bilingual.post("/v1/label-names", json={"uris": ["SPORT", "OTHER", "LAW"]}).json()
    assert [each["label"] for each in found["labels"]] == ["urheilu", "laki"]
    assert found["total"] == 2
    assert_rejected(bilingual.post("/v1/label-names", json={"uris": []}), 422, "uris")


def test_the_description_lists_the_languages_of_label_names(
    bilingual: httpx.Client, address: str
) -> None:
    paths = bilingual.get("/openapi.json").json()["paths"]
    plain = httpx.get(f"{address}/openapi.json").json()["paths"]
    for path, method in (
        ("/v1/suggest", "post"), ("/v1/suggest-lines", "post"), ("/v1/explain", "post"),
        ("/v1/labels", "get"), ("/v1/label-names", "post"), ("/v1/labels/{label}", "get"),
        ("/v1/topics", "get"),
    ):  # fmt: skip
        schemas = {each["name"]: each["schema"] for each in paths[path][method]["parameters"]}
        assert schemas["label_language"]["enum"] == ["en", "fi"]
        assert "label_language" not in str(plain[path][method]["parameters"])
