"""Numbers and names in sentences."""

import math

import pytest

from deplda.comparison import phrases


def test_names_are_listed_as_in_a_sentence() -> None:
    assert phrases.listed(["a"]) == "a"
    assert phrases.listed(["a", "b", "c"]) == "a, b and c"


def test_one_document_is_singular() -> None:
    assert [phrases.documents(1, 1), phrases.documents(1, 4)] == [
        "1 training document", "1–4 training documents",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "shown"), [(0.5, ".500"), (1.0, "1.000"), (math.nan, "–"), (0.0004, ".000")]
)
def test_a_rate_is_written_as_in_the_paper(value: float, shown: str) -> None:
    assert phrases.rate(value) == shown
