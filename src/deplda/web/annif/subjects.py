"""A model's labels as Annif's programs know them: subjects with addresses, and their scores."""

from __future__ import annotations

from datetime import UTC
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException

from deplda.data.languages import UNDETERMINED
from deplda.data.vocabulary import Vocabulary
from deplda.data.wording import counted
from deplda.models.suggesting import Asked, answers_of
from deplda.web.annif.exchanged import Backend, ProjectInfo, Result, Vocab
from deplda.web.projects import Project, Projects
from deplda.web.service import ModelService

_TRAIN_ANEW = (
    "train the model anew, or calibrate(X, y) it in Python with labelled documents that it has not "
    "learned from, and save it"
)


class Read(NamedTuple):
    """How many characters were read of a text, and how many there were."""

    read: int
    given: int


def project_info(project: Project) -> ProjectInfo:
    """Return a project as Annif describes one."""
    service = project.service
    counter = service.model.counter_
    code = None if counter is None else counter.language_code_
    return ProjectInfo(
        project_id=project.id,
        name=f"{service.card.model} of {counted(service.card.n_labels, 'label')}",
        language=code or UNDETERMINED,
        backend=Backend(),
        vocab=vocab_info(project),
        vocab_language=_language_of(service),
        is_trained=_problem_of(service) is None,
        modification_time=project.changed.astimezone(UTC).isoformat(timespec="seconds"),
    )


def vocab_info(project: Project) -> Vocab:
    """Return the vocabulary of a project, which is its own, as Annif describes one."""
    vocabulary = project.service.model.vocabulary_
    size = project.service.card.n_labels if vocabulary is None else len(vocabulary)
    return Vocab(project.id, project.service.card.label_languages, size)


def languages_to_ask_for(projects: Projects) -> list[str]:
    """Return what the language of labels may be, of one model or the other."""
    services = [project.service for project in projects]
    own = {_language_of(service) for service in services}
    known = (code for service in services for code in service.card.label_languages)
    return sorted({"", *own, *known})


def _language_of(service: ModelService) -> str:
    """Return the language of labels for requests that name none."""
    return service.card.label_language or UNDETERMINED


def check_able(service: ModelService) -> None:
    """Raise if a model cannot say of a text how likely labels are."""
    if (problem := _problem_of(service)) is not None:
        raise HTTPException(409, problem)


def _problem_of(service: ModelService) -> str | None:
    if not service.card.takes_text:
        return "this model knows counts alone; train it from texts"
    if not service.card.has_probabilities:
        return f"this model has no probabilities, which are the scores here; {_TRAIN_ANEW}"
    return None


def check_language(service: ModelService, language: str) -> str | None:
    """Return the language of labels that is asked for, None where it is the model's own."""
    known = service.card.label_languages
    if not language or language == _language_of(service):
        return None
    if language not in known:
        has = (
            f"has labels in {', '.join(known)}" if known else "does not say of what language it is"
        )
        raise HTTPException(
            400, f"language is {language[:20]!r}, but the vocabulary {has}; ask for none, or for "
            "one of /v1/vocabs",
        )  # fmt: skip
    return language


def suggest(
    service: ModelService, text: str, limit: int, threshold: float, language: str | None
) -> tuple[list[Result], Read]:
    """Return the likeliest labels of a text, and how much of it was read.

    With a vocabulary, labels that it does not have, or has as deprecated, are left out: Annif
    breaks off at an address that its own vocabulary lacks. Without, labels are their own address.
    """
    counts, n_read = service.count_beginning(text)
    found: list[Result] = []
    if limit and text.strip():  # of an empty text Annif suggests nothing
        most = min(limit, service.limits.labels)
        asked = Asked(most + service.n_left_out, threshold)
        (answer,) = answers_of(service.model, counts, asked)
        told = (_result(service.model.vocabulary_, each, language) for each in answer["labels"])
        found = [each for each in told if each is not None and each.score > 0][:most]
    return found, Read(n_read, len(text))


def _result(
    vocabulary: Vocabulary | None, told: dict[str, Any], language: str | None
) -> Result | None:
    """Return a label as Annif tells it, None if Annif cannot know it."""
    score, label = min(told["probability"], 1.0), str(told["label"])
    if vocabulary is None:
        return Result(label, label, None, score)
    uri = told.get("uri")
    if uri is None or vocabulary[uri].deprecated:
        return None
    name = label if language is None else vocabulary[uri].name(language)
    return Result(uri, name, told.get("notation"), score)
