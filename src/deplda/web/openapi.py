"""The routes of all APIs with the types they read and write; OpenAPI is generated from them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import deplda
from deplda.web import answers

JSON = "application/json"
_REFERENCE = "#/components/schemas/{name}"
_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
_STATUSES = {
    200: "The answer.",
    201: "The document is on disk.",
    204: "They are on disk.",
    400: "The body cannot be decoded, or is beyond a limit.",
    401: "The token is missing or wrong.",
    403: "No documents to learn from are accepted.",
    404: "There is no such thing.",
    408: "The request came too slowly.",
    409: "This model cannot do that.",
    413: "The body is too large.",
    415: "The body has another media type.",
    422: "The request has another form, or is beyond a limit.",
    503: "Too many requests are waiting, or this one took too long.",
    507: "There is no room to keep the document.",
}


class Operation(NamedTuple):
    """A route, with types of msgspec or schemas (dict) for what it reads and writes."""

    path: str
    endpoint: Callable[[Request], Awaitable[Response]]
    summary: str
    answer: Any
    body: Any = None
    """With one, the method is POST."""
    query: Any = None
    """A struct, whose fields are the query parameters."""
    errors: Iterable[int] = ()
    media_type: str = JSON
    """Media type of the body."""
    body_choices: Iterable[str] = ()
    """Fields of the body that are restricted to choices, as query parameters are."""
    answer_type: str = JSON
    statuses: Iterable[int] = (200,)
    headers: Mapping[str, str] = {}
    """Headers of the answer, with what they say."""
    error: Any = answers.Error
    error_type: str = JSON

    @property
    def route(self) -> Route:
        """The route that answers."""
        return Route(self.path, self.endpoint, methods=["GET" if self.body is None else "POST"])

    @property
    def types(self) -> list[Any]:
        """All types of msgspec that the operation reads or writes."""
        every = (self.answer, self.body, self.query, self.error)
        return [kind for kind in every if kind is not None and not isinstance(kind, dict)]


def describe(
    operations: Sequence[Operation],
    choices: Mapping[str, Sequence[str]],
    *,
    more: Sequence[Any] = (),
    with_token: bool = False,
) -> dict[str, Any]:
    """Return the OpenAPI document of the operations, which require a token if asked.

    `choices` are the values of parameters, by name; one without any is left out. `more` types are
    described, too.
    """
    kinds = [*more, *(kind for operation in operations for kind in operation.types)]
    unique = list({id(kind): kind for kind in kinds}.values())
    schemas, components = msgspec.json.schema_components(unique, ref_template=_REFERENCE)
    schema_of = {id(kind): schema for kind, schema in zip(unique, schemas, strict=True)}
    for name in ("Document", "DocumentLine"):
        components[name]["oneOf"] = [{"required": ["text"]}, {"required": ["words"]}]

    def resolved(kind: Any) -> dict[str, Any]:
        return kind if isinstance(kind, dict) else schema_of[id(kind)]

    paths: dict[str, Any] = {}
    for operation in operations:
        if operation.query is not None:
            _choose(_properties(resolved(operation.query), components), choices)
        for name in operation.body_choices:
            _choose(_properties(resolved(operation.body), components), {name: choices[name]})
        described = _operation(operation, resolved, components, choices)
        if with_token and operation.path != "/health":
            described["security"] = [{"token": []}]
            described["responses"]["401"] = _failure(operation, 401, resolved)
        path = _PARAMETER.sub(r"{\1}", operation.path)
        paths[path] = {"get" if operation.body is None else "post": described}
    for operation in operations:  # their fields are parameters
        if operation.query is not None:
            components.pop(resolved(operation.query)["$ref"].rpartition("/")[2], None)
    if with_token:
        security = {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}}
    else:
        security = {}
    info = {"title": "deplda", "description": "Labels for documents, and why."}
    return {
        "openapi": "3.1.0",
        "info": info | {"version": deplda.__version__},
        "paths": paths,
        "components": {"schemas": components, **security},
    }


def _operation(
    operation: Operation,
    resolved: Callable[[Any], dict[str, Any]],
    components: Mapping[str, Any],
    choices: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status in operation.statuses:
        responses[str(status)] = {"description": _STATUSES[status]}
        if operation.answer is not None:
            responses[str(status)] = _content(
                _STATUSES[status], resolved(operation.answer), operation.answer_type
            )
        if operation.headers:
            responses[str(status)]["headers"] = {
                name: {"description": about, "schema": {"type": "string"}}
                for name, about in operation.headers.items()
            }
    for status in operation.errors:
        responses[str(status)] = _failure(operation, status, resolved)
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": _one_of(choices.get(name))}
        for name in _PARAMETER.findall(operation.path)
    ]
    if operation.query is not None:
        query = resolved(operation.query)
        required = components[query["$ref"].rpartition("/")[2]].get("required", ())
        parameters += [
            {"name": name, "in": "query", "required": name in required, "schema": schema}
            for name, schema in _properties(query, components).items()
        ]
    described: dict[str, Any] = {
        "summary": operation.summary,
        "parameters": parameters,
        "responses": responses,
    }
    if operation.body is not None:
        sent = _content("What is sent.", resolved(operation.body), operation.media_type)
        described["requestBody"] = {"required": True, **sent}
    return described


def _failure(
    operation: Operation, status: int, resolved: Callable[[Any], dict[str, Any]]
) -> dict[str, Any]:
    response = _content(_STATUSES[status], resolved(operation.error), operation.error_type)
    if status == 503:
        response["headers"] = {"Retry-After": {"schema": {"type": "string"}, "required": True}}
    return response


def _properties(schema: dict[str, Any], components: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of an object that a schema refers to; none of another schema."""
    name = schema.get("$ref", "").rpartition("/")[2]
    properties: dict[str, Any] = components.get(name, {}).get("properties", {})
    return properties


def _choose(properties: dict[str, Any], choices: Mapping[str, Sequence[str]]) -> None:
    """Restrict properties to their choices, and remove those without any."""
    for name, values in choices.items():
        if name not in properties:
            continue
        if not values:
            del properties[name]
        elif properties[name].get("type") == "array":
            properties[name]["items"]["enum"] = list(values)
        else:
            properties[name] = _one_of(values)


def _one_of(values: Sequence[str] | None) -> dict[str, Any]:
    return {"type": "string"} if values is None else {"type": "string", "enum": list(values)}


def _content(description: str, schema: dict[str, Any], media_type: str) -> dict[str, Any]:
    return {"description": description, "content": {media_type: {"schema": schema}}}
