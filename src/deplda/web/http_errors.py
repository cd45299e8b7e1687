"""Answers in JSON, and errors as answers: each has its status and says what to do."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from deplda.web.answers import Error


def json_response(
    answer: Any, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Return an answer as JSON that nobody keeps."""
    return Response(
        msgspec.json.encode(answer), status, {"Cache-Control": "no-store", **(headers or {})},
        "application/json",
    )  # fmt: skip


def busy(message: str) -> HTTPException:
    """Return the error that asks to come again a little later."""
    return HTTPException(503, message, {"Retry-After": "2"})


def error_response(request: Request, error: Exception) -> Response:
    """Return an HTTP error as it is, and any other of this library's as 422."""
    if not isinstance(error, HTTPException):
        return json_response(Error(str(error)), 422)
    of_the_router = {
        "Not Found": "there is nothing at this address; /openapi.json says what there is",
        "Method Not Allowed": f"{request.method} is not allowed here; /openapi.json says what is",
    }
    message = of_the_router.get(error.detail, error.detail)
    return json_response(Error(message), error.status_code, dict(error.headers or {}))
