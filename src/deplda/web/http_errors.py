"""Answers in JSON, and errors as answers: each has its status and says what to do."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from deplda.web.annif.exchanged import Problem
from deplda.web.answers import Error


def json_response(
    answer: Any, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Return an answer as JSON that nobody keeps."""
    return encoded_response(msgspec.json.encode(answer), status, headers)


def encoded_response(
    answer: bytes, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Return an answer that is JSON already."""
    kept_by_nobody = {"Cache-Control": "no-store", **(headers or {})}
    return Response(answer, status, kept_by_nobody, "application/json")


def refusal(
    scope: Scope, message: str, status: int, headers: dict[str, str] | None = None
) -> Response:
    """Return an error in the form of the API that was asked: ours, or Annif's."""
    if not _is_annif(path_of(scope)):
        return json_response(Error(message), status, headers)
    status = 400 if status == 422 else status  # which is what Annif says
    problem = Problem(title=HTTPStatus(status).phrase, status=status, detail=message)
    return Response(
        msgspec.json.encode(problem), status, {"Cache-Control": "no-store", **(headers or {})},
        "application/problem+json",
    )  # fmt: skip


def path_of(scope: Scope) -> str:
    """Return the path that is asked for, as it is here."""
    return str(scope["path"].removeprefix(scope.get("root_path", "")))


def _is_annif(path: str) -> bool:
    of_annif = ("/v1/projects", "/v1/vocabs", "/v1/detect-language")
    return path == "/v1/" or f"{path}/".startswith(tuple(f"{each}/" for each in of_annif))


def busy(message: str) -> HTTPException:
    """Return the error that asks to come again a little later."""
    return HTTPException(503, message, {"Retry-After": "2"})


def error_response(request: Request, error: Exception) -> Response:
    """Return an HTTP error as it is, and any other of this library's as 422."""
    if not isinstance(error, HTTPException):
        return refusal(request.scope, str(error), 422)
    of_the_router = {
        "Not Found": "there is nothing at this address; /openapi.json says what there is",
        "Method Not Allowed": f"{request.method} is not allowed here; /openapi.json says what is",
    }
    message = of_the_router.get(error.detail, error.detail)
    return refusal(request.scope, message, error.status_code, dict(error.headers or {}))
