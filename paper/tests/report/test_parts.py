"""What a report is made of."""

from deplda.comparison.standing import Cell
from paper.report.parts import table


def test_plain_texts_become_cells_and_cells_stay_what_they_are() -> None:
    best = Cell("0.9", "best")
    made = table("A caption.", ("model", "value"), [["one", "0.1"], ["two", best]])
    assert made.rows == ((Cell("one"), Cell("0.1")), (Cell("two"), best))
    assert not made.prose
