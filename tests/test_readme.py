import doctest
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def test_the_examples_in_the_readme_are_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert results.attempted > 0
    assert results.failed == 0
