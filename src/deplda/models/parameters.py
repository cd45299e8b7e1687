"""Hyperparameters: the paper's for its data sets, and the paper's rule for any other data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from deplda.data import checks
from deplda.data.corpus import Corpus
from deplda.data.weighting import WORD_COUNTS
from deplda.engine.execution import DEVICES, check_engine
from deplda.errors import IgnoredParameterWarning, warn
from deplda.inference.settings import COMBINES, ESTIMATES, METHODS

Model = Literal["flat", "prior", "dependency"]
PaperData = Literal["eurlex", "yahoo", "rcv1", "nyt"]

# Table 6. Shape: labels, words a document. `alpha` and `gamma` are the sums over labels and topics.
_SHAPES: dict[PaperData, tuple[int, float]] = {
    "eurlex": (3993, 400.0),
    "nyt": (4185, 400.0),
    "yahoo": (20, 190.0),
    "rcv1": (101, 120.0),
}
_LARGE: dict[Model, dict[str, Any]] = {
    "flat": {"alpha": 180.0},
    "prior": {"alpha": 30.0, "eta": 150.0, "beta_labels": 1.0},
    "dependency": {
        "alpha": 30.0, "eta": 150.0, "gamma": 10.0, "beta_labels": 0.01, "n_topics": 200,
    },
}  # fmt: skip
_PAPER: dict[PaperData, dict[Model, dict[str, Any]]] = {
    "eurlex": _LARGE,
    "nyt": _LARGE,
    "yahoo": {
        "flat": {"alpha": 100.0},
        "prior": {"alpha": 30.0, "eta": 70.0, "beta_labels": 10.0},
        "dependency": {
            "alpha": 1.0, "eta": 100.0, "gamma": 1.0, "beta_labels": 1.0, "n_topics": 20,
        },
    },
    "rcv1": {
        "flat": {"alpha": 101.0},
        "prior": {"alpha": 1.0, "eta": 100.0, "beta_labels": 100.0},
        "dependency": {
            "alpha": 1.0, "eta": 100.0, "gamma": 10.0, "beta_labels": 1.0, "n_topics": 100,
        },
    },
}  # fmt: skip
PAPER_NAMES = tuple(_PAPER)

_Check = Callable[..., Any]


def _or_auto(check: _Check) -> _Check:
    """Return the check of a parameter that may be "auto" as well."""

    def either(name: str, value: Any) -> Any:
        if isinstance(value, str) and value == "auto":
            return value
        return check(name, value, or_else="'auto' or ")

    return either


def _n_jobs(name: str, value: Any) -> int | None:
    if value is None or value == -1:
        return value
    return checks.whole(
        name, value, most=checks.MOST_WHOLE, or_else="None or -1 for all cores, or "
    )


def _engine(name: str, value: Any) -> Any:
    check_engine(value)
    return value


def _candidates(name: str, value: Any) -> Any:
    if isinstance(value, str) and value in ("auto", "all"):
        return value
    return checks.whole(name, value, most=checks.MOST_WHOLE, or_else="'auto', 'all' or ")


_count: _Check = partial(checks.whole, most=checks.MOST_WHOLE)
_number = _or_auto(checks.number)
_number_from_zero = _or_auto(partial(checks.number, above=False))

# What each parameter of a model may be; others are checked where they are used.
_CHECKS: dict[str, _Check] = {
    **dict.fromkeys(
        ("n_chains", "n_sweeps", "n_topic_chains", "n_topic_sweeps", "n_test_chains", "burn_in",
         "n_samples", "lag", "n_label_tokens"), _count,
    ),
    "n_held_out": partial(checks.whole, least=0, most=checks.MOST_WHOLE),
    "n_topics": _or_auto(_count),
    "candidates": _candidates,
    "eta": _number_from_zero,
    "alpha": _number_from_zero,
    **dict.fromkeys(("gamma", "beta_words", "beta_labels", "train_eta", "C"), _number),
    "train_gamma": checks.number,
    "tol": checks.number,
    "background": checks.share,
    "fit_method": partial(checks.choice, choices=("sampled", "deterministic")),
    "inference": partial(checks.choice, choices=METHODS),
    "theta_estimate": partial(checks.choice, choices=ESTIMATES),
    "combine": partial(checks.choice, choices=("auto", *COMBINES)),
    "word_counts": partial(checks.choice, choices=("auto", *WORD_COUNTS)),
    "weights": partial(checks.choice, choices=("positive", "both")),
    "device": partial(checks.choice, choices=DEVICES),
    "engine": _engine,
    "n_jobs": _n_jobs,
}  # fmt: skip

# Parameters that take effect only with some values of another parameter.
_ONLY_WITH: dict[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(("n_chains", "n_sweeps"), ("fit_method", ("sampled",))),
    **dict.fromkeys(
        ("n_test_chains", "burn_in", "n_samples", "lag", "theta_estimate"),
        ("inference", ("sampled", "proper")),
    ),
    "n_label_tokens": ("inference", ("proper",)),
}

# With so many labels, most of them rare, a document's prior over its own weighs more (chosen on
# training documents: docs/reference/models.md).
_MANY_LABELS = 1000


def paper_settings(data: PaperData, model: Model) -> dict[str, Any]:
    """Return the paper's hyperparameters and its full protocol of chains and samples."""
    protocol: dict[str, Any] = {
        "n_chains": 48, "n_sweeps": 100, "fit_method": "sampled", "inference": "sampled",
        "n_test_chains": 6 if model == "dependency" else 60, "burn_in": 50, "n_samples": 15,
        "lag": 5, "train_eta": 50.0, "beta_words": 0.01, "theta_estimate": "counts",
        "combine": "blend", "word_counts": "raw", "n_held_out": 0,
    }  # fmt: skip
    if model == "dependency":
        protocol |= {"n_topic_chains": 10, "n_topic_sweeps": 500, "train_gamma": 0.01}
    if model != "flat":
        protocol["background"] = 0.0
    return protocol | _PAPER[data][model]


def ignored(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of parameters that have no effect, and the settings they would need."""
    return {
        name: f"{method}={' or '.join(map(repr, values))}"
        for name, (method, values) in _ONLY_WITH.items()
        if name in parameters and parameters.get(method, "deterministic") not in values
    }


def with_overrides(preset: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return the overrides and the preset's values that still have an effect beside them."""
    merged = {**preset, **overrides}
    unused = ignored(merged).keys() - overrides.keys()
    return {name: value for name, value in merged.items() if name not in unused}


def warn_of_ignored(parameters: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Warn of parameters that were set but have no effect."""
    needs = {
        name: need for name, need in ignored(parameters).items()
        if parameters[name] != defaults[name]
    }  # fmt: skip
    if needs:
        listed = ", ".join(
            f"{name}={parameters[name]!r} (needs {need})" for name, need in needs.items()
        )
        warn(
            f"parameters without effect: {listed}; set what they need, or leave them at their "
            "defaults",
            IgnoredParameterWarning,
        )


def auto_settings(
    corpus: Corpus,
    model: Model,
    n_tokens: int | None = None,
    weights: npt.NDArray[np.float64] | None = None,
) -> dict[str, Any]:
    """Return the hyperparameters that the paper's rule gives for these training documents.

    `n_tokens` says how many words they have if those are not in the corpus, `weights` how many
    documents each counts as.

    As many topics as labels, at most 200; smoothing that adds a tenth to the label tokens; weights
    of the test-time prior as for the paper's data set nearest in labels and document length. And,
    not the paper's, the weight of a document's prior in training and the smoothing of words.
    """
    n_labels = max(corpus.n_labels, 1)
    n = np.ones(len(corpus)) if weights is None else weights
    tokens = float(corpus.document_lengths @ n) if n_tokens is None else n_tokens
    length = max(tokens / float(n.sum()), 1.0) if len(n) else 1.0

    def distance(data: PaperData) -> float:
        labels, words = _SHAPES[data]
        return math.hypot(math.log(n_labels / labels), math.log(length / words))

    found = dict(_PAPER[min(_PAPER, key=distance)][model])
    n_topics = min(n_labels, 200) if model == "dependency" else 1
    if model == "dependency":
        found["n_topics"] = n_topics
    if model != "flat":
        tenth = 0.1 * float(corpus.labels_per_document @ n) / (n_topics * n_labels)
        found["beta_labels"] = max(tenth, 1e-3)
    is_large = n_labels >= _MANY_LABELS
    return found | {
        "train_eta": 1000.0 if is_large else 200.0,
        "beta_words": 0.003 if is_large else 0.01,
        "word_counts": "raw" if is_large else "log",
    }


def names_of(model: Model) -> frozenset[str]:
    """Return the hyperparameters that a fitted model keeps."""
    background = frozenset() if model == "flat" else frozenset({"background"})
    return background | _LARGE[model].keys() | {"beta_words", "train_eta", "word_counts", "combine"}


def checked(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters as plain values; an error names the first that cannot be used."""
    return {
        name: _CHECKS[name](name, value) if name in _CHECKS else value
        for name, value in parameters.items()
    }
