"""Progress: on standard error where it is wanted, in a notebook's cell, and nowhere else."""

import logging
import re
import sys
import time
from contextlib import suppress
from io import StringIO
from threading import Event, Thread
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from deplda import DependencyLDA, HybridLDA
from deplda.data import datasets
from deplda.data.corpus import Corpus
from deplda.engine import progress
from deplda.engine.progress import (
    compiling,
    counted,
    is_shown,
    listened,
    passes,
    skip_steps,
    stage,
    steps,
    streamed,
    sweeps,
)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """Have lines drawn as in a terminal of 80 columns; return what is written to it."""
    written = StringIO()
    monkeypatch.setattr(
        progress,
        "Console",
        lambda **_: Console(file=written, force_terminal=True, width=80, color_system=None),
    )
    return written


def drawn(text: str) -> list[str]:
    """Return the lines that were drawn, one after the other, without what moves the cursor."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "\n")
    return [line.rstrip() for line in plain.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def articles() -> Corpus:
    corpus = datasets.load("newsroom", n_documents=120).corpus
    HybridLDA(n_topic_sweeps=5).fit(corpus)  # so that kernels are compiled, of which it is told too
    return corpus


def test_nothing_is_drawn_unless_it_is_a_terminal_or_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for asked in (None, False):
        assert not is_shown(asked)
        with counted("reading 3 files", 3, asked) as done:
            done(3)
        with sweeps("learning topics", 1, 2, asked) as report:
            assert report is None
        with stage("weighing signals", asked), passes("learning words", 9, asked) as passed:
            passed(1, 0.5)
        with streamed("reading", "document", asked) as more:
            more(1)
    assert capsys.readouterr() == ("", "")


def test_a_fit_tells_its_stages_by_name_and_every_bar_ends_full(
    articles: Corpus, capsys: pytest.CaptureFixture[str]
) -> None:
    HybridLDA(n_topic_sweeps=5, verbose=True).fit(articles)
    out, err = capsys.readouterr()
    lines = drawn(err)
    assert out == ""
    assert [line.split(maxsplit=1)[0] for line in lines] == [f"{k}/7" for k in range(1, 8)]
    for line, said in zip(
        lines,
        ("holding out 120 documents in 5 parts", "choosing settings on documents held out",
         "calibrating probabilities", "learning words of", "learning", "ranking candidates",
         "training SVMs of"),
        strict=True,
    ):  # fmt: skip
        assert said in line
        assert re.search(r"━{12} 100% \d+:\d\d$", line), line
        assert len(line) <= 80


def test_steps_that_have_nothing_to_do_are_passed_over_in_the_numbering(
    articles: Corpus, capsys: pytest.CaptureFixture[str]
) -> None:
    HybridLDA(n_topic_sweeps=5, n_held_out=0, verbose=True).fit(articles)
    numbers = [line.split("/")[0] for line in drawn(capsys.readouterr().err)]
    assert numbers == ["1", "4", "5", "6", "7"]


def test_a_fit_that_is_watched_learns_the_same_bits(
    articles: Corpus, capsys: pytest.CaptureFixture[str]
) -> None:
    seen, unseen = (
        DependencyLDA(n_topic_sweeps=5, random_state=3, verbose=verbose)
        .fit(articles)
        .decision_function(articles[:20])
        for verbose in (True, False)
    )
    assert np.array_equal(seen, unseen)
    assert "scoring 20 documents" in capsys.readouterr().err


def test_work_within_work_is_drawn_below_it_while_it_lasts(terminal: StringIO) -> None:
    with stage("holding out 3,000 documents", True):
        with counted("scoring 2,000 documents", 2000, True) as done:
            done(1000)
            assert progress._display is not None
            progress._display.bars.refresh()
        with stage("weighing signals", True):
            pass
    lines = drawn(terminal.getvalue())
    assert any(re.match(r"  scoring 2,000 documents .* 50% 0:0. left", line) for line in lines)
    assert lines[-1].startswith("holding out 3,000 documents")
    assert lines[-1].endswith("100% 0:00")
    assert progress._display is None


def test_lines_of_several_threads_share_one_display(terminal: StringIO) -> None:
    begun, end = Event(), Event()

    def work() -> None:
        with counted("scoring", 2, True) as done:
            begun.set()
            assert end.wait(60)
            done(2)

    thread = Thread(target=work)
    with stage("experiment", True):
        thread.start()
        assert begun.wait(60)
    end.set()  # it goes on after the display that it was drawn in
    thread.join()
    assert "experiment" in drawn(terminal.getvalue())[-1]


def test_passes_tell_how_many_there_will_be_about_and_end_full_when_they_settle(
    terminal: StringIO,
) -> None:
    said = []
    with passes("learning words of 3,810 labels", 100, True) as report:
        # What passes over the laws of EUR-Lex moved, in units of what is little enough.
        for number, excess in enumerate((6.25, 2.79, 1.5, 0.95), start=1):
            report(number, excess)
            assert progress._display is not None
            said.append(progress._display.bars.tasks[0].description)
    assert said == [
        "learning words of 3,810 labels, pass 2 of about 5",
        "learning words of 3,810 labels, pass 3 of about 4",
        "learning words of 3,810 labels, pass 4 of about 4",
        "learning words of 3,810 labels, 4 passes",
    ]
    assert "100%" in drawn(terminal.getvalue())[-1]


@pytest.mark.parametrize(
    ("most", "excess", "said"), [(9, [0.0], "words, 1 pass"), (2, [9.0, 8.9], "words, 2 passes")]
)
def test_passes_are_told_as_many_as_there_were(
    terminal: StringIO, most: int, excess: list[float], said: str
) -> None:
    with passes("words", most, True) as report:
        for number, each in enumerate(excess, start=1):
            report(number, each)
    assert re.match(f"{said} +━+ 100%", drawn(terminal.getvalue())[-1])


def test_what_has_failed_is_not_drawn_as_done(terminal: StringIO) -> None:
    with suppress(ValueError), counted("scoring", 4, True) as done:
        done(1)
        raise ValueError
    assert "25%" in drawn(terminal.getvalue())[-1]
    with stage("another", True):  # and the display is free for others
        pass
    assert "another" in drawn(terminal.getvalue())[-1]


def test_time_left_is_by_the_pace_of_this_run(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now))
    line = progress._Line(progress._bars(Console(file=StringIO())), "", "learning", 100)
    assert line.seconds_left(0, 100) is None
    line.began_with = 50  # of a checkpoint
    now = 110.0
    line.change(completed=60)
    assert line.seconds_left(60, 100) == 40
    now = 115.0
    assert line.seconds_left(60, 100) == 35
    now = 500.0
    assert line.seconds_left(60, 100) == 0


def test_sweeps_of_all_chains_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    what = "learning 20 topics of 60 labels"
    with suppress(KeyboardInterrupt), sweeps(what, 2, 4, True) as report:
        assert report is not None
        report(0, 3)  # resumed: three sweeps were done before
        report(0, 4)
        report(1, 1)
        raise KeyboardInterrupt
    assert re.search(r"learning 20 topics of 60 labels +━+╸ +62%", capsys.readouterr().err)


def test_documents_of_a_file_are_counted_though_nobody_knows_how_many(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with streamed("reading [b]\x1b[31m.csv", "document", True) as done:
        done(12_000)
    shown = capsys.readouterr().err
    assert "reading [b]�[31m.csv: 12,000 documents" in shown  # and a terminal obeys no name
    assert "100%" in shown


def test_nothing_is_said_of_no_work(capsys: pytest.CaptureFixture[str]) -> None:
    with counted("training SVMs of 0 labels", 0, True):
        pass
    assert capsys.readouterr().err == ""


def test_steps_are_numbered_by_the_outermost(capsys: pytest.CaptureFixture[str]) -> None:
    @steps(9)
    def inner() -> None:
        with stage("b", True), stage("hidden", True):
            pass

    @steps(3)
    def outer() -> None:
        with stage("a", True):
            pass
        inner()
        skip_steps(1)
        with stage("d", True):
            pass

    outer()
    lines = drawn(capsys.readouterr().err)
    assert [" ".join(line.split()[:2]) for line in lines] == ["1/3 a", "2/3 b", "d ━━━━━━━━━━━━"]
    with stage("e", True):
        pass
    assert capsys.readouterr().err.startswith("e ")


def test_a_notebook_shows_one_output_a_line_that_is_drawn_anew(
    monkeypatch: pytest.MonkeyPatch, articles: Corpus
) -> None:
    outputs: list[list[str]] = []

    class Handle:
        def __init__(self, place: int) -> None:
            self.place = place

        def update(self, data: dict[str, str], raw: bool) -> None:
            assert raw
            assert data["text/html"].startswith("<pre")
            outputs[self.place].append(data["text/plain"])

    def display(data: dict[str, str], raw: bool, display_id: bool) -> Handle:
        outputs.append([data["text/plain"]])
        return Handle(len(outputs) - 1)

    shown: Any = ModuleType("IPython.display")
    shown.display = display
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    DependencyLDA(n_topic_sweeps=5, n_held_out=0, verbose=True).fit(articles)
    last = [each[-1] for each in outputs]
    assert ["words of" in last[0], "topics of" in last[1], len(last)] == [True, True, 2]
    assert all("100%" in line and line.count("\n") == 1 for line in last)


def test_compiling_is_told_of_only_while_it_lasts(
    caplog: pytest.LogCaptureFixture, terminal: StringIO
) -> None:
    caplog.set_level(logging.INFO, "deplda")
    with compiling(True, seconds=3600):
        pass
    assert (caplog.messages, terminal.getvalue()) == ([], "")
    with compiling(True, seconds=0):
        while progress._display is None:
            time.sleep(0.01)
    assert caplog.messages == ["preparing (the first run compiles the kernels)"]
    assert drawn(terminal.getvalue())[-1].startswith(caplog.messages[0])


def test_a_listener_is_told_of_stages_that_nobody_draws_but_not_of_those_within() -> None:
    told: list[tuple[str, bool]] = []
    with listened(lambda what, begins: told.append((what, begins))):
        with stage("counting", False), counted("one by one", 3, None) as done:
            done(3)
        with suppress(KeyError), passes("learning", 5, False):
            raise KeyError
    with stage("unheard", False):
        pass
    assert told == [
        ("counting", True), ("counting", False), ("learning", True), ("learning", False)
    ]  # fmt: skip
