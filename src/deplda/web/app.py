"""The application: which address is answered by what."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from deplda.engine.execution import n_workers
from deplda.errors import DepldaError
from deplda.models.base import LabelClassifier
from deplda.models.suggesting import Asked
from deplda.web.access import LOOPBACK, HostMiddleware, TokenMiddleware, check_token, host_name
from deplda.web.answers import HealthAnswer
from deplda.web.counters import Counters
from deplda.web.http_errors import error_response, json_response
from deplda.web.limits import Limits
from deplda.web.middleware import HardeningMiddleware
from deplda.web.openapi import describe
from deplda.web.requests import read_body, read_query, request_types
from deplda.web.service import ModelService
from deplda.web.work import Work


def create_app(
    model: LabelClassifier,
    limits: Limits | None = None,
    *,
    threads: int | None = None,
    hosts: Sequence[str] = LOOPBACK,
    token: str | None = None,
    origins: Sequence[str] = (),
) -> Starlette:
    """Return the service of a fitted model as an ASGI application.

    Parameters
    ----------
    model : a fitted classifier
    limits : Limits, optional
    threads : int, optional
        Requests that are worked on at once; as many as there are cores by default.
    hosts : sequence of str
        The names that the service is called by; requests for other hosts are answered 421.
    token : str, optional
        What clients have to show (``Authorization: Bearer``) to use the API.
    origins : sequence of str
        Other web sites whose pages may use the API (CORS); none by default.
    """
    limits = limits or Limits()
    if token is not None:
        check_token(token)
    endpoints = Endpoints(model, limits, n_workers(threads), with_token=token is not None)
    middleware = [
        Middleware(HardeningMiddleware, counters=endpoints.counters),
        Middleware(HostMiddleware, hosts=[host_name(host) for host in hosts]),
    ]
    if origins:  # before the token, which browsers do not send when they ask for leave
        middleware.append(
            Middleware(
                CORSMiddleware, allow_origins=list(origins), allow_methods=["GET", "POST"],
                allow_headers=["Authorization", "Content-Type"],
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
        self, model: LabelClassifier, limits: Limits, threads: int, *, with_token: bool
    ) -> None:
        self.limits, self.counters = limits, Counters()
        self.work = Work(threads, limits.waiting, limits.seconds)
        self.service = ModelService(model, limits)
        self.types = request_types(limits)
        self.description = describe(self.types, with_token=with_token)
        self.files = StaticFiles(packages=[("deplda.web", "static")])

    def routes(self) -> list[Route]:
        """Return the addresses."""
        return [
            Route("/v1/suggest", self.suggest, methods=["POST"]),
            Route("/v1/explain", self.explain, methods=["POST"]),
            Route("/v1/labels", self.labels),
            Route("/v1/labels/{label:path}", self.label),
            Route("/v1/topics", self.topics),
            Route("/v1/model", self.model),
            Route("/health", self.health),
            Route("/metrics", self.metrics),
            Route("/openapi.json", self.openapi),
            Route("/static/{name}", self.asset),
            Route("/", self.page),
        ]

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Be ready before the first request, and finish the last."""
        await asyncio.to_thread(self.service.warm_up)
        yield
        await asyncio.to_thread(self.work.stop)

    async def suggest(self, request: Request) -> Response:
        """Answer POST /v1/suggest."""
        asked = await read_body(request, self.types.suggest, self.limits)
        deadline = time.monotonic() + self.limits.seconds
        k = self.limits.labels if asked.k is None else int(asked.k)
        wanted = Asked(asked.cutoff, asked.threshold, k)
        answer = await self._answer(self.service.suggest, asked.documents, wanted, deadline)
        self.counters.documents += len(asked.documents)
        return answer

    async def explain(self, request: Request) -> Response:
        """Answer POST /v1/explain."""
        asked = await read_body(request, self.types.explain, self.limits)
        answer = await self._answer(
            self.service.explain, asked.document, int(asked.k), int(asked.n_words)
        )
        self.counters.documents += 1
        return answer

    async def labels(self, request: Request) -> Response:
        """Answer GET /v1/labels."""
        asked = read_query(request, self.types.labels)
        return await self._answer(
            self.service.find_labels, asked.search, asked.sort, asked.page, asked.size
        )

    async def label(self, request: Request) -> Response:
        """Answer GET /v1/labels/{label}."""
        return await self._answer(self.service.label, request.path_params["label"])

    async def topics(self, request: Request) -> Response:
        """Answer GET /v1/topics."""
        asked = read_query(request, self.types.topics)
        return await self._answer(self.service.topics, asked.set, asked.page, asked.size)

    async def _answer(self, function: Callable[..., Any], *asked: Any) -> Response:
        """Return the model's answer, which is worked out on a thread."""
        return json_response(await self.work.do(function, *asked))

    async def model(self, _: Request) -> Response:
        """Answer GET /v1/model."""
        return json_response(self.service.card)

    async def health(self, _: Request) -> Response:
        """Answer GET /health, even when there is much to do."""
        return json_response(HealthAnswer("ok", self.service.card.model))

    async def metrics(self, _: Request) -> Response:
        """Answer GET /metrics."""
        return PlainTextResponse(self.counters.text(self.work.n_open, self.work.n_rejected))

    async def openapi(self, _: Request) -> Response:
        """Answer GET /openapi.json."""
        return json_response(self.description)

    async def page(self, request: Request) -> Response:
        """Answer GET /."""
        return await self.files.get_response("index.html", request.scope)

    async def asset(self, request: Request) -> Response:
        """Answer GET /static/{name}."""
        return await self.files.get_response(request.path_params["name"], request.scope)
