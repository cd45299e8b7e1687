"""Arrays on disk: a part is read, and what is wrong with them is told."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import ReadError
from deplda.training import slices
from deplda.training.slices import OnDisk, join_arrays, save_array, undisturbed


def kept(path: Path, values: Any, dtype: Any = np.int64, n: int | None = None) -> OnDisk:
    save_array(path, np.array(values))
    return OnDisk(path, dtype, n, "mend it")


def test_a_part_is_a_copy_in_memory(tmp_path: Path) -> None:
    array = kept(tmp_path / "a.npy", [3, 1, 4, 1, 5])
    assert len(array) == 5
    part = array.part(1, 3)
    part[0] = 9
    assert part.tolist() == [9, 4]
    assert array.part(0, 5).tolist() == [3, 1, 4, 1, 5]
    assert array.below(6, 3).tolist() == [1, 5]
    assert kept(tmp_path / "b.npy", [0.5, 2.5], np.float64).finite(1).tolist() == [2.5]
    assert kept(tmp_path / "c.npy", [0, 2, 2, 7]).starts(7).tolist() == [0, 2, 2, 7]


def test_several_are_joined_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "_PIECE", 2)
    lists: list[list[float]] = [[1.5, 2.5, 3.5], [], [4.5]]
    parts = [
        kept(tmp_path / f"{number}.npy", np.array(values, np.float64), np.float64)
        for number, values in enumerate(lists)
    ]
    join_arrays(tmp_path / "all.npy", parts)
    assert np.load(tmp_path / "all.npy").tolist() == [1.5, 2.5, 3.5, 4.5]


@pytest.mark.parametrize(
    ("values", "dtype", "n", "message"),
    [
        ([1.0], np.int64, 1, r"holds float64 \(1,\), not int64 \(1,\); mend it"),
        ([1], (np.int32, np.float64), None, r"not int32 or float64 \(any,\); mend it"),
        ([1, 2], np.int64, 3, r"holds int64 \(2,\), not int64 \(3,\)"),
        ([[1, 2]], np.int64, None, r"holds int64 \(1, 2\)"),
    ],
)
def test_another_type_or_length_is_refused(
    values: Any, dtype: Any, n: int | None, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ReadError, match=message):
        kept(tmp_path / "a.npy", values, dtype, n)


def test_numbers_that_cannot_be_are_refused(tmp_path: Path) -> None:
    array = kept(tmp_path / "a.npy", [0, 7, -1])
    for limit, end in ((7, 2), (9, 3)):
        with pytest.raises(ReadError, match="out of range; mend it"):
            array.below(limit, 0, end)
    with pytest.raises(ReadError, match="does not rise from 0 to 7"):
        array.starts(7)
    with pytest.raises(ReadError, match="not finite"):
        kept(tmp_path / "b.npy", [1.0, np.nan], np.float64).finite()


@pytest.mark.parametrize("content", [b"", b"no array", b"\x93NUMPY\x01\x00"])
def test_what_is_no_array_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(ReadError, match=r"cannot be read .*; mend it"):
        OnDisk(tmp_path / "a.npy", np.int64, None, "mend it")
    (tmp_path / "b.npy").symlink_to(tmp_path / "a.npy")
    with pytest.raises(ReadError):
        OnDisk(tmp_path / "b.npy", np.int64, None, "mend it")


def test_what_another_thread_disturbs_is_read_again() -> None:
    answers = iter([SystemError(), SystemError(), None])

    def read() -> str:
        if (answer := next(answers)) is not None:
            raise answer
        return "read"

    assert undisturbed(read) == "read"
