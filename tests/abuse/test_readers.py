"""Whatever a file holds, reading it gives a corpus or an error of ours, soon and in little memory.

The reading is done in other processes, since a crash, a hang and memory must be seen.
"""

import gzip
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from deplda.data.readers import Format
from tests.abuse.conftest import Amount
from tests.abuse.reading import KINDS, check, read_both_ways, valid

BATCH = 1_000
GIGABYTE = 1 << 20  # in kilobytes


@pytest.mark.filterwarnings("ignore::deplda.GuessedEncodingWarning")
@pytest.mark.parametrize("format", get_args(Format))
def test_the_undamaged_files_are_read(format: Any, tmp_path: Path) -> None:
    for content in valid(format):
        path = tmp_path / "documents"
        path.write_bytes(content)
        corpus = read_both_ways(path, format)
        assert corpus is not None
        check(corpus)
        if format not in ("text", "lines", "pdf", "docx"):
            assert corpus == read_both_ways(path, None)
        path.write_bytes(gzip.compress(content))
        assert corpus == read_both_ways(path, format)


def read_damaged(folder: Path, first: int, last: int, *kinds: str) -> None:
    command = [sys.executable, "-m", "tests.abuse.reading", str(folder), str(first), str(last)]
    done = subprocess.run([*command, *kinds], capture_output=True, text=True)
    assert done.returncode == 0, f"{kinds}, {folder}: {done.stderr}"
    assert int(done.stdout) < GIGABYTE, kinds


def test_damaged_files_are_a_corpus_or_an_error_of_ours(tmp_path: Path, amount: Amount) -> None:
    each = amount(50, 2_000)
    if each <= BATCH:
        read_damaged(tmp_path, 0, each, *KINDS)
        return
    for kind in KINDS:
        for first in range(0, each, BATCH):
            read_damaged(tmp_path, first, first + BATCH, kind)
