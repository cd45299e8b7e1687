"""Answers that are no: each with its status and a sentence that says what to do."""

from __future__ import annotations

from deplda.errors import DepldaError


class Refusal(DepldaError):  # noqa: N818  # it is an answer
    """A request that is not answered as asked."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.headers = status, headers or {}


def busy(message: str) -> Refusal:
    """Return the refusal that asks to come again a little later."""
    return Refusal(503, message, {"Retry-After": "2"})
