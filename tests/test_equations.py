"""The paper's equations: the table of the documentation against what docstrings cite."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "deplda"
PAGE = (ROOT / "docs" / "explanation" / "symbols.md").read_text(encoding="utf-8")

CITED = re.compile(r"\beqs?\.\s+(\d+(?:(?:,\s+|\s+and\s+)\d+)*)")
# A function of a CUDA source, with the comment before it.
CUDA_FUNCTION = re.compile(
    r"((?://.*\n)+)(?:template <.*>\s+)?(?:extern \"C\" )?"
    r"__(?:global|device)__ [\w ]*?(?:__launch_bounds__\(.*?\) )?(\w+)\("
)


def numbers_in(text: str | None) -> set[int]:
    """Return the equations that a docstring or a comment cites."""
    return {int(n) for found in CITED.findall(text or "") for n in re.findall(r"\d+", found)}


def table(page: str) -> dict[str, set[int]]:
    """Return the equations of each module and function that the table names."""
    equations = defaultdict[str, set[int]](set)
    rows = re.findall(r"^\| (\d+) \|(.*)\|$", page[page.index("\n## Equations\n") :], re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 13))
    for number, row in rows:
        names = re.findall(r"`(.+?)`", row)
        assert names, f"equation {number} is computed nowhere"
        for name in names:
            equations[name].add(int(number))
    return dict(equations)


TABLE = table(PAGE)


def docstrings(name: str, node: Any) -> Iterator[tuple[str, str]]:
    """Yield the docstrings of a module, its classes and functions, by dotted names."""
    yield name, ast.get_docstring(node) or ""
    for inner in node.body:
        if isinstance(inner, ast.FunctionDef | ast.ClassDef):
            yield from docstrings(f"{name}.{inner.name}", inner)


def cited(path: Path) -> dict[str, set[int]]:
    """Return the equations that a source cites, by the names that the table would have."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        texts = dict(docstrings(module, ast.parse(source)))
    else:
        texts = {f"{path.name}:{name}": text for text, name in CUDA_FUNCTION.findall(source)}
    in_texts = sum(len(CITED.findall(text)) for text in texts.values())
    assert in_texts == len(CITED.findall(source)), f"{path.name} cites outside of docstrings"
    return {name: numbers for name, text in texts.items() if (numbers := numbers_in(text))}


@pytest.mark.parametrize("name", [name for name in TABLE if ":" not in name])
def test_what_the_table_names_is_there_and_cites_just_its_equations(name: str) -> None:
    parts = name.split(".")
    n_parts = next(
        n
        for n in range(len(parts), 0, -1)
        if SOURCE.joinpath(*parts[:n]).with_suffix(".py").exists()
    )
    module = import_module(".".join(["deplda", *parts[:n_parts]]))
    assert numbers_in(reduce(getattr, parts[n_parts:], module).__doc__) == TABLE[name]


def test_docstrings_cite_an_equation_where_the_table_says_so_and_nowhere_else() -> None:
    sources = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.cu"), *SOURCE.rglob("*.cuh")]
    found = {name: numbers for path in sources for name, numbers in cited(path).items()}
    assert found == TABLE


def test_a_wrong_number_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    assert numbers_in("one update of every token, eq. 4.") == {4}
    assert numbers_in("(paper §3.4, eq. 5,\n 6 and 12)") == {5, 6, 12}
    python, cuda = tmp_path / "some.py", tmp_path / "some.cu"
    python.write_text('def f():\n    """Mutate z, eq. 2."""\n', encoding="utf-8")
    cuda.write_text(
        '// Set z, eq. 8.\n//\n// All.\nextern "C" __global__ void __launch_bounds__(128) f(int)\n'
        "// Nothing.\n__device__ inline float g()\n",
        encoding="utf-8",
    )
    assert cited(python) == {"some.f": {2}}
    assert cited(cuda) == {"some.cu:f": {8}}
    python.write_text("x = 1  # eq. 3\n", encoding="utf-8")
    with pytest.raises(AssertionError, match=r"some\.py cites outside of docstrings"):
        cited(python)
