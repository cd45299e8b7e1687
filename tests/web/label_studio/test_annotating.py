"""A model's labels in the controls of a project: what is shown, and what was chosen."""

from functools import cache
from typing import Any

import pytest
from starlette.exceptions import HTTPException

from deplda import InputError
from deplda.web import Limits
from deplda.web.label_studio.annotating import decided, labels_in, predict
from deplda.web.label_studio.messages import (
    AnnotatedProject,
    Annotation,
    Chosen,
    PredictRequest,
    Task,
    WebhookRequest,
)
from deplda.web.service import ModelService
from tests.web.serving import model_of_counts, text_model
from tests.web.test_concepts import LAW, SPORT, THESAURUS

LATER = 1e12


@cache
def plain() -> ModelService:
    return ModelService(text_model(), Limits())


@cache
def concepts() -> ModelService:
    """Of labels that are concepts, named in Finnish."""
    model: Any = text_model({"LAW": LAW, "SPORT": SPORT})
    model.vocabulary_, model.label_language_ = THESAURUS, "fi"
    return ModelService(model, Limits())


def config(control: str, more: str = "") -> str:
    return f'<View><Text name="t" value="$text"/>{more}{control}</View>'


def choices(*values: str, choice: str = "multiple", name: str = "c") -> str:
    inner = "".join(f'<Choice value="{value}"/>' for value in values)
    return f'<Choices name="{name}" toName="t" choice="{choice}">{inner}</Choices>'


TREE = """<Taxonomy name="c" toName="t"><Choice value="yhteiskunta">
<Choice value="laki"/><Choice value="urheilu" alias="http://x/sport"/></Choice>
<Choice value="laki"/></Taxonomy>"""


def shown(service: ModelService, control: str, *texts: str) -> list[Any]:
    tasks = [Task({"text": text}) for text in texts]
    return predict(service, PredictRequest(tasks, config(control)), "v", LATER).results


def values(service: ModelService, control: str, text: str) -> Any:
    (found,) = shown(service, control, text)
    return [region.value for region in found.result]


COURT, ARENA, BOTH = "judge and jury in court", "a game in the arena", "the team sued in court"


def test_labels_are_those_that_suggest_gives_and_the_score_is_their_mean_probability() -> None:
    first, second = shown(plain(), choices("LAW", "SPORT", "COMPANIES"), COURT, BOTH)
    suggested = plain().model.suggest([COURT, BOTH], cutoff="validated")
    for found, own in zip((first, second), suggested, strict=True):
        (region,) = found.result
        assert (region.from_name, region.to_name, region.type) == ("c", "t", "choices")
        assert region.value == {"choices": own.labels.tolist()}
        assert found.score == pytest.approx(own.probabilities.mean())
        assert found.model_version == "v"


def test_the_project_says_which_labels_are_shown() -> None:
    assert values(plain(), choices("SPORT", "POLITICS"), ARENA) == [{"choices": ["SPORT"]}]
    (found,) = shown(plain(), choices("COMPANIES"), ARENA)
    assert (found.result, found.score) == ([], None)
    every = choices()  # none is listed: all are shown
    assert values(plain(), every, ARENA) == [{"choices": ["SPORT"]}]


def test_where_one_is_to_be_chosen_the_likeliest_listed_is_shown() -> None:
    one = choices("COMPANIES", "LAW", choice="single")
    assert values(plain(), one, COURT) == [{"choices": ["LAW"]}]
    only = choices("COMPANIES", choice="single")
    (found,) = shown(plain(), only, ARENA)
    assert found.result[0].value == {"choices": ["COMPANIES"]}
    (chances,) = plain().model.predict_proba([ARENA])
    assert found.score == chances[plain().model.classes_.tolist().index("COMPANIES")]


@pytest.mark.parametrize("choice", ["single", "multiple"])
def test_an_empty_text_is_shown_no_label(choice: str) -> None:
    first, second = shown(plain(), choices("LAW", "SPORT", choice=choice), " \n", COURT)
    assert (first.result, first.score) == ([], None)
    assert second.result


@pytest.mark.parametrize("value", ["laki", "Law", "34", "oikeus", LAW])
def test_concepts_are_found_by_name_notation_and_address(value: str) -> None:
    assert values(concepts(), choices(value), COURT) == [{"choices": [value]}]


def test_a_taxonomy_shows_the_path_that_the_project_has() -> None:
    assert values(concepts(), TREE, COURT) == [{"taxonomy": [["yhteiskunta", "laki"]]}]
    assert values(concepts(), TREE, ARENA) == [{"taxonomy": [["yhteiskunta", SPORT]]}]
    nothing_listed = '<Taxonomy name="c" toName="t" apiUrl="https://x"/>'
    assert values(concepts(), nothing_listed, COURT) == [{"taxonomy": [["laki"]]}]


def test_of_several_controls_the_one_with_most_labels_is_meant() -> None:
    language = choices("en", "LAW", name="language")
    xml = config(language + choices("LAW", "SPORT", name="subjects"))
    assert labels_in(xml, plain()).control.name == "subjects"
    xml = config(choices("en", name="language") + choices(name="subjects"))
    assert labels_in(xml, plain()).control.name == "subjects"


def test_choices_that_the_model_does_not_know_are_refused() -> None:
    with pytest.raises(InputError, match=r"none of the 2 choices of 'c', such as 'A', is a label"):
        labels_in(config(choices("A", "B")), plain())
    with pytest.raises(InputError, match="this model knows counts alone; train it from texts"):
        labels_in(config(choices("LAW")), ModelService(model_of_counts(), Limits()))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "there is no text - at `$.tasks[1].data.text`"),
        ({"text": None}, "there is no text - at `$.tasks[1].data.text`"),
        ({"text": ["a"]}, "this is not a text - at `$.tasks[1].data.text`"),
    ],
)
def test_a_task_without_its_text_is_refused(data: Any, message: str) -> None:
    asked = PredictRequest([Task({"text": "a"}), Task(data)], config(choices("LAW")))
    with pytest.raises(InputError) as error:
        predict(plain(), asked, "v", LATER)
    assert str(error.value) == message


def test_it_stops_when_it_is_too_late() -> None:
    asked = PredictRequest([Task({"text": "a"})], config(choices("LAW")))
    with pytest.raises(HTTPException, match="0 tasks were done in time; select fewer at once"):
        predict(plain(), asked, "v", 0.0)


# What was chosen ----------------------------------------------------------------------------------


def event(
    control: str, *results: Chosen, action: str = "ANNOTATION_CREATED", **others: Any
) -> WebhookRequest:
    annotation = Annotation(list(results), **others)
    return WebhookRequest(
        action, AnnotatedProject(config(control)), Task({"text": "of courts"}), annotation
    )


def test_what_a_person_chose_is_a_document_with_the_labels_of_the_model() -> None:
    chosen = Chosen("c", {"taxonomy": [["yhteiskunta", "laki"], ["yhteiskunta", SPORT], ["laki"]]})
    found: Any = decided(concepts(), event(TREE, chosen))
    assert (found.text, found.labels) == ("of courts", [LAW, SPORT])
    found = decided(plain(), event(choices("LAW", "NEW"), Chosen("c", {"choices": ["NEW", "LAW"]})))
    assert found.labels == ["NEW", "LAW"]
    found = decided(concepts(), event(choices(), Chosen("c", {"choices": ["Law", "something"]})))
    assert found.labels == [LAW, "something"]


def test_other_controls_are_not_looked_at() -> None:
    control = choices("LAW") + choices("yes", name="sure")
    results = Chosen("sure", {"choices": ["yes"]}), Chosen("c", {"choices": ["LAW"]}), Chosen("x")
    found: Any = decided(plain(), event(control, *results))
    assert found.labels == ["LAW"]


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (event(choices("LAW"), action="TASKS_CREATED"), "TASKS_CREATED is no decision about one"),
        (event(choices("LAW"), was_cancelled=True), "the task was skipped"),
        (event(choices("LAW")), "nothing was chosen in 'c'"),
        (event(choices("LAW"), Chosen("c", {"choices": "LAW"})), "nothing was chosen in 'c'"),
        (event(choices("LAW"), Chosen("c", {"choices": [["LAW"], 7]})), "nothing was chosen"),
    ],
)
def test_what_is_no_decision_is_passed_over(asked: WebhookRequest, reason: str) -> None:
    found = decided(plain(), asked)
    assert isinstance(found, str)
    assert found.startswith(reason)


@pytest.mark.parametrize("label", ["two\nlines", "nothing\0", "x" * 2_001])
def test_a_label_that_cannot_be_written_to_a_file_of_lines_is_refused(label: str) -> None:
    with pytest.raises(InputError, match="cannot be learned: it must have 2,000 characters"):
        decided(plain(), event(choices(), Chosen("c", {"choices": ["LAW", label]})))


def test_an_annotation_without_its_task_is_refused() -> None:
    with pytest.raises(InputError, match="let the webhook send its payload"):
        decided(plain(), WebhookRequest("ANNOTATION_CREATED"))
