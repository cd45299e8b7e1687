"""Requests that a Label Studio sent: health, setup, predict and webhooks of two projects.

Recorded from Label Studio 1.23.2 with an ML backend at an address with a path; tokens are scrubbed.
"""

import json
from pathlib import Path
from typing import Any


def recorded(name: str) -> list[dict[str, Any]]:
    """Return the requests of a project, in their order: method, path and body."""
    path = Path(__file__).with_name("recorded") / f"{name}.json"
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["requests"]
    return found
