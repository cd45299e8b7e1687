"""Outputs that are there already or cannot be written, and terminals."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda.cli.output import note, show_json, waiting
from tests.cli.running import ENVIRONMENT, QUICK, articles, done, problem, start, write_jsonl


def test_an_output_that_exists_is_replaced_only_by_force(
    tmp_path: Path, model: Path, corpus: Path
) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("mine")
    page = tmp_path / "page.html"
    page.write_text("mine")
    for verb in (
        ["predict", model, corpus, "-o", there],
        ["datasets", "convert", corpus, there],
        ["explain", model, "court", "--html", page],
    ):
        assert "exists; choose another name, or --force to replace it" in problem(1, *verb)
    assert there.read_text() == page.read_text() == "mine"
    done("predict", model, corpus, "-o", there, "--force")
    done("datasets", "convert", corpus, there, "--force")
    done("explain", model, "court", "--html", page, "--force")
    assert "mine" not in there.read_text() + page.read_text()


def test_a_model_is_replaced_by_force_but_nothing_else_is(tmp_path: Path, corpus: Path) -> None:
    done("train", corpus, "-o", tmp_path / "m", *QUICK)
    assert "m exists; choose another name" in problem(1, "train", corpus, "-o", tmp_path / "m")
    done("train", corpus, "-o", tmp_path / "m", "--force", *QUICK)
    other = tmp_path / "folder"
    other.mkdir()
    (other / "thesis.tex").write_text("years of work")
    said = problem(1, "train", corpus, "-o", other, "--force")
    assert "exists and is not a saved model" in said
    assert (other / "thesis.tex").exists()


def test_a_folder_that_cannot_be_made_is_refused_before_any_work(
    tmp_path: Path, corpus: Path, model: Path
) -> None:
    (tmp_path / "file").write_text("")
    for verb in (
        ["train", tmp_path / "nothing", "-o", tmp_path / "file" / "m"],
        ["predict", model, corpus, "-o", tmp_path / "file" / "out.jsonl"],
        ["datasets", "convert", corpus, tmp_path / "file" / "b.jsonl"],
    ):
        assert "file: " in problem(1, *verb)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path, corpus: Path) -> None:
    tmp_path.chmod(0o500)
    assert "cannot be written to" in problem(1, "train", corpus, "-o", tmp_path / "m")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device")
def test_a_full_disk_is_said_so(model: Path, corpus: Path) -> None:
    said = problem(1, "predict", model, corpus, "-o", "/dev/full", "--force")
    assert said.startswith("/dev/full: No space left on device after 0 documents")


def test_a_full_disk_leaves_no_half_model(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("deplda.data.atomic.sync", full)
    said = problem(1, "train", corpus, "-o", tmp_path / "m", *QUICK)
    assert said.endswith("No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_without_a_terminal_there_is_neither_colour_nor_progress(model: Path, corpus: Path) -> None:
    ended = start("predict", model, corpus, stdin=subprocess.DEVNULL)
    out, err = ended.communicate(timeout=600)
    assert (ended.returncode, err) == (0, "")
    assert "\x1b" not in out


def test_on_a_terminal_there_is_progress_on_standard_error(tmp_path: Path, corpus: Path) -> None:
    import pty

    terminal, theirs = pty.openpty()
    ended = subprocess.Popen(
        [sys.executable, "-m", "deplda", "train", str(corpus), "-o", str(tmp_path / "m"), *QUICK],
        env=ENVIRONMENT | {"TERM": "xterm"}, stdout=subprocess.PIPE, stderr=theirs, text=True,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(terminal, 4096):
            shown += piece
    except OSError:
        pass  # how Linux says that the other side is closed
    out, _ = ended.communicate(timeout=600)
    assert ended.returncode == 0
    lines = [line for line in re.split(r"[\r\n]+", shown.decode()) if "100%" in line]
    assert "reading " in lines[0]  # what it has read, and how many
    assert re.search(r": \d+ documents .*━+.* 100% \d:\d\d", lines[0])
    assert any("learning words of " in line for line in lines)
    assert "\x1b" not in out


class Screen(io.TextIOWrapper):
    """A stream that says that it is a terminal."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8")

    def isatty(self) -> bool:
        return True

    def shown(self) -> str:
        self.flush()
        written: Any = self.buffer
        return str(written.getvalue().decode())


def test_a_note_stands_above_the_lines_of_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Screen())
    screen: Any = sys.stderr
    with waiting("reading articles.csv") as read:
        read(3)
        note("language: english")
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.shown())
    lines = [line.strip() for line in re.split(r"[\r\n]+", plain) if line.strip()]
    assert "language: english" in lines  # on a line of its own
    assert lines[-1].startswith("reading articles.csv: 3 documents")


def test_results_that_are_seen_on_the_screen_have_no_progress_beside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stderr", Screen())
    screen: Any = sys.stderr
    monkeypatch.setattr(sys, "stdout", Screen())
    with waiting("predicting", beside=True) as more:
        more(1)
    assert screen.shown() == ""
    monkeypatch.setattr(sys, "stdout", io.StringIO())  # they go to a file
    with waiting("predicting", beside=True) as more:
        more(1)
    assert "predicting: 1 document " in screen.shown()


def test_json_has_no_numbers_that_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"a": np.float64("nan"), 1: (np.int32(2), 0.5, None)})
    assert json.loads(capsys.readouterr().out) == {"a": None, "1": [2, 0.5, None]}


def test_what_a_file_holds_is_shown_by_a_terminal_and_not_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    title = "\x1b]0;mine\x07\x9b31m\u202e[red]label"
    rows = [row | {"labels": [title, *row["labels"]]} for row in articles()]
    done("train", write_jsonl(tmp_path / "a.jsonl", rows), "-o", tmp_path / "m", *QUICK)
    for verb in (
        ["show", tmp_path / "m", "--topics"],
        ["explain", tmp_path / "m", "court"],
        ["show", tmp_path / "m", title],
    ):
        shown = done(*verb)
        assert not set(shown) & {"\x1b", "\x07", "\x9b", "\u202e"}
        assert "[red]" in shown
    for verb in (["show", tmp_path / "m"], ["explain", tmp_path / "m", "court"]):
        shown = done(*verb, "--json")
        assert not set(shown) & {"\x1b", "\x07", "\x9b", "\u202e"}
    (line,) = done("predict", tmp_path / "m", "-", input="court judge").splitlines()
    assert "\x9b" not in line
    assert title in [each["label"] for each in json.loads(line)["labels"]]
    said = problem(1, "show", tmp_path / "no\x1b[31mne")
    assert "\x1b" not in said
    assert "no\ufffd[31mne: there is no such folder" in said
