"""A small world, and scikit-learn's SVM of one of its labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from deplda import Corpus
from deplda.models.linear import TfidfSVM, TunedSVM, VanillaSVM
from deplda.models.linear.one_vs_rest import HeldOut

MODELS = [VanillaSVM, TunedSVM, TfidfSVM]


def world(n: int = 150, n_words: int = 60, n_labels: int = 6, seed: int = 0) -> Corpus:
    """Return documents whose labels, from frequent to rare, each favour words of their own."""
    rng = np.random.default_rng(seed)
    labels = rng.random((n, n_labels)) < 0.5 / np.arange(1, n_labels + 1)
    rates = np.full((n, n_words), 0.3)
    for label in range(n_labels):
        rates[:, label * 5 : label * 5 + 5] += labels[:, [label]]
    return Corpus(csr_array(rng.poisson(rates)), csr_array(labels))


def shares(corpus: Corpus) -> Any:
    return normalize(corpus.counts.astype(float), "l1")


def reference(x: Any, y: Any, weight: float = 1.0, cost: float = 1.0) -> LinearSVC:
    return LinearSVC(
        C=cost, class_weight={1: weight}, tol=1e-8, max_iter=1_000_000, random_state=0
    ).fit(x, y)


def fit_and_hold_out(model: Any, train: Corpus, folds: Sequence[Any]) -> Any:
    """Fit a model; return scores of the folds by SVMs that have not seen them, else 0."""
    lesson = model._begin_fit(train, None, None)
    held_out = HeldOut(folds, lesson.labels.shape[1])
    model._fit(lesson, held_out)
    margins = np.zeros(lesson.labels.shape)
    for fold, scores in zip(folds, held_out.scores, strict=True):
        margins[fold] = scores
    return margins
