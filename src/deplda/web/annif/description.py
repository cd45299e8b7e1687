"""The description of Annif's REST API, as it is answered here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from deplda.data.languages import languages_told
from deplda.web.annif import exchanged
from deplda.web.annif.endpoints import TRUNCATED
from deplda.web.annif.exchanged import Questions
from deplda.web.annif.subjects import languages_to_ask_for
from deplda.web.openapi import More, content, parameters, reference
from deplda.web.projects import Projects

_PROBLEMS = {
    400: "The request is of another form, or beyond a limit.",
    401: "The token is missing, or another one.",
    403: "No documents to learn from are taken.",
    404: "There is no such project.",
    408: "The request came too slowly.",
    409: "This model has no probabilities, or reads no texts.",
    413: "The body is too large.",
    415: "The body is of another type.",
    503: "Too many requests are waiting, or this one took too long.",
    507: "There is no room to keep the documents.",
}
_BODY = (400, 408, 413, 415, 503)
_FORM = "application/x-www-form-urlencoded"


def annif_description(types: Questions, projects: Projects) -> More:
    """Return the types and addresses of Annif's API, as the models are now."""
    answers = [
        exchanged.ApiInfo, exchanged.VocabList, exchanged.ProjectList, exchanged.ProjectInfo,
        exchanged.ResultList, exchanged.BatchResult, exchanged.DetectedLanguages, exchanged.Problem,
    ]  # fmt: skip
    one = "/v1/projects/{project_id}"
    which = {
        "name": "project_id", "in": "path", "required": True,
        "schema": {"type": "string", "enum": projects.ids},
    }  # fmt: skip
    languages = languages_to_ask_for(projects)
    form, query = _schema(types.form), _schema(types.query)
    for schema in (form, query):
        schema["properties"]["language"]["enum"] = languages
    question = _schema(types.language)
    question["properties"]["languages"]["items"]["enum"] = languages_told()
    wanted = [which, *parameters(query)]
    batch = {"type": "array", "items": reference("BatchResult")}
    learned = {"type": "array", "items": reference("IndexedDocument")}
    paths = {
        "/v1/": _get("Say what answers", "ApiInfo"),
        "/v1/vocabs": _get("List vocabularies", "VocabList"),
        "/v1/projects": _get("List projects", "ProjectList"),
        one: _get("Show a project", "ProjectInfo", [which]),
        f"{one}/suggest": _post(
            "Suggest labels for a text", form, reference("ResultList"),
            (404, 409), [which], _FORM,
        ),
        f"{one}/suggest-batch": _post(
            "Suggest labels for some texts", reference("SuggestBatch"), batch, (404, 409), wanted
        ),
        f"{one}/learn": _post(
            "Keep documents to learn from", learned, None, (403, 404, 507), [which]
        ),
        "/v1/detect-language": _post(
            "Tell the language of a text", question, reference("DetectedLanguages")
        ),
    }  # fmt: skip
    return More([types.batch, types.learn, *answers], paths, _problems([401])["401"])


def _schema(kind: Any) -> dict[str, Any]:
    """Return the schema of a type that refers to no other."""
    _, schemas = msgspec.json.schema_components([kind])
    (found,) = schemas.values()
    return found


def _get(summary: str, answer: str, named: Sequence[Any] = ()) -> dict[str, Any]:
    responses = {"200": content("The answer.", reference(answer))}
    responses |= _problems((404,) if named else ())
    return {"get": {"summary": summary, "parameters": list(named), "responses": responses}}


def _post(
    summary: str,
    body: dict[str, Any],
    answer: dict[str, Any] | None,
    errors: Iterable[int] = (),
    named: Sequence[Any] = (),
    media_type: str = "application/json",
) -> dict[str, Any]:
    if answer is None:
        responses: dict[str, Any] = {"204": {"description": "They are on disk."}}
    else:
        about = "Texts that were not read whole: number, from 0, characters read and given."
        header = {"description": about, "schema": {"type": "string"}}
        responses = {"200": content("The answer.", answer) | {"headers": {TRUNCATED: header}}}
    responses |= _problems([*_BODY, *errors])
    sent = {"required": True, **content("What is asked.", body, media_type)}
    found = {"summary": summary, "parameters": list(named), "requestBody": sent}
    return {"post": found | {"responses": responses}}


def _problems(statuses: Iterable[int]) -> dict[str, Any]:
    return {
        str(status): content(_PROBLEMS[status], reference("Problem"), "application/problem+json")
        for status in sorted(statuses)
    }
