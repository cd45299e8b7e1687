"""Links to the documentation, where it is known where that is."""

import pytest

from deplda import WordCounter
from deplda.data import documented


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEPLDA_DOCUMENTATION", raising=False)


def test_without_a_known_site_there_is_no_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documented, "_published", lambda: "")
    assert WordCounter()._get_doc_link() == ""


def test_the_site_is_that_of_the_package_or_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = "reference/generated/deplda.WordCounter.html"
    monkeypatch.setattr(documented, "_published", lambda: "https://published.local/{x}/")
    assert WordCounter()._get_doc_link() == f"https://published.local/{{x}}/{page}"
    monkeypatch.setenv("DEPLDA_DOCUMENTATION", "file:///site")
    assert WordCounter()._get_doc_link() == f"file:///site/{page}"


def test_the_package_may_name_its_site(monkeypatch: pytest.MonkeyPatch) -> None:
    class Metadata:
        def get_all(self, name: str) -> list[str]:
            return ["Source, https://source.local", "Documentation, https://site.local"]

    monkeypatch.setattr(documented, "metadata", lambda _: Metadata())
    documented._published.cache_clear()
    assert documented._published() == "https://site.local"
    documented._published.cache_clear()
