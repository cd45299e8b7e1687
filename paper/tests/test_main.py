"""``python -m paper``."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from deplda import datasets
from deplda.comparison.results import Unit
from deplda.comparison.unit import Task
from paper.__main__ import main
from paper.results import read_paper_results
from paper.tests.report import folders
from paper.unit import run_unit


def call(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments])


@pytest.fixture
def units(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """Units end at once: that of Flat-LDA really, others fail."""
    tasks: list[Task] = []

    def end(task: Task, command: tuple[str, ...]) -> Unit:
        assert command == ("-m", "paper.unit")
        tasks.append(task)
        if task.title != "Flat-LDA":
            return Unit(task.title, task.split, "failed", error="alpha is -1")
        return Unit(task.title, task.split, "done", results=run_unit(task))

    small = datasets.load("newsroom", n_documents=80)
    monkeypatch.setattr("paper.run.load", lambda *_: small)
    monkeypatch.setattr("deplda.comparison.runner.run_process", end)
    return tasks


def test_a_preset_is_run_into_a_folder_and_reported(units: list[Task], tmp_path: Path) -> None:
    out = tmp_path / "results"
    asked = ("run", "newsroom", "-o", out, "--budget", "quick", "--jobs", 1)
    done = call(*asked, "--models", "Flat-LDA", "--splits", "0")
    assert done.exit_code == 0, done.output
    assert f"1 of 1 units done: {out}" in done.output
    (unit,) = read_paper_results(out).done
    assert {"top_words", "topics", "explanation"} <= (unit.results or {})["showcase"].keys()
    assert (unit.results or {})["diagnostics"].keys() <= {"label_words", "topic_labels"}
    failed = call(*asked, "--models", "Flat-LDA,Prior-LDA")
    assert failed.exit_code == 1
    assert "Prior-LDA on split 0: alpha is -1" in failed.output
    assert [task.title for task in units] == ["Flat-LDA", "Prior-LDA"]
    other = call("run", "newsroom", "-o", out, "--budget", "paper")
    assert "holds results of another run" in other.output
    page = tmp_path / "report.html"
    assert call("report", out, "-o", page).exit_code == 0
    assert "Flat-LDA" in page.read_text(encoding="utf-8")


def test_a_report_is_a_table_a_page_and_markdown(tmp_path: Path) -> None:
    results = folders.make(tmp_path / "results")
    page, text, notes = tmp_path / "r.html", tmp_path / "r.md", tmp_path / "notes.md"
    notes.write_text("what we saw")
    shown = call("report", results, "-o", page, "--markdown", text, "--notes", notes)
    assert "Leaderboard of tiny" in shown.output
    assert "Leaderboard of tiny" in page.read_text(encoding="utf-8")
    assert "what we saw" in text.read_text(encoding="utf-8")
    assert "--notes needs --markdown" in call("report", results, "--notes", notes).output
    assert "r.html exists" in call("report", results, "-o", page).output
    assert "there are no results here" in call("report", tmp_path).output


def test_files_of_a_data_set_are_named(tmp_path: Path) -> None:
    path = tmp_path / "tib-core" / "dev-de.tsv.gz"
    path.parent.mkdir()
    path.write_bytes(b"")
    assert call("fetch", "tib-core", "--data-dir", tmp_path).output == f"{path}\n"
