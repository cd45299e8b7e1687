"""The page on the command line is true: its commands are run, and give the output it shows."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from deplda.cli import root

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def run(command: str) -> str:
    """Return what a command of the page prints."""
    given, _, rest = command.rpartition(" | ")
    name, *arguments = shlex.split(rest)
    if name == "cat":
        return Path(arguments[0]).read_text(encoding="utf-8")
    assert name == "deplda"
    text = shlex.split(given)[1] if given else None
    return CliRunner().invoke(root, arguments, input=text).output


def same(shown: str, printed: str) -> bool:
    """Say whether the output is as shown, where ``...`` stands for anything."""
    pattern = re.escape(shown.strip()).replace(r"\.\.\.", ".*?")
    lines = [line.rstrip() for line in printed.splitlines()]
    return re.fullmatch(pattern, "\n".join(lines).strip(), re.DOTALL) is not None


def test_every_command_on_the_page_prints_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(
        r"^```([^\n]*)\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    n_commands = 0
    for kind, content in blocks:
        if " " in kind:  # the name of a file
            Path(kind.split()[-1]).write_text(content, encoding="utf-8")
        if kind != "console":
            continue
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", content, re.MULTILINE):
            printed = run(command)
            assert same(shown, printed), f"{command}\n{printed}"
            n_commands += 1
    assert n_commands >= 15


def test_a_false_output_would_be_seen() -> None:
    assert same("a ... c\n", "a b\nb c  \n")
    assert not same("a ... d\n", "a b c\n")
    assert not same("a.b\n", "axb\n")
