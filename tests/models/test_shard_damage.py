"""Damaged files in the folder of a run that was cut off: it is told, or the result is right."""

import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from deplda import ReadError
from deplda.engine.execution import Execution
from deplda.models import shard_features
from deplda.models.linear import shard_svms
from deplda.models.linear.shard_svms import pair_up
from deplda.models.linear.svm import idf_by
from deplda.models.shard_features import Taught, centroids, count_words, write_companions
from deplda.training import passes, shard_layouts
from deplda.training.shard_layouts import lay_out_shards
from deplda.training.shards import prepare, read_labels
from tests.drawn_news import drawn_news
from tests.models.test_hybrid_shards import interrupted
from tests.models.test_shard_features import LEFT_OUT, REST
from tests.training.worlds import in_shards

Damage = Callable[[Path], None]

ALONE = Execution(n_jobs=1, progress=False)  # so that a run is cut off at the same place
NONE = np.zeros(0, np.int64)
# Where a run is cut off: the function, and which call of it.
STAGES: dict[str, tuple[Any, str, int]] = {
    "sweeping": (passes, "_sweep_shard", 5),
    "adding up a pass": (passes, "_unite_block", 5),
    "weighing words": (shard_features, "_write_features", 2),
    "joining features": (shard_features, "_join_features", 1),
    "mean documents": (shard_features, "_write_block", 1),
    "after all": (shard_svms, "_solve_block", 10**9),
}
SVMS, PAIRS = "lesson-*-svms-*", "shard-*/lesson-*-pairs-*"


def learned(source: Path, folder: Path) -> Any:
    """Return the SVMs of all documents, started from those without some, by way of all stages."""
    ready = prepare(source, folder)
    every, start = read_labels(folder, ready).matrix, None
    laid = lay_out_shards(folder, ready, "expected", background=True)
    passes.expect_shards(laid, max_sweeps=3, execution=ALONE)
    for left_out, rest in ((LEFT_OUT, REST), (NONE, np.arange(120))):
        taught = Taught(laid, len(ready.labels), left_out)
        words = count_words(folder, ready, left_out, ALONE)
        centroids(taught, idf_by(words.n, words.n_with), ALONE)
        write_companions(taught, every[rest])
        svms = pair_up(taught, 6, ALONE)._replace(start=start)
        (start,) = svms.learn((1.0,), np.arange(taught.n_labels), ALONE)
    assert start is not None
    return start.weights


class World(NamedTuple):
    source: Path
    stopped: dict[str, Path]
    weights: Any


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    root = tmp_path_factory.mktemp("damage")
    source = in_shards(drawn_news(120).corpus, root / "in", 3)
    stopped = {stage: root / str(number) for number, stage in enumerate(STAGES)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shard_layouts, "_BLOCK_CELLS", 8000)
        for stage, (module, name, call) in STAGES.items():
            with patch.context() as cut:
                stop = interrupted(getattr(module, name), call, KeyboardInterrupt())
                cut.setattr(module, name, stop)
                try:
                    weights = learned(source, stopped[stage])
                except KeyboardInterrupt:
                    assert stage != "after all"
    return World(source, stopped, weights)


def npy(change: Callable[[Any], Any]) -> Damage:
    return lambda path: np.save(path, change(np.load(path)))


def npz(name: str, change: Callable[[Any], Any]) -> Damage:
    def damage(path: Path) -> None:
        with np.load(path) as saved:
            arrays = dict(saved)
        np.savez(path, **arrays | {name: change(arrays[name])})

    return damage


def member(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("ends_0.npy", b"no array")


def manifest(**changes: Any) -> Damage:
    return lambda path: void(path.write_text(json.dumps(json.loads(path.read_bytes()) | changes)))


def header(text: str) -> Damage:
    head = text.encode().ljust(117) + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes(256)
    return lambda path: void(path.write_bytes(content))


def shaped(shape: str) -> Damage:
    return header(f"{{'descr': '<i4', 'fortran_order': False, 'shape': {shape}}}")


def archive(path: Path) -> None:
    content = io.BytesIO()
    np.savez(content, a=np.zeros(3))
    path.write_bytes(content.getvalue())


def swap(path: Path) -> None:
    """Give a file of the first shard and that of the last to each other."""
    other = path.parent.parent / "shard-00002" / path.name
    mine, theirs = path.read_bytes(), other.read_bytes()
    path.write_bytes(theirs)
    other.write_bytes(mine)


def void(_: Any) -> None:
    """Return nothing."""


def spoiled(value: float) -> Callable[[Any], Any]:
    return lambda array: np.where(np.arange(len(array)) % 7 == 0, value, array).astype(array.dtype)


def moved_to_one_shard(ends: Any) -> Any:
    rows = ends.reshape(-1, 4).copy()
    rows[:, 1:3] = 0
    return rows.ravel()


LAYOUT = "layout-expected-raw-background"
WORDS, VALUES, SQUARES, STARTS = (
    f"lesson-????????????-{what}.npy" for what in ("words", "values", "squares", "starts")
)
BLOCK = "lesson-*-svms-*/block-00000.npz"
CASES: dict[str, tuple[str, tuple[str, ...], str, Damage]] = {
    "ends fall": ("sweeping", (), f"{LAYOUT}-ends.npy", npy(lambda a: a[::-1])),
    "ends of others": ("sweeping", (), f"{LAYOUT}-ends.npy", npy(moved_to_one_shard)),
    "ends below 0": ("adding up a pass", (), f"{LAYOUT}-ends.npy", npy(lambda a: a - 2**62)),
    "layout starts": ("sweeping", (), f"shard-*/{LAYOUT}-cell_starts.npy", npy(lambda a: a[::-1])),
    "state cells": (
        "adding up a pass", (), "shard-*/expected-*-00001-cells.npy", npy(lambda a: a[:1])
    ),
    "words swapped": ("weighing words", (), "shard-00000/words.npz", swap),
    "sizes": ("joining features", (), "shard-*/lesson-*-sizes.npy", npy(lambda a: a * 2)),
    "sums": ("mean documents", (), "shard-*/lesson-*-sums.npy", npy(lambda a: a[:-1])),
    "words": ("after all", (SVMS,), WORDS, npy(lambda a: a + 10**6)),
    "rows overlap": ("after all", (SVMS,), STARTS, npy(lambda a: spoiled(0)(a))),
    "values": ("after all", (SVMS,), VALUES, npy(spoiled(np.nan))),
    "values of candidates": ("after all", (SVMS, PAIRS), VALUES, npy(spoiled(np.inf))),
    "squares": ("after all", (SVMS,), SQUARES, npy(spoiled(np.nan))),
    "squares below 0": ("after all", (SVMS,), SQUARES, npy(lambda a: -a)),
    "pairs start": ("after all", (SVMS,), f"{PAIRS}-starts.npy", npy(lambda a: a - 2**62)),
    "pairs fall": ("after all", (SVMS,), f"{PAIRS}-rows.npy", npy(lambda a: a[::-1])),
    "beside": ("after all", (SVMS, PAIRS), "lesson-*-beside-values.npy", npy(lambda a: -a)),
    "near": ("after all", (), "lesson-*-near-values.npy", npy(spoiled(np.nan))),
    "weights": ("after all", (), BLOCK, npz("values_0", spoiled(np.nan))),
    "weights end": ("after all", (), BLOCK, npz("ends_0", lambda a: a * 2**40)),
    "weights fall": ("after all", (), BLOCK, npz("ends_0", lambda a: -a)),
    "no array in an archive": ("after all", (), BLOCK, member),
    "documents": ("after all", (), BLOCK, npz("documents_0", lambda a: a + 10**17)),
    "alpha": ("after all", (), BLOCK, npz("alpha_0", lambda a: -a)),
    "archive": ("after all", (SVMS,), WORDS, archive),
    "2**61 numbers": ("after all", (SVMS,), WORDS, shaped(f"({2**61},)")),
    "2**70 numbers": ("after all", (SVMS,), WORDS, shaped(f"({2**70},)")),
    "true numbers": ("after all", (SVMS,), WORDS, shaped("(True,)")),
    "header": ("after all", (SVMS,), WORDS, header("{'descr': '''<i4")),
    "header of brackets": ("after all", (SVMS,), WORDS, header("(" * 100)),
    "type of nothing": (
        "after all", (SVMS,), WORDS, header("{'descr': (), 'fortran_order': False, 'shape': (1,)}")
    ),
    "cuts": ("sweeping", (), f"{LAYOUT}.json", manifest(cuts=[0, 10**9])),
    "no cuts": ("sweeping", (), f"{LAYOUT}.json", manifest(cuts=[])),
    "huge shards": ("mean documents", (), f"{LAYOUT}.json", manifest(documents=[10**15, 1, 1])),
    "fewer shards": ("sweeping", (), f"{LAYOUT}.json", manifest(documents=[80, 40])),
    "huge vocabulary": ("mean documents", (), f"{LAYOUT}.json", manifest(n_words=10**13)),
    "tokens": ("sweeping", (), f"{LAYOUT}.json", manifest(tokens=[1, 1, 1])),
    "tokens of fewer": ("sweeping", (), f"{LAYOUT}.json", manifest(tokens=[1])),
    "another name": ("sweeping", (), f"{LAYOUT}.json", manifest(name="../../x")),
}  # fmt: skip


def copied(world: World, stage: str, to: Path, without: tuple[str, ...] = ()) -> Path:
    folder = to / "scratch"
    shutil.copytree(world.stopped[stage], folder)
    for pattern in without:
        for path in folder.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return folder


@pytest.mark.parametrize("case", CASES)
def test_damage_is_told_before_anything_is_made_of_it(
    case: str, world: World, tmp_path: Path
) -> None:
    stage, without, pattern, damage = CASES[case]
    folder = copied(world, stage, tmp_path, without)
    if case in ("documents", "alpha"):  # read where the SVMs of all documents start
        shutil.rmtree(max(folder.glob(SVMS), key=lambda path: path.stat().st_mtime_ns))
    files = sorted(folder.glob(pattern))
    assert files
    for file in files:
        damage(file)
    with pytest.raises(ReadError, match="prepare them anew"):
        learned(world.source, folder)


@pytest.mark.parametrize("stage", STAGES)
def test_without_damage_the_result_is_right(stage: str, world: World, tmp_path: Path) -> None:
    folder = copied(world, stage, tmp_path)
    for file in folder.glob("expected-*-00000.npz"):  # not of ours, whatever is in it
        shutil.copy(file, str(file).replace("-00000.npz", "-zzzzz.npz"))
    found = learned(world.source, folder)
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, name), getattr(world.weights, name))
