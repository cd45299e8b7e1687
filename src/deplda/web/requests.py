"""What clients send: types with the limits in them, from which the API's description is made."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from deplda.web.http_errors import Refusal
from deplda.web.limits import Limits

Asked = TypeVar("Asked")

NO_NULL = r"^[^\u0000]*$"
_SEE = "; /openapi.json says what is expected"
_MOST_PAGES = 1_000_000_000


class Requests(NamedTuple):
    """The bodies and the queries of the API."""

    suggest: Any
    explain: Any
    labels: Any
    topics: Any


def request_types(limits: Limits) -> Requests:
    """Return the types of all requests under these limits."""
    text = Annotated[
        str,
        Meta(
            max_length=limits.characters,
            extra_json_schema={"pattern": NO_NULL},
            description="Plain text.",
        ),
    ]
    word = Annotated[str, Meta(max_length=200)]
    times = _whole_number(limits.tokens)
    words = Annotated[
        dict[word, times],  # type: ignore[valid-type]  # it is made above
        Meta(max_length=limits.words, description="How often each word occurs."),
    ]
    document = _struct(
        "Document", text=(text | UnsetType, UNSET), words=(words | UnsetType, UNSET)
    )  # exactly one of them is there: see `check_document`
    page = (Annotated[int, Meta(ge=1, le=_MOST_PAGES)], 1)
    size = (Annotated[int, Meta(ge=1, le=limits.page)], min(50, limits.page))
    search = Annotated[str, Meta(max_length=200, description="Words that the name contains.")]
    return Requests(
        _struct(
            "SuggestRequest",
            documents=Annotated[
                list[document],  # type: ignore[valid-type]  # it is made above
                Meta(min_length=1, max_length=limits.documents),
            ],
            k=(_whole_number(limits.labels), min(10, limits.labels)),
            threshold=(
                Annotated[float, Meta(description="The least score of a label.")] | None,
                None,
            ),
        ),
        _struct(
            "ExplainRequest",
            document=document,
            k=(_whole_number(limits.explained), min(5, limits.explained)),
            n_words=(_whole_number(100), 8),
        ),
        _struct(
            "LabelsQuery",
            search=(search, ""),
            sort=(Literal["frequency", "name"], "frequency"),
            page=page,
            size=size,
        ),
        _struct("TopicsQuery", set=(Annotated[int, Meta(ge=0, le=_MOST_PAGES)], 0), page=page,
                size=size),
    )  # fmt: skip


def _struct(name: str, **fields: Any) -> Any:
    """Return a type of these fields: a type, or a type and a default."""
    listed = [
        (field, *kind) if isinstance(kind, tuple) else (field, kind)
        for field, kind in fields.items()
    ]
    return msgspec.defstruct(name, listed, forbid_unknown_fields=True, kw_only=True)


def _whole_number(most: int) -> Any:
    """Return the type of whole numbers from 1: to JSON Schema, and so to clients, 10.0 is one."""
    return Annotated[float, Meta(ge=1, le=most, multiple_of=1)]


def read_body(body: bytes, kind: type[Asked]) -> Asked:
    """Return the body of a request, or refuse it: 400 if it is no JSON, 422 if it is another's."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise Refusal(422, f"{error}{_SEE}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal(400, f"the body is not JSON in UTF-8: {error}") from error


def read_query(query: list[tuple[str, str]], kind: type[Asked]) -> Asked:
    """Return the query of a request, or refuse it with 422."""
    values = dict(query)
    if len(values) < len(query):
        raise Refusal(422, f"the query names a parameter twice{_SEE}")
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise Refusal(422, f"{error}{_SEE}") from error


def check_document(document: Any, where: str) -> None:
    """Refuse a document that is neither a text nor counts, or a binary file."""
    if (document.text is UNSET) == (document.words is UNSET):
        raise Refusal(
            422, f'a document is {{"text": "…"}} or {{"words": {{"word": 2}}}} - at `{where}`'
        )
    if document.text is not UNSET and (place := document.text.find("\0")) >= 0:
        raise Refusal(
            422, f"character {place + 1} is null; send plain text, no binary file - at `{where}`"
        )
