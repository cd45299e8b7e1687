"""The description of the API."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from deplda.web import Limits
from tests.web.serving import running

# Lines are sent as they are, whatever is on them.
HOOKS = """
import schemathesis

@schemathesis.serializer("application/x-ndjson")
def as_they_are(context, value):
    return str(value).encode("utf-8", "replace")
"""
# What a file may hold is no part of the description: one that holds no document is answered 422.
# Any bytes are lines, and a bad one is answered in its place.
SETTINGS = """
hooks = "hooks.py"

[[operations]]
include-path = "/v1/read"
checks.positive_data_acceptance.expected-statuses = ["2xx", "422"]

[[operations]]
include-path = "/v1/suggest-lines"
checks.negative_data_rejection.enabled = false
"""


def test_the_description_is_true(model: Any, tmp_path: Path) -> None:
    (tmp_path / "schemathesis.toml").write_text(SETTINGS, encoding="utf-8")
    (tmp_path / "hooks.py").write_text(HOOKS, encoding="utf-8")
    limits = Limits(characters=300, words=20, documents=4, labels=20, body_bytes=60_000)
    command = [
        sys.executable, "-m", "schemathesis.cli", "run", "--max-examples=10", "--seed=1",
        "--no-color", "--generation-database=none", "--suppress-health-check=all",
    ]  # fmt: skip
    with running(model, limits, learn=tmp_path / "feedback.jsonl") as address:
        done = subprocess.run(
            [*command, f"{address}/openapi.json"], cwd=tmp_path, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
    assert "26 selected / 26 total" in done.stdout
