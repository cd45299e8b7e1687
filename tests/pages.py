"""The code blocks of a page of documentation, and how each is run, in their order.

Python blocks are doctests; console blocks are sessions, ``$ command`` and what it prints; toml, xml
and json are parsed. A comment before a block may say more: ``<!-- file: mine.toml -->`` writes the
block to a file that later blocks use; ``<!-- not run: why -->`` only checks what its lines name.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

import deplda
from deplda.cli import root as cli

ROOT = Path(__file__).parents[1]
HOME = Path(deplda.__file__).parents[1]  # src, or where a wheel is installed
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BLOCK = re.compile(
    r"^(?:<!-- (?P<note>file|not run): (?P<value>.+?) -->\n)?"
    r"^(?P<fence>`{3,})(?P<language>[^\n]*)\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A fenced block, the line it begins at, and what the comment before it says."""

    language: str
    text: str
    line: int
    note: str | None
    value: str


def blocks_of(page: Path) -> Iterator[Block]:
    """Yield the code blocks; directives of the site, such as ``{toctree}``, are none."""
    source = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(source):
        if not match["language"].startswith("{"):
            line = source.count("\n", 0, match.start("text")) + 1
            yield Block(match["language"], match["text"], line, match["note"], match["value"])


def run_page(page: Path) -> int:
    """Run all blocks of a page in the current folder, and return how many there were."""
    names: dict[str, Any] = {}
    n = 0
    for block in blocks_of(page):
        where = f"{page.name}, line {block.line}"
        if block.note == "file":
            Path(block.value).write_text(block.text, encoding="utf-8")
        if block.language == "python" and block.note is not None:
            compile(block.text, where, "exec")
        elif block.language == "python":
            _run_python(block, names, where)
        elif block.language == "console":
            _run_console(block, where)
        else:
            _parse(block, where)
        n += 1
    return n


def _parse(block: Block, where: str) -> None:
    if block.language == "toml":
        tomllib.loads(block.text)
    elif block.language == "json":  # values one after the other, as in JSONL
        text = block.text
        while text := text.lstrip():
            text = text[json.JSONDecoder().raw_decode(text)[1] :]
    elif block.language == "xml":  # of Label Studio
        from deplda.web.label_studio.labeling import read_config

        read_config(block.text)
    else:
        assert block.language in ("text", "nginx"), f"{where}: what is {block.language!r}?"


def _run_python(block: Block, names: dict[str, Any], where: str) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, names, where, None, block.line)
    assert test.examples, f"{where}: Python must be written as a session, with >>>"
    said: list[str] = []
    results = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert results.failed == 0, "".join(said)


def _run_console(block: Block, where: str) -> None:
    for command, expected in _session(block.text):
        tool = command.split()[0]
        if tool in ("make", "pip", "git", "python") or block.note == "not run":
            _check_names(command, where)
            continue
        code, printed = _run(command)
        fails = expected.startswith("Error: ")
        assert (code != 0) == fails, f"{where}: {command}\nended with {code}\n{printed}"
        same = doctest.OutputChecker().check_output(expected, printed, FLAGS)
        assert same or not expected, f"{where}: {command}\nprinted\n{printed}"


def _session(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE):
        if part.strip():
            command = re.match(r"(?:[^\n]*\\\n)*[^\n]*\n", part)
            assert command is not None
            yield command[0].replace("\\\n", " ").strip(), part[command.end() :]


def _run(command: str) -> tuple[int, str]:
    """Run a command; one of ours alone in this process, which has everything imported already."""
    words, environment = shlex.split(command, comments=True), {"COLUMNS": "80"}
    if words[0] == "deplda" and not {"|", "<", ">"} & set(words):
        result = CliRunner().invoke(cli, words[1:], prog_name="deplda", env=environment)
        return result.exit_code, result.output
    environment = {**os.environ, **environment, "PYTHONPATH": str(HOME)}
    shell = f'deplda() {{ {shlex.quote(sys.executable)} -m deplda "$@"; }}\nset -o pipefail\n'
    done = subprocess.run(
        ["bash", "-c", shell + command], capture_output=True, text=True, env=environment
    )
    return done.returncode, done.stdout + done.stderr


def _check_names(command: str, where: str) -> None:
    """See that what a command names is there: options, targets, extras, modules."""
    tool, *words = shlex.split(command, comments=True)
    if tool == "deplda":
        _check_options(words)
    elif tool == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert {word for word in words if "=" not in word} <= {*targets}, where
    elif tool == "pip":
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        extras = re.findall(r"\[([\w,]+)\]", command)
        asked = {extra for several in extras for extra in several.split(",")}
        assert asked <= {*project["optional-dependencies"]}, where
    elif tool == "python":
        found = find_spec(words[1]) if words[0] == "-m" else (ROOT / words[0]).is_file()
        assert found, f"{where}: there is no {words}"
    else:
        others = (
            "annif",
            "curl",
            "docker",
            "export",
            "git",
            "helm",
            "kubectl",
            "mkdir",
            "mv",
            "podman",
        )
        assert tool in others, f"{where}: what is {tool!r}?"


def _check_options(words: list[str]) -> None:
    command: Any = cli
    context = command.make_context("deplda", [], resilient_parsing=True)
    while hasattr(command, "commands"):
        name, command, words = command.resolve_command(context, words)
        context = command.make_context(name, [], parent=context, resilient_parsing=True)
    context.resilient_parsing = False  # now what is unknown is an error
    command.make_parser(context).parse_args(words)
