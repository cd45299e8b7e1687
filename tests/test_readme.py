import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if ">>>" in page.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_on_a_page_are_true(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.attempted > 0
    assert results.failed == 0


def test_the_readme_has_examples() -> None:
    assert ROOT / "README.md" in PAGES
