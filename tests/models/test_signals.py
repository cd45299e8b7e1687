"""Signals: a value for every pair, by name, and a sentence that says what it is."""

import numpy as np

from deplda.models.signals import LEAST_SHARE, SIGNALS, Candidates, values_of


def some_candidates() -> Candidates:
    rng = np.random.default_rng(0)
    margins, likeness, frequencies = rng.normal(size=(3, 4, 5))
    shares = rng.dirichlet(np.ones(5), 4)
    shares[0, 0] = 0.0
    return Candidates(rng.integers(0, 9, (4, 5), np.int32), margins, shares, likeness, frequencies)


def test_every_signal_has_its_own_name_and_sentence() -> None:
    assert len({signal.name for signal in SIGNALS}) == len(SIGNALS)
    assert len({signal.sentence for signal in SIGNALS}) == len(SIGNALS)


def test_values_are_what_was_found_and_shares_their_logarithms() -> None:
    given = some_candidates()
    found = values_of(given)
    assert set(found) == {signal.name for signal in SIGNALS}
    np.testing.assert_array_equal(found["margin"], given.margins)
    np.testing.assert_array_equal(found["likeness"], given.likeness)
    np.testing.assert_array_equal(found["frequency"], given.log_frequencies)
    np.testing.assert_allclose(np.exp(found["share"]), given.shares + LEAST_SHARE)
    assert np.isfinite(found["share"]).all()
