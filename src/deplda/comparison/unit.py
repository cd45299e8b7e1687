"""One unit of a comparison: fit a model on a split, score and evaluate, in its own process."""

from __future__ import annotations

import os
import platform
import resource
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from sklearn.base import clone

import deplda
from deplda.comparison.comparison import Model
from deplda.data import datasets
from deplda.data.corpus import Corpus
from deplda.data.datasets import Dataset
from deplda.data.readers import kept_words
from deplda.data.splits import group_numbers
from deplda.evaluation import evaluate
from deplda.evaluation.estimate import resampled
from deplda.evaluation.evaluation import Metrics
from deplda.kernels.cuda.device import choose
from deplda.models.registry import can, model_class

_FEW_DOCUMENTS = 50
_RESAMPLES = 500
_SHOWN_LABELS = 10


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """The work of a unit, sent to its process as JSON."""

    title: str
    model: Model
    split: int
    seed: int
    data: str
    """Folder of the data set."""
    labels: Literal["train", "test"] = "train"
    min_count: int | Literal["auto"] = 1
    n_jobs: int | None = None
    device: str = "cpu"


class Measured(NamedTuple):
    """The results of a unit, as JSON stores them, and what they were measured on."""

    results: dict[str, Any]
    model: Any
    train: Corpus
    test: Corpus


def measure(task: Task) -> Measured:
    """Fit the model of a task and evaluate it."""
    data = datasets.load(task.data)
    train, test = parts_of(data, task.split, task.min_count)
    kind: Any = model_class(task.model.estimator)
    device = {} if can(kind, "mix") else {"device": task.device}  # a hybrid runs on the CPU
    model = kind(**task.model.parameters, random_state=task.seed, n_jobs=task.n_jobs, **device)
    _compile(model, train)
    begin = _now()
    model.fit(train, **_fit_options(data, task.split, train, model))
    fitted = _now()
    scores = model.scores_to_evaluate(test)
    scored = _now()
    predicted = model.predict_scored(test, scores)
    gpu = choose(device.get("device", "cpu"))
    metrics = evaluate(scores, test, train, predicted=predicted, labels=task.labels)
    results = {
        "metrics": metrics.to_dict(),
        "by_label": {
            "training_documents": metrics.label.training_documents.tolist(),
            "average_precision": metrics.label.item_values("average_precision").tolist(),
        },
        "resampled": {
            "document": resample(metrics.document, task.split),
            "label": resample(metrics.label, task.split),
        },
        "seconds": {"fit": fitted[0] - begin[0], "predict": scored[0] - fitted[0]},
        "cpu_seconds": {"fit": fitted[1] - begin[1], "predict": scored[1] - fitted[1]},
        "peak_mb": _peak_mb(),
        "parameters": _plain(model.get_params()),
        "settings": _plain(getattr(model, "settings_", {})),
        "seed": task.seed,
        "showcase": _example(model, test),
        "versions": {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")},
        "library": deplda.__version__,
        "machine": {
            "python": platform.python_version(),
            "system": platform.system(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "gpu": "–" if gpu is None else gpu.name,
        },
    }
    return Measured(results, model, train, test)


def parts_of(data: Dataset, number: int, min_count: int | Literal["auto"]) -> tuple[Corpus, Corpus]:
    """Return both parts of a split, with the words kept in its training part."""
    split = data.splits[number]
    train = data.corpus[split.train]
    train = kept_words(train, "auto")[0] if min_count == "auto" else train.keep_words(min_count)
    return train, data.corpus[split.test].align(train)


def shown_row(test: Corpus) -> int:
    """Return the first document with three to eight labels, or else the first one."""
    sizes = test.labels_per_document
    return int(np.flatnonzero(sizes == np.clip(sizes, 3, 8))[:1].sum())


def resample(
    metrics: Metrics, seed: int, resamples: int = _RESAMPLES
) -> dict[str, dict[str, list[float]]]:
    """Return metrics of resampled test documents, or labels; every model gets the same resamples.

    The differences of two models over the resamples tell whether they differ beyond noise.
    """
    chosen = {
        "ranking": {name: r for name, r in metrics.ranking.items() if "@" not in name},
        "binary": {name: r for name, r in metrics.binary.items() if "_f1@" in name},
    }
    ratios = {name: ratio for group in chosen.values() for name, ratio in group.items()}
    drawn = resampled(ratios, resamples=resamples, seed=seed)
    short = {name: [float(f"{v:.6g}") for v in drawn[:, k]] for k, name in enumerate(ratios)}
    return {task: {name: short[name] for name in group} for task, group in chosen.items()}


def serve(work: Callable[[Task], dict[str, Any]]) -> None:
    """Read a task from standard input and write its results to standard output."""
    task = msgspec.json.decode(sys.stdin.buffer.read(), type=Task)
    sys.stdout.buffer.write(msgspec.json.encode(work(task)))


def _example(model: Any, test: Corpus) -> dict[str, Any]:
    """Return the best labels of one document, and why if the model explains them."""
    row = shown_row(test)
    best = model.rank(test[[row]], _SHOWN_LABELS)
    example: dict[str, Any] = {
        "document": test.ids[row],
        "true": [test.label_names[c] for c in test[[row]].labels.indices],
        "top": [
            [str(label), float(score)]
            for label, score in zip(best.labels[0], best.scores[0], strict=True)
        ],
    }
    if can(model, "explain"):
        explanation = model.explain(test[[row]], k=5)
        example["explanation"] = explanation.to_dict()
        example["words"] = [
            [w.word, w.times, list(w.tokens), list(w.added)] for w in explanation.words
        ]
    return example


def _fit_options(data: Dataset, split: int, train: Corpus, model: Any) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if data.counter is not None:
        options["counter"] = data.counter.with_words(train.vocabulary)
    if data.groups and can(model, "mix"):
        options["groups"] = group_numbers(data.groups, len(data.corpus))[data.splits[split].train]
    return options


def _compile(model: Any, train: Corpus) -> None:
    """Fit a copy on a few documents, so that compilation is not timed."""
    few = train[:_FEW_DOCUMENTS]
    clone(model).fit(few).scores_to_evaluate(few)


def _peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)  # bytes on macOS, kB on Linux


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    scalar = str | int | float | bool | None
    return {name: v if isinstance(v, scalar) else str(v) for name, v in values.items()}


if __name__ == "__main__":
    serve(lambda task: measure(task).results)
