"""What an experiment is, as data: TOML presets in the package, or the user's own file."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import msgspec

from deplda.data import checks
from deplda.data.datasets import is_known
from deplda.data.datasets.described import DESCRIPTION, check_inside
from deplda.data.files import MOST_TOML, StrPath, decode_toml
from deplda.data.wording import did_you_mean
from deplda.errors import InputError, ReadError
from deplda.models.parameters import PAPER_NAMES, checked, with_overrides
from deplda.models.registry import MODELS, can, model_class
from deplda.models.untrusted import MACHINE

Budget = Literal["quick", "standard", "paper"]

# How much work, for the models that sample. "paper" is the paper's own protocol.
BUDGETS: dict[Budget, dict[str, Any]] = {
    "quick": {
        "fit_method": "deterministic", "inference": "deterministic", "n_topic_chains": 2,
        "n_topic_sweeps": 100,
    },
    "standard": {
        "fit_method": "sampled", "n_chains": 8, "n_sweeps": 100, "inference": "sampled",
        "n_topic_chains": 10, "n_topic_sweeps": 500, "n_test_chains": {"DependencyLDA": 1, "": 10},
    },
    "paper": {},
}  # fmt: skip


TITLES = {
    "HybridLDA": "Hybrid", "TfidfSVM": "tf-idf SVM", "DependencyLDA": "Dependency-LDA",
    "PriorLDA": "Prior-LDA", "FlatLDA": "Flat-LDA", "TunedSVM": "Tuned-SVM",
    "VanillaSVM": "Vanilla-SVM",
}  # fmt: skip
"""What results call the models where nobody named them."""


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One model of an experiment."""

    estimator: str
    paper: str | None = None
    """The data set of the paper whose settings it takes."""
    published: str | None = None
    """What the paper calls the model, where its name here is another."""
    parameters: dict[str, Any] = {}
    """Any parameters of the estimator, over all others."""


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A data set, which of its splits, and the models to be compared on each."""

    name: str
    data: str
    models: dict[str, Model]
    splits: list[int] | Literal["all"] = "all"
    labels: Literal["train", "test"] = "train"
    """What is ranked for a document; see `evaluate`."""
    min_count: int | Literal["auto"] = 1
    """Words with fewer tokens in a split's training part are dropped from it; "auto" is one for
    every 50,000 tokens there, 20 at most."""
    seed: int = 0
    paper: str | None = None
    """What the paper, or who else published on it, calls this data set, or one of its kind."""
    note: str | None = None
    """How this data differs from the paper's; then no metric is held against the paper's."""


def presets() -> list[str]:
    """Return the names of the experiments that come with the package."""
    folder = files("deplda.experiments").joinpath("presets")
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir())


def read_experiment(name: StrPath) -> Experiment:
    """Return a preset by its name, or an experiment from a TOML file.

    A data set that is a path in the file is looked for in `run`'s `data_dir`: give the file's
    folder. Of a data set itself, a folder or its description, it is every model on it.
    """
    if name in presets():
        source = files("deplda.experiments").joinpath(f"presets/{name}.toml")
        return _checked(source.read_bytes(), Path(f"{name}.toml"))
    path = Path(name)
    if path.is_dir() or (path.is_file() and _describes_data(path)):
        return usual_experiment(path.absolute().stem, path.absolute().name)
    if path.is_file() and path.suffix != ".toml":
        raise InputError(
            f"{path} is no experiment, which is a TOML file; models are compared on documents by: "
            f"deplda compare {path}"
        )
    if not path.is_file():
        raise InputError(
            f"there is no experiment {str(name)!r}; give a TOML file, the folder of a data set, or "
            f"one of {', '.join(presets())}{did_you_mean(str(name), presets())}"
        )
    return _checked(_beginning(path), path)


def usual_experiment(name: str, data: str, **others: Any) -> Experiment:
    """Return every model with its own settings on a data set."""
    models = {title: Model(estimator) for estimator, title in TITLES.items()}
    return Experiment(name=name, data=data, models=models, **others)


def _describes_data(path: Path) -> bool:
    """Return whether a TOML file is of a data set rather than of an experiment."""
    if path.suffix != ".toml":
        return False
    try:
        found = decode_toml(path, _beginning(path), dict[str, Any], "{}")
    except ReadError:
        return False  # what is wrong with it is said where it is read
    return "models" not in found and ("documents" in found or path.name == DESCRIPTION)


def _beginning(path: Path) -> bytes:
    """Return a file's bytes, of one that is too large no more than show it."""
    with path.open("rb") as file:
        return file.read(MOST_TOML + 1)


def make_estimator(
    model: Model, budget: Budget, seed: int, n_jobs: int | None, device: str = "cpu"
) -> Any:
    """Return the estimator of a model: the paper's settings, the budget's, then its own."""
    kind: Any = model_class(model.estimator)
    known = inspect.signature(kind).parameters
    chosen: dict[str, Any] = {}
    for name, value in BUDGETS[budget].items():
        if name in known:
            each = isinstance(value, dict)
            chosen[name] = value.get(model.estimator, value[""]) if each else value
    if not can(kind, "mix"):  # metrics are of scores: nothing is held out for probabilities
        chosen["n_held_out"] = 0
    where: dict[str, Any] = {"random_state": seed, "n_jobs": n_jobs}
    if not can(kind, "mix"):  # a hybrid runs on the CPU
        where["device"] = device
    chosen = with_overrides(chosen, model.parameters | where)
    if model.paper is not None and can(kind, "paper"):
        return kind.paper(model.paper, **chosen)
    return kind(**chosen)


def _checked(data: bytes, path: Path) -> Experiment:
    problem = "this is not an experiment: {}"
    experiment = decode_toml(path, data, Experiment, problem, {"$.models": Model})
    try:
        _check_numbers(experiment)
        for name, model in experiment.models.items():
            _check_model(name, model)
    except InputError as error:
        raise ReadError(path, None, str(error)) from error
    return experiment


def _check_numbers(experiment: Experiment) -> None:
    checks.seed("seed", experiment.seed)
    if experiment.min_count != "auto":
        checks.whole("min_count", experiment.min_count)
    if not is_known(experiment.data):
        check_inside(experiment.data)
    if not experiment.models:
        raise InputError("it has no models")
    slugs = Counter(map(slug, experiment.models))
    alike = [name for name in experiment.models if slugs[slug(name)] > 1 or not slug(name)]
    if alike:
        raise InputError(
            f"models {', '.join(map(repr, alike))} would share a file of results; names must "
            "differ in their letters a to z and digits"
        )


def _check_model(name: str, model: Model) -> None:
    if model.estimator not in MODELS:
        raise InputError(
            f"model {name!r} is a {model.estimator!r}; it must be one of {', '.join(MODELS)}"
            f"{did_you_mean(model.estimator, MODELS)}"
        )
    if model.paper is not None and model.paper not in PAPER_NAMES:
        there = ", ".join(PAPER_NAMES)
        raise InputError(f"model {name!r} wants the settings of {model.paper!r}; there are {there}")
    known = set(inspect.signature(model_class(model.estimator)).parameters)
    if unknown := set(model.parameters) - known:
        wrong, own = sorted(unknown)[0], sorted(known - {*MACHINE, "random_state", "verbose"})
        raise InputError(
            f"model {name!r} has no parameter {wrong!r}{did_you_mean(wrong, own) or ';'} "
            f"{model.estimator} has {', '.join(own)}"
        )
    for machine in (*MACHINE, "random_state"):
        if machine in model.parameters:
            raise InputError(
                f"model {name!r} has the parameter {machine!r}; where work runs, and with which "
                "seed, is not a model's: use --device, --jobs, and seed of the experiment"
            )
    checked(model.parameters)


def slug(model: str) -> str:
    """Return a model's name as it is part of a file's."""
    return re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")
