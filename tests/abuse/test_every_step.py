"""SIGKILL before every file operation of a save: the old or the new model is there, always."""

import os
import random
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deplda import DepldaError, PriorLDA, load
from deplda.data import atomic
from tests.abuse.conftest import Amount
from tests.abuse.kills import content

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

# Audit events of CPython around whatever changes or looks at files.
EVENTS = {
    "open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod",
    "shutil.rmtree", "os.scandir", "fcntl.flock", "ctypes.dlsym", "os.listdir", "glob.glob",
}  # fmt: skip


def killed_before(step: int, work: Callable[[], Any], *, exchanges: bool) -> bool:
    """Do the work in a child that kills itself before a step; return whether it got that far."""
    child = os.fork()
    if not child:
        n = 0

        def count(event: str, _: Any) -> None:
            nonlocal n
            n += event in EVENTS
            if event in EVENTS and n == step:
                os.kill(os.getpid(), signal.SIGKILL)

        code = 1
        try:
            if not exchanges:
                atomic._exchange = lambda *_: False
            sys.addaudithook(count)
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL)
    return status != 0


@pytest.mark.parametrize("case", ["first save", "one step", "two steps"])
def test_a_save_killed_before_any_step_leaves_the_old_or_the_new_model(
    case: str, tmp_path: Path, amount: Amount
) -> None:
    old = PriorLDA().fit([[1, 0], [0, 1]], [["a"], ["b"]])
    new = PriorLDA().fit([[1, 0], [0, 1]], [["a"], ["c"]])
    saved = []
    for name, model in (("old", old), ("new", new)):
        model.save(tmp_path / name)
        saved.append(content(tmp_path / name))
    target, chance = tmp_path / "parent" / "model", random.Random(case)  # noqa: S311
    target.parent.mkdir()
    n_kills, exchanges = 0, case != "two steps"
    for step in range(1, 1000):
        if case != "first save":
            old.save(target)
        was_killed = killed_before(step, lambda: new.save(target), exchanges=exchanges)
        n_kills += was_killed
        check(target, saved, may_be_missing=case == "first save" and was_killed)
        # Another save may be killed on what the first kill left.
        for _ in range(amount(0, 5)):
            again = chance.randint(1, 40)
            n_kills += killed_before(again, lambda: new.save(target), exchanges=exchanges)
            check(target, saved, may_be_missing=case == "first save")
        new.save(target)
        assert os.listdir(target.parent) == ["model"]
        assert content(target) == saved[1]
        if case == "first save":
            load(target)
            for path in target.iterdir():
                path.unlink()
            target.rmdir()
        if not was_killed:
            break
    assert n_kills > 20
    sys.stdout.write(f"{case}: {n_kills} kills\n")


def check(target: Path, saved: list[dict[str, bytes]], *, may_be_missing: bool) -> None:
    try:
        load(target)
    except DepldaError:
        assert may_be_missing
        assert not target.exists()
    else:
        assert content(target) in saved
