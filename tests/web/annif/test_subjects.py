"""Labels as Annif knows them."""

from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.exceptions import HTTPException

from deplda.data.vocabulary import Concept, Vocabulary
from deplda.web import Limits
from deplda.web.annif import subjects
from deplda.web.projects import Project, Projects
from deplda.web.service import ModelService
from tests.web.annif.models import LAW, SPORT, thesaurus_model
from tests.web.serving import TEXTS, bilingual_model, text_model


def service_of(model: Any, limits: Limits | None = None) -> ModelService:
    return ModelService(model, limits or Limits())


def test_labels_that_annif_cannot_know_make_room_for_others() -> None:
    model = thesaurus_model()
    model.vocabulary_ = Vocabulary(
        [Concept(uri=LAW, names={"en": "Law"}, deprecated=True), Concept(uri=SPORT)]
    )
    service = service_of(model)
    assert service.n_left_out == 2
    found, _ = subjects.suggest(service, "the court heard the lawsuit", 1, 0.0, None)
    assert [(each.uri, each.label) for each in found] == [(SPORT, SPORT)]


def test_no_more_labels_than_the_limit_are_suggested() -> None:
    service = service_of(text_model(), Limits(labels=2))
    found, _ = subjects.suggest(service, TEXTS[0], 1_000_000, 0.0, None)
    assert len(found) == 2


def test_scores_are_in_the_range_that_annif_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    told = [{"label": "a", "probability": 1 + 1e-12}, {"label": "b", "probability": 0.0}]
    monkeypatch.setattr(subjects, "answers_of", lambda *_: [{"labels": told}])
    found, _ = subjects.suggest(service_of(text_model()), "x", 5, 0.0, None)
    assert [(each.uri, each.score) for each in found] == [("a", 1.0)]


def test_languages_are_those_of_the_names() -> None:
    named, unnamed = service_of(thesaurus_model()), service_of(text_model())
    assert subjects.check_language(named, "fi") is None
    assert subjects.check_language(named, "en") == "en"
    assert subjects.check_language(unnamed, "und") is None
    with pytest.raises(HTTPException, match="400"):
        subjects.check_language(named, "sv")
    now = datetime.now(UTC)
    both = Projects([Project("a", named, now), Project("b", unnamed, now)])
    assert subjects.languages_to_ask_for(both) == ["", "en", "fi", "und"]


def test_a_project_answers_in_the_language_that_it_states() -> None:
    model = bilingual_model()
    for chosen, language, name in ((None, "fi", "laki"), ("en", "en", "Law")):
        model.label_language_ = chosen
        project = Project("yso", service_of(model), datetime.now(UTC))
        info = subjects.project_info(project)
        assert (info.language, info.vocab_language) == ("fi", language)
        assert info.vocab.languages == ["en", "fi"]
        (result, *_), _ = subjects.suggest(project.service, "jury in court", 1, 0.0, None)
        assert result.label == name


def test_the_stated_language_is_that_of_the_names_where_that_of_the_texts_is_missing() -> None:
    model = bilingual_model()
    model.vocabulary_ = Vocabulary(
        [
            Concept(uri="LAW", names={"sv": "lag", "en": "Law"}),
            Concept(uri="SPORT", names={"sv": "idrott"}),
        ]
    )
    info = subjects.project_info(Project("yso", service_of(model), datetime.now(UTC)))
    assert (info.language, info.vocab_language, info.vocab.languages) == ("fi", "en", ["sv", "en"])
    (result, *_), _ = subjects.suggest(service_of(model), "jury in court", 1, 0.0, None)
    assert result.label == "Law"
