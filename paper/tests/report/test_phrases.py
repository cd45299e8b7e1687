"""Numbers and names as they stand in sentences."""

import math

from paper.report import phrases


def test_a_difference_has_its_sign_unless_it_is_nothing() -> None:
    assert [phrases.signed(x) for x in (0.0123, -0.0123, -0.0001)] == ["+.012", "−.012", ".000"]


def test_a_p_value_is_never_said_to_be_zero() -> None:
    shown = [phrases.p_value(p).replace("\N{NO-BREAK SPACE}", " ") for p in (1e-9, 0.03, math.nan)]
    assert shown == ["p < .001", "p = .030", "not testable"]
    assert [phrases.stars(p) for p in (0.2, 0.03, 0.003, 0.0003)] == ["", "*", "**", "***"]
