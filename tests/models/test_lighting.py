"""Words are lit by what they add to a label, and only those that make up most of it."""

import pytest

from deplda.models.lighting import lit_by_labels, lit_words
from deplda.models.reasons import Word


def words(**added: tuple[float, ...]) -> list[Word]:
    return [Word(word, 1, values, values) for word, values in added.items()]


def test_a_word_that_adds_most_is_brightest_however_often_it_occurs() -> None:
    some = [Word("trade", 15, (6.0,), (6.0,)), Word("row", 1, (0.9,), (0.9,))]
    assert lit_words(some, 0) == {"trade": 1.0}  # which alone is most of the evidence


def test_only_the_words_that_make_up_most_of_the_evidence_are_lit() -> None:
    some = words(a=(4.0,), b=(3.0,), c=(1.5,), d=(1.0,), e=(0.5,), against=(-5.0,))
    assert lit_words(some, 0) == {"a": 1.0, "b": 0.75, "c": 0.375}


def test_a_word_has_the_colour_of_the_label_that_it_argues_most_for() -> None:
    some = words(court=(3.0, 1.0), game=(-1.0, 2.0), the=(0.1, 0.1))
    lit = lit_by_labels(some, (0.9, 0.5))
    assert (lit["court"].label, lit["game"].label) == (0, 1)
    assert lit["court"].how == 1.0
    assert lit["game"].how == pytest.approx(2.0 * 0.5 / (3.0 * 0.9))
    assert "the" not in lit


def test_nothing_is_lit_where_nothing_speaks_for_a_label() -> None:
    assert lit_by_labels(words(a=(-1.0,)), (0.5,)) == {}
    assert lit_by_labels([], (0.5,)) == {}
