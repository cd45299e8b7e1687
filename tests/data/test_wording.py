"""Numbers and names in sentences."""

import pytest

from deplda.data.wording import counted, did_you_mean, nearest


@pytest.mark.parametrize(
    ("n", "told"),
    [(0, "0 documents"), (1, "1 document"), (2, "2 documents"), (1000, "1,000 documents")],
)
def test_one_thing_is_told_in_the_singular(n: int, told: str) -> None:
    assert counted(n, "document") == told


def test_a_misspelt_name_is_followed_by_the_nearest() -> None:
    assert did_you_mean("splt", ["id", "split", "text"]) == ": did you mean 'split'?"
    assert did_you_mean("tilte", ["TITLE", "tiles", "x"]) == ": did you mean 'TITLE'?"
    assert did_you_mean("splt", ["id", "text"]) == ""


def test_the_nearest_stands_first() -> None:
    assert nearest("train", ["brain", "trains", "query"], 2) == ["trains", "brain"]
