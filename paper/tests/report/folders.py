"""Folders of results as `python -m paper run` leaves them, made in no time."""

from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs
from tests.comparison import folders
from tests.comparison.folders import NAMES

from paper.protocol import Budget, Experiment, PaperModel
from paper.results import describe_for_paper

MODELS = {title: PaperModel(model.estimator) for title, model in folders.MODELS.items()}


def experiment(name: str = "tiny", **changes: Any) -> Experiment:
    return Experiment(**({"name": name, "data": name, "models": MODELS} | changes))


def make(
    folder: Path,
    asked: Experiment | None = None,
    *,
    budget: Budget = "quick",
    diagnosed: bool = True,
    **options: Any,
) -> Path:
    """Write a folder of results and return it."""
    asked = experiment() if asked is None else asked

    def extend(model: str, rng: np.random.Generator, results: dict[str, Any]) -> None:
        results["n_test"] = 40
        results["diagnostics"] = _diagnostics(rng) if diagnosed and "LDA" in model else {}
        if "explanation" in results["showcase"]:
            results["showcase"] |= _learned(model)

    asked = structs.replace(asked, budget=budget)
    return folders.make(folder, asked, describe=describe_for_paper, extend=extend, **options)


def _diagnostics(rng: np.random.Generator) -> dict[str, Any]:
    traces = np.log(np.arange(1, 31)) * 50 - 1000 + rng.normal(size=(2, 30))
    summary = {
        "log-likelihood": {"rhat": 1.2, "ess": 17.0, "final_mean": -830.0},
        f"φ′({rng.integers(10**6)} | 0)": {"rhat": 1.4, "ess": 9.0, "final_mean": 0.5},
    }
    return {"topic_labels": {"summary": summary, "log_likelihood": traces.tolist()}}


def _learned(model: str) -> dict[str, Any]:
    return {
        "top_words": {NAMES[0]: [["alpha", 0.5]], NAMES[1]: [["x<y", 0.4]]},
        "topics": [[[NAMES[3], 0.6]], [[NAMES[4], 0.5]]] if "Dep" in model else [],
    }
