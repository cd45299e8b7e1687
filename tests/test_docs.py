import re
from importlib import import_module
from pathlib import Path

import pytest

import deplda
from deplda.models.registry import WHICH_MODEL
from tests.pages import ROOT, blocks_of, run_page

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts]
WITH_CODE = [page for page in PAGES if any(blocks_of(page))]
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)|(?:src|srcset)=\"([^\"]+)\"")
ANCHOR = re.compile(r"\]\(([^):#\s]*\.md)?#([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


# Experiments and large label sets take longest: their pages run with the slow tests.
LONG = {
    "compare-models.md", "large-label-sets.md", "own-documents.md",
    "quickstart.md",
}  # fmt: skip


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.slow) if page.name in LONG else page
        for page in WITH_CODE
    ],
    ids=name_of,
)
def test_every_block_of_a_page_runs_and_prints_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(page) > 0


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=name_of)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    links = ["".join(found) for found in LINK.findall(page.read_text(encoding="utf-8"))]
    missing = [link for link in links if ":" not in link and not (page.parent / link).exists()]
    assert missing == []


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as the site and code hosts make them."""
    text = page.read_text(encoding="utf-8")
    for included in re.findall(r"^```\{include\} (\S+)$", text, re.MULTILINE):
        text += (page.parent / included).read_text(encoding="utf-8")
    headings = HEADING.findall(text)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=name_of)
def test_the_links_of_a_page_lead_to_headings_that_exist(page: Path) -> None:
    links = ANCHOR.findall(page.read_text(encoding="utf-8"))
    missing = [
        f"{path}#{anchor}"
        for path, anchor in links
        if anchor not in anchors_of(page.parent / path if path else page)
    ]
    assert missing == []


def test_a_page_that_tells_an_untruth_fails(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for text in (
        "```python\n>>> 1 + 1\n3\n```",
        "```python\nprint('never run')\n```",
        "```console\n$ deplda show no-such-model\n```",
        "```console\n$ echo one\ntwo\n```",
        "```console\n$ make nothing\n```",
        "<!-- not run: long -->\n```console\n$ deplda train newsroom --no-such-option\n```",
        "```rust\nfn main() {}\n```",
    ):
        page.write_text(text + "\n", encoding="utf-8")
        with pytest.raises(Exception, match=r"\S"):
            run_page(page)


def test_the_readme_has_examples_in_python_and_for_the_shell() -> None:
    languages = {block.language for block in blocks_of(ROOT / "README.md")}
    assert {"python", "console"} <= languages


@pytest.mark.parametrize(
    "page",
    ["README.md", "docs/quickstart.md", "docs/reference/models.md", "docs/explanation/models.md"],
)
def test_pages_say_which_model_to_use_as_the_command_line_does(page: str) -> None:
    assert WHICH_MODEL in " ".join((ROOT / page).read_text(encoding="utf-8").split())


def test_the_page_of_the_api_names_what_there_is_and_all_that_is_public() -> None:
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    named = re.findall(r"^   (\w[\w.]*)$", page, re.MULTILINE)
    assert len(named) == len(set(named)) > 90
    for name in named:
        module, _, last = f"deplda.{name}".rpartition(".")
        assert getattr(import_module(module), last).__doc__, name
    assert {*deplda.__all__} - {*named} == {"datasets", "splits"}  # modules, told of in words
