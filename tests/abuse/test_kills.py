"""SIGKILL at random moments: nothing is lost, and what is run again comes to the same bytes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.abuse.conftest import Amount
from tests.abuse.kills import KINDS

# How many kills `make test` and `make test-abuse` do; a comparison's runs take the longest.
KILLS = {
    "save": (5, 100), "train": (0, 25), "train-shards": (0, 25), "predict": (0, 25),
    "predict-shards": (0, 20), "compare": (0, 20),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost_and_nothing_differs(kind: str, tmp_path: Path, amount: Amount) -> None:
    n = amount(*KILLS[kind])
    if not n:
        pytest.skip("make test-abuse kills these too")
    command = [sys.executable, "-m", "tests.abuse.kills", kind, str(n), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3600)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout)["while working"] >= n // 4
