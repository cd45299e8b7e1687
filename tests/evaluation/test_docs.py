import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"


def test_the_examples_on_the_page_are_true() -> None:
    results = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert results.attempted > 0
    assert results.failed == 0
