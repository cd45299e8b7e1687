"""Public names have an example in their docstring, and the examples print what they say."""

import doctest
import inspect
from pathlib import Path

import pytest

import deplda
from tests.pages import FLAGS, ROOT

API = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")


def example_of(name: str) -> doctest.DocTest:
    """Return the session in the docstring of a public name."""
    docstring = inspect.getdoc(getattr(deplda, name)) or ""
    return doctest.DocTestParser().get_doctest(docstring, {}, name, None, 0)


IN_CALLS = [
    name
    for name in deplda.__all__
    if not (inspect.isclass(thing := getattr(deplda, name)) and issubclass(thing, Exception))
]
"""All public names but exceptions and warnings."""


@pytest.mark.parametrize("name", IN_CALLS)
def test_a_public_name_has_an_example_that_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session = example_of(name)
    assert session.examples
    said: list[str] = []
    results = doctest.DocTestRunner(optionflags=FLAGS).run(session, out=said.append)
    assert results.failed == 0, "".join(said)


def test_the_api_page_lists_every_public_name() -> None:
    listed = {line.strip().rpartition(".")[2] for line in API.splitlines()}
    modules = {"datasets", "splits"}  # their functions are listed
    assert {*deplda.__all__} - modules <= listed
