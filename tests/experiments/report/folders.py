"""Folders of results as `run` leaves them, made in no time: random scores, really evaluated."""

from pathlib import Path
from typing import Any

import numpy as np

from deplda import Corpus, evaluate
from deplda.data.datasets import Dataset
from deplda.data.splits import Split
from deplda.experiments import Experiment
from deplda.experiments.facts import data_facts
from deplda.experiments.protocol import Budget, Model
from deplda.experiments.results import Unit, new_head, open_results, write_data, write_unit
from deplda.experiments.unit import drawn_anew

NAMES = ("A & B", "<i>rare</i>", 'the "third"', "pipe | label", "five_*six*", "PLAIN")
MODELS = {
    "Dependency-LDA": Model("DependencyLDA"),
    "Flat-LDA": Model("FlatLDA"),
    "Tuned-SVM": Model("TunedSVM"),
    "tf-idf SVM": Model("TfidfSVM"),
}
# How much of the truth each model sees; the first is best on all metrics but ties.
SHARP = {"Dependency-LDA": 3.0, "Flat-LDA": 1.0, "Tuned-SVM": 0.5, "tf-idf SVM": 1.5}


def experiment(name: str = "tiny", **changes: Any) -> Experiment:
    return Experiment(**({"name": name, "data": name, "models": MODELS} | changes))


def dataset(name: str, n_splits: int = 2, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    chances = np.array([0.5, 0.06, 0.4, 0.3, 0.2, 0.1])
    labels = (rng.random((80, len(NAMES))) < chances).astype(int)
    labels[np.arange(0, 80, 3), rng.integers(len(NAMES), size=27)] = 1
    corpus = Corpus(rng.poisson(1.0, (80, 12)), labels, label_names=NAMES)
    rows = np.arange(80)
    splits = tuple(Split(rows[rows % 2 != k % 2], rows[rows % 2 == k % 2]) for k in range(n_splits))
    return Dataset(name, corpus, splits)


def make(
    folder: Path,
    asked: Experiment | None = None,
    *,
    budget: Budget = "quick",
    n_splits: int = 2,
    seed: int = 0,
    described: bool = True,
    diagnosed: bool = True,
    failed: tuple[tuple[str, int], ...] = (),
) -> Path:
    """Write a folder of results and return it."""
    asked = experiment() if asked is None else asked
    data = dataset(asked.name, n_splits)
    open_results(folder, new_head(asked, budget, list(range(n_splits))))
    if described:
        write_data(folder, data_facts(data, asked, 0))
    for split in range(n_splits):
        for number, model in enumerate(asked.models):
            if (model, split) in failed:
                unit = Unit(model, split, "failed", error="MemoryError: <no> room & time")
            else:
                kept = found(data, split, model, seed + 10 * split + number, diagnosed)
                unit = Unit(model, split, "done", found=kept)
            write_unit(folder, unit)
    return folder


def found(data: Dataset, split: int, model: str, seed: int, diagnosed: bool) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    train, test = (data.corpus[rows] for rows in data.splits[split])
    truth = test.labels.toarray()
    scores = SHARP.get(model, 1.0) * truth + rng.normal(size=truth.shape)
    result = evaluate(scores, test, train)
    return {
        "metrics": result.to_dict(),
        "by_label": {
            "labels": result.label.indices.tolist(),
            "training_documents": result.label.training_documents.tolist(),
            "positives": result.label.positives.tolist(),
            "average_precision": result.label.item_values("average_precision").tolist(),
        },
        "resampled": {
            "document": drawn_anew(result.document, split, 60),
            "label": drawn_anew(result.label, split, 60),
        },
        "seconds": {"fit": 1.5 + seed, "predict": 0.5},
        "cpu_seconds": {"fit": 2.0, "predict": 1.0},
        "peak_mb": 120.0,
        "n_test": len(test),
        "parameters": {"n_jobs": 2, "eta": 0.1},
        "settings": {"eta": 0.1},
        "seed": split,
        "diagnostics": _diagnostics(rng) if diagnosed and "LDA" in model else {},
        "showcase": _showcase(model, scores, train, test),
        "versions": {"numpy": "2.0"},
        "library": "0.1",
        "machine": {"python": "3.11", "cores": 2},
    }


def _diagnostics(rng: np.random.Generator) -> dict[str, Any]:
    traces = np.log(np.arange(1, 31)) * 50 - 1000 + rng.normal(size=(2, 30))
    summary = {
        "log-likelihood": {"rhat": 1.2, "ess": 17.0, "final_mean": -830.0},
        f"φ′({rng.integers(10**6)} | 0)": {"rhat": 1.4, "ess": 9.0, "final_mean": 0.5},
    }
    return {"topic_labels": {"summary": summary, "log_likelihood": traces.tolist()}}


def _showcase(model: str, scores: Any, train: Corpus, test: Corpus) -> dict[str, Any]:
    best = np.argsort(-scores[0])
    case: dict[str, Any] = {
        "document": test.ids[0],
        "true": [NAMES[c] for c in test[[0]].labels.indices],
        "top": [[NAMES[c], float(scores[0, c])] for c in best],
    }
    if "LDA" in model or model == "Hybrid":
        is_hybrid = model == "Hybrid"
        parts = {"base": -2.0, "margin": 0.75} if is_hybrid else {"words": 0.3, "prior": 0.2}
        reason = {
            "label": NAMES[best[0]], "score": sum(parts.values()), "parts": parts,
            "tokens": 3.0, "words": [{"word": "x<y", "tokens": 2.0}], "topics": [],
            "companions": [{"label": NAMES[1], "share": 0.4}],
            "evidence": [{"word": "plain", "margin": 0.5, "share": 0.125}] if is_hybrid else [],
        }  # fmt: skip
        case["explanation"] = {"n_tokens": 9, "n_unknown": 1, "labels": [reason]}
        case["words"] = [["x<y", 3, [2.5]], ["plain", 1, [0.1]]]
        case["top_words"] = {NAMES[0]: [["alpha", 0.5]], NAMES[1]: [["x<y", 0.4]]}
        case["topics"] = [[[NAMES[3], 0.6]], [[NAMES[4], 0.5]]] if "Dep" in model else []
    return case
