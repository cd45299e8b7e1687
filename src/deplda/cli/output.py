"""What verbs write: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from deplda.data.wording import nearest
from deplda.errors import InputError

# What a terminal obeys: a label or a file's name may hold it.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\N{RIGHT-TO-LEFT MARK}\N{LEFT-TO-RIGHT MARK}"
    "\u202a-\u202e\u2066-\u2069]"
)

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
force = click.option("--force", is_flag=True, help="Replace the output if it exists.")


def show(result: Any) -> None:
    """Print a table or a text."""
    if isinstance(result, str):
        click.echo(printable(result))
        return
    from rich.console import Console
    from rich.segment import Segment, Segments

    console = Console(highlight=False)
    harmless = (
        Segment(printable(segment.text), segment.style, segment.control)
        for segment in console.render(result)
    )
    with console.capture() as shown:  # printed by click, which lets a broken pipe be known
        console.print(Segments(harmless), end="")
    click.echo(shown.get(), nl=False)


def printable(text: str) -> str:
    """Return a text that a terminal shows and does not obey, whatever a file holds."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def show_json(value: Any) -> None:
    """Print a value as JSON; what is not a number there (NaN) becomes null."""
    click.echo(as_line(_plain(value), indent=1))


def as_line(value: Any, indent: int | None = None) -> str:
    """Return JSON in which what a terminal would obey is escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    value = plain(value)
    return None if isinstance(value, float) and value != value else value


def plain(value: Any) -> Any:
    """Return a number of NumPy's as Python has it."""
    return value.item() if hasattr(value, "item") else value


def note(message: str) -> None:
    """Say something that is not a result."""
    click.echo(printable(message), err=True)


def asked_back(name: str, known: Iterable[str]) -> str:
    """Return " Did you mean 'train'?" to put behind a sentence on a name; "" if none is near."""
    near = nearest(name, known)
    return f" Did you mean {near[0]!r}?" if near else ""


@contextmanager
def waiting(message: str) -> Iterator[None]:
    """Say what is being done, in a terminal alone."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(message):
        yield


def check_output(path: Path, replace: bool) -> None:
    """Raise, before any work is done, if an output exists or cannot be written."""
    if path.exists() and not replace:
        raise InputError(f"{path} exists; choose another name, or --force to replace it")
    path.absolute().parent.mkdir(parents=True, exist_ok=True)
    if not os.access(path.absolute().parent, os.W_OK):
        raise InputError(f"the folder {path.absolute().parent} cannot be written to")


def saved_model(path: Path) -> Any:
    """Return a saved model, which may ask for anything if --trust-model was given."""
    from deplda.models.registry import load

    return load(path, trusted=trusts_models())


def trusts_models() -> bool:
    """Return whether --trust-model was given."""
    return bool(click.get_current_context().find_root().params.get("trust_model"))
