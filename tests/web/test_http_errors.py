"""Errors as answers."""

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request

from deplda.errors import InputError
from deplda.web.http_errors import busy, error_response

REQUEST = Request({"type": "http", "method": "PUT", "path": "/", "headers": []})


def told(error: Exception) -> tuple[int, str]:
    answer = error_response(REQUEST, error)
    return answer.status_code, msgspec.json.decode(answer.body)["error"]


def test_an_error_of_the_library_is_422_and_says_what_it_said() -> None:
    assert told(InputError("k is 0; it must be a whole number from 1")) == (
        422,
        "k is 0; it must be a whole number from 1",
    )


def test_what_the_router_does_not_know_leads_to_the_description() -> None:
    status, message = told(HTTPException(404))
    assert (status, "/openapi.json" in message) == (404, True)
    status, message = told(HTTPException(405))
    assert (status, message.startswith("PUT is not allowed here")) == (405, True)


def test_a_busy_service_says_when_to_come_again() -> None:
    answer = error_response(REQUEST, busy("later"))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert answer.headers["cache-control"] == "no-store"
