"""Writes that are whole or not there at all, whoever is killed and whoever writes beside us."""

import errno
import gzip
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from deplda.data import atomic
from deplda.data.atomic import recover, write_folder, write_together, write_whole


def test_files_written_together_appear_together_or_not_at_all(tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b.gz"]
    with write_together(paths) as (first, second):
        first.write(b"one")
        second.write(b"two")
        assert not any(path.exists() for path in paths)
    assert paths[0].read_bytes() == b"one"
    assert gzip.decompress(paths[1].read_bytes()) == b"two"
    with suppress(RuntimeError), write_together(paths) as (first, second):
        first.write(b"other")
        raise RuntimeError
    assert paths[0].read_bytes() == b"one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b.gz"]


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def replace(folder: Path, content: bytes) -> None:
    with write_folder(folder, replace=True) as new:
        (new / "a").write_bytes(content)


KILLED = """
import os, signal
from pathlib import Path
from deplda.data import atomic
def killed(*args):
    os.kill(os.getpid(), signal.SIGKILL)
{patch}
with atomic.{write} as new:
    (new.write if hasattr(new, "write") else (new / "a").write_bytes)(b"half")
    {at_the_end}
"""


def killed(tmp_path: Path, write: str, patch: str = "", at_the_end: str = "killed()") -> None:
    code = KILLED.format(write=write, patch=patch, at_the_end=at_the_end)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    assert done.returncode == -signal.SIGKILL


@pytest.mark.parametrize("write", ["write_whole('a')", "write_folder('a', replace=True)"])
def test_what_a_killed_writer_left_is_taken_over_by_the_next(write: str, tmp_path: Path) -> None:
    for _ in range(3):
        killed(tmp_path, write)
        assert not (tmp_path / "a").exists()
        assert len(os.listdir(tmp_path)) == 1
    if "folder" in write:
        replace(tmp_path / "a", b"whole")
    else:
        with write_whole(tmp_path / "a") as file:
            file.write(b"whole")
    assert files_in(tmp_path) == {"a": b"whole"}
    assert os.listdir(tmp_path) == ["a"]


IN_TWO_STEPS = """
atomic._exchange = lambda one, other: False
rename = Path.rename
Path.rename = lambda self, to: killed() if self.name == "new" else rename(self, to)
"""


@pytest.mark.parametrize("then", ["recover", "write"])
def test_a_folder_whose_replacement_was_killed_between_two_steps_comes_back(
    then: str, tmp_path: Path
) -> None:
    replace(tmp_path / "a", b"old")
    killed(tmp_path, "write_folder('a', replace=True)", IN_TWO_STEPS, "")
    assert not (tmp_path / "a").exists()
    if then == "recover":
        recover(tmp_path / "a")
    else:
        with suppress(RuntimeError), write_folder(tmp_path / "a", replace=True):
            raise RuntimeError
        assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a" / "a").read_bytes() == b"old"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no renameat2")
def test_a_reader_never_misses_a_folder_that_is_replaced(tmp_path: Path) -> None:
    replace(tmp_path / "a", b"0")
    is_done = False

    def write() -> None:
        nonlocal is_done
        for number in range(100):
            replace(tmp_path / "a", b"%d" % number)
        is_done = True

    writer = Thread(target=write)
    writer.start()
    n_missed = n = 0
    while not is_done:
        n += 1
        n_missed += not (tmp_path / "a").exists()
    writer.join()
    assert (n > 100, n_missed) == (True, 0)


def test_a_reader_waits_for_a_replacement_in_two_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic, "_exchange", lambda one, other: False)
    target = tmp_path / "a"
    replace(target, b"old")
    rename = Path.rename

    def slow(self: Path, to: Path) -> Path:
        if self.name == "new":
            time.sleep(0.2)
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", slow)
    writer = Thread(target=replace, args=(target, b"new"))
    writer.start()
    while target.exists() and writer.is_alive():
        pass
    recover(target)
    assert (target / "a").read_bytes() == b"new"
    writer.join()


def test_writers_beside_each_other_do_not_meet(tmp_path: Path) -> None:
    with write_whole(tmp_path / "a") as one, write_whole(tmp_path / "a") as other:
        one.write(b"one")
        other.write(b"other")
    assert files_in(tmp_path) == {"a": b"one"}
    with (
        write_folder(tmp_path / "b", replace=True) as one_folder,
        write_folder(tmp_path / "b", replace=True) as other_folder,
    ):
        (one_folder / "x").write_bytes(b"one")
        (other_folder / "x").write_bytes(b"other")
    assert files_in(tmp_path / "b") == {"x": b"one"}
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_a_link_in_the_place_of_what_is_written_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / ".a.deplda-writing").symlink_to(tmp_path / "mine")
    with pytest.raises(OSError, match="symbolic") as error, write_whole(tmp_path / "a"):
        pass
    assert error.value.errno == errno.ELOOP
    assert (tmp_path / "mine").read_bytes() == b"mine"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_an_error_of_the_disk_while_swapping_keeps_the_old_folder(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace(tmp_path / "a", b"old")

    def fails(one: Path, other: Path) -> bool:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(atomic, "_exchange", fails)
    with pytest.raises(OSError, match=os.strerror(number)):
        replace(tmp_path / "a", b"new")
    assert files_in(tmp_path) == {"a": b"old"}


def test_many_writers_of_one_folder_leave_one_whole_folder_and_nothing_else(tmp_path: Path) -> None:
    failures: list[BaseException] = []

    def write(number: int) -> None:
        try:
            for _ in range(20):
                with write_folder(tmp_path / "a", replace=True) as new:
                    for name in "xyz":
                        (new / name).write_bytes(b"%d" % number)
        except BaseException as error:
            failures.append(error)

    writers = [Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert failures == []
    assert len(set(files_in(tmp_path / "a").values())) == 1
    assert os.listdir(tmp_path) == ["a"]


def test_what_lies_beyond_a_gap_of_places_is_found_and_removed(tmp_path: Path) -> None:
    replace(tmp_path / "a", b"old")
    with suppress(RuntimeError), write_folder(tmp_path / "a", replace=True):  # the first place
        killed(tmp_path, "write_folder('a', replace=True)", IN_TWO_STEPS, "")  # the second
        assert not (tmp_path / "a").exists()
        raise RuntimeError
    assert (tmp_path / "a" / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_writer_brings_back_what_was_cut_off_after_it_had_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace(tmp_path / "a", b"old")
    look = atomic.recover

    def looked_too_early(target: Path) -> None:
        look(target)
        killed(tmp_path, "write_folder('a', replace=True)", IN_TWO_STEPS, "")

    monkeypatch.setattr(atomic, "recover", looked_too_early)
    with suppress(RuntimeError), write_folder(tmp_path / "a", replace=True):
        raise RuntimeError
    assert (tmp_path / "a" / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_planted_link_is_not_written_through(tmp_path: Path) -> None:
    victim, here = tmp_path / "victim", tmp_path / "here"
    (victim / "new").mkdir(parents=True)
    (victim / "new" / "precious").write_bytes(b"mine")
    here.mkdir()
    (here / ".a.deplda-writing").symlink_to(victim)
    with pytest.raises(OSError, match="this is a link; remove it"):
        replace(here / "a", b"new")
    assert (victim / "new" / "precious").read_bytes() == b"mine"


def test_a_folder_that_can_never_be_made_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As under /proc, or in a working directory that was removed: it is there, and has no room."""

    def never(*_: object, **__: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")

    monkeypatch.setattr(Path, "mkdir", never)
    with pytest.raises(FileNotFoundError):
        atomic._open_lock_in(tmp_path / "folder")


def test_a_small_file_is_whole_or_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    atomic.write_small(tmp_path / "a", b"first")
    atomic.write_small(tmp_path / "a", b"second")
    assert (tmp_path / "a").read_bytes() == b"second"

    def cut_off(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", cut_off)
    with pytest.raises(KeyboardInterrupt):
        atomic.write_small(tmp_path / "a", b"third")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"second"}
    with pytest.raises(OSError, match="nowhere") as caught:
        atomic.write_small(tmp_path / "nowhere" / "a", b"")
    assert caught.value.filename == str(tmp_path / "nowhere" / "a")
