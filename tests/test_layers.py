"""The architecture, checked: imports point down only, and heavy packages stay in their place."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "deplda"

# From the bottom up: a module may import from its own row and from the rows before it.
LAYERS = [
    {"errors", "word_counts"},
    {"files"},
    {"corpus"},
    {"splits", "statistics", "text", "estimates", "diagnostics", "evaluation"},
    {"readers", "kernels", "engine", "engine_dask"},
    {"datasets", "chains", "tables", "shard_files", "journal"},
    {"progress", "word_chains", "topic_chains"},
    {
        "training_cuda",
        "inference_cuda",
        "training",
        "inference",
        "settings",
        "targets",
        "store",
        "corpus_shards",
    },
    {"sharded"},
    {"saving"},
    {"classifier"},
    {"explain", "explain_page"},
    {"estimator", "baselines", "mixture"},
    {"models"},
    {"hybrid_saving"},
    {"hybrid"},
    {"shards"},
    {"experiments"},
    {"report", "web"},
    {"cli"},
    {"__main__"},
]
HOMES = {
    "click": {"cli"},
    "sklearn": {
        "text",
        "targets",
        "classifier",
        "estimator",
        "baselines",
        "mixture",
        "hybrid",
        "experiments",
    },
    "pyarrow": {"readers"},
    "pooch": {"datasets"},
    "msgspec": {
        "readers",
        "datasets",
        "store",
        "saving",
        "baselines",
        "mixture",
        "hybrid_saving",
        "experiments",
        "report",
        "web",
        "shards",
        "shard_files",
        "corpus_shards",
        "journal",
    },
    "safetensors": {"store"},
    "pandas": {"classifier", "evaluation"},
    "polars": {"classifier"},
    "stop_words": {"text"},
    "subprocess": {"datasets", "experiments"},
    "numba": {"kernels"},
    "cupy": {"kernels"},
    "concurrent": {"engine", "engine_dask", "web"},
    "starlette": {"web"},
    "uvicorn": {"web"},
    "h11": {"web"},
    "joblib": {"engine"},
    "distributed": {"engine_dask"},
    "dask": {"engine_dask"},
    "arviz_stats": {"diagnostics"},
    "matplotlib": {"diagnostics"},
}


def modules() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if path != SOURCE / "__init__.py"]


def unit(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def upward(layer_of: dict[str, int], here: str, source: str) -> list[str]:
    names = [name.split(".") for name in imported(source)]
    ours = {parts[1] for parts in names if parts[0] == "deplda" and len(parts) > 1}
    return sorted(name for name in ours if layer_of[name] > layer_of[here])


LAYER_OF = {name: level for level, names in enumerate(LAYERS) for name in names}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down_only(path: Path) -> None:
    assert unit(path) in LAYER_OF, f"say in LAYERS where {unit(path)} belongs"
    assert upward(LAYER_OF, unit(path), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_heavy_packages_are_imported_in_their_homes_only(path: Path) -> None:
    packages = {name.split(".")[0] for name in imported(path.read_text(encoding="utf-8"))}
    strays = {package for package in packages & HOMES.keys() if unit(path) not in HOMES[package]}
    assert strays == set()


def test_an_upward_arrow_would_be_seen() -> None:
    assert upward(LAYER_OF, "corpus", "from deplda.datasets import load") == ["datasets"]
    assert upward(LAYER_OF, "corpus", "import deplda.readers.svmlight") == ["readers"]
    assert upward(LAYER_OF, "readers", "from deplda import corpus") == []


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import deplda, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "scipy", "sklearn", "rich", "pooch", "numba", "distributed", "joblib", "cupy"}
    assert heavy & set(done.stdout.split()) == set()


def test_every_public_name_is_there() -> None:
    import deplda

    for name in deplda.__all__:
        assert getattr(deplda, name) is not None
    assert deplda.datasets.load is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = deplda.nonsense
