"""Running verbs and saying what is expected of them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

import deplda
from deplda.cli import root

QUICK = ("--model", "dependency", "--set", "n_topic_chains=2", "--set", "n_topic_sweeps=20")
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(Path(deplda.__file__).parents[1]),
    "PYTHONWARNINGS": "error",
}
TOPICS = {
    "LAW": "court judge jury lawsuit verdict trial appeal attorney",
    "SPORT": "team league game goal coach match season player",
    "MUSIC": "opera song concert orchestra singer melody violin",
}


def articles() -> list[dict[str, Any]]:
    rows, names = [], list(TOPICS)
    for number in range(30):
        labels = [names[number % 3]] + ([names[(number + 1) % 3]] if number % 4 == 0 else [])
        words = " ".join(TOPICS[label] for label in labels).split()
        text = " ".join(words[(number + k) % len(words)] for k in range(0, 18, 1 + number % 3))
        part = "test" if number % 5 == 4 else "train"
        rows.append({"id": f"d{number}", "text": text, "labels": labels, "part": part})
    return rows


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def in_shards(folder: Path) -> Path:
    folder.mkdir()
    write_jsonl(folder / "a.jsonl", articles()[:12])
    write_jsonl(folder / "b.jsonl", articles()[12:])
    return folder


def run(*arguments: Any, **options: Any) -> Result:
    return CliRunner().invoke(root, [str(each) for each in arguments], **options)


def done(*arguments: Any, **options: Any) -> str:
    """Run a verb that must end well; return what it printed."""
    result = run(*arguments, **options)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def problem(code: int, *arguments: Any, **options: Any) -> str:
    """Run a verb that must fail; return its one line, and see that it is one."""
    result = run(*arguments, **options)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    said = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert len(said) == 1, result.stderr
    assert "Traceback" not in result.stderr
    return said[0].removeprefix("Error: ")


def start(*arguments: Any, **options: Any) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "deplda", *map(str, arguments)],
        env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
    )  # fmt: skip


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]
