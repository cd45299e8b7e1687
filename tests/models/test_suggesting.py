"""What is said of documents: probabilities where there are any, scores where there are none."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from deplda import FlatLDA, InputError, NoKnownWordsWarning
from deplda.models.suggesting import Asked, answers_of, suggested
from tests.models.worlds import news, quick


def labels_of(model: Any, documents: Any, asked: Asked) -> list[Any]:
    return [answer["labels"] for answer in answers_of(model, documents, asked)]


@cache
def fitted(n_held_out: int) -> Any:
    return quick(FlatLDA, n_held_out=n_held_out).fit(news())


def test_labels_come_with_their_probabilities() -> None:
    model, some = fitted(2000), news()[:20]
    chances = model.predict_proba(some)
    for labels, own in zip(labels_of(model, some, Asked()), chances, strict=True):
        told = [label["probability"] for label in labels]
        assert told == sorted(own, reverse=True)[: len(told)]
        assert min(told) >= model.calibration_.threshold or len(told) == 1
    every = labels_of(model, some, Asked(threshold=0.0))
    assert {len(labels) for labels in every} == {len(model.classes_)}
    both = labels_of(model, some, Asked(3, 0.2))
    assert both == [[x for x in labels[:3] if x["probability"] >= 0.2] for labels in every]
    assert labels_of(model, some, Asked(3, k=2)) == [labels[:2] for labels in every]


def test_without_probabilities_there_are_as_many_labels_as_the_median_document_has() -> None:
    model, some = fitted(0), news()[:5]
    ranking = model.rank(some, int(np.median(np.diff(model.label_sets_.indptr))))
    found = labels_of(model, some, Asked())
    assert [[x["score"] for x in labels] for labels in found] == ranking.scores.tolist()
    assert [[x["label"] for x in labels] for labels in found] == ranking.labels.tolist()
    for asked, n in ((Asked(k=2), 2), (Asked(4), 4), (Asked(4, k=3), 3), (Asked(12), 12)):
        assert {len(labels) for labels in labels_of(model, some, asked)} == {n}


@pytest.mark.parametrize(
    "asked",
    [
        Asked(), Asked(k=2), Asked(threshold=0.0), Asked(threshold=0.2, k=3), Asked(3, 0.2),
        Asked("macro-f1"), Asked("macro-f1", k=1), Asked("expected-f1"), Asked("proportional"),
        Asked(0.3), Asked(4),
    ],
)  # fmt: skip
def test_what_is_suggested_as_a_matrix_is_what_is_told(asked: Asked) -> None:
    model, some = fitted(2000), news()[:20]
    _, found = suggested(model, some, Asked(1), asked)
    for row, told in enumerate(labels_of(model, some, asked)):
        own = found[[row]]
        chances = dict(zip(model.classes_[own.indices], own.data, strict=True))
        assert chances == {each["label"]: each["probability"] for each in told}


@pytest.mark.parametrize("asked", [Asked(), Asked(k=2), Asked(4), Asked(4, k=3)])
def test_without_probabilities_it_is_a_matrix_of_ranks(asked: Asked) -> None:
    model, some = fitted(0), news()[:5]
    (found,) = suggested(model, some, asked)
    for row, told in enumerate(labels_of(model, some, asked)):
        own = found[[row]]
        order = own.indices[np.argsort(-own.data)]
        assert model.classes_[order].tolist() == [each["label"] for each in told]
        assert sorted(own.data) == pytest.approx(
            sorted(1 / rank for rank in range(1, len(told) + 1))
        )


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (Asked(threshold=0.5), "threshold is 0.5, but this model has no probabilities; train"),
        (Asked("macro-f1"), "cutoff is 'macro-f1', but this model has no probabilities; train"),
        (Asked(threshold=-0.1), "threshold is -0.1; it must be a probability from 0 to 1"),
        (Asked(threshold=float("nan")), "threshold is nan; it must be"),
        (Asked(k=0), "k is 0"),
        (Asked(1.5), "no longer a score"),
    ],
)
def test_what_cannot_be_asked_is_said(asked: Asked, message: str) -> None:
    with pytest.raises(InputError, match=message):
        labels_of(fitted(0), news()[:2], asked)
    with pytest.raises(InputError, match=message):
        suggested(fitted(0), news()[:2], asked)


@pytest.mark.parametrize("n_held_out", [0, 2000])
@pytest.mark.parametrize("asked", [Asked(), Asked(3), Asked(k=2)])
def test_documents_without_vocabulary_words_get_no_labels(n_held_out: int, asked: Asked) -> None:
    model, some = fitted(n_held_out), news()[:3]
    counts = some.counts.copy()
    counts.data[counts.indptr[1] : counts.indptr[2]] = 0  # stored zeros are not words
    usual, answers = (answers_of(model, x, asked, with_line=True) for x in (some.counts, counts))
    nothing = {"labels": [], "n_known": 0, "n_given": 0, "out_of_vocabulary": True}
    assert answers == [usual[0], nothing, usual[2]]
    assert usual[0]["n_known"] == some.document_lengths[0]
    (given,) = suggested(model, counts, asked)
    assert [len(answer["labels"]) for answer in answers] == np.diff(given.indptr).tolist()


@pytest.mark.parametrize("n_held_out", [0, 2000])
def test_predict_and_suggest_give_no_label_to_a_document_without_vocabulary_words(
    n_held_out: int,
) -> None:
    model, counts = clone(fitted(n_held_out)), news()[:3].counts.toarray()
    counts[1] = 0
    model.set_params(cutoff=2).fit(news())
    scored = model.predict_scored(counts, model.scores_to_evaluate(counts))  # these do not warn
    assert scored.sum(axis=1).tolist() == [2, 0, 2]
    with pytest.warns(NoKnownWordsWarning):
        assert model.predict(counts).sum(axis=1).tolist() == [2, 0, 2]
    if model.has_probabilities:
        with pytest.warns(NoKnownWordsWarning):
            suggestions = model.suggest(counts)
        assert [len(each.labels) for each in suggestions] == [2, 0, 2]


@pytest.mark.parametrize(
    "method",
    [
        "decision_function", "predict", "predict_proba", "rank", "rank_batches", "rank_matrix",
        "suggest",
    ],
)  # fmt: skip
def test_every_prediction_warns_of_documents_without_vocabulary_words(method: str) -> None:
    model, counts = fitted(2000), news()[:8].counts.copy()
    counts.data[counts.indptr[1] :] = 0  # stored zeros are not words
    arguments = {"k": 3} if method.startswith("rank") else {}
    with pytest.warns(NoKnownWordsWarning, match=r"7 of 8 documents .*row 1, 2, 3, 4, 5, …"):
        [*getattr(model, method)(counts, **arguments)]


@pytest.mark.parametrize("n_held_out", [0, 2000])
def test_an_empty_document_is_given_nothing(n_held_out: int) -> None:
    model, some = fitted(n_held_out), news()[:3]
    counts = some.counts.toarray()
    counts[1] = 0
    usual, found = (
        answers_of(model, x, Asked(2), [False, True, False]) for x in (some.counts, counts)
    )
    assert found == [usual[0], {"labels": [], "n_known": 0, "empty": True}, usual[2]]
