"""Mutated models, checkpoints, and results: an error that names the file, or sound use.

A kernel that a file leads astray would end the interpreter, so every batch of mutations runs in a
process of its own.
"""

import json
import random
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import load_file, save_file

from deplda import DepldaError, Schedule, load, train_label_words, train_topic_labels
from deplda.comparison import Comparison, Model, read_results
from deplda.comparison.results import Head, Unit, open_results, write_unit
from deplda.models.registry import can
from tests.abuse.conftest import Amount
from tests.abuse.mutation import mutated_bytes, mutated_value
from tests.models.saved_models import ARRAYS, CARD
from tests.training.worlds import small

SAVED = Path(__file__).parents[1] / "models" / "fixtures" / "saved"
MODELS = ("DependencyLDA", "FlatLDA", "TfidfSVM", "HybridLDA")
SCHEDULE = Schedule(3)
AT_A_TIME = 500


class Batch(NamedTuple):
    """Mutations of the files in a folder, one for each seed."""

    kind: str
    folder: Path
    first: int
    n: int


# What a batch does, in a process of its own -------------------------------------------------------


def abuse_model(folder: Path, chance: random.Random) -> None:
    """Damage the card or the arrays; what still loads must be usable without a crash."""
    files = {name: (folder / name).read_bytes() for name in (CARD, ARRAYS)}
    kind = chance.randrange(3)
    if kind == 0:
        name = chance.choice([CARD, ARRAYS])
        (folder / name).write_bytes(mutated_bytes(files[name], chance))
    elif kind == 1:
        changed = mutated_value(json.loads(files[CARD]), chance)
        (folder / CARD).write_text(json.dumps(changed), encoding="utf-8")
    else:
        arrays = {name: np.array(array) for name, array in load_file(folder / ARRAYS).items()}
        mutate_array(arrays, chance)
        save_file(arrays, folder / ARRAYS, {"id": json.loads(files[CARD])["id"]})
    try:
        use(load(folder))
    except (DepldaError, MemoryError):
        pass
    finally:
        for name, content in files.items():
            (folder / name).write_bytes(content)


def use(model: Any) -> None:
    """Do all that reads a model's arrays."""
    documents = np.eye(3, min(model.n_features_in_, 10_000), dtype=int)
    model.rank(documents, 3)
    if can(model, "explain"):
        model.explain(documents[:1])
        model.top_words(model.classes_[0])
        model.topics()
    if can(model, "paper"):
        few = {"n_label_tokens": 5, "burn_in": 2, "n_samples": 1, "n_test_chains": 1}
        few |= {"n_topic_sweeps": 2, "n_topic_chains": 1}
        model.set_params(**{name: few[name] for name in few.keys() & model.get_params()})
        for inference in ("sampled", "proper"):
            model.set_params(inference=inference).rank(documents, 3)
        model.partial_fit(documents, [[model.classes_[0]]] * 3)


def mutate_array(arrays: dict[str, Any], chance: random.Random) -> None:
    """Change one array so that the file stays sound: a value, its length, its type, its absence."""
    name = chance.choice([*arrays])
    array, kind = arrays[name].copy(), chance.randrange(5)
    if kind == 0 or not array.size:
        del arrays[name]
        return
    if kind == 1:
        odd = [-1, 1, 2**15, 2**31 - 1, np.nan, np.inf, -0.5, 1e30]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            array.reshape(-1)[chance.randrange(array.size)] = np.array(chance.choice(odd)).astype(
                array.dtype
            )
    elif kind == 2:
        array = array[: chance.randrange(len(array))]
    elif kind == 3:
        array = array.astype(chance.choice([np.float32, np.float64, np.int32, np.int64]))
    else:
        array = np.concatenate([array, array[: chance.randrange(len(array)) + 1]])
    arrays[name] = np.ascontiguousarray(array)


def abuse_checkpoint(folder: Path, chance: random.Random) -> None:
    """Damage a chain that has one more sweep to go; it is refused, or goes on without a crash."""
    words = folder.name == "words"
    file = folder / chance.choice(["chain-0000.npz", "chain-0000.npz", "manifest.json"])
    whole = file.read_bytes()
    if file.suffix == ".json":
        file.write_text(json.dumps(mutated_value(json.loads(whole), chance)), encoding="utf-8")
    elif chance.random() < 0.4:
        file.write_bytes(mutated_bytes(whole, chance))
    else:
        with np.load(file) as saved:
            arrays = dict(saved)
        if chance.random() < 0.5 and len(arrays["trace"]) > 1:
            arrays["trace"] = arrays["trace"][:1]  # a sweep is left to do, with what is there
        mutate_array(arrays, chance)
        np.savez(file, **arrays)
    how: Any = {"schedule": SCHEDULE, "checkpoint": folder, "resume": True, "n_jobs": 1}
    try:
        train_label_words(small(), **how) if words else train_topic_labels(small(), 4, **how)
    except (DepldaError, MemoryError):
        pass
    finally:
        file.write_bytes(whole)


def abuse_results(folder: Path, chance: random.Random) -> None:
    """Damage a file of results; it is refused, or read."""
    file = chance.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    whole = file.read_bytes()
    if file.suffix == ".json" and chance.random() < 0.6:
        file.write_text(json.dumps(mutated_value(json.loads(whole), chance)), encoding="utf-8")
    else:
        file.write_bytes(mutated_bytes(whole, chance))
    try:
        read_results(folder)
    except DepldaError:
        pass
    finally:
        file.write_bytes(whole)


ABUSES = {"model": abuse_model, "checkpoint": abuse_checkpoint, "results": abuse_results}


def run(batches: list[tuple[str, str, int, int]]) -> None:
    warnings.simplefilter("ignore")
    for kind, folder, first, n in batches:
        for seed in range(first, first + n):
            try:
                ABUSES[kind](Path(folder), random.Random(seed))  # noqa: S311
            except BaseException as error:
                raise AssertionError(f"{kind} {folder}, mutation {seed}") from error


# The test -----------------------------------------------------------------------------------------


def in_own_process(*batches: Batch) -> None:
    plain = [(kind, str(folder), first, n) for kind, folder, first, n in batches]
    code = f"from tests.abuse.test_saved_files import run; run({plain!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, f"{plain}: {done.stderr[-3000:]}"


def results_in(folder: Path) -> Path:
    """Write results as a comparison does."""
    small = Comparison(name="small", data="newsroom", models={"Flat": Model("FlatLDA")})
    open_results(folder, Head(experiment=small, splits=[0], library="1.0"))
    write_unit(folder, Unit("Flat", 0, "done", results={"metrics": {"ap": 0.5}, "seed": 0}))
    return folder


def test_mutated_files_are_refused_or_usable(tmp_path: Path, amount: Amount) -> None:
    wanted: list[tuple[str, Path, int]] = []
    for name in MODELS:
        folder = Path(shutil.copytree(SAVED / name, tmp_path / name))
        load(folder).save(folder)  # so that card and arrays bear an id
        wanted.append(("model", folder, amount(40, 8_000)))
    for kind in ("words", "topics"):
        how: Any = {"schedule": SCHEDULE, "checkpoint": tmp_path / kind, "n_jobs": 1}
        if kind == "words":
            train_label_words(small(), **how)
        else:
            train_topic_labels(small(), 4, **how)
        wanted.append(("checkpoint", tmp_path / kind, amount(40, 6_000)))
    wanted.append(("results", results_in(tmp_path / "results"), amount(100, 6_000)))
    batches = [
        Batch(kind, folder, first, min(AT_A_TIME, n - first))
        for kind, folder, n in wanted
        for first in range(0, n, AT_A_TIME)
    ]
    if len(batches) == len(wanted):
        in_own_process(*batches)
        return
    for batch in batches:
        in_own_process(batch)
