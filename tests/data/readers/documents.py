"""Three small documents, and files of such."""

import json
from pathlib import Path
from typing import Any

from deplda import WordCounter

PLAIN = WordCounter(language=None, stop_words=None, min_count=1)
ROWS: list[dict[str, Any]] = [
    {"id": "a", "text": "apple bee", "labels": ["x"], "split": "train", "fold": 0},
    {"id": "b", "text": "bee cat", "labels": ["y"], "split": "test", "fold": 1},
    {"id": "c", "text": "cat", "labels": ["x", "y"], "split": "train", "fold": 2},
]


def write_lines(path: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    """Write JSONL."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
