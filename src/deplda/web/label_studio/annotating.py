"""A model's labels in the controls of a Label Studio project: what to show, what was chosen."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

from deplda.data.versions import version_id
from deplda.errors import InputError
from deplda.models.suggesting import Asked, answers_of
from deplda.web.feedback import Labelled
from deplda.web.http_errors import busy
from deplda.web.label_studio.labeling import Control, read_config
from deplda.web.label_studio.messages import (
    Annotation,
    PredictAnswer,
    Prediction,
    PredictRequest,
    Region,
    Task,
    WebhookRequest,
)
from deplda.web.service import ModelService

_DECIDED = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED")
"""What one person did to one text. Annotations made of predictions, in bulk, are no decisions."""

_MOST_CHARACTERS, _CONTROL = 2_000, re.compile(r"[\x00-\x1f\x7f]")


class Labels:
    """The labels of a model as a control has them."""

    def __init__(self, control: Control, service: ModelService) -> None:
        self.control, self._service = control, service
        self._paths: dict[Any, tuple[str, ...]] = {}
        self._by_path: dict[tuple[str, ...], str] = {}
        for option in control.options:
            known = (service.label_named(name) for name in option.names)
            label = next((each for each in known if each is not None), None)
            self._by_path[option.path] = option.names[-1] if label is None else str(label)
            if label is not None:
                self._paths.setdefault(label, option.path)

    def __len__(self) -> int:
        """Return how many labels of the model the project lists."""
        return len(self._paths)

    def path(self, label: Any, name: str) -> tuple[str, ...] | None:
        """Return a label as results have it; None where the project lists others alone."""
        return self._paths.get(label) if self.control.options else (name,)

    def chosen(self, value: Mapping[str, Any]) -> list[str]:
        """Return the labels that a result has: the model's own, others as they are called.

        Of a taxonomy it is the last of each path; what that is under was not chosen.
        """
        found = []
        for one in _items(value.get(self.control.kind)):
            path = tuple(_items(one)) if self.control.kind == "taxonomy" else (one,)
            if path and all(isinstance(each, str) for each in path):
                found.append(self._by_path.get(path) or self._called(path[-1]))
        return found

    def _called(self, name: str) -> str:
        label = self._service.label_named(name)
        return name if label is None else str(label)


def labels_in(xml: str, service: ModelService) -> Labels:
    """Return the labels of the control that lists most of the model's, the first of several.

    If none does, it is the first that lists nothing in the configuration, where all are shown.
    """
    if not service.card.takes_text:
        raise InputError("this model knows counts alone; train it from texts")
    every = [Labels(control, service) for control in read_config(xml)]
    best = max(every, key=len)
    if len(best):
        return best
    for labels in every:
        if not labels.control.options:
            return labels
    options = best.control.options
    raise InputError(
        f"none of the {len(options):,} choices of {best.control.name!r}, such as "
        f"{options[0].path[-1][:80]!r}, is a label of the model; let their values or aliases be "
        "names, addresses or notations of its labels, as /v1/labels has them"
    )


def predict(
    service: ModelService, asked: PredictRequest, version: str, deadline: float
) -> PredictAnswer:
    """Return the predictions of all tasks; stop when it is too late."""
    labels, found = labels_in(asked.label_config, service), []
    for number, task in enumerate(asked.tasks):
        if time.monotonic() > deadline:
            raise busy(f"{number} tasks were done in time; select fewer at once")
        text = _text_of(task, labels.control, f"$.tasks[{number}]")
        found.append(_prediction(service, labels, text, version))
    return PredictAnswer(found)


def _prediction(service: ModelService, labels: Labels, text: str, version: str) -> Prediction:
    if not text.strip():
        return Prediction(version, None, [])
    row, _ = service.count_beginning(text)
    control = labels.control
    # Where one is to be chosen, it is the likeliest that is listed, however likely.
    is_any = control.most == 1 and service.card.has_probabilities
    (answer,) = answers_of(service.model, row, Asked(threshold=0.0) if is_any else Asked())
    given = [
        (path, each.get("probability"))
        for each in answer["labels"]
        if (path := labels.path(each.get("uri", each["label"]), str(each["label"])))
    ][: control.most]
    if not given:
        return Prediction(version, None, [])
    chances = [chance for _, chance in given if chance is not None]
    value = [list(path) if control.kind == "taxonomy" else path[-1] for path, _ in given]
    region = Region(control.name, control.to_name, control.kind, {control.kind: value})
    return Prediction(version, sum(chances) / len(chances) if chances else None, [region])


def decided(service: ModelService, event: WebhookRequest) -> Labelled | str:
    """Return the document that a person labelled, or why there is none to learn from."""
    if event.action not in _DECIDED:
        return f"{event.action[:80]} is no decision about one text"
    project, task, annotation = event.project, event.task, event.annotation
    if project is None or not isinstance(task, Task) or not isinstance(annotation, Annotation):
        raise InputError(
            f"{event.action} has no project, task or annotation; let the webhook send its payload"
        )
    if annotation.was_cancelled:
        return "the task was skipped"
    labels = labels_in(project.label_config, service)
    chosen = [
        label
        for one in annotation.result
        if one.from_name == labels.control.name
        for label in labels.chosen(one.value)
    ]
    if not chosen:
        return f"nothing was chosen in {labels.control.name!r}"
    for label in chosen:
        if len(label) > _MOST_CHARACTERS or _CONTROL.search(label):
            raise InputError(
                f"the label {label[:80]!r} cannot be learned: it must have {_MOST_CHARACTERS:,} "
                "characters at most, and no line ends"
            )
    text = _text_of(task, labels.control, "$.task")
    return Labelled(text, list(dict.fromkeys(chosen)), version_id(text))


def _text_of(task: Task, control: Control, where: str) -> str:
    text = task.data.get(control.field)
    if not isinstance(text, str):
        problem = "there is no text" if text is None else "this is not a text"
        raise InputError(f"{problem} - at `{where}.data.{control.field[:80]}`")
    return text


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
