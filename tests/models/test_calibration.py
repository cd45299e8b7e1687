"""Probabilities where the truth was drawn with known ones: told = true, for rare labels too."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from deplda.models.calibration import Calibration, HeldOutPairs, all_pairs, calibrate

N_DOCUMENTS, N_LABELS, N_TRAINED = 600, 400, 3000


@cache
def world(seed: int = 0) -> tuple[Any, Any, Any]:
    """Return scores, chances and training documents of labels; scores flatter rare labels."""
    rng = np.random.default_rng(seed)
    share = np.geomspace(1 / 2000, 0.1, N_LABELS)
    odds = np.log(share) + rng.normal(0, 2.0, (N_DOCUMENTS, N_LABELS)) - 1.5
    scores = np.tanh((odds - 0.7 * (np.log(share) + 5)) / 8)
    return scores, expit(odds), rng.binomial(N_TRAINED, expit(odds).mean(axis=0))


def drawn(chances: Any, seed: int) -> Any:
    return np.random.default_rng(seed).random(chances.shape) < chances


@cache
def calibrated() -> Calibration:
    scores, chances, n_trained = world()
    pairs = all_pairs(scores, drawn(chances, 1), np.ones(N_LABELS, bool))
    found = calibrate(pairs, n_trained, N_TRAINED, is_part=False)
    assert found is not None
    return found


def test_what_is_told_is_true_in_the_large_and_of_rare_labels() -> None:
    scores, chances, n_trained = world(seed=7)
    told = calibrated().at(scores, np.arange(N_LABELS))
    assert told.sum() == pytest.approx(chances.sum(), rel=0.05)
    order = np.argsort(n_trained, kind="stable")
    for third in np.array_split(order, 3):
        assert told[:, third].sum() == pytest.approx(chances[:, third].sum(), rel=0.12)
    likely = chances > 0.05
    assert np.abs(told - chances)[likely].mean() < 0.06


def test_one_line_for_all_labels_is_wrong_about_rare_ones() -> None:
    """What the later stages are for."""
    scores, chances, n_trained = world(seed=7)
    rare = np.argsort(n_trained, kind="stable")[: N_LABELS // 3]
    found = calibrated()
    common = expit(np.interp(scores, found.points, found.values))
    assert common[:, rare].sum() > 2 * chances[:, rare].sum()


def test_within_a_label_it_rises_with_the_score() -> None:
    line = np.linspace(-1.5, 1.5, 301)[:, None]
    told = calibrated().at(line, np.arange(N_LABELS)[None])
    assert told.shape == (301, N_LABELS)
    assert (np.diff(told, axis=0) >= 0).all()
    assert 0 < told.min() < told.max() < 1
    np.testing.assert_allclose(
        expit(calibrated().log_odds(line, np.array(3))), told[:, [3]], rtol=1e-12
    )


def test_the_same_pairs_give_the_same_bits() -> None:
    scores, chances, n_trained = world()
    pairs = all_pairs(scores, drawn(chances, 1), np.ones(N_LABELS, bool))
    again = calibrate(pairs, n_trained, N_TRAINED, is_part=False)
    assert again is not None
    for left, right in zip(calibrated(), again, strict=True):
        np.testing.assert_array_equal(left, right)


def test_the_share_of_documents_without_labels_is_that_below_the_threshold() -> None:
    scores, chances, n_trained = world()
    few = np.sort(np.random.default_rng(3).choice(N_LABELS, 20, replace=False))
    pairs = all_pairs(scores[:, few], drawn(chances, 1)[:, few], np.ones(20, bool))
    calibration = calibrate(pairs, n_trained[few], N_TRAINED, is_part=False)
    assert calibration is not None
    likeliest = calibration.of_documents(scores[:, few]).max(axis=1)
    share = float((likeliest < calibration.threshold).mean())
    assert 0.05 < share < 0.95
    assert calibration.without_labels == pytest.approx(share, abs=1e-12)


def test_for_log_odds_alone_the_usual_stages_are_taken_and_nothing_is_judged() -> None:
    scores, chances, n_trained = world()
    pairs = all_pairs(scores, drawn(chances, 1), np.ones(N_LABELS, bool))
    rough = calibrate(pairs, n_trained, N_TRAINED, is_part=False, is_thorough=False)
    assert rough is not None
    assert rough.threshold == rough.error == 0.0
    assert not rough.label_thresholds.any()
    told, usual = (each.at(scores, np.arange(N_LABELS)) for each in (rough, calibrated()))
    assert np.corrcoef(told.ravel(), usual.ravel())[0, 1] > 0.99


def test_many_low_scores_are_counted_and_told_right() -> None:
    """Far more pairs than are looked at one by one."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(40, 3000))
    chances = expit(2 * scores - 8)
    n_trained = np.full(3000, 100)
    pairs = all_pairs(scores, drawn(chances, 1), np.ones(3000, bool))
    found = calibrate(pairs, n_trained, 10_000, is_part=False)
    assert found is not None
    low = np.argsort(np.argsort(-scores, axis=1), axis=1) >= 200
    told = found.at(scores, np.arange(3000))
    assert told.sum() == pytest.approx(chances.sum(), rel=0.15)
    assert told[low].sum() == pytest.approx(chances[low].sum(), rel=0.6)


def test_the_threshold_has_about_the_best_micro_f1() -> None:
    scores, chances, _ = world(seed=7)
    truth, told = drawn(chances, 2), calibrated().at(scores, np.arange(N_LABELS))

    def micro(threshold: float) -> float:
        given = told >= threshold
        return 2 * float((given & truth).sum()) / float(given.sum() + truth.sum())

    best = max(micro(t) for t in np.linspace(0.02, 0.9, 89))
    assert micro(calibrated().threshold) > best - 0.01


def test_the_threshold_is_far_from_both_where_true_and_false_pairs_are_far_apart() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random((200, 3)) < 0.4
    scores = np.where(truth, 0.9, 0.1) + rng.normal(0, 0.01, truth.shape)
    pairs = all_pairs(scores, truth, np.ones(3, bool))
    found = calibrate(pairs, truth.sum(axis=0), 200, is_part=False)
    assert found is not None
    told = found.at(scores, np.arange(3))
    assert told[~truth].max() + 0.2 < found.threshold < told[truth].min() - 0.2


def test_missed_pairs_lower_the_thresholds() -> None:
    scores, chances, n_trained = world()
    pairs = all_pairs(scores, drawn(chances, 1), np.ones(N_LABELS, bool))
    is_scored = pairs.scores > np.quantile(pairs.scores, 0.7)
    missed = np.bincount(pairs.labels[~is_scored & pairs.truth], minlength=N_LABELS)
    fewer = HeldOutPairs(
        pairs.documents[is_scored], pairs.labels[is_scored], pairs.scores[is_scored],
        pairs.truth[is_scored], N_DOCUMENTS, missed,
    )  # fmt: skip
    found = calibrate(fewer, n_trained, N_TRAINED, is_part=False)
    without = calibrate(fewer._replace(missed=missed * 0), n_trained, N_TRAINED, is_part=False)
    assert found is not None
    assert without is not None
    assert missed.sum() > 50
    assert found.threshold <= without.threshold
    assert found.label_thresholds.sum() < without.label_thresholds.sum()
    told = found.at(fewer.scores, fewer.labels)
    assert told.sum() == pytest.approx(chances.ravel()[is_scored].sum(), rel=0.1)


def test_a_frequent_label_is_cut_off_at_half_of_its_best_f1() -> None:
    scores, _, n_trained = world(seed=7)
    label = int(np.argmax(n_trained))
    told = np.sort(calibrated().at(scores[:, label], np.array(label)))[::-1]
    best = (2 * np.cumsum(told) / (np.arange(1, len(told) + 1) + told.sum())).max()
    assert calibrated().label_thresholds[label] == pytest.approx(best / 2, abs=0.05)
    rarest = int(np.argmin(n_trained))
    assert calibrated().label_thresholds[rarest] == pytest.approx(calibrated().threshold, abs=0.1)


def test_the_error_is_small_where_enough_is_known() -> None:
    assert 0 < calibrated().error < 0.04


@pytest.mark.parametrize("n_documents", [1, 3])
def test_a_few_documents_do_not_change_the_order_of_labels(n_documents: int) -> None:
    """One or three say nothing of single labels, or of their frequency."""
    rng = np.random.default_rng(n_documents)
    scores = rng.random((n_documents, 4))
    truth = np.zeros((n_documents, 4), bool)
    truth[:, 0] = True
    found = calibrate(
        all_pairs(scores, truth, np.ones(4, bool)), np.array([1, 2, 5, 9]), 10, is_part=False
    )
    assert found is not None
    told = found.of_documents(np.array([[0.9, 0.1, 0.5, 0.7], [0.2, 0.8, 0.6, 0.4]]))
    assert (np.diff(np.take_along_axis(told, np.array([[1, 2, 3, 0], [0, 3, 2, 1]]), 1)) >= 0).all()


def test_nothing_is_told_where_nothing_is_true_or_everything() -> None:
    scores = np.zeros((5, 3))
    for truth in (np.zeros((5, 3), bool), np.ones((5, 3), bool)):
        pairs = all_pairs(scores, truth, np.ones(3, bool))
        assert calibrate(pairs, np.ones(3, np.int64), 20) is None


def test_scores_that_say_nothing_are_told_by_frequency() -> None:
    rng = np.random.default_rng(0)
    share = np.geomspace(0.02, 0.4, 20)
    truth = rng.random((500, 20)) < share
    pairs = all_pairs(np.zeros((500, 20)), truth, np.ones(20, bool))
    found = calibrate(pairs, np.round(2000 * share).astype(np.int64), 2000, is_part=False)
    assert found is not None
    np.testing.assert_allclose(found.at(np.zeros(20), np.arange(20)), share, rtol=0.3)


def test_classes_sum_to_one_and_are_as_likely_as_told() -> None:
    rng = np.random.default_rng(0)
    odds = rng.normal(0, 1.5, (800, 4))
    chances = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    own = (rng.random((800, 1)) > np.cumsum(chances, axis=1)).sum(axis=1)
    pairs = all_pairs(odds / 3, np.eye(4, dtype=bool)[own], np.ones(4, bool))
    found = calibrate(pairs, np.full(4, 500), 2000, one_class=True)
    assert found is not None
    assert found.temperature == pytest.approx(3, rel=0.2)
    told = found.of_documents(odds / 3)
    np.testing.assert_allclose(told.sum(axis=1), 1)
    assert np.abs(told - chances).max() < 0.1
