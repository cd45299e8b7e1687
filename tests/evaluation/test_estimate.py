"""Bootstrap intervals of means and of ratios."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deplda.evaluation.estimate import Ratio, bootstrap, mean_of


def test_the_interval_of_a_mean_is_that_of_its_standard_error() -> None:
    values = np.random.default_rng(3).normal(size=400)
    found = bootstrap({"mean": mean_of(values)}, resamples=2000)["mean"]
    error = values.std() / 20
    assert found.value == pytest.approx(values.mean())
    assert found.low == pytest.approx(values.mean() - 1.96 * error, abs=0.2 * error)
    assert found.high == pytest.approx(values.mean() + 1.96 * error, abs=0.2 * error)


def test_same_seed_same_interval_and_a_metric_alone_has_the_interval_it_has_among_others() -> None:
    rng = np.random.default_rng(0)
    ratios = {"a": mean_of(rng.random(50)), "b": Ratio(rng.random(50), 1 + rng.random(50))}
    both = bootstrap(ratios, seed=4, resamples=100)
    assert both == bootstrap(ratios, seed=4, resamples=100)
    assert both != bootstrap(ratios, seed=5, resamples=100)
    alone = bootstrap({"b": ratios["b"]}, seed=4, resamples=100)["b"]
    assert alone == pytest.approx(both["b"])


@given(st.floats(0.5, 0.99), st.integers(2, 60))
@settings(deadline=None, max_examples=20)
def test_an_interval_is_ordered_and_within_the_values(level: float, n: int) -> None:
    values = np.random.default_rng(n).random(n)
    found = bootstrap({"mean": mean_of(values)}, level=level, resamples=50)["mean"]
    assert values.min() <= found.low <= found.high <= values.max()


def test_what_is_undefined_everywhere_has_no_interval() -> None:
    found = bootstrap({"mean": mean_of(np.full(3, np.nan))}, resamples=5)["mean"]
    assert np.isnan(found).all()
    assert bootstrap({}) == {}
