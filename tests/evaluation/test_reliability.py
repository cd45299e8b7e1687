"""Told and seen: the reliability curve of probabilities."""

import numpy as np
import pytest

from deplda import InputError
from deplda.evaluation import reliability
from deplda.evaluation.reliability import calibration_error


def test_bins_hold_all_pairs_and_about_as_much_probability_each() -> None:
    rng = np.random.default_rng(0)
    chances = rng.random((200, 30)) ** 3
    found = reliability(chances, rng.random(chances.shape) < chances, bins=5)
    assert sum(part.n for part in found) == chances.size
    assert [part.told * part.n for part in found] == pytest.approx(
        [chances.sum() / 5] * 5, rel=0.01
    )
    for part in found:  # the truth was drawn with these probabilities
        assert part.seen == pytest.approx(part.told, abs=0.05)


def test_overconfidence_is_seen() -> None:
    (found,) = reliability([[0.9, 0.9, 0.9, 0.9]], [[1, 0, 0, 1]], bins=1)
    assert found == pytest.approx((0.9, 0.5, 4))


def test_the_error_is_how_far_what_is_told_is_off() -> None:
    ones = np.ones(4, np.int64)
    off = calibration_error(np.full(4, 0.9), np.array([1, 0, 0, 1]), ones, bins=1)
    assert off == pytest.approx(0.4)
    told, n = np.array([0.2, 0.8]), np.array([40, 15])
    assert calibration_error(told, np.array([8, 12]), n, bins=2) == pytest.approx(0)
    assert calibration_error(told, np.array([8, 6]), n, bins=2) == pytest.approx(0.2)
    assert calibration_error(np.zeros(0), ones[:0], ones[:0]) == 0


@pytest.mark.parametrize(
    ("probabilities", "options", "message"),
    [
        ([[0.5]], {}, "probabilities are 1 × 1 but the truth is 1 × 2"),
        ([0.5, 0.5], {}, "probabilities must have two dimensions"),
        ([[0.5, 0.5]], {"bins": 0}, "bins is 0"),
    ],
)
def test_what_has_no_curve_is_refused(
    probabilities: object, options: dict[str, int], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        reliability(probabilities, [[1, 0]], **options)
