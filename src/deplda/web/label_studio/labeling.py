"""What a Label Studio project asks for: its labeling configuration, read from XML."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple
from xml.parsers import expat

from deplda.errors import InputError

_MOST_DEPTH = 64
"""Elements within elements; a path of choices is no longer, so that all paths stay small."""
_KINDS = {"choices": "choices", "taxonomy": "taxonomy"}
_MULTIPLE = "multiple"


class Option(NamedTuple):
    """A choice that the project lists, with those that it is under."""

    path: tuple[str, ...]
    """As results have it: aliases where there are any."""
    names: tuple[str, ...]
    """What the last one of the path may be known by: its alias and its value."""


class Control(NamedTuple):
    """Where people choose labels for a text."""

    name: str
    to_name: str
    kind: str
    """"choices" or "taxonomy", as results have it."""
    field: str
    """Where tasks have the text."""
    options: tuple[Option, ...]
    """Empty where the project does not list them in its configuration."""
    most: int | None
    """How many may be chosen."""


class _Element(NamedTuple):
    tag: str
    attributes: dict[str, str]
    options: list[Option]
    path: tuple[str, ...]


@lru_cache(maxsize=16)
def read_config(xml: str) -> tuple[Control, ...]:
    """Return the controls with which labels of a plain text are chosen; raise if there is none.

    No entity is expanded and nothing is fetched: a document type is refused.
    """
    controls: list[_Element] = []
    texts: dict[str, str] = {}
    open_elements: list[_Element] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(open_elements) >= _MOST_DEPTH:
            raise InputError(
                f"the labeling configuration has elements more than {_MOST_DEPTH} deep; make its "
                "tree flatter"
            )
        above = open_elements[-1] if open_elements else None
        tag, path = tag.lower(), () if above is None else above.path
        options = [] if tag in _KINDS or above is None else above.options
        if tag == "choice":
            value = attributes.get("value", "")
            names = tuple(dict.fromkeys(filter(None, (attributes.get("alias"), value))))
            if names:
                path = (*path, names[0])
                options.append(Option(path, names))
        element = _Element(tag, attributes, options, () if tag in _KINDS else path)
        if tag in _KINDS:
            controls.append(element)
        elif tag == "text":
            texts[attributes.get("name", "")] = _field(attributes)
        open_elements.append(element)

    _parse(xml, start, lambda _: open_elements.pop())
    found = [control for each in controls if (control := _control(each, texts)) is not None]
    if not found:
        raise InputError(
            "the labeling configuration has no <Choices> or <Taxonomy> whose toName is a <Text> "
            'with value="$field"; deplda suggests labels for plain texts alone'
        )
    return tuple(found)


def _parse(xml: str, start: Any, end: Any) -> None:
    parser = expat.ParserCreate()

    def refuse(*_: Any) -> None:
        raise InputError(
            "the labeling configuration has a document type (<!DOCTYPE …>); remove it, as its "
            "entities are not expanded"
        )

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(xml, True)
    except (expat.ExpatError, UnicodeEncodeError) as error:
        raise InputError(f"the labeling configuration is not XML: {error}") from error


def _field(attributes: dict[str, str]) -> str:
    """Return where tasks have the text of an element; "" where it is somewhere else."""
    value = attributes.get("value", "")
    is_here = value.startswith("$") and attributes.get("valueType", "text") == "text"
    return value[1:] if is_here else ""


def _control(element: _Element, texts: dict[str, str]) -> Control | None:
    names = [name.strip() for name in element.attributes.get("toName", "").split(",")]
    name = element.attributes.get("name", "")
    to_name = next((each for each in names if texts.get(each)), None)
    if to_name is None or not name:
        return None
    kind, said = _KINDS[element.tag], element.attributes.get("maxUsages", "")
    most = int(said) or None if said.isdecimal() and len(said) < 10 else None
    if kind == "choices" and element.attributes.get("choice", "single") != _MULTIPLE:
        most = 1
    return Control(name, to_name, kind, texts[to_name], tuple(element.options), most)
