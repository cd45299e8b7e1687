"""The application: which address is answered by what."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from deplda.engine.execution import n_workers
from deplda.errors import DepldaError
from deplda.models.base import LabelClassifier
from deplda.web.answers import Error, HealthAnswer
from deplda.web.assets import Asset, read_assets
from deplda.web.counters import Metrics
from deplda.web.http_errors import Refusal
from deplda.web.limits import Limits
from deplda.web.middleware import Guard, json_response
from deplda.web.openapi import describe
from deplda.web.requests import check_document, read_body, read_query, request_types
from deplda.web.service import Knowledge
from deplda.web.work import Work

Asked = TypeVar("Asked")

_SENDING_SECONDS = 30.0


def create_app(
    model: LabelClassifier,
    limits: Limits | None = None,
    *,
    threads: int | None = None,
    origins: Sequence[str] = (),
) -> Starlette:
    """Return the service of a fitted model as an ASGI application.

    Parameters
    ----------
    model : a fitted classifier
    limits : Limits, optional
    threads : int, optional
        Requests that are worked on at once; as many as there are cores by default.
    origins : sequence of str
        Other web sites whose pages may use the API (CORS); none by default.
    """
    limits = limits or Limits()
    service = Service(model, limits, n_workers(threads))
    patience = limits.reading_seconds + limits.seconds + _SENDING_SECONDS
    middleware = [Middleware(Guard, metrics=service.counters, seconds=patience)]
    if origins:
        middleware.append(
            Middleware(
                CORSMiddleware, allow_origins=list(origins), allow_methods=["GET", "POST"],
                allow_headers=["Content-Type"],
            )
        )  # fmt: skip
    return Starlette(
        routes=service.routes(),
        middleware=middleware,
        exception_handlers={DepldaError: _refuse, HTTPException: _refuse_http},
        lifespan=service.lifespan,
    )


class Service:
    """The endpoints, each named as in the metrics."""

    def __init__(self, model: LabelClassifier, limits: Limits, threads: int) -> None:
        self.limits, self.counters = limits, Metrics()
        self.work = Work(threads, limits.waiting, limits.seconds)
        self.knowledge = Knowledge(model, limits)
        self.types = request_types(limits)
        self.description = describe(self.types)
        self.assets = read_assets()

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
        await asyncio.to_thread(self.knowledge.warm_up)
        yield
        await asyncio.to_thread(self.work.stop)

    async def suggest(self, request: Request) -> Response:
        """Answer POST /v1/suggest."""
        asked: Any = await self._read(request, self.types.suggest)
        for number, document in enumerate(asked.documents):
            check_document(document, f"$.documents[{number}]")
        do = partial(self.knowledge.suggest, asked.documents, int(asked.k), asked.threshold)
        answer = await self.work.do(do)
        self.counters.documents += len(asked.documents)
        return json_response(answer)

    async def explain(self, request: Request) -> Response:
        """Answer POST /v1/explain."""
        asked: Any = await self._read(request, self.types.explain)
        check_document(asked.document, "$.document")
        k, n_words = int(asked.k), int(asked.n_words)
        answer = await self.work.do(lambda _: self.knowledge.explain(asked.document, k, n_words))
        self.counters.documents += 1
        return json_response(answer)

    async def labels(self, request: Request) -> Response:
        """Answer GET /v1/labels."""
        asked: Any = read_query(request.query_params.multi_items(), self.types.labels)
        return json_response(
            await self.work.do(
                lambda _: self.knowledge.find_labels(
                    asked.search, asked.sort, asked.page, asked.size
                )
            )
        )

    async def label(self, request: Request) -> Response:
        """Answer GET /v1/labels/{label}."""
        name = request.path_params["label"]
        return json_response(await self.work.do(lambda _: self.knowledge.label(name)))

    async def topics(self, request: Request) -> Response:
        """Answer GET /v1/topics."""
        asked: Any = read_query(request.query_params.multi_items(), self.types.topics)
        return json_response(
            await self.work.do(lambda _: self.knowledge.topics(asked.set, asked.page, asked.size))
        )

    async def model(self, _: Request) -> Response:
        """Answer GET /v1/model."""
        return json_response(self.knowledge.card)

    async def health(self, _: Request) -> Response:
        """Answer GET /health, even when there is much to do."""
        return json_response(HealthAnswer("ok", self.knowledge.card.model))

    async def metrics(self, _: Request) -> Response:
        """Answer GET /metrics."""
        return PlainTextResponse(self.counters.text(self.work.n_open, self.work.n_refused))

    async def openapi(self, _: Request) -> Response:
        """Answer GET /openapi.json."""
        return json_response(self.description)

    async def page(self, request: Request) -> Response:
        """Answer GET /."""
        return _send(request, self.assets["index.html"])

    async def asset(self, request: Request) -> Response:
        """Answer GET /static/{name}."""
        asset = self.assets.get(request.path_params["name"])
        if asset is None:
            raise HTTPException(404)
        return _send(request, asset)

    async def _read(self, request: Request, kind: type[Asked]) -> Asked:
        """Return the body, or refuse it as soon as it is too long or too slow."""
        most = self.limits.body_bytes
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type != "application/json":
            raise Refusal(415, "send Content-Type: application/json")
        too_long = Refusal(413, f"the body has more than {most:,} bytes; send less at once")
        said = request.headers.get("content-length", "")
        if said.isdecimal() and int(said) > most:
            raise too_long
        body = bytearray()
        try:
            async with asyncio.timeout(self.limits.reading_seconds):
                async for piece in request.stream():
                    body += piece
                    if len(body) > most:
                        raise too_long
        except TimeoutError as error:
            raise Refusal(
                408, f"the body did not come within {self.limits.reading_seconds:g} s"
            ) from error
        except ClientDisconnect as error:
            raise Refusal(400, "the body ended before it was complete") from error
        return read_body(bytes(body), kind)


def _send(request: Request, asset: Asset) -> Response:
    headers = {"Cache-Control": "no-cache", "ETag": asset.tag}
    if request.headers.get("if-none-match") == asset.tag:
        return Response(status_code=304, headers=headers)
    return Response(asset.content, headers=headers, media_type=asset.media_type)


def _refuse(_: Request, error: Exception) -> Response:
    if isinstance(error, Refusal):
        return json_response(Error(str(error)), error.status, error.headers)
    return json_response(Error(str(error)), 422)


def _refuse_http(request: Request, error: Exception) -> Response:
    """Answer for the router: there is no such address, or no such method."""
    if not isinstance(error, HTTPException):
        raise error
    why = {
        404: "there is nothing at this address; /openapi.json says what there is",
        405: f"{request.method} is not allowed here; /openapi.json says what is",
    }
    message = why.get(error.status_code, error.detail)
    return json_response(Error(message), error.status_code, dict(error.headers or {}))
