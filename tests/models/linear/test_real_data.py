"""The SVM baselines on real data: the paper's own figures, and LIBLINEAR's own choices."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paper.data import load
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from deplda.kernels.cuda import device
from deplda.models.linear import TfidfSVM, TunedSVM, VanillaSVM
from deplda.models.linear.tuning import candidates, held_out, shuffled
from tests.models.linear.worlds import MODELS
from tests.training.test_real_data import average_precision

pytestmark = pytest.mark.data


def one_error(scores: np.ndarray[Any, Any], truth: np.ndarray[Any, Any]) -> float:
    labelled = truth.any(axis=1)
    best = scores.argmax(axis=1)
    return float(100 * (1 - truth[np.arange(len(truth)), best][labelled].mean()))


@pytest.mark.parametrize(
    ("name", "by_document", "by_label", "errors"),
    [("yahoo-health", 0.694, 0.542, 44.1), ("yahoo-arts", 0.565, 0.298, 55.5)],
)
def test_vanilla_means_over_five_splits_are_the_papers(
    name: str, by_document: float, by_label: float, errors: float, data_dir: Path
) -> None:
    data, found = load(name, data_dir), []
    for split in data.splits:
        train, test = (data.corpus[rows] for rows in split)
        scores, truth = VanillaSVM().fit(train).decision_function(test), test.labels.toarray()
        found.append((
            average_precision(scores, truth),
            average_precision(scores.T, truth.T),
            one_error(scores, truth),
        ))  # fmt: skip
    means = np.mean(found, axis=0)
    np.testing.assert_allclose(means[:2], (by_document, by_label), atol=0.01)
    np.testing.assert_allclose(means[2], errors, atol=1)


@pytest.mark.parametrize("which", ["positive", "both"])
def test_tuned_chooses_what_a_search_with_liblinear_chooses(which: Any, data_dir: Path) -> None:
    data = load("yahoo-health", data_dir)
    train = data.corpus[data.splits[0].train]
    x, order = normalize(train.counts.astype(float), "l1"), shuffled(len(train), 0)
    found = TunedSVM(random_state=0, weights=which).fit(train).positive_weights_
    for label, y in enumerate(train.labels.toarray().T):
        signs = np.where(y, 1, -1).astype(np.int8)
        left, held = held_out(signs, order)
        rights = []
        for weight in candidates(signs):
            weighted = {1: weight} if which == "positive" else {1: weight, -1: weight}
            machine = LinearSVC(class_weight=weighted, tol=1e-3, max_iter=100_000)
            machine.fit(x[left != 0], left[left != 0])
            rights.append(np.count_nonzero(machine.predict(x[held]) == signs[held]))
        assert found[label] == candidates(signs)[int(np.argmax(rights))]


def test_tuning_is_better_than_not_tuning_and_tfidf_better_than_either(data_dir: Path) -> None:
    data = load("yahoo-health", data_dir)
    train, test = (data.corpus[rows] for rows in data.splits[0])
    vanilla, tuned, tfidf = (
        model().fit(train).score(test) for model in (VanillaSVM, TunedSVM, TfidfSVM)
    )
    assert vanilla + 0.03 < tuned < tfidf - 0.03


@pytest.mark.gpu
@pytest.mark.timeout(1200)  # most of it for the CPU's part
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("name", "every"), [("yahoo-arts", 1), ("eurlex20k", 20)])
def test_a_gpu_learns_and_chooses_as_the_cpu_does(
    name: str, every: int, model: Any, data_dir: Path
) -> None:
    if problem := device.problem():
        pytest.skip(problem)
    data = load(name, data_dir)
    train, test = (data.corpus[rows] for rows in data.splits[0])
    labels = train.labels[:, ::every]
    usual, found = (model(device=where).fit(train.counts, labels) for where in ("cpu", "cuda"))
    assert found.C_ == usual.C_
    same = np.ones(labels.shape[1], bool)
    if model is TunedSVM:  # a score next to 0 may be on either side of it
        same = found.positive_weights_ == usual.positive_weights_
        assert same.mean() > 0.98
    scores = [each.decision_function(test.counts)[:, same] for each in (usual, found)]
    np.testing.assert_allclose(scores[1], scores[0], atol=3e-3)
