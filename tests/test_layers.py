"""The architecture, checked: rooms import one way, no cycles, heavy packages in their place."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "deplda"
TESTS = Path(__file__).parent

# From the bottom up: a room imports from the rows before its own, and from itself.
ROOMS = [
    {"errors"},
    {"data"},
    {"evaluation", "engine", "kernels"},
    {"training"},
    {"inference"},
    {"models"},
    {"comparison"},
    {"web"},
    {"cli"},
    {"__main__"},
]
MOST_ENTRIES = 14
# Every module of these rooms has a file of tests, tests/<room>/test_<module>.py.
MIRRORED = {
    "cli", "comparison", "data", "engine", "evaluation", "inference", "kernels", "models",
    "training", "web",
}  # fmt: skip
# Files there that are of no single module.
ACROSS = {
    "test_annif_client",
    "test_concepts",
    "test_page",
    "test_page_suggest",
    "test_page_views",
    "test_real_data",
    "test_reference",
    "test_saved_before",
    "test_scikit_learn",
    "test_sequences_of_words",
    "test_shard_damage",
    "test_spreadsheets",
}
# Which rooms, or modules, may import a package that is heavy, or of some machines alone.
HOMES = {
    "arviz_stats": {"training.diagnostics"},
    "click": {"cli"},
    "cupy": {"kernels.cuda.device"},
    "dask": {"engine.dask"},
    "distributed": {"engine.dask"},
    "h11": {"web"},
    "joblib": {"engine.local"},
    "matplotlib": {"training.diagnostics"},
    "numba": {"kernels"},
    "openpyxl": {"data.readers.sheets"},
    "pandas": {"models.base", "evaluation", "data.word_frames"},
    "polars": {"models.base", "data.word_frames"},
    "prometheus_client": {"web"},
    "pyarrow": {"data.readers"},
    "pypdf": {"data.readers.extracted"},
    "safetensors": {"models.card", "data.readers.vector_files"},
    "pyoxigraph": {"data.readers.vocabularies"},
    "py3langid": {"data.languages"},
    "sklearn": {
        "data.external",
        "data.languages",
        "data.text",
        "data.targets",
        "models",
        "comparison",
    },
    "starlette": {"web"},
    "stop_words": {"data.languages"},
    "subprocess": {"comparison", "data.datasets", "web.file_process"},
    "uvicorn": {"web"},
    "xlsxwriter": {"data.readers.tables"},
}
LEVEL_OF = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


MODULES = {
    name_of(path): path.read_text(encoding="utf-8")
    for path in sorted(SOURCE.rglob("*.py"))
    if path != SOURCE / "__init__.py"
}


def imported(source: str) -> Iterator[str]:
    """Yield what a module imports, wherever in it, as dotted names."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules_imported(source: str) -> set[str]:
    """Return our own modules among what is imported."""
    found = set()
    for name in imported(source):
        parts = name.removeprefix("deplda.").split(".") if name.startswith("deplda.") else []
        prefixes = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
        found |= {next(prefix for prefix in prefixes if prefix in MODULES)} if parts[1:] else set()
    return found


def room_of(module: str) -> str:
    return max((r for r in LEVEL_OF if f"{module}.".startswith(f"{r}.")), key=len)


def wrong_ways(module: str, source: str) -> list[str]:
    """Return imports from rooms of the same row or of one above."""
    here = room_of(module)
    others = {room_of(other) for other in modules_imported(source)} - {here}
    return sorted(other for other in others if LEVEL_OF[other] >= LEVEL_OF[here])


@pytest.mark.parametrize("module", MODULES)
def test_rooms_import_from_rooms_below_them_only(module: str) -> None:
    assert wrong_ways(module, MODULES[module]) == []


def test_modules_import_each_other_in_no_circle() -> None:
    graph = {module: modules_imported(source) for module, source in MODULES.items()}
    packages = {module for module in graph if any(m.startswith(f"{module}.") for m in graph)}
    for module in graph:  # a package's face imports its modules; these do not import their face
        graph[module] -= {module} | {p for p in packages if module.startswith(f"{p}.")}
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("module", MODULES)
def test_heavy_packages_are_imported_in_their_homes_only(module: str) -> None:
    packages = {name.split(".")[0] for name in imported(MODULES[module])} & HOMES.keys()
    assert [
        p for p in packages if not any(f"{module}.".startswith(f"{h}.") for h in HOMES[p])
    ] == []


def test_the_root_shows_the_rooms() -> None:
    entries = [path.name for path in SOURCE.iterdir() if path.name != "__pycache__"]
    assert len(entries) <= MOST_ENTRIES, entries


def test_tests_mirror_the_source() -> None:
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    folders -= {Path("abuse"), Path("benchmarks"), Path("tools")}
    assert [folder for folder in folders if not (SOURCE / folder).is_dir()] == []
    wanted = {
        path.relative_to(SOURCE).with_name(f"test_{path.name}")
        for path in SOURCE.glob("*/**/*.py")
        if path.stem != "__init__" and room_of(name_of(path)) in MIRRORED
    }
    found = {path.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    assert sorted(map(str, wanted - found)) == []
    rooms = {path.parent for path in wanted}
    others = {path for path in found - wanted if path.parent in rooms}
    assert sorted(str(path) for path in others if path.stem not in ACROSS) == []


def test_a_wrong_way_would_be_seen() -> None:
    assert wrong_ways("data.corpus", "from deplda.models.base import Ranking") == ["models"]
    assert wrong_ways("engine.pool", "import deplda.kernels.random") == ["kernels"]
    assert wrong_ways("models.base", "from deplda.data import corpus") == []


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import deplda, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "scipy", "sklearn", "rich", "numba", "distributed", "joblib", "cupy"}
    assert heavy & set(done.stdout.split()) == set()


def test_importing_the_package_is_enough_to_use_its_subpackages() -> None:
    code = "import deplda; deplda.evaluation.tune_cut, deplda.inference.infer, deplda.splits"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_is_there() -> None:
    import deplda

    for name in deplda.__all__:
        assert getattr(deplda, name) is not None
    assert deplda.datasets.load is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = deplda.nonsense
