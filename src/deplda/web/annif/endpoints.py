"""What answers at the addresses of Annif's REST API."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

import deplda
from deplda.data.languages import chances, languages_told
from deplda.web.annif import exchanged, subjects
from deplda.web.annif.exchanged import question_types
from deplda.web.annif.subjects import Read
from deplda.web.annif.urlencoded import read_form
from deplda.web.counters import Counters
from deplda.web.feedback import Labelled
from deplda.web.http_errors import busy, json_response
from deplda.web.limits import Limits
from deplda.web.openapi import Operation
from deplda.web.projects import Project, Projects
from deplda.web.requests import convert, decode_json

TRUNCATED = "Deplda-Truncated"
"""The header that says which texts were not read to their end."""
_HEADERS = {TRUNCATED: "Texts that were not read whole: number from 0, characters read and given."}
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"


class AnnifEndpoints:
    """Annif's routes; each project is a model."""

    def __init__(
        self, projects: Projects, limits: Limits, work_on: Callable[..., Any], counters: Counters
    ) -> None:
        self.projects, self.work_on, self.counters = projects, work_on, counters
        self.types = question_types(limits)

    def operations(self) -> list[Operation]:
        """Return Annif's routes."""
        one, types = "/v1/projects/{project_id}", self.types
        operation = partial(
            Operation, error=exchanged.Problem, error_type="application/problem+json"
        )
        post = partial(operation, headers=_HEADERS)
        body = (400, 408, 413, 415, 503)
        return [
            operation("/v1/", self.annif_info, "Say what answers", exchanged.ApiInfo),
            operation("/v1/vocabs", self.annif_vocabs, "List vocabularies", exchanged.VocabList),
            operation(
                "/v1/projects", self.annif_projects, "List projects", exchanged.ProjectList
            ),
            operation(
                one, self.annif_project, "Show a project", exchanged.ProjectInfo, errors=(404,)
            ),
            post(
                f"{one}/suggest", self.annif_suggest, "Suggest labels for a text",
                exchanged.ResultList, types.form, errors=(*body, 404, 409), media_type=_FORM,
                body_choices=("language",),
            ),
            post(
                f"{one}/suggest-batch", self.annif_suggest_batch, "Suggest labels for some texts",
                list[exchanged.BatchResult], types.batch, types.query, (*body, 404, 409),
            ),
            operation(
                f"{one}/learn", self.annif_learn, "Keep documents to learn from", None,
                types.learn, errors=(*body, 403, 404, 507), statuses=(204,),
            ),
            post(
                "/v1/detect-language", self.annif_detect_language, "Detect the language of a text",
                exchanged.DetectedLanguages, types.language, errors=body,
                body_choices=("languages",),
            ),
        ]  # fmt: skip

    def choices(self) -> dict[str, Sequence[str]]:
        """Return the values of parameters."""
        return {
            "language": subjects.languages_to_ask_for(self.projects),
            "languages": languages_told(),
        }

    async def annif_info(self, _: Request) -> Response:
        """Answer GET /v1/."""
        title = "Annif REST API, answered by deplda"
        return json_response(exchanged.ApiInfo(title, deplda.__version__))

    async def annif_vocabs(self, _: Request) -> Response:
        """Answer GET /v1/vocabs."""
        found = [subjects.vocab_info(project) for project in self.projects]
        return json_response(exchanged.VocabList(found))

    async def annif_projects(self, _: Request) -> Response:
        """Answer GET /v1/projects."""
        found = [subjects.project_info(project) for project in self.projects]
        return json_response(exchanged.ProjectList(found))

    async def annif_project(self, request: Request) -> Response:
        """Answer GET /v1/projects/{project_id}."""
        return json_response(subjects.project_info(self._project(request)))

    async def annif_suggest(self, request: Request) -> Response:
        """Answer POST /v1/projects/{project_id}/suggest."""
        project = self._project(request)

        def suggest(body: bytes, deadline: float) -> tuple[Any, list[Read]]:
            given = read_form(body, self.types.form.__struct_fields__)
            asked = convert(given, self.types.form, "the form")
            (results,), read = _suggest(project, [asked.text], asked, deadline)
            return exchanged.ResultList(results), read

        return await self._suggested(request, _FORM, suggest)

    async def annif_suggest_batch(self, request: Request) -> Response:
        """Answer POST /v1/projects/{project_id}/suggest-batch."""
        project = self._project(request)
        asked = convert(request.query_params.multi_items(), self.types.query, "the query")

        def suggest(body: bytes, deadline: float) -> tuple[Any, list[Read]]:
            documents = decode_json(body, self.types.batch).documents
            texts = [document.text for document in documents]
            found, read = _suggest(project, texts, asked, deadline)
            return [
                exchanged.BatchResult(results, document.document_id)
                for results, document in zip(found, documents, strict=True)
            ], read

        return await self._suggested(request, _JSON, suggest)

    async def annif_learn(self, request: Request) -> Response:
        """Answer POST /v1/projects/{project_id}/learn."""
        project = self._project(request)
        if project.feedback is None:
            raise HTTPException(
                403, f"project {project.id!r} takes no documents to learn from; start the service "
                "with --learn FILE",
            )  # fmt: skip

        def learn(body: bytes, _: float) -> None:
            documents = [
                Labelled(document.text, [subject.uri for subject in document.subjects])
                for document in decode_json(body, self.types.learn)
            ]
            project.keep(documents)

        await self.work_on(request, _JSON, learn)
        return Response(None, 204)

    async def annif_detect_language(self, request: Request) -> Response:
        """Answer POST /v1/detect-language."""

        def detect(body: bytes, _: float) -> tuple[Any, list[Read]]:
            asked = decode_json(body, self.types.language)
            found, n_read = chances(asked.text, asked.languages)
            results = [exchanged.DetectedLanguage(*each) for each in found.items()]
            return exchanged.DetectedLanguages(results), [Read(n_read, len(asked.text))]

        answer, read = await self.work_on(request, _JSON, detect)
        return json_response(answer, headers=_truncated(read))

    def _project(self, request: Request) -> Project:
        return self.projects.find(request.path_params["project_id"])

    async def _suggested(
        self,
        request: Request,
        media_type: str,
        suggest: Callable[[bytes, float], tuple[Any, list[Read]]],
    ) -> Response:
        """Return what is suggested for the texts of a body, and say which were not read whole."""
        answer, read = await self.work_on(request, media_type, suggest)
        self.counters.count_documents(len(read))
        return json_response(answer, headers=_truncated(read))


def _suggest(
    project: Project, texts: Sequence[str], asked: Any, deadline: float
) -> tuple[list[list[exchanged.Result]], list[Read]]:
    """Return the suggestions for each text, and how much of it was read; stop when it is late."""
    service = project.service
    subjects.check_able(service)
    language = subjects.check_language(service, asked.language)
    found = []
    for number, text in enumerate(texts):
        if time.monotonic() > deadline:
            raise busy(f"{number} documents were done in time; send fewer at once")
        found.append(subjects.suggest(service, text, asked.limit, asked.threshold, language))
    return [results for results, _ in found], [read for _, read in found]


def _truncated(read: list[Read]) -> dict[str, str]:
    """Return the header that says which texts, by number from 0, were not read to their end."""
    told = [
        f"{number};read={each.read};given={each.given}"
        for number, each in enumerate(read)
        if each.read < each.given
    ]
    return {TRUNCATED: ", ".join(told)} if told else {}
