"""The description of the API, made from the types that read requests and write answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

import deplda
from deplda.models.reasons import Explained
from deplda.web import answers
from deplda.web.lines import MEDIA_TYPE
from deplda.web.requests import Requests

_REFERENCE = "#/components/schemas/{name}"
_ERRORS = {
    400: "The body is not JSON.",
    401: "The token is missing, or another one.",
    404: "There is no such thing.",
    408: "The request came too slowly.",
    409: "This model cannot do that.",
    413: "The body is too large.",
    415: "The body is not said to be of the type that is asked for.",
    422: "The request is of another form, or beyond a limit.",
    503: "Too many requests are waiting, or this one took too long.",
}
_FILE = "application/octet-stream"
_BODY, _QUERY = (400, 404, 408, 409, 413, 415, 422, 503), (404, 422, 503)


class More(NamedTuple):
    """Another API beside ours: its types, and what is at which address."""

    kinds: list[Any]
    paths: dict[str, Any]
    refused: dict[str, Any]
    """What is answered without the token."""


def describe(
    requests: Requests,
    projects: Sequence[str],
    label_languages: Sequence[str],
    others: Sequence[More],
    *,
    with_token: bool = False,
) -> dict[str, Any]:
    """Return the OpenAPI document of a service, of one that asks for a token if so."""
    kinds = [
        *(kind for other in others for kind in other.kinds),
        *requests, answers.Error, answers.SuggestAnswer, Explained, answers.LabelsAnswer,
        answers.LabelAnswer, answers.TopicsAnswer, answers.ModelAnswer,
        answers.HealthAnswer, answers.ReadAnswer, answers.SuggestedLine, answers.LineError,
    ]  # fmt: skip
    _, schemas = msgspec.json.schema_components(kinds, ref_template=_REFERENCE)
    schemas["Document"]["oneOf"] = [{"required": ["text"]}, {"required": ["words"]}]
    schemas["DocumentLine"]["oneOf"] = schemas["Document"]["oneOf"]
    queries = "Labels", "Topics", "Read", "Lines"
    project = _which(projects)
    which = [project, *_label_language(label_languages)]
    labels, topics, read, lines = (schemas.pop(f"{name}Query") for name in queries)
    for query in (labels, topics, read, lines):
        query["properties"]["project"] = project["schema"]
    for query in (labels, topics, lines):
        del query["properties"]["label_language"]
        query["properties"] |= {each["name"]: each["schema"] for each in which}
    name = {"name": "label", "in": "path", "required": True, "schema": {"type": "string"}}
    counters = {"200": content("The counters.", {"type": "string"}, "text/plain")}
    info = {"title": "deplda", "description": "Labels for documents, and why."}
    found = {
        "openapi": "3.1.0",
        "info": info | {"version": deplda.__version__},
        "paths": {
            "/v1/suggest": _post("Suggest labels", "SuggestRequest", "SuggestAnswer", which),
            "/v1/suggest-lines": _post_lines("Suggest labels of many documents", parameters(lines)),
            "/v1/explain": _post(
                "Say why labels are suggested", "ExplainRequest", "Explained", which
            ),
            "/v1/read": _post_file("Read the documents of a file", "ReadAnswer", parameters(read)),
            "/v1/labels": _get("Search the labels", "LabelsAnswer", _QUERY, parameters(labels)),
            "/v1/label-names": _post(
                "Show labels by URI", "LabelNamesRequest", "LabelsAnswer", which
            ),
            "/v1/labels/{label}": _get("Show a label", "LabelAnswer", _QUERY, [name, *which]),
            "/v1/topics": _get(
                "List labels that go together", "TopicsAnswer", (409, *_QUERY),
                parameters(topics),
            ),
            "/v1/model": _get("Show the model's card", "ModelAnswer", (404, 422), [project]),
            "/health": _get("Say that the service is there", "HealthAnswer"),
            "/metrics": {"get": {"summary": "Give counters to Prometheus", "responses": counters}},
            **{path: said for other in others for path, said in other.paths.items()},
        },
        "components": {"schemas": schemas},
    }  # fmt: skip
    if with_token:
        _require_token(found, others)
    return found


def _require_token(description: dict[str, Any], others: Sequence[More]) -> None:
    """Say that all but /health is for those who show the token."""
    ours = content(_ERRORS[401], reference("Error"))
    refused = {path: other.refused for other in others for path in other.paths}
    scheme = {"type": "http", "scheme": "bearer"}
    description["components"]["securitySchemes"] = {"token": scheme}
    for path, methods in description["paths"].items():
        for operation in methods.values():
            if path != "/health":
                operation["security"] = [{"token": []}]
                operation["responses"]["401"] = refused.get(path, ours)


def _which(projects: Sequence[str]) -> dict[str, Any]:
    """Return the parameter that names a project."""
    which = {"type": "string", "enum": list(projects)}
    about = "Which model is meant; the first if none is named."
    return {"name": "project", "in": "query", "description": about, "schema": which}


def _label_language(languages: Sequence[str]) -> list[dict[str, Any]]:
    """Return the parameter for the language of label names, if any model has a choice."""
    about = "The language of label names; by default `label_language` in /v1/model."
    schema = {"type": "string", "enum": list(languages)}
    parameter = {"name": "label_language", "in": "query", "description": about, "schema": schema}
    return [parameter] if languages else []


def _post(summary: str, body: str, answer: str, parameters: Any) -> dict[str, Any]:
    sent = {"required": True, **content("What is asked.", reference(body))}
    found = {"summary": summary, "parameters": parameters, "requestBody": sent}
    return {"post": found | {"responses": _answers(answer, _BODY)}}


def _post_file(summary: str, answer: str, parameters: Any) -> dict[str, Any]:
    file = content(
        "The file as it is; 422 if no document can be read from it.",
        {"type": "string", "format": "binary"},
        _FILE,
    )
    found = {"summary": summary, "parameters": parameters, "requestBody": {"required": True} | file}
    return {"post": found | {"responses": _answers(answer, (404, 408, 413, 415, 422, 503))}}


def _post_lines(summary: str, parameters: Any) -> dict[str, Any]:
    """Describe the stream; what each line is has no place in OpenAPI 3.1, and is said in words."""
    lines: dict[str, Any] = {"type": "string", "contentMediaType": "application/json"}
    sent = content("A DocumentLine on each line, any number of them.", lines, MEDIA_TYPE)
    about = "While lines come, and in their order, a SuggestedLine or a LineError for each."
    told = {"200": content(about, lines, MEDIA_TYPE)}
    found = {"summary": summary, "parameters": parameters, "requestBody": {"required": True} | sent}
    errors = _answers("Error", (404, 415, 422, 503))
    return {"post": found | {"responses": errors | told}}


def _get(
    summary: str, answer: str, errors: Iterable[int] = (), parameters: Any = ()
) -> dict[str, Any]:
    found = {"summary": summary, "parameters": parameters, "responses": _answers(answer, errors)}
    return {"get": found}


def _answers(answer: str, errors: Iterable[int]) -> dict[str, Any]:
    found = {"200": content("The answer.", reference(answer))}
    found |= {str(status): content(_ERRORS[status], reference("Error")) for status in errors}
    if "503" in found:
        later = {"schema": {"type": "string"}, "required": True}
        found["503"]["headers"] = {"Retry-After": later}
    return found


def content(
    description: str, schema: dict[str, Any], media_type: str = "application/json"
) -> dict[str, Any]:
    """Return what a body of this schema is called by OpenAPI."""
    return {"description": description, "content": {media_type: {"schema": schema}}}


def parameters(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the fields of a query as parameters."""
    return [
        {
            "name": name,
            "in": "query",
            "schema": value,
            "required": name in schema.get("required", ()),
        }
        for name, value in schema["properties"].items()
    ]


def reference(name: str) -> dict[str, Any]:
    """Return where the schema of this name stands."""
    return {"$ref": _REFERENCE.format(name=name)}
