"""Folders of results of three runs, and the pages made of them."""

from pathlib import Path

import pytest

from paper.report import write_markdown, write_report
from paper.tests.report.folders import experiment, make


@pytest.fixture(scope="package")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("results")
    return [
        make(root / "a", experiment("yahoo-arts", paper="Y! Arts")),
        make(root / "b", experiment("yahoo-arts", paper="Y! Arts"), budget="paper", seed=70),
        make(root / "c", n_splits=1, failed=(("Flat-LDA", 0),)),
    ]


@pytest.fixture(scope="package")
def html(folders: list[Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("html") / "report.html"
    write_report(folders, path)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="package")
def markdown(folders: list[Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("md") / "report.md"
    write_markdown(folders, path)
    return path.read_text(encoding="utf-8")
