"""Numbers and names as they stand in sentences."""

import math

import pytest

from deplda.experiments.report import phrases


def test_names_are_listed_as_in_a_sentence() -> None:
    assert phrases.listed(["a"]) == "a"
    assert phrases.listed(["a", "b", "c"]) == "a, b and c"


def test_one_thing_is_not_several() -> None:
    assert phrases.counted(1, "split") == "1 split"
    assert phrases.counted(1200, "split") == "1,200 splits"
    assert [phrases.span(1, 1), phrases.span(1, 4)] == ["1", "1–4"]


@pytest.mark.parametrize(
    ("value", "shown"), [(0.5, ".500"), (1.0, "1.000"), (math.nan, "–"), (0.0004, ".000")]
)
def test_a_rate_is_written_as_in_the_paper(value: float, shown: str) -> None:
    assert phrases.rate(value) == shown


def test_a_difference_has_its_sign_unless_it_is_nothing() -> None:
    assert [phrases.signed(x) for x in (0.0123, -0.0123, -0.0001)] == ["+.012", "−.012", ".000"]


def test_a_p_value_is_never_said_to_be_zero() -> None:
    shown = [phrases.p_value(p).replace("\N{NO-BREAK SPACE}", " ") for p in (1e-9, 0.03, math.nan)]
    assert shown == ["p < .001", "p = .030", "not testable"]
    assert [phrases.stars(p) for p in (0.2, 0.03, 0.003, 0.0003)] == ["", "*", "**", "***"]
