"""What Label Studio sends and gets back; of what it sends, no token or password is even decoded."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Raw, Struct

MOST_TASKS = 1_000


class Task(Struct, gc=False):
    """A document of a Label Studio project."""

    data: dict[str, Any]
    id: int | str | None = None


class SetupRequest(Struct):
    """A project that is connected to the model, or asks whether the model has changed."""

    schema: str
    """Its labeling configuration (XML)."""


class PredictRequest(Struct):
    """Tasks of a project that labels are wanted for."""

    tasks: Annotated[list[Task], Meta(max_length=MOST_TASKS)]
    label_config: str


class Chosen(Struct, gc=False):
    """What was chosen in one control."""

    from_name: str = ""
    value: dict[str, Any] = {}


class Annotation(Struct, gc=False):
    """What a person decided of a task."""

    result: list[Chosen] = []
    was_cancelled: bool = False


_Several = list[Raw]
"""Events of several annotations are passed over, and so not decoded."""


class AnnotatedProject(Struct):
    """The project of an annotation."""

    label_config: str
    id: int | str | None = None


class WebhookRequest(Struct):
    """Something that happened in Label Studio; where several are concerned, lists."""

    action: str
    project: AnnotatedProject | None = None
    task: Task | _Several | None = None
    annotation: Annotation | _Several | None = None


class SetupAnswer(Struct):
    """The model's version: predictions of another one are asked for anew."""

    model_version: str


class Region(Struct):
    """Labels for one text."""

    from_name: str
    to_name: str
    type: str
    value: dict[str, list[Any]]


class Prediction(Struct):
    """The labels of one task."""

    model_version: str
    score: float | None
    """The mean of the labels' probabilities; null where there are no labels, or none is told."""
    result: list[Region]


class PredictAnswer(Struct):
    """The predictions of all tasks, in their order."""

    results: list[Prediction]


class WebhookAnswer(Struct):
    """How many documents were kept to learn from, and, if none was, why."""

    kept: int
    reason: str | None = None
