"""The description of what Label Studio asks, as it is answered here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deplda.web.answers import Error
from deplda.web.label_studio import messages
from deplda.web.openapi import More, content, reference

_POSTS = {
    "setup": ("Connect a Label Studio project", "SetupRequest", "SetupAnswer"),
    "predict": ("Suggest labels for Label Studio's tasks", "PredictRequest", "PredictAnswer"),
    "webhook": ("Keep what was decided in Label Studio", "WebhookRequest", "WebhookAnswer"),
}
_ERRORS = {
    400: "The body is not JSON.",
    404: "There is no such project.",
    408: "The request came too slowly.",
    409: "The model has nothing to say in this labeling configuration, or of these tasks.",
    413: "The body is too large.",
    415: "The body is not said to be application/json.",
    422: "The request is of another form.",
    503: "Too many requests are waiting, or this one took too long.",
}
_NO_ROOM = "There is no room to keep the document."


def label_studio_description(projects: Sequence[str]) -> More:
    """Return the types and addresses of Label Studio's routes."""
    kinds = [
        messages.SetupRequest, messages.SetupAnswer, messages.PredictRequest,
        messages.PredictAnswer, messages.WebhookRequest, messages.WebhookAnswer, Error,
    ]  # fmt: skip
    which = {
        "name": "project_id", "in": "path", "required": True,
        "schema": {"type": "string", "enum": list(projects)},
    }  # fmt: skip
    one = "/label-studio/{project_id}"
    health = {"200": content("The answer.", reference("HealthAnswer")), **_errors([404])}
    paths: dict[str, Any] = {
        f"{one}/health": {
            "get": {"summary": "Say that a model is there", "parameters": [which],
                    "responses": health},
        }
    }  # fmt: skip
    for name, (summary, body, answer) in _POSTS.items():
        paths[f"/{name}"] = _post(summary, body, answer)
        paths[f"{one}/{name}"] = _post(summary, body, answer, [which])
    return More(kinds, paths, content("The token is missing, or another one.", reference("Error")))


def _post(summary: str, body: str, answer: str, named: Sequence[Any] = ()) -> dict[str, Any]:
    responses = {"200": content("The answer.", reference(answer)), **_errors(_ERRORS)}
    if answer == "WebhookAnswer":
        responses["201"] = content("The document is on disk.", reference(answer))
        responses["507"] = content(_NO_ROOM, reference("Error"))
    later = {"schema": {"type": "string"}, "required": True}
    responses["503"]["headers"] = {"Retry-After": later}
    sent = {"required": True, **content("What is sent.", reference(body))}
    found = {"summary": summary, "parameters": list(named), "requestBody": sent}
    return {"post": found | {"responses": responses}}


def _errors(statuses: Any) -> dict[str, Any]:
    return {str(each): content(_ERRORS[each], reference("Error")) for each in statuses}
