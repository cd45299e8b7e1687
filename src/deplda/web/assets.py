"""The page's files, read once: what is not among them does not exist."""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


class Asset(NamedTuple):
    """A file of the page."""

    content: bytes
    media_type: str
    tag: str
    """Changes with the content; a browser asks again with it."""


def read_assets() -> dict[str, Asset]:
    """Return the files of the page by name."""
    found = {}
    for file in files("deplda.web").joinpath("static").iterdir():
        kind = _TYPES.get(file.name.rpartition(".")[2])
        if kind is not None:
            content = file.read_bytes()
            found[file.name] = Asset(content, kind, f'"{sha256(content).hexdigest()[:16]}"')
    return found
