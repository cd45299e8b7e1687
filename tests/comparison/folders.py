"""Folders of results as `run` leaves them, made in no time: random scores, really evaluated."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from deplda import Corpus, evaluate
from deplda.comparison import Comparison, Model
from deplda.comparison.facts import describe_data
from deplda.comparison.results import DataFacts, Head, Unit, open_results, write_data, write_unit
from deplda.comparison.unit import resample
from deplda.data.datasets import Dataset
from deplda.data.splits import Split

NAMES = ("A & B", "<i>rare</i>", 'the "third"', "pipe | label", "five_*six*", "PLAIN")
MODELS = {
    "Dependency-LDA": Model("DependencyLDA"),
    "Flat-LDA": Model("FlatLDA"),
    "Tuned-SVM": Model("TunedSVM"),
    "tf-idf SVM": Model("TfidfSVM"),
}
# How much of the truth each model sees; the first is best on all metrics but ties.
SHARP = {"Dependency-LDA": 3.0, "Flat-LDA": 1.0, "Tuned-SVM": 0.5, "tf-idf SVM": 1.5}


def comparison(name: str = "tiny", **changes: Any) -> Comparison:
    return Comparison(**({"name": name, "data": name, "models": MODELS} | changes))


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
    compared: Comparison | None = None,
    *,
    n_splits: int = 2,
    seed: int = 0,
    described: bool = True,
    failed: tuple[tuple[str, int], ...] = (),
    describe: Callable[[Dataset, Comparison, int], DataFacts] = describe_data,
    extend: Callable[[str, np.random.Generator, dict[str, Any]], None] = lambda *_: None,
) -> Path:
    """Write a folder of results and return it; `extend` adds to the results of a model."""
    compared = comparison() if compared is None else compared
    data = dataset(compared.name, n_splits)
    open_results(folder, Head(experiment=compared, splits=list(range(n_splits)), library="1.0"))
    if described:
        write_data(folder, lambda: describe(data, compared, 0))
    for split in range(n_splits):
        for number, model in enumerate(compared.models):
            if (model, split) in failed:
                unit = Unit(model, split, "failed", error="MemoryError: <no> room & time")
            else:
                rng = np.random.default_rng(seed + 10 * split + number)
                results = results_of(data, split, model, rng)
                extend(model, rng, results)
                unit = Unit(model, split, "done", results=results)
            write_unit(folder, unit)
    return folder


def results_of(data: Dataset, split: int, model: str, rng: np.random.Generator) -> dict[str, Any]:
    train, test = (data.corpus[rows] for rows in data.splits[split])
    truth = test.labels.toarray()
    scores = SHARP.get(model, 1.0) * truth + rng.normal(size=truth.shape)
    result = evaluate(scores, test, train)
    return {
        "metrics": result.to_dict(),
        "by_label": {
            "training_documents": result.label.training_documents.tolist(),
            "average_precision": result.label.item_values("average_precision").tolist(),
        },
        "resampled": {
            "document": resample(result.document, split, 60),
            "label": resample(result.label, split, 60),
        },
        "seconds": {"fit": 1.5, "predict": 0.5},
        "cpu_seconds": {"fit": 2.0, "predict": 1.0},
        "peak_mb": 120.0,
        "parameters": {"n_jobs": 2, "eta": 0.1},
        "settings": {"eta": 0.1},
        "seed": split,
        "showcase": _showcase(model, scores, train, test),
        "versions": {"numpy": "2.0"},
        "library": "0.1",
        "machine": {"python": "3.11", "cores": 2},
    }


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
    return case
