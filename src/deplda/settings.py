"""Hyperparameters: the paper's for its data sets, and the paper's rule for any other data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Literal

from deplda.corpus import Corpus
from deplda.engine import check_engine
from deplda.errors import InputError
from deplda.kernels.cuda.card import DEVICES
from deplda.word_counts import WORD_COUNTS

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

# What each parameter of a model may be.
_CHOICES = {
    "fit_method": ("sampled", "deterministic"),
    "inference": ("sampled", "proper", "deterministic"),
    "theta_estimate": ("counts", "conditionals"),
    "combine": ("auto", "blend", "counts", "posterior"),
    "word_counts": ("auto", *WORD_COUNTS),
    "device": DEVICES,
}
_WHOLE = frozenset({
    "n_topics", "n_chains", "n_sweeps", "n_topic_chains", "n_topic_sweeps", "n_test_chains",
    "burn_in", "n_samples", "lag", "n_label_tokens",
})  # fmt: skip
_FROM_ZERO = frozenset({"eta", "alpha"})
_ABOVE_ZERO = frozenset({"gamma", "beta_words", "beta_labels", "train_eta", "train_gamma"})
_AUTO = frozenset({
    "n_topics", "eta", "alpha", "gamma", "beta_labels", "beta_words", "train_eta",
})  # fmt: skip
_MOST_WHOLE, _MOST = 1_000_000, 1e9

# With so many labels, most of them rare, a document's prior over its own weighs more (chosen on
# training documents: docs/models.md).
_MANY_LABELS = 1000


def paper_settings(data: PaperData, model: Model) -> dict[str, Any]:
    """Return the paper's hyperparameters and its full protocol of chains and samples."""
    protocol: dict[str, Any] = {
        "n_chains": 48, "n_sweeps": 100, "fit_method": "sampled", "inference": "sampled",
        "n_test_chains": 6 if model == "dependency" else 60, "burn_in": 50, "n_samples": 15,
        "lag": 5, "train_eta": 50.0, "beta_words": 0.01, "theta_estimate": "counts",
        "combine": "blend", "word_counts": "raw",
    }  # fmt: skip
    if model == "dependency":
        protocol |= {"n_topic_chains": 10, "n_topic_sweeps": 500, "train_gamma": 0.01}
    if model != "flat":
        protocol["background"] = 0.0
    return protocol | _PAPER[data][model]


def auto_settings(corpus: Corpus, model: Model, n_tokens: int | None = None) -> dict[str, Any]:
    """Return the hyperparameters that the paper's rule gives for these training documents.

    `n_tokens` says how many words they have if those are not in the corpus.

    As many topics as labels, at most 200; smoothing that adds a tenth to the label tokens; weights
    of the test-time prior as for the paper's data set nearest in labels and document length. And,
    not the paper's, the weight of a document's prior in training and the smoothing of words.
    """
    n_labels = max(corpus.n_labels, 1)
    n_tokens = corpus.n_tokens if n_tokens is None else n_tokens
    length = max(n_tokens / max(len(corpus), 1), 1.0)

    def distance(data: PaperData) -> float:
        labels, words = _SHAPES[data]
        return math.hypot(math.log(n_labels / labels), math.log(length / words))

    found = dict(_PAPER[min(_PAPER, key=distance)][model])
    n_topics = min(n_labels, 200) if model == "dependency" else 1
    if model == "dependency":
        found["n_topics"] = n_topics
    if model != "flat":
        tenth = 0.1 * corpus.labels.nnz / (n_topics * n_labels)
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
    return {name: _checked(name, value) for name, value in parameters.items()}


def _checked(name: str, value: Any) -> Any:
    if name in _CHOICES:
        known = ", ".join(repr(choice) for choice in _CHOICES[name])
        if not isinstance(value, str) or value not in _CHOICES[name]:
            raise InputError(f"{name} is {value!r}; it must be one of {known}")
        return value
    if name in _AUTO and isinstance(value, str) and value == "auto":
        return value
    auto = "'auto' or " if name in _AUTO else ""
    if name in _WHOLE:
        if not _is(value, Integral) or not 1 <= value <= _MOST_WHOLE:
            limits = f"a whole number from 1 to {_MOST_WHOLE:,}"
            raise InputError(f"{name} is {value!r}; it must be {auto}{limits}")
        return int(value)
    if name == "background":
        if not _is(value, Real) or not 0 <= value < 1:
            raise InputError(f"background is {value!r}; it must be a share from 0 and below 1")
        return float(value)
    if name in _FROM_ZERO | _ABOVE_ZERO:
        above = name in _ABOVE_ZERO
        if not _is(value, Real) or not 0 <= value <= _MOST or (above and value == 0):
            limits = f"a number {'above' if above else 'from'} 0 and at most {_MOST:,.0f}"
            raise InputError(f"{name} is {value!r}; it must be {auto}{limits}")
        return float(value)
    if name == "engine":
        check_engine(value)
    if name == "n_jobs" and value is not None:
        if not _is(value, Integral) or not (value == -1 or 1 <= value <= _MOST_WHOLE):
            raise InputError(
                f"n_jobs is {value!r}; it must be a number of threads from 1, "
                "or None or -1 for all cores"
            )
        return int(value)
    return value


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
