"""The paper's protocol as data: presets in TOML, and budgets of chains and samples."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import structs

from deplda.comparison.comparison import Comparison, Model, unheld
from deplda.errors import InputError
from deplda.models.parameters import with_overrides
from deplda.models.registry import can, model_class
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

_PRESETS = Path(__file__).with_name("presets")


class PaperModel(Model, frozen=True, forbid_unknown_fields=True):
    """A model of a preset."""

    paper: str | None = None
    """The paper's data set whose settings it uses."""
    published: str | None = None
    """Its name in the paper, if it differs."""


class Experiment(Comparison, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A preset: a data set, its splits, and the models to compare."""

    models: dict[str, PaperModel]  # type: ignore[assignment]  # narrower; never assigned
    splits: list[int] | Literal["all"] = "all"
    paper: str | None = None
    """The name of this data set, or of a similar one, in the paper or another publication."""
    note: str | None = None
    """How this data differs from the paper's; then values are not judged against the paper's."""
    budget: Budget | None = None
    """The budget that set the parameters of the models; None in presets."""


def presets() -> list[str]:
    """Return the names of all presets."""
    return sorted(path.stem for path in _PRESETS.glob("*.toml"))


def read_preset(name: str) -> Experiment:
    """Return a preset by its name, or by the path of its file."""
    path = _PRESETS / f"{name}.toml" if name in presets() else Path(name)
    if not path.is_file():
        raise InputError(f"there is no preset {name!r}; there are {', '.join(presets())}")
    return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Experiment)


def with_budget(experiment: Experiment, budget: Budget) -> Experiment:
    """Return the experiment with all parameters of its models set for a budget."""
    models = {
        title: structs.replace(model, parameters=_parameters(model, budget))
        for title, model in experiment.models.items()
    }
    return structs.replace(experiment, models=models, budget=budget)


def _parameters(model: PaperModel, budget: Budget) -> dict[str, Any]:
    """Return the parameters of a model: the paper's, then the budget's, then its own."""
    kind: Any = model_class(model.estimator)
    known = inspect.signature(kind).parameters
    chosen: dict[str, Any] = {}
    for name, value in BUDGETS[budget].items():
        if name in known:
            by_estimator = isinstance(value, dict)
            chosen[name] = value.get(model.estimator, value[""]) if by_estimator else value
    chosen = with_overrides(chosen | unheld(kind), model.parameters)
    is_paper = model.paper is not None and can(kind, "paper")
    estimator = kind.paper(model.paper, **chosen) if is_paper else kind(**chosen)
    return {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in (*MACHINE, "random_state") and value != known[name].default
    }
