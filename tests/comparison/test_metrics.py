"""The metrics of a comparison."""

import math

from deplda.comparison.metrics import BY_DOCUMENT, MICRO_F1, ONE_ERROR


def test_metrics_have_titles_and_forms() -> None:
    assert BY_DOCUMENT.title == "Avg-Prec by document"
    assert MICRO_F1.title == "Calibrated micro-F1 by document"
    assert (BY_DOCUMENT.shown(0.5), ONE_ERROR.shown(12.34)) == (".500", "12.3")
    assert ONE_ERROR.shown(math.nan) == BY_DOCUMENT.shown(math.nan) == "–"
    assert ONE_ERROR.lower_is_better
    assert not BY_DOCUMENT.lower_is_better
