"""Lines of code by room, their difference to a git revision, and the ceilings they stay below.

``python -m tools.lines [REVISION]`` prints them; it fails if a room is above its ceiling in
``tools/ceilings.toml``, or has none. Blank lines, comments and docstrings do not count.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tarfile
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
TREES = ("src/deplda", "paper", "tests")
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


def code_lines(source: str) -> int:
    """Return the number of lines with code: not blank, no comment, no part of a docstring."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a docstring
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def room_of(path: str) -> str | None:
    """Return the room of a file: a folder in the package, or a whole tree; None outside."""
    tree = next((tree for tree in TREES if path.startswith(f"{tree}/")), None)
    if tree is None or not path.endswith(".py"):
        return None
    inner = path.removeprefix(f"{tree}/").split("/")
    return f"{tree}/{inner[0]}" if tree == TREES[0] and len(inner) > 1 else tree


def count(files: Iterable[tuple[str, str]]) -> Counter[str]:
    """Return the lines of code of each room."""
    lines: Counter[str] = Counter()
    for path, source in files:
        if (room := room_of(path)) is not None:
            lines[room] += code_lines(source)
    return lines


def working_tree() -> Iterator[tuple[str, str]]:
    """Yield path and source of every Python file of the counted trees."""
    for tree in TREES:
        for path in sorted((ROOT / tree).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def files_at(revision: str) -> Iterator[tuple[str, str]]:
    """Yield path and source of every Python file of a git revision."""
    command = ["git", "archive", "--format=tar", "--end-of-options", revision]
    archive = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files:
            if room_of(member.name) is not None and (file := files.extractfile(member)):
                yield member.name, file.read().decode()


def too_long(lines: Counter[str], ceilings: dict[str, int]) -> list[str]:
    """Return the rooms above their ceiling, in words; src is the whole package."""
    package = sum(n for room, n in lines.items() if room.startswith(TREES[0]))
    return [
        f"{room} has {n:,} lines of code, above its ceiling of {ceilings.get(room, 0):,}"
        for room, n in {**lines, "src": package}.items()
        if n > ceilings.get(room, 0)
    ]


def main(arguments: list[str]) -> int:
    """Print the lines of each room; return 1 if one is above its ceiling."""
    ceilings = tomllib.loads((ROOT / "tools" / "ceilings.toml").read_text(encoding="utf-8"))
    lines = count(working_tree())
    base = count(files_at(arguments[0])) if arguments else lines
    for room in sorted({*lines, *base}):
        change = f"{lines[room] - base[room]:+,}" if arguments else ""
        print(f"{room:<28}{lines[room]:>8,} of {ceilings.get(room, 0):>7,} {change:>8}")
    problems = too_long(lines, ceilings)
    print(*problems, sep="\n", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
