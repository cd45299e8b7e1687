"""A comparison as data: a data set, models with their parameters, and which words are kept."""

from __future__ import annotations

import inspect
import re
from typing import Any, Literal

import msgspec

from deplda.models.registry import can, model_class

TITLES = {
    "HybridLDA": "Hybrid", "TfidfSVM": "tf-idf SVM", "DependencyLDA": "Dependency-LDA",
    "PriorLDA": "Prior-LDA", "FlatLDA": "Flat-LDA", "TunedSVM": "Tuned-SVM",
    "VanillaSVM": "Vanilla-SVM",
}  # fmt: skip
"""Names of the models in results."""

_N_TOPIC_CHAINS = 2
"""Fewer sets of topics than by default, so that a comparison takes minutes."""


class Model(msgspec.Struct, frozen=True):
    """An estimator and its parameters."""

    estimator: str
    parameters: dict[str, Any] = {}


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """A data set, and the models to compare on each of its splits."""

    name: str
    data: str
    models: dict[str, Model]
    labels: Literal["train", "test"] = "train"
    """Which labels are ranked for a document; see `evaluate`."""
    min_count: int | Literal["auto"] = 1
    """Words with fewer tokens in the training part of a split are dropped; "auto" is one for
    every 50,000 tokens there, 3 at most."""
    seed: int = 0


def compare_models(
    name: str, data: str, *, min_count: int | Literal["auto"] = 1, seed: int = 0
) -> Comparison:
    """Return a comparison of every model, topic models with few sets of topics."""
    models = {title: Model(kind, _parameters(model_class(kind))) for kind, title in TITLES.items()}
    return Comparison(name=name, data=data, models=models, min_count=min_count, seed=seed)


def _parameters(kind: type) -> dict[str, int]:
    has_topics = "n_topic_chains" in inspect.signature(kind).parameters
    return unheld(kind) | ({"n_topic_chains": _N_TOPIC_CHAINS} if has_topics else {})


def unheld(kind: type) -> dict[str, int]:
    """Return the parameters that hold no training documents out for probabilities.

    Metrics are of scores. Only a model that mixes signals learns the mixture on such documents.
    """
    return {} if can(kind, "mix") else {"n_held_out": 0}


def slug(title: str) -> str:
    """Return the part of a file's name that stands for a model."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
