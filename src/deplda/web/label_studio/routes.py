"""What answers at the addresses that Label Studio asks of an ML backend."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from deplda.errors import InputError
from deplda.web.answers import HealthAnswer
from deplda.web.counters import Counters
from deplda.web.http_errors import json_response
from deplda.web.label_studio.annotating import decided, labels_in, predict
from deplda.web.label_studio.messages import (
    PredictAnswer,
    PredictRequest,
    SetupAnswer,
    SetupRequest,
    WebhookAnswer,
    WebhookRequest,
)
from deplda.web.openapi import Operation
from deplda.web.projects import Project, Projects
from deplda.web.requests import decode_json

log = logging.getLogger("deplda.web")


class LabelStudioEndpoints:
    """Label Studio's routes, of each model by the id of its project, and of the first without."""

    def __init__(self, projects: Projects, work_on: Callable[..., Any], counters: Counters) -> None:
        self.projects, self.work_on, self.counters = projects, work_on, counters

    def operations(self) -> list[Operation]:
        """Return the routes; /health without an id is the service's own."""
        one, errors = "/label-studio/{project_id}", (400, 404, 408, 409, 413, 415, 422, 503)
        setup = (self.label_studio_setup, "Connect a project", SetupAnswer, SetupRequest)
        ask = (self.label_studio_predict, "Suggest labels for tasks", PredictAnswer, PredictRequest)
        keep = (self.label_studio_webhook, "Keep decisions", WebhookAnswer, WebhookRequest)
        health = Operation(
            f"{one}/health", self.label_studio_health, "Say that a model is there", HealthAnswer,
            errors=(404,),
        )  # fmt: skip
        return [health] + [
            operation
            for prefix in (one, "")
            for operation in (
                Operation(f"{prefix}/setup", *setup, errors=errors),
                Operation(f"{prefix}/predict", *ask, errors=errors),
                Operation(f"{prefix}/webhook", *keep, errors=(*errors, 507), statuses=(200, 201)),
            )
        ]

    async def label_studio_health(self, request: Request) -> Response:
        """Answer GET /label-studio/{project_id}/health, even when there is much to do."""
        return json_response(HealthAnswer("ok", self._project(request).service.card.model))

    async def label_studio_setup(self, request: Request) -> Response:
        """Answer POST /setup: whether labels can be shown in this project, and which version."""

        def set_up(project: Project, asked: SetupRequest, _: float) -> SetupAnswer:
            labels_in(asked.schema, project.service)
            return SetupAnswer(_version(project))

        return json_response(await self._answer(request, SetupRequest, set_up))

    async def label_studio_predict(self, request: Request) -> Response:
        """Answer POST /predict: labels for tasks."""

        def suggest(project: Project, asked: PredictRequest, deadline: float) -> PredictAnswer:
            return predict(project.service, asked, _version(project), deadline)

        found: PredictAnswer = await self._answer(request, PredictRequest, suggest)
        self.counters.count_documents(len(found.results))
        return json_response(found)

    async def label_studio_webhook(self, request: Request) -> Response:
        """Answer POST /webhook: 201 where a document was kept to learn from."""
        found: WebhookAnswer = await self._answer(request, WebhookRequest, _keep_decided)
        return json_response(found, 201 if found.kept else 200)

    def _project(self, request: Request) -> Project:
        return self.projects.find(request.path_params.get("project_id"))

    async def _answer(
        self, request: Request, kind: Any, function: Callable[[Project, Any, float], Any]
    ) -> Any:
        """Return function(project, body, the time it has until), worked out on a thread."""
        project = self._project(request)

        def work(body: bytes, deadline: float) -> Any:
            with _problems_logged(project):
                return function(project, decode_json(body, kind), deadline)

        return await self.work_on(request, "application/json", work)


def _keep_decided(project: Project, event: WebhookRequest, _: float) -> WebhookAnswer:
    if project.feedback is None:
        return WebhookAnswer(0, "the service does not learn; start it with --learn FILE")
    found = decided(project.service, event)
    if isinstance(found, str):
        return WebhookAnswer(0, found)
    project.keep([found])
    return WebhookAnswer(1)


def _version(project: Project) -> str:
    """Return what tells one model from the next that takes its place."""
    return f"{project.id} {project.changed.astimezone(UTC).isoformat(timespec='seconds')}"


@contextmanager
def _problems_logged(project: Project) -> Iterator[None]:
    """Log what is wrong with a request: Label Studio shows its users the status alone.

    What this model cannot do with a configuration that is well-formed is a 409.
    """
    try:
        yield
    except (InputError, HTTPException) as error:
        status, said = (
            (409, str(error))
            if isinstance(error, InputError)
            else (error.status_code, error.detail)
        )
        log.warning("%s: Label Studio's request is not answered: %s", project.id, ascii(said))
        raise HTTPException(status, said, getattr(error, "headers", None)) from error
