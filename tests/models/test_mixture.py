"""The mixture: a sum of parts, tuned to be no worse than either of them."""

from typing import Any

import numpy as np
import pytest

from deplda.models.mixture import (
    HeldOutScores,
    Mixture,
    best_threshold,
    probabilities_of,
    quality,
    tune,
)


def held_out(svm: float, topics: float, seed: int = 0) -> HeldOutScores:
    """Return margins and shares that tell the truth with so much weight, and noise."""
    rng = np.random.default_rng(seed)
    truth = rng.random((120, 8)) < 0.25
    margins = svm * (truth - 0.5) + rng.normal(size=truth.shape)
    shares = np.exp(topics * truth + rng.normal(size=truth.shape))
    shares /= shares.sum(axis=1, keepdims=True)
    return HeldOutScores(margins, shares, truth, np.log(truth.mean(axis=0)))


@pytest.mark.parametrize("floor", [0.0, 0.01])
@pytest.mark.parametrize("model", ["both", "svm", "topics"])
def test_a_score_is_the_sum_of_its_parts(model: Any, floor: float) -> None:
    margins, shares, _, frequencies = held_out(1.0, 1.0)
    mixture = Mixture(model, frequency=0.3, slope_frequency=0.1, floor=floor)
    parts = mixture.parts(margins, shares, frequencies)
    assert set(parts) == ({"svm", "topics"} if model == "both" else {model})
    found = mixture.scores(margins, shares, frequencies)
    assert found == pytest.approx(np.sum(list(parts.values()), axis=0))


def test_below_the_floor_topics_decide() -> None:
    margins, shares = np.array([[-9.0, -8.0]]), np.array([[0.6, 0.1]])
    by_floor = [Mixture(floor=floor).scores(margins, shares, np.zeros(2)) for floor in (0.0, 0.01)]
    assert by_floor[0].argmax() == 1
    assert by_floor[1].argmax() == 0


@pytest.mark.parametrize(("svm", "topics"), [(2.0, 2.0), (4.0, 0.0), (0.0, 4.0)])
def test_the_best_mixture_is_no_worse_than_either_parent(svm: float, topics: float) -> None:
    signals = held_out(svm, topics)
    mixture, told = tune(signals)
    scores = mixture.scores(signals.margins, signals.shares, signals.log_frequencies)
    assert quality(scores, signals.truth) == told["hybrid"] >= max(told["svm"], told["topics"])
    assert told["svm"] == quality(signals.margins, signals.truth)
    assert told["topics"] == quality(signals.shares, signals.truth)
    if svm == topics:
        assert told["hybrid"] > max(told["svm"], told["topics"])


def test_the_threshold_has_the_best_micro_f1_of_all() -> None:
    scores, _, truth, _ = held_out(1.5, 0.0)

    def micro(threshold: float) -> float:
        predicted = scores >= threshold
        return 2 * (predicted & truth).sum() / (predicted.sum() + truth.sum())

    best = max(map(micro, scores.ravel()))
    assert micro(best_threshold(scores, truth)) == pytest.approx(best)


def test_probabilities_rise_with_the_score_and_are_never_quite_0_or_1() -> None:
    scores, _, truth, _ = held_out(3.0, 0.0)
    found = probabilities_of(scores, truth)
    at = found.at(np.linspace(-20, 20, 101))
    assert (np.diff(at) >= 0).all()
    assert 0 < at[0] < 0.05
    assert 0.95 < at[-1] < 1
    assert found.at(scores).mean() == pytest.approx(truth.mean(), abs=0.01)
