"""Progress: on standard error where it is wanted, and nowhere else."""

import logging
from threading import Event

import pytest

from deplda.engine import progress
from deplda.engine.progress import compiling, counted, is_shown, sweeps


def test_nothing_is_drawn_unless_it_is_a_terminal_or_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for asked in (None, False):
        assert not is_shown(asked)
        with counted("reading", 3, "files", asked) as done:
            done(3)
        with sweeps("training", 1, 2, 10, asked) as report:
            assert report is None
    assert capsys.readouterr() == ("", "")


def test_things_done_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    with counted("reading", 3, "files", True) as done:
        done(1)
        done(2)
    out, err = capsys.readouterr()
    assert out == ""
    assert "reading" in err
    assert "3/3 files" in err


def test_sweeps_of_all_chains_are_counted_with_their_level(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with sweeps("training φ", 2, 4, 1_000, True) as report:
        assert report is not None
        report(0, 3, -5.0)  # resumed: three sweeps were done before
        report(0, 4, -4.0)
        report(1, 1, -12345.0)
    shown = capsys.readouterr().err
    assert "5/8 sweeps" in shown
    assert "tokens/s log-lik -1.2345e+04" in shown


def test_compiling_is_told_of_only_while_it_lasts(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, "deplda")
    with compiling(True, seconds=3600):
        pass
    assert caplog.messages == []
    told = Event()
    monkeypatch.setattr(progress, "is_shown", lambda _: told.set())
    with compiling(True, seconds=0):
        assert told.wait(60)
    assert caplog.messages == ["compiling the kernels, once after installation …"]
