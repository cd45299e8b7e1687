"""The application: which address is answered by what."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

from msgspec import structs
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from deplda.data.files import StrPath
from deplda.engine.execution import n_workers
from deplda.errors import DepldaError
from deplda.models.base import LabelClassifier
from deplda.models.reasons import Explained
from deplda.models.suggesting import Asked
from deplda.web import answers
from deplda.web.access import LOOPBACK, HostMiddleware, TokenMiddleware, check_token, host_name
from deplda.web.annif.endpoints import TRUNCATED, AnnifEndpoints
from deplda.web.answers import HealthAnswer, SuggestAnswer
from deplda.web.counters import Counters
from deplda.web.file_process import AT_ONCE, FileProcesses
from deplda.web.http_errors import encoded_response, error_response, json_response
from deplda.web.label_studio.routes import LabelStudioEndpoints
from deplda.web.limits import Limits
from deplda.web.lines import MEDIA_TYPE, Streams
from deplda.web.middleware import HardeningMiddleware
from deplda.web.openapi import Operation, describe
from deplda.web.projects import ONLY, Project, Projects, check_ids, open_feedback
from deplda.web.requests import query_value, read_body, read_query, request_types, work_on_body
from deplda.web.room import Room
from deplda.web.service import ModelService
from deplda.web.work import Work

LINES = {"type": "string", "contentMediaType": "application/json"}
"""The schema of JSON lines: OpenAPI 3.1 has no place for what each line is."""
FILE = {"type": "string", "format": "binary"}


def create_app(
    model: LabelClassifier | Mapping[str, LabelClassifier],
    limits: Limits | None = None,
    *,
    threads: int | None = None,
    hosts: Sequence[str] = LOOPBACK,
    token: str | None = None,
    origins: Sequence[str] = (),
    learn: StrPath | Mapping[str, StrPath] | None = None,
) -> Starlette:
    """Return the service of a fitted model, or of several, as an ASGI application.

    Parameters
    ----------
    model : a fitted classifier, or several by the ids of their projects
    limits : Limits, optional
    threads : int, optional
        Requests that are worked on at once; as many as there are cores by default.
    hosts : sequence of str
        The names that the service is called by; requests for other hosts are answered 421.
    token : str, optional
        What clients have to show (``Authorization: Bearer``) to use the API.
    origins : sequence of str
        Other web sites whose pages may use the API (CORS); none by default.
    learn : path, optional
        The file that labelled documents sent to ``learn`` are appended to; of several models, the
        file of each that is to take them, by id. None are taken by default.
    """
    if token is not None:
        check_token(token)
    limits, now = limits or Limits(), datetime.now(UTC)
    models = model if isinstance(model, Mapping) else {ONLY: model}
    check_ids(models)
    kept = open_feedback(learn, list(models), limits)
    projects = Projects(
        Project(id, ModelService(each, limits), now, kept.get(id)) for id, each in models.items()
    )
    return application(projects, limits, threads, hosts, token, origins)


def application(
    projects: Projects,
    limits: Limits,
    threads: int | None = None,
    hosts: Sequence[str] = LOOPBACK,
    token: str | None = None,
    origins: Sequence[str] = (),
    background: Callable[[], Coroutine[Any, Any, None]] | None = None,
) -> Starlette:
    """Return the service of projects; `background` runs as long as it does."""
    endpoints = Endpoints(
        projects, limits, n_workers(threads), with_token=token is not None, background=background
    )
    middleware = [
        Middleware(HardeningMiddleware, counters=endpoints.counters, room=endpoints.room),
        Middleware(HostMiddleware, hosts=[host_name(host) for host in hosts]),
    ]
    if origins:  # before the token, which browsers do not send when they ask for leave
        middleware.append(
            Middleware(
                CORSMiddleware, allow_origins=list(origins), allow_methods=["GET", "POST"],
                allow_headers=["Authorization", "Content-Type"], expose_headers=[TRUNCATED],
            )
        )  # fmt: skip
    if token is not None:
        middleware.append(Middleware(TokenMiddleware, token=token))
    app = Starlette(
        routes=endpoints.routes(),
        middleware=middleware,
        exception_handlers={DepldaError: error_response, HTTPException: error_response},
        lifespan=endpoints.lifespan,
    )
    app.router.redirect_slashes = False  # an address has one form, and no host is told to go to
    return app


class Endpoints:
    """What answers at each address, named as in the metrics."""

    def __init__(
        self,
        projects: Projects,
        limits: Limits,
        threads: int,
        *,
        with_token: bool,
        background: Callable[[], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        self.projects, self.limits = projects, limits
        self.work = Work(threads, limits.waiting, limits.seconds)
        self.reading = Work(AT_ONCE, limits.waiting, limits.seconds)  # files keep no model waiting
        self.counters = Counters(lambda: self.work.n_open + self.reading.n_open)
        self.readers = FileProcesses(limits)
        self.room, work_on = Room(limits), partial(work_on_body, limits, self.work)
        self.label_studio = LabelStudioEndpoints(projects, work_on, self.counters)
        self.types = request_types(limits)
        self.streams = Streams(limits, self.work, self.types.line, self.counters)
        self.annif = AnnifEndpoints(projects, limits, work_on, self.counters)
        self._with_token, self._background = with_token, background
        self._described: tuple[int, dict[str, Any]] | None = None
        self._describing = asyncio.Lock()
        self.files = StaticFiles(packages=[("deplda.web", "static")])

    def operations(self) -> list[Operation]:
        """Return the routes of all APIs that are described."""
        types, body, query = self.types, (400, 404, 408, 409, 413, 415, 422, 503), (404, 422, 503)
        return [
            Operation(
                "/v1/suggest", self.suggest, "Suggest labels", answers.SuggestAnswer,
                types.suggest, types.which, body,
            ),
            Operation(
                "/v1/suggest-lines", self.suggest_lines,
                "Suggest labels of many documents: for each DocumentLine, in order and while lines "
                "arrive, a SuggestedLine or a LineError",
                LINES, LINES, types.lines, (404, 415, 422, 503),
                media_type=MEDIA_TYPE, answer_type=MEDIA_TYPE,
            ),
            Operation(
                "/v1/explain", self.explain, "Say why labels are suggested", Explained,
                types.explain, types.which, body,
            ),
            Operation(
                "/v1/read", self.read,
                "Read the documents of a file; 422 if it holds none that can be read",
                answers.ReadAnswer, FILE, types.read, (404, 408, 413, 415, 422, 503),
                media_type="application/octet-stream",
            ),
            Operation(
                "/v1/labels", self.labels, "Search the labels", answers.LabelsAnswer,
                query=types.labels, errors=query,
            ),
            Operation(
                "/v1/label-names", self.label_names, "Show labels by URI", answers.LabelsAnswer,
                types.label_names, types.which, body,
            ),
            Operation(
                "/v1/labels/{label:path}", self.label, "Show a label", answers.LabelAnswer,
                query=types.which, errors=query,
            ),
            Operation(
                "/v1/topics", self.topics, "List labels that occur together", answers.TopicsAnswer,
                query=types.topics, errors=(409, *query),
            ),
            Operation(
                "/v1/model", self.model, "Show the model's card", answers.ModelAnswer,
                query=types.project, errors=(404, 422),
            ),
            Operation("/health", self.health, "Say that the service is there", HealthAnswer),
            Operation(
                "/metrics", self.metrics, "Count requests, for Prometheus", {"type": "string"},
                answer_type="text/plain",
            ),
            *self.annif.operations(),
            *self.label_studio.operations(),
        ]  # fmt: skip

    def routes(self) -> list[Route]:
        """Return the addresses."""
        return [
            *(operation.route for operation in self.operations()),
            Route("/openapi.json", self.openapi),
            Route("/static/{name}", self.asset),
            Route("/", self.page),
        ]

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[dict[str, Room]]:
        """Be ready before the first request, and finish the last."""
        for project in self.projects:
            await asyncio.to_thread(project.service.warm_up)
        task = asyncio.create_task(self._background()) if self._background else None
        yield {"room": self.room}
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        for finish in (self.work.stop, self.reading.stop, self.readers.stop):
            await asyncio.to_thread(finish)

    def _project(self, request: Request) -> Project:
        return self.projects.find(query_value(request, "project"))

    async def _service(self, request: Request) -> ModelService:
        """Return the requested model, with label names in the requested language."""
        service = self._project(request).service
        language = query_value(request, "label_language")
        return service if language is None else await self.work.do(service.in_language, language)

    async def suggest(self, request: Request) -> Response:
        """Answer POST /v1/suggest."""
        service = await self._service(request)
        asked = await read_body(request, self.types.suggest, self.limits)
        documents = [(each, f"$.documents[{n}]") for n, each in enumerate(asked.documents)]
        found = await self.work.do_each(service.suggest, documents, self._wanted(asked, service))
        self.counters.count_documents(len(documents))
        return json_response(SuggestAnswer(found))

    async def suggest_lines(self, request: Request) -> Response:
        """Answer POST /v1/suggest-lines."""
        asked = read_query(request, self.types.lines)
        service = await self._service(request)
        return self.streams.answer(request, service, self._wanted(asked, service))

    def _wanted(self, asked: Any, service: ModelService) -> Asked:
        """Return which labels a request asks for."""
        if asked.k is not None:
            return Asked(asked.cutoff, asked.threshold, int(asked.k))
        cutoff = asked.cutoff
        if cutoff is None and asked.threshold is None and not service.model.has_probabilities:
            cutoff = "proportional"  # without one, the limit would be how many are wanted
        return Asked(cutoff, asked.threshold, self.limits.labels)

    async def explain(self, request: Request) -> Response:
        """Answer POST /v1/explain."""
        service = await self._service(request)
        asked = await read_body(request, self.types.explain, self.limits)
        answer = await self._answer(
            service.explain, asked.document, int(asked.k), int(asked.n_words)
        )
        self.counters.count_documents(1)
        return answer

    async def read(self, request: Request) -> Response:
        """Answer POST /v1/read."""
        fields = self._project(request).service.model.fields_
        name = read_query(request, self.types.read).name

        def texts(body: bytes, until: float) -> bytes:
            return self.readers.texts_in(body, name, fields, until)

        kind = "application/octet-stream"
        return encoded_response(await work_on_body(self.limits, self.reading, request, kind, texts))

    async def labels(self, request: Request) -> Response:
        """Answer GET /v1/labels."""
        asked = read_query(request, self.types.labels)
        service = await self._service(request)
        return await self._answer(
            service.find_labels, asked.search, asked.sort, asked.page, asked.size
        )

    async def label_names(self, request: Request) -> Response:
        """Answer POST /v1/label-names."""
        service = await self._service(request)
        asked = await read_body(request, self.types.label_names, self.limits)
        return await self._answer(service.label_names, asked.uris)

    async def label(self, request: Request) -> Response:
        """Answer GET /v1/labels/{label}."""
        service = await self._service(request)
        return await self._answer(service.label, request.path_params["label"])

    async def topics(self, request: Request) -> Response:
        """Answer GET /v1/topics."""
        asked = read_query(request, self.types.topics)
        service = await self._service(request)
        return await self._answer(service.topics, asked.set, asked.page, asked.size)

    async def _answer(self, function: Callable[..., Any], *asked: Any) -> Response:
        """Return the model's answer, which is worked out on a thread."""
        return json_response(await self.work.do(function, *asked))

    async def model(self, request: Request) -> Response:
        """Answer GET /v1/model."""
        project = self._project(request)
        learns = project.feedback is not None
        return json_response(
            structs.replace(project.service.card, project=project.id, learns=learns)
        )

    async def health(self, _: Request) -> Response:
        """Answer GET /health, even when there is much to do."""
        return json_response(HealthAnswer("ok", self.projects.find().service.card.model))

    async def metrics(self, _: Request) -> Response:
        """Answer GET /metrics."""
        return PlainTextResponse(self.counters.text())

    async def openapi(self, _: Request) -> Response:
        """Answer GET /openapi.json."""
        return json_response(await self._description())

    async def _description(self) -> dict[str, Any]:
        """Return the description of the API, made anew where a model was replaced.

        It takes half a second: a crowd that asks for it waits for one that makes it.
        """
        async with self._describing:
            n = self.projects.n_replaced  # another model may have names in other languages
            if self._described is None or self._described[0] != n:
                self._described = n, await asyncio.to_thread(self._describe)
            return self._described[1]

    def _describe(self) -> dict[str, Any]:
        languages = {code for each in self.projects for code in each.service.card.label_languages}
        choices = {
            "project": self.projects.ids, "project_id": self.projects.ids,
            "label_language": sorted(languages), **self.annif.choices(),
        }  # fmt: skip
        lines = (self.types.line, answers.SuggestedLine, answers.LineError)
        return describe(self.operations(), choices, more=lines, with_token=self._with_token)

    async def page(self, request: Request) -> Response:
        """Answer GET /."""
        return await self.files.get_response("index.html", request.scope)

    async def asset(self, request: Request) -> Response:
        """Answer GET /static/{name}."""
        return await self.files.get_response(request.path_params["name"], request.scope)
