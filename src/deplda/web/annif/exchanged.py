"""What Annif's programs send and get back; the API's description is made of it."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta, Struct

from deplda.web.limits import Limits

MOST_LANGUAGES = 5
_MOST_RESULTS = (1 << 31) - 1


class ApiInfo(Struct):
    """What answers here."""

    title: str
    version: str


class Vocab(Struct):
    """The labels of a model."""

    vocab_id: str
    languages: list[str]
    """Of their names; empty if that is not known."""
    size: int
    loaded: bool = True


class VocabList(Struct):
    """The labels of all models."""

    vocabs: list[Vocab]


class Backend(Struct):
    """What works here."""

    backend_id: str = "deplda"


class ProjectInfo(Struct):
    """A model."""

    project_id: str
    name: str
    language: str
    """Of the texts, `und` if that is not known."""
    backend: Backend
    vocab: Vocab
    vocab_language: str
    """Of the labels in results, `und` if that is not known."""
    is_trained: bool
    """Whether it reads texts and tells probabilities, which suggestions need."""
    modification_time: str
    """When the model was saved."""


class ProjectList(Struct):
    """All models."""

    projects: list[ProjectInfo]


class Result(Struct):
    """A suggested label; its score is how likely it is."""

    uri: str
    label: str
    notation: str | None
    score: Annotated[float, Meta(gt=0, le=1)]


class ResultList(Struct):
    """The suggestions for a text, the likeliest first."""

    results: list[Result]


class BatchResult(ResultList):
    """The suggestions for one of several texts."""

    document_id: str | None = None


class DetectedLanguage(Struct):
    """How likely a text is in a language; null is any other one."""

    language: str | None
    score: float


class DetectedLanguages(Struct):
    """The languages asked for, the likeliest first."""

    results: list[DetectedLanguage]


class Problem(Struct, kw_only=True):
    """Why a request was not answered as asked (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str


# No control characters, no line ends of Unicode's, and no blanks at either end.
_NO, _ENDS = r"\x00-\x1f\x7f-\x9f\u2028\u2029", r"\x20\xa0"
_ADDRESS = rf"^[^{_NO}{_ENDS}]([^{_NO}]*[^{_NO}{_ENDS}])?$"


class Subject(Struct, gc=False):
    """A label that a document was given, by its address or whatever stands for that."""

    uri: Annotated[str, Meta(max_length=2_000, pattern=_ADDRESS)]
    label: str | None = None


class LanguageQuestion(Struct):
    """A text, and the codes of the languages that it may be in."""

    text: str
    languages: Annotated[
        list[Annotated[str, Meta(min_length=2, max_length=3)]],
        Meta(min_length=1, max_length=MOST_LANGUAGES),
    ]


class BatchDocument(Struct, gc=False):
    """A text of several; its metadata are ignored."""

    text: str
    document_id: str | None = None


class Questions(NamedTuple):
    """The forms, queries and bodies of requests under certain limits."""

    form: Any
    query: Any
    batch: Any
    learn: Any
    language: Any = LanguageQuestion


def question_types(limits: Limits) -> Questions:
    """Return the types of requests; of forms and objects, what they have beyond it is ignored."""
    # Without gc, a body of a million documents is rejected in a fifth of a second.
    struct = partial(msgspec.defstruct, kw_only=True, gc=False)
    about = "How many results at most."
    limit = Annotated[int, Meta(ge=0, le=_MOST_RESULTS, description=about)]
    about = "The least score of a result."
    threshold = Annotated[float, Meta(ge=0, le=1, description=about)]
    about = "Of the labels in results; by default that of the project."
    language = Annotated[str, Meta(description=about)]
    wanted = [("limit", limit, 10), ("threshold", threshold, 0.0), ("language", language, "")]
    documents = Annotated[list[BatchDocument], Meta(max_length=limits.documents)]
    subjects = Annotated[tuple[Subject, ...], Meta(max_length=limits.labels)]
    document = struct("IndexedDocument", [("text", str), ("subjects", subjects)])
    return Questions(
        struct("SuggestForm", [("text", str), *wanted]),
        struct("SuggestQuery", wanted),
        struct("SuggestBatch", [("documents", documents)]),
        Annotated[list[document], Meta(max_length=limits.learned)],  # type: ignore[valid-type]
    )
