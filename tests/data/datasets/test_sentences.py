import numpy as np
import pytest

from deplda.data.datasets.sentences import (
    capital,
    drawn,
    falling,
    headline,
    pick,
    plural,
    with_articles,
)


@pytest.mark.parametrize(
    ("one", "several"),
    [
        ("judge", "judges"),
        ("class action", "class actions"),
        ("monopoly", "monopolies"),
        ("day", "days"),
        ("box", "boxes"),
        ("drawing knife", "drawing knives"),
        ("fisherman", "fishermen"),
        ("margin of error", "margins of error"),
        ("species", "species"),
        ("brown trout", "brown trout"),
    ],
)
def test_a_noun_or_a_phrase_has_its_plural(one: str, several: str) -> None:
    assert plural(one) == several


def test_an_stands_before_what_sounds_like_a_vowel() -> None:
    text = with_articles(
        "A attorney met a judge, a union, a unanimous jury, a hourly worker, a one."
    )
    assert text == "An attorney met a judge, a union, a unanimous jury, an hourly worker, a one."


def test_a_headline_has_capital_letters_but_for_small_words() -> None:
    assert headline("the judge of a court") == "The Judge of a Court"
    assert capital("") == ""


def test_the_first_are_drawn_more_often() -> None:
    rng = np.random.default_rng(0)
    times = np.bincount([drawn(falling(3, 1.0), rng) for _ in range(1_100)], minlength=3)
    assert times.tolist() == pytest.approx([600, 300, 200], abs=60)
    assert {pick(rng, "ab") for _ in range(20)} == {"a", "b"}
