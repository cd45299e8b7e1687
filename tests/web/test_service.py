"""The service: its answers are the model's own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import httpx
import msgspec
import pytest
from scipy.special import logit

from deplda import FlatLDA, InputError, WordCounter
from deplda.models.suggesting import Asked
from deplda.web import Limits
from deplda.web.requests import request_types
from deplda.web.service import ModelService
from tests.models.test_external import fitted as with_arrays
from tests.web.serving import (
    LABELS,
    TEXTS,
    hybrid_model,
    model_of_counts,
    running,
    suggest,
    svm_model,
    text_model,
)

TEXT = "The jury of the court heard the team. The lawsuit İs about a game, game."


@pytest.mark.filterwarnings("ignore::deplda.NoKnownWordsWarning")
@pytest.mark.parametrize(
    ("asked", "k", "cutoff"),
    [
        ({}, None, "validated"),
        ({"k": 1}, 1, "validated"),
        ({"cutoff": "macro-f1"}, None, "macro-f1"),
        ({"cutoff": 2.0}, None, 2),
        ({"cutoff": 2, "k": 1}, 1, 2),
        ({"cutoff": 0.3}, None, 0.3),
    ],
)
def test_suggestions_are_those_of_the_model_to_the_last_bit(
    asked: dict[str, Any], k: int | None, cutoff: Any, client: httpx.Client, model: Any
) -> None:
    texts = [TEXT, "arena", "?"]
    found = suggest(client, *({"text": text} for text in texts), **asked)
    for document, (labels, chances) in zip(found, model.suggest(texts, k, cutoff), strict=True):
        assert [one["label"] for one in document["labels"]] == labels.tolist()
        assert [one["probability"] for one in document["labels"]] == chances.tolist()


@pytest.mark.parametrize("make", [text_model, hybrid_model, svm_model])
def test_documents_of_many_requests_are_answered_to_the_bit_as_each_alone(make: Any) -> None:
    service, kind = ModelService(make(), Limits()), request_types(Limits()).suggest
    asked = [{"text": text} for text in (TEXT, *TEXTS[:6], "arena", "?", "")]
    documents = [(each, "$") for each in msgspec.convert({"documents": asked}, kind).documents]
    together = service.suggest(documents, Asked(k=2))
    assert together == [*chain(*(service.suggest([each], Asked(k=2)) for each in documents))]


@pytest.mark.parametrize("document", [{"text": ""}, {"text": " \n"}, {"words": {}}])
def test_an_empty_document_is_answered_without_labels(
    document: dict[str, Any], client: httpx.Client
) -> None:
    found = suggest(client, {"text": "zzz"}, document, {"text": "judge"})
    assert found[1] == {
        "labels": [], "n_tokens": 0, "n_unknown": 0, "out_of_vocabulary": False, "n_given": 0,
        "empty": True,
    }  # fmt: skip
    assert [one["empty"] for one in found] == [False, True, False]
    assert found[0]["out_of_vocabulary"]


def test_a_model_without_probabilities_gives_scores() -> None:
    model = text_model(n_held_out=0)
    with running(model) as address, httpx.Client(base_url=address) as client:
        (found,) = suggest(client, {"text": TEXT}, k=2)
        (usual,) = suggest(client, {"text": TEXT})
        card = client.get("/v1/model").json()
        asked = {"documents": [{"text": TEXT}], "threshold": 0.5}
        rejected = client.post("/v1/suggest", json=asked)
    assert [one["score"] for one in found["labels"]] == model.rank([TEXT], 2).scores[0].tolist()
    assert found["n_given"] == len(usual["labels"]) == 1  # as the median training document has
    assert (card["has_probabilities"], card["calibration"]) == (False, None)
    assert rejected.status_code == 422
    assert "no probabilities" in rejected.text


def test_words_of_a_language_are_counted_by_their_forms_and_shown_as_people_read_them() -> None:
    counter = WordCounter(language="fi", min_count=1)
    counts = counter.fit_transform(["kirjastot kirjastossa kirjastossa", "talot talossa talossa"])
    model = FlatLDA(n_held_out=0).fit(counts, [["BOOKS"], ["HOUSES"]], counter=counter)
    with running(model) as address, httpx.Client(base_url=address) as client:
        (found,) = suggest(client, {"text": "kirjastoissa"}, k=1)
        shown = client.get("/v1/labels/BOOKS").json()
    assert (found["n_tokens"], found["n_unknown"]) == (1, 0)
    assert found["labels"][0]["label"] == "BOOKS"
    assert shown["words"][0]["word"] == "kirjastossa"


def test_counts_are_read_as_texts_are(client: httpx.Client) -> None:
    text, words = suggest(
        client, {"text": "court, game game; unheard"},
        {"words": {"game": 2, "court": 1, "unheard": 1}},
    )  # fmt: skip
    assert text == words
    assert (text["n_tokens"], text["n_unknown"]) == (3, 1)


def test_all_labels_are_given_if_more_are_wanted_than_there_are(client: httpx.Client) -> None:
    assert len(suggest(client, {"text": TEXT}, k=1000, cutoff=1000)[0]["labels"]) == 3


def test_a_line_says_how_many_labels_the_model_would_give(client: httpx.Client, model: Any) -> None:
    for text in (TEXT, "arena", "court jury team"):
        (own,) = model.suggest([text], cutoff="validated")
        for asked in ({}, {"k": 1}, {"cutoff": 3}, {"threshold": 0.0}):
            (found,) = suggest(client, {"text": text}, **asked)
            assert found["n_given"] == len(own.labels)


def test_labels_below_the_threshold_are_left_out(client: httpx.Client) -> None:
    every = suggest(client, {"text": TEXT}, threshold=0)[0]["labels"]
    assert len(every) == 3
    middle = every[1]["probability"]
    assert suggest(client, {"text": TEXT}, threshold=middle)[0]["labels"] == every[:2]
    assert suggest(client, {"text": TEXT}, threshold=1)[0]["labels"] == []
    usual = suggest(client, {"text": TEXT})
    assert suggest(client, {"text": TEXT}, threshold=None) == usual
    for asked in ({"threshold": 1.5}, {"cutoff": "best"}, {"cutoff": 2.5}, {"cutoff": 0}):
        body = {"documents": [{"text": TEXT}], **asked}
        assert client.post("/v1/suggest", json=body).status_code == 422


def test_explanations_are_those_of_explain(client: httpx.Client, model: Any) -> None:
    found = client.post("/v1/explain", json={"document": {"text": TEXT}, "k": 2}).json()
    expected = model.explain(TEXT, 2)
    assert found["labels"] == expected.to_dict()["labels"]
    assert (found["n_tokens"], found["n_unknown"]) == (expected.n_tokens, expected.n_unknown)
    assert [TEXT[begin:end].lower() for begin, end, _ in found["spans"]] == [
        word for _, _, word in found["spans"]
    ]
    assert {word["word"] for word in found["words"]} == {word for _, _, word in found["spans"]}
    counted = client.post("/v1/explain", json={"document": {"words": {"court": 2}}}).json()
    assert counted["spans"] == []
    assert found["scale"] == "tokens"
    assert all(word["added"] == word["tokens"] for word in found["words"])
    assert counted["n_tokens"] == 2


def test_a_hybrid_explains_by_parts_that_add_up_to_the_log_odds() -> None:
    model = hybrid_model()
    with running(model) as address, httpx.Client(base_url=address) as client:
        found = client.post("/v1/explain", json={"document": {"text": TEXT}, "k": 3}).json()
        card = client.get("/v1/model").json()
        label = client.get("/v1/labels/LAW").json()
    assert (card["explains"], card["has_topics"]) == (True, True)
    assert label["words"][0]["word"] == model.top_words("LAW", 1)[0].name
    assert label["distinctive"][0]["word"] == "court"
    (told,) = model.suggest([TEXT], 3, cutoff=3)
    assert [one["label"] for one in found["labels"]] == told.labels.tolist()
    for one, chance in zip(found["labels"], told.probabilities, strict=True):
        assert sum(one["parts"].values()) == pytest.approx(one["score"], abs=1e-12)
        assert one["score"] == pytest.approx(logit(chance))
    place, law = next(
        (number, one) for number, one in enumerate(found["labels"]) if one["label"] == "LAW"
    )
    assert {"court", "jury"} <= {word["word"] for word in law["evidence"]}
    assert found["scale"] == "log-odds"
    added = {word["word"]: word["added"][place] for word in found["words"]}
    assert added.keys() == {"court", "jury", "heard", "team", "lawsuit", "game"}
    for word in law["evidence"]:
        assert added[word["word"]] == pytest.approx(word["margin"] + word["share"], abs=1e-12)


def test_the_most_similar_training_documents_are_shown_where_the_model_keeps_them() -> None:
    counter = WordCounter(language=None)
    counts = counter.fit_transform(TEXTS)
    model = FlatLDA().fit(counts, LABELS, counter=counter).keep_examples(counts, TEXTS)
    with running(model) as address, httpx.Client(base_url=address) as client:
        asked = {"document": {"text": TEXTS[1]}, "k": 3}
        reasons = client.post("/v1/explain", json=asked).json()["labels"]
        label = client.get("/v1/labels/SPORT").json()
        assert client.get("/v1/model").json()["examples"]
    (law,) = (reason for reason in reasons if reason["label"] == "LAW")
    assert [each["title"] for each in law["examples"]] == [TEXTS[1]] * 3
    assert law["examples"][0]["similarity"] == pytest.approx(1)
    assert len(label["examples"]) == 5
    of_sport = {text for text, own in zip(TEXTS, LABELS, strict=True) if "SPORT" in own}
    assert {each["title"] for each in label["examples"]} <= of_sport


def test_labels_are_searched_sorted_and_paged(client: httpx.Client) -> None:
    def names(**query: Any) -> list[str]:
        return [one["label"] for one in client.get("/v1/labels", params=query).json()["labels"]]

    assert names() == ["SPORT", "LAW", "COMPANIES"]
    assert names(sort="name") == ["COMPANIES", "LAW", "SPORT"]
    assert names(search="co ies") == ["COMPANIES"]
    assert names(search="nothing") == []
    assert names(page=2, size=2) == ["COMPANIES"]
    assert names(page=1_000_000_000) == []
    assert client.get("/v1/labels").json()["labels"][0]["documents"] == 12


def test_a_label_has_words_companions_and_topics(client: httpx.Client, model: Any) -> None:
    found = client.get("/v1/labels/LAW").json()
    assert (found["documents"], found["share"]) == (9, 0.5)
    assert [(word["word"], word["probability"]) for word in found["words"]] == [
        (word.name, word.weight) for word in model.top_words("LAW", 24)
    ]
    assert found["distinctive"][0]["word"] == "court"
    assert found["companions"] == [
        {"label": "COMPANIES", "documents": 3, "share": 1 / 3},
        {"label": "SPORT", "documents": 3, "share": 1 / 3},
    ]
    assert 0 < sum(topic["share"] for topic in found["topics"]) <= 1 + 1e-9


def test_topics_are_the_models_the_largest_first(client: httpx.Client, model: Any) -> None:
    found = client.get("/v1/topics", params={"set": 1}).json()
    assert (found["n_sets"], found["total"]) == (2, 3)
    shares = [topic["share"] for topic in found["topics"]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    expected = {topic.number: topic for topic in model.topics(12) if topic.set == 1}
    for topic in found["topics"]:
        labels = [(label["label"], label["probability"]) for label in topic["labels"]]
        assert labels == [*expected[topic["topic"]].labels]
    missing = client.get("/v1/topics", params={"set": 2})
    assert missing.status_code == 404
    assert "the last is 1" in missing.json()["error"]


def test_the_card_says_what_the_model_is(client: httpx.Client) -> None:
    card = client.get("/v1/model").json()
    assert card["model"] == "DependencyLDA"
    assert (card["n_labels"], card["takes_text"], card["explains"]) == (3, True, True)
    assert (card["learns"], card["examples"]) == (False, False)
    assert card["statistics"]["n_documents"] == len(TEXTS)
    assert card["limits"]["documents"] == Limits().documents
    assert client.get("/health").json() == {"status": "ok", "model": "DependencyLDA"}


@pytest.fixture(scope="module")
def svm() -> Iterator[httpx.Client]:
    with running(svm_model()) as address, httpx.Client(base_url=address) as found:
        yield found


@pytest.fixture(scope="module")
def counts() -> Iterator[httpx.Client]:
    with running(model_of_counts()) as address, httpx.Client(base_url=address) as found:
        yield found


def test_an_svm_suggests_but_does_not_explain(svm: httpx.Client) -> None:
    (expected,) = svm_model().suggest(["court"], cutoff="validated")
    found = suggest(svm, {"text": "court"})[0]["labels"]
    assert [one["probability"] for one in found] == expected.probabilities.tolist()
    rejected = svm.post("/v1/explain", json={"document": {"text": "court"}})
    assert (rejected.status_code, "cannot explain" in rejected.text) == (409, True)
    assert svm.get("/v1/topics").status_code == 409
    label = svm.get("/v1/labels/LAW").json()
    assert (label["words"], label["topics"], label["documents"]) == ([], [], 9)
    card = svm.get("/v1/model").json()
    assert (card["explains"], card["has_topics"]) == (False, False)


def test_a_model_of_counts_takes_words_but_no_text(counts: httpx.Client) -> None:
    rejected = counts.post("/v1/suggest", json={"documents": [{"text": "court"}]})
    assert rejected.status_code == 409
    assert "knows counts alone" in rejected.json()["error"]
    assert suggest(counts, {"words": {"word0": 3}})[0]["n_tokens"] == 3
    assert not counts.get("/v1/model").json()["takes_text"]


def test_flat_lda_explains_but_has_no_topics(counts: httpx.Client) -> None:
    found = counts.post("/v1/explain", json={"document": {"words": {"word0": 3}}})
    assert found.status_code == 200
    assert "no topics" in counts.get("/v1/topics").json()["error"]


def test_a_model_that_requires_external_arrays_is_not_served() -> None:
    with pytest.raises(
        InputError, match="requires embeddings and scores of 'wise', which requests"
    ):
        ModelService(with_arrays(), Limits())
