"""One unit of an experiment, a model on a split: fit, score, evaluate; in a process of its own."""

from __future__ import annotations

import logging
import os
import platform
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import msgspec
from sklearn.base import clone

import deplda
from deplda.data import datasets
from deplda.data.atomic import in_turn
from deplda.data.corpus import Corpus
from deplda.data.datasets import Dataset
from deplda.data.readers import kept_words
from deplda.data.splits import group_numbers
from deplda.evaluation import evaluate
from deplda.evaluation.estimate import resampled
from deplda.evaluation.evaluation import Metrics
from deplda.experiments.protocol import Budget, Experiment, make_estimator
from deplda.experiments.shown import examples_of
from deplda.kernels.cuda.device import LOG, choose
from deplda.models.registry import can
from deplda.models.topic_model import TopicModel

_FEW_DOCUMENTS = 50
_RESAMPLES = 500


class Task(msgspec.Struct, frozen=True):
    """What a unit is asked for; sent to its process as JSON."""

    experiment: Experiment
    model: str
    split: int
    budget: Budget
    data_dir: str | None = None
    n_jobs: int | None = None
    device: str = "cpu"
    turn: str | None = None
    """The file by which units that run side by side take turns on a GPU; None where each works."""


def run_unit(task: Task) -> dict[str, Any]:
    """Return everything that is kept of a unit, as JSON has it."""
    experiment = task.experiment
    data = datasets.load(experiment.data, task.data_dir)
    train, test = parts_of(data, experiment, task.split)
    seed = experiment.seed + task.split
    model = make_estimator(
        experiment.models[task.model], task.budget, seed, task.n_jobs, task.device
    )
    _compile(model, train)
    with _listening() as reasons, nullcontext() if task.turn is None else in_turn(task.turn):
        begin = _now()
        model.fit(train, **_beside(data, task.split, train, model))
        fitted = _now()
        scores = model.scores_to_evaluate(test)
        scored = _now()
        predicted = model.predict_scored(test, scores)
        shown = examples_of(model, train, test)
        gpu = _gpu_of(model)
    found = evaluate(scores, test, train, predicted=predicted, labels=experiment.labels)
    return {
        "metrics": found.to_dict(),
        "by_label": {
            "labels": [int(label) for label in found.label.indices],
            "training_documents": found.label.training_documents.tolist(),
            "positives": found.label.positives.tolist(),
            "average_precision": found.label.item_values("average_precision").tolist(),
        },
        "resampled": {
            "document": drawn_anew(found.document, task.split),
            "label": drawn_anew(found.label, task.split),
        },
        "seconds": {"fit": fitted[0] - begin[0], "predict": scored[0] - fitted[0]},
        "cpu_seconds": {"fit": fitted[1] - begin[1], "predict": scored[1] - fitted[1]},
        "peak_mb": _peak_mb(),
        "n_test": len(test),
        "parameters": _plain(model.get_params()),
        "settings": _plain(getattr(model, "settings_", {})),
        "seed": seed,
        "diagnostics": _diagnostics(model),
        "showcase": shown,
        "versions": {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")},
        "library": deplda.__version__,
        "machine": {
            "python": platform.python_version(),
            "system": platform.system(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "gpu": gpu,
            "cpu_since": reasons[0] if reasons else None,
        },
    }


def _peak_mb() -> float:
    """Return the most memory that this process had, which macOS tells in bytes, Linux in kB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def parts_of(data: Dataset, experiment: Experiment, number: int) -> tuple[Corpus, Corpus]:
    """Return the two parts of a split, with the words that are kept of the first."""
    split = data.splits[number]
    train = data.corpus[split.train]
    if experiment.min_count == "auto":
        train, _ = kept_words(train, "auto")
    else:
        train = train.keep_words(experiment.min_count)
    return train, data.corpus[split.test].align(train)


def _beside(data: Dataset, split: int, train: Corpus, model: Any) -> dict[str, Any]:
    """Return what is known of the training documents beside words, as `fit` takes it."""
    known: dict[str, Any] = {}
    if data.counter is not None:
        known["counter"] = data.counter.with_words(train.vocabulary)
    if data.groups and can(model, "mix"):
        known["groups"] = group_numbers(data.groups, len(data.corpus))[data.splits[split].train]
    return known


def drawn_anew(
    metrics: Metrics, seed: int, resamples: int = _RESAMPLES
) -> dict[str, dict[str, list[float]]]:
    """Return the metrics of test documents, or of labels, drawn anew: in all models the same ones.

    So what two models differ by in each draw can be told, and whether it is beyond noise.
    """
    chosen = {
        "ranking": {name: r for name, r in metrics.ranking.items() if "@" not in name},
        "binary": {name: r for name, r in metrics.binary.items() if "_f1@" in name},
    }
    every = {name: ratio for ratios in chosen.values() for name, ratio in ratios.items()}
    drawn = resampled(every, resamples=resamples, seed=seed)
    short = {name: [float(f"{v:.6g}") for v in drawn[:, k]] for k, name in enumerate(every)}
    return {task: {name: short[name] for name in ratios} for task, ratios in chosen.items()}


def _compile(model: Any, train: Corpus) -> None:
    """Let a copy of the model see a few documents, so that compiling is not timed."""
    few = train[:_FEW_DOCUMENTS]
    clone(model).fit(few).scores_to_evaluate(few)


def _gpu_of(model: Any) -> str:
    """Return the name of the GPU that the model worked on, whose memory others may have now."""
    gpu = choose(model.device)
    if gpu is None:
        return "–"
    gpu.release()
    return gpu.name


@contextmanager
def _listening() -> Iterator[list[str]]:
    """Give the list of reasons for which work that a GPU may do is done on the CPU."""
    reasons: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: reasons.append(record.getMessage())  # type: ignore[method-assign]
    level = LOG.level
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    try:
        yield reasons
    finally:
        LOG.removeHandler(handler)
        LOG.setLevel(level)


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, str | int | float | bool | None) else str(value)
        for name, value in values.items()
    }


def _diagnostics(model: Any) -> dict[str, Any]:
    if not isinstance(model, TopicModel) or find_spec("arviz_stats") is None:
        return {}
    return {
        part: {
            "summary": diagnostics.to_dict(),
            "log_likelihood": diagnostics.traces.log_likelihood.tolist(),
        }
        for part, diagnostics in model.diagnostics().items()
    }


if __name__ == "__main__":
    sys.stdout.buffer.write(
        msgspec.json.encode(run_unit(msgspec.json.decode(sys.stdin.buffer.read(), type=Task)))
    )
