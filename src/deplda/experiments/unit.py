"""One unit of an experiment, a model on a split: fit, score, evaluate; in a process of its own."""

from __future__ import annotations

import os
import platform
import resource
import sys
import time
from importlib.metadata import version
from typing import Any

import msgspec
import numpy as np
from sklearn.base import clone

import deplda
from deplda.data import datasets
from deplda.data.corpus import Corpus
from deplda.evaluation import evaluate
from deplda.experiments.protocol import Budget, Experiment, make_estimator
from deplda.kernels.cuda.device import choose
from deplda.models.registry import can

_FEW_DOCUMENTS = 50
_SHOWN_LABELS = 10
_SHOWN_TOPICS = 12


class Task(msgspec.Struct, frozen=True):
    """What a unit is asked for; sent to its process as JSON."""

    experiment: Experiment
    model: str
    split: int
    budget: Budget
    data_dir: str | None = None
    n_jobs: int | None = None
    device: str = "cpu"


def run_unit(task: Task) -> dict[str, Any]:
    """Return everything that is kept of a unit, as JSON has it."""
    experiment = task.experiment
    data = datasets.load(experiment.data, task.data_dir)
    split = data.splits[task.split]
    train = data.corpus[split.train].keep_words(experiment.min_count)
    test = data.corpus[split.test].align(train)
    seed = experiment.seed + task.split
    model = make_estimator(
        experiment.models[task.model], task.budget, seed, task.n_jobs, task.device
    )
    _compile(model, train)
    begin = _now()
    model.fit(train)
    fitted = _now()
    scores = model.scores_to_evaluate(test)
    scored = _now()
    found = evaluate(scores, test, train, predicted=model.predict(test), labels=experiment.labels)
    return {
        "metrics": found.to_dict(),
        "by_label": {
            "labels": [int(label) for label in found.label.items],
            "training_documents": found.label.training_documents.tolist(),
            "positives": found.label.positives.tolist(),
            "average_precision": found.label.values("average_precision").tolist(),
        },
        "seconds": {"fit": fitted[0] - begin[0], "predict": scored[0] - fitted[0]},
        "cpu_seconds": {"fit": fitted[1] - begin[1], "predict": scored[1] - fitted[1]},
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
        "n_test": len(test),
        "parameters": _plain(model.get_params()),
        "settings": _plain(getattr(model, "settings_", {})),
        "seed": seed,
        "diagnostics": _diagnostics(model),
        "showcase": _showcase(model, train, test),
        "versions": {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")},
        "library": deplda.__version__,
        "machine": {
            "python": platform.python_version(),
            "system": platform.system(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "gpu": _gpu(model),
        },
    }


def _compile(model: Any, train: Corpus) -> None:
    """Let a copy of the model see a few documents, so that compiling is not timed."""
    few = train[:_FEW_DOCUMENTS]
    clone(model).fit(few).decision_function(few)


def _gpu(model: Any) -> str:
    gpu = choose(getattr(model, "device", "cpu"))
    return "–" if gpu is None else gpu.name


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, str | int | float | bool | None) else str(value)
        for name, value in values.items()
    }


def _diagnostics(model: Any) -> dict[str, Any]:
    found = {}
    for name, part in getattr(model, "diagnostics_", {}).items():
        if part is not None:
            found[name] = {
                "summary": part.to_dict(),
                "log_likelihood": part.log_likelihood.tolist(),
            }
    return found


def _showcase(model: Any, train: Corpus, test: Corpus) -> dict[str, Any]:
    """Return one document's best labels, and what the model says of some labels and topics."""
    sizes = test.labels_per_document
    row = int(np.flatnonzero(sizes == np.clip(sizes, 3, 8))[:1].sum())
    best = model.rank(test[[row]], _SHOWN_LABELS)
    found: dict[str, Any] = {
        "document": test.ids[row],
        "true": [test.label_names[c] for c in test[[row]].labels.indices],
        "top": [
            [str(label), float(score)]
            for label, score in zip(best.labels[0], best.scores[0], strict=True)
        ],
    }
    if can(model, "explain"):
        explanation = model.explain(test[[row]], k=5)
        found["explanation"] = explanation.to_dict()
        found["words"] = [
            [w.word, w.times, list(w.tokens), list(w.added)] for w in explanation.words
        ]
        found["top_words"] = {
            name: [[w.name, w.weight] for w in model.top_words(name, 10)]
            for name in telling_labels(train)
        }
        found["topics"] = [
            [[str(label.name), label.weight] for label in topic.labels]
            for topic in model.topics(8)[:_SHOWN_TOPICS]
        ]
    return found


def telling_labels(train: Corpus) -> list[str]:
    """Return the names of some labels: frequent ones, of middling frequency, of one document."""
    order = np.argsort(-train.label_counts, kind="stable")
    order = order[train.label_counts[order] > 0]
    middle = len(order) // 2
    alone = train.labels[:, train.label_counts == 1].tocsr()
    single = np.flatnonzero(train.label_counts == 1)[alone.indices][:2]  # of the first documents
    chosen = [*order[:2], *order[middle : middle + 2], *single]
    return list(dict.fromkeys(train.label_names[c] for c in chosen))


if __name__ == "__main__":
    sys.stdout.buffer.write(
        msgspec.json.encode(run_unit(msgspec.json.decode(sys.stdin.buffer.read(), type=Task)))
    )
