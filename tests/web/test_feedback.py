"""What was appended is there, whoever is killed; nothing else is changed."""

from __future__ import annotations

import errno
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from deplda import InputError
from deplda.web.feedback import Feedback, Labelled

WRITER = """
import sys
from deplda.web.feedback import Feedback, Labelled
feedback, number = Feedback(sys.argv[1]), 0
while True:
    feedback.append([Labelled(f"{sys.argv[2]} {number} " + "x" * int(sys.argv[3]), ["a"])])
    sys.stdout.write(f"{sys.argv[2]} {number}\\n")
    sys.stdout.flush()
    number += 1
"""
ONE = Labelled("a text\nof two lines", ["http://x/1", "näin"])


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_documents_are_lines_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "feedback.jsonl"
    Feedback(path).append([ONE, Labelled("", [])])
    Feedback(path).append([ONE])
    found = lines_of(path)
    assert [(line["text"], line["labels"]) for line in found] == [
        (ONE.text, ONE.labels), ("", []), (ONE.text, ONE.labels),
    ]  # fmt: skip
    assert found[0]["received"].endswith("+00:00")
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("torn", [b'{"text": "cut o', b"\0" * 70_000, b'{"text": "\n', b'"{}"'])
def test_a_torn_last_line_is_removed(
    torn: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "feedback.jsonl"
    Feedback(path).append([ONE])
    whole = path.read_bytes()
    with caplog.at_level(logging.WARNING, "deplda.web"):
        path.write_bytes(whole + torn)
        Feedback(path)
        assert path.read_bytes() == whole
        assert f"of {len(torn)} bytes, was cut off by a crash" in caplog.text
    if torn.endswith(b"\n"):
        return  # a crash of the machine; that of another process leaves no end of a line
    open_since = Feedback(path)
    path.write_bytes(whole + torn)
    open_since.append([ONE])
    assert len(lines_of(path)) == 2


def test_a_whole_line_that_lacks_its_end_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "feedback.jsonl"
    path.write_bytes(b'{"text": "by hand", "labels": ["x"]}')
    Feedback(path).append([ONE])
    assert [line["text"] for line in lines_of(path)] == ["by hand", ONE.text]


def test_a_file_that_was_moved_away_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "feedback.jsonl"
    feedback = Feedback(path)
    feedback.append([ONE])
    path.rename(tmp_path / "learned.jsonl")
    feedback.append([ONE, ONE])
    assert (len(lines_of(tmp_path / "learned.jsonl")), len(lines_of(path))) == (1, 2)


def test_what_is_no_file_of_lines_is_left_alone(tmp_path: Path) -> None:
    notes, pipe, link = tmp_path / "notes.txt", tmp_path / "pipe", tmp_path / "link"
    notes.write_text("mine")
    os.mkfifo(pipe)
    link.symlink_to(tmp_path / "other.jsonl")
    with pytest.raises(InputError, match=r"notes\.txt is not a file of JSON lines"):
        Feedback(notes)
    assert notes.read_text() == "mine"
    for path in (tmp_path, pipe, link, tmp_path / "no" / "folder.jsonl", Path("/dev/full")):
        with pytest.raises(InputError, match="cannot be written to"):
            Feedback(path)


def test_a_full_disk_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "feedback.jsonl"
    feedback = Feedback(path)
    feedback.append([ONE])
    before, write, n_calls = path.read_bytes(), os.write, 0

    def full(handle: int, data: Any) -> int:
        nonlocal n_calls
        n_calls += 1
        if n_calls > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data[:10])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        feedback.append([ONE])
    assert path.read_bytes() == before


def test_it_does_not_grow_for_ever(tmp_path: Path) -> None:
    feedback = Feedback(tmp_path / "feedback.jsonl", most_bytes=200)
    feedback.append([ONE])
    with pytest.raises(OSError, match="more than 200 bytes; move it away"):
        feedback.append([ONE, ONE])
    assert len(lines_of(feedback.path)) == 1


@pytest.mark.parametrize("size", [10, 2_000_000])
def test_what_was_confirmed_is_there_whoever_is_killed(size: int, tmp_path: Path) -> None:
    path = tmp_path / "feedback.jsonl"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, path, name, str(size)], stdout=subprocess.PIPE, text=True
        )
        for name in ("one", "other")
    ]
    told: list[str] = []
    readers = []
    for writer in writers:
        assert writer.stdout is not None
        readers.append(threading.Thread(target=told.extend, args=[writer.stdout]))
        readers[-1].start()
    while not path.exists() or path.stat().st_size < 8 * size:
        time.sleep(0.01)
    for writer in writers:
        time.sleep(0.05)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    for reader, writer in zip(readers, writers, strict=True):
        reader.join()
        assert writer.stdout is not None
        writer.stdout.close()
    *whole, _ = path.read_bytes().split(b"\n")
    found = [" ".join(json.loads(line)["text"].split()[:2]) for line in whole]
    assert len(found) == len(set(found))
    assert {line.strip() for line in told} <= set(found)
    assert told
    Feedback(path).append([ONE])
    assert len(lines_of(path)) == len(whole) + 1
