"""Told and seen: the reliability curve of probabilities."""

import numpy as np
import pytest

from deplda import InputError
from deplda.evaluation import reliability


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


@pytest.mark.parametrize(
    ("probabilities", "options", "message"),
    [
        ([[0.5]], {}, "probabilities are 1 × 1 but the truth is 1 × 2"),
        ([0.5, 0.5], {}, "probabilities: 1 dimensions"),
        ([[0.5, 1.5]], {}, "from 0 to 1"),
        ([[0.5, np.nan]], {}, "from 0 to 1"),
        ([[0.5, 0.5]], {"bins": 0}, "bins is 0"),
    ],
)
def test_what_has_no_curve_is_refused(
    probabilities: object, options: dict[str, int], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        reliability(probabilities, [[1, 0]], **options)
