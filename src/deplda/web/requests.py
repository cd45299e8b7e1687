"""What clients send: types with the limits in them, from which the API's description is made."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from deplda.models.label_index import Order
from deplda.web.limits import Limits
from deplda.web.room import Client
from deplda.web.work import Work

_SEE = "; /openapi.json says what is expected"
_MOST_PAGES = 1_000_000_000


class Requests(NamedTuple):
    """The bodies and the queries of the API."""

    suggest: Any
    explain: Any
    labels: Any
    label_names: Any
    topics: Any
    read: Any
    lines: Any
    line: Any
    which: Any
    """Query parameters of requests whose other parameters are in the body or the path."""
    project: Any


def request_types(limits: Limits) -> Requests:
    """Return the types of all requests under these limits."""
    no_null = {"pattern": r"^[^\u0000]*$"}
    text = Annotated[
        str,
        Meta(max_length=limits.characters, description="Plain text.", extra_json_schema=no_null),
    ]
    word, times = Annotated[str, Meta(max_length=200)], _whole_number(limits.tokens)
    words = Annotated[
        dict[word, times],  # type: ignore[valid-type]  # they are made above
        Meta(max_length=limits.words, description="How often each word occurs."),
    ]
    struct = partial(msgspec.defstruct, forbid_unknown_fields=True, kw_only=True)
    content = [("text", text | UnsetType, UNSET), ("words", words | UnsetType, UNSET)]
    checked = {"__post_init__": _check_document}
    document = struct("Document", content, namespace=checked)
    name = Annotated[str, Meta(max_length=200, description="Is sent back with the answer.")] | None
    line = struct("DocumentLine", [*content, ("id", name, None)], namespace=checked)
    documents = Annotated[
        list[document],  # type: ignore[valid-type]  # it is made above
        Meta(min_length=1, max_length=limits.documents),
    ]
    threshold = (
        Annotated[float, Meta(ge=0, le=1, description="The least probability of a label.")] | None
    )
    named = Literal["validated", "at-least-one", "expected-f1", "macro-f1", "proportional"]
    either = {"anyOf": [{"exclusiveMaximum": 1}, {"multipleOf": 1}]}  # see _check_cutoff
    number = Annotated[
        float,
        Meta(
            gt=0, le=_MOST_PAGES, extra_json_schema=either,
            description="So many labels, or, below 1, all that are so likely.",
        ),
    ]  # fmt: skip
    cutoff = named | number | None
    search = Annotated[
        str, Meta(max_length=200, description="Words that a name, synonym or notation contains.")
    ]
    uris = Annotated[list[str], Meta(min_length=1, max_length=limits.page)]
    file_name = Annotated[
        str,
        Meta(
            min_length=1, max_length=255, description="Of the file; its end tells the format.",
            extra_json_schema=no_null,
        ),
    ]  # fmt: skip
    page = [
        ("page", Annotated[int, Meta(ge=1, le=_MOST_PAGES)], 1),
        ("size", Annotated[int, Meta(ge=1, le=limits.page)], min(50, limits.page)),
    ]
    k_suggested = ("k", _whole_number(limits.labels) | None, None)
    k_explained = ("k", _whole_number(limits.explained), min(5, limits.explained))
    n_words = ("n_words", _whole_number(100), 8)
    which_model = [("project", str | None, None), ("label_language", str | None, None)]
    topic_set = ("set", Annotated[int, Meta(ge=0, le=_MOST_PAGES)], 0)
    which = [k_suggested, ("threshold", threshold, None), ("cutoff", cutoff, None)]
    with_cutoff = {"__post_init__": _check_cutoff}
    return Requests(
        struct("SuggestRequest", [("documents", documents), *which], namespace=with_cutoff),
        struct("ExplainRequest", [("document", document), k_explained, n_words]),
        struct(
            "LabelsQuery",
            [("search", search, ""), ("sort", Order, "frequency"), *page, *which_model],
        ),
        struct("LabelNamesRequest", [("uris", uris)]),
        struct("TopicsQuery", [topic_set, *page, *which_model]),
        struct("ReadQuery", [("name", file_name), *which_model[:1]]),
        struct("LinesQuery", [*which, *which_model], namespace=with_cutoff),
        line,
        struct("WhichQuery", which_model),
        struct("ProjectQuery", which_model[:1]),
    )


def _whole_number(most: int) -> Any:
    """Return the type of whole numbers from 1: to JSON Schema, and so to clients, 10.0 is one."""
    return Annotated[float, Meta(ge=1, le=most, multiple_of=1)]


def _check_cutoff(asked: Any) -> None:
    """Make a whole number of labels one; raise if it is neither that nor a probability."""
    if isinstance(asked.cutoff, float) and asked.cutoff >= 1:
        if not asked.cutoff.is_integer():
            raise ValueError(f"cutoff is {asked.cutoff:g}; send a probability or a whole number")
        asked.cutoff = int(asked.cutoff)


def _check_document(document: Any) -> None:
    """Raise if a document is not either a text or counts, or is a binary file."""
    if (document.text is UNSET) == (document.words is UNSET):
        raise ValueError('a document is {"text": "…"} or {"words": {"word": 2}}')
    if document.text is not UNSET and (place := document.text.find("\0")) >= 0:
        raise ValueError(f"character {place + 1} is null; send plain text, not a binary file")


async def read_body(request: Request, kind: Any, limits: Limits) -> Any:
    """Return the body; raise as soon as it is too long or too slow, and if it is not a `kind`."""
    body = await receive(request, "application/json", limits.body_bytes, limits)
    return decode_json(body, kind)


async def receive(request: Request, media_type: str, most: int, limits: Limits) -> bytes:
    """Return the bytes of a body, for which there is room."""
    check_media_type(request, media_type)
    said, body = request.headers.get("content-length", ""), bytearray()
    client: Client = request.state.client
    try:
        async with asyncio.timeout_at(client.since + limits.reading_seconds):
            _check_length(int(said) if said.isdecimal() else 0, most)
            async for piece in request.stream():
                body += piece
                _check_length(len(body), most)
                client.hold(len(piece))
    except TimeoutError as error:
        message = f"the request did not come within {limits.reading_seconds:g} s"
        raise HTTPException(408, message) from error
    except ClientDisconnect as error:
        raise HTTPException(400, "the body ended before it was complete") from error
    return bytes(body)


async def work_on_body(
    limits: Limits, work: Work, request: Request, media_type: str, function: Callable[..., Any]
) -> Any:
    """Return function(body, deadline) of a body that may be large, run on a thread of `work`."""
    body = await receive(request, media_type, limits.large_body_bytes, limits)
    return await work.do(function, body, time.monotonic() + limits.seconds)


def check_media_type(request: Request, media_type: str) -> None:
    """Raise if the body is not said to be of this type."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != media_type:
        raise HTTPException(415, f"send Content-Type: {media_type}")


def decode_json(body: bytes, kind: Any, what: str = "the body") -> Any:
    """Return a body that is JSON; raise if it is not, or not a `kind`."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise HTTPException(422, f"{error}{_SEE}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise HTTPException(400, f"{what} is not JSON in UTF-8: {error}") from error


def _check_length(n_bytes: int, most: int) -> None:
    if n_bytes > most:
        raise HTTPException(413, f"the body has more than {most:,} bytes; send less at once")


def read_query(request: Request, kind: Any) -> Any:
    """Return the query of a request; raise if it is not a `kind`."""
    return convert(request.query_params.multi_items(), kind, "the query")


def convert(given: list[tuple[str, str]], kind: Any, where: str) -> Any:
    """Return the values of a query or a form as a `kind`; raise if they are not."""
    values = dict(given)
    if len(values) < len(given):
        raise HTTPException(422, f"{where} names a parameter twice{_SEE}")
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise HTTPException(422, f"{error}{_SEE}") from error


def query_value(request: Request, name: str) -> str | None:
    """Return the value of a query parameter, None if it is missing; raise if it is repeated."""
    pairs = [(key, value) for key, value in request.query_params.multi_items() if key == name]
    values: dict[str, str] = convert(pairs, dict[str, str], "the query")
    return values.get(name)
