"""Vectors are read as they are, and nothing else is taken for them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from deplda import ReadError
from deplda.data.readers.vector_files import read_vectors

VECTORS = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_both_formats_hold_the_same(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", VECTORS)
    save_file({"embeddings": VECTORS, "norms": VECTORS[:, 0].copy()}, tmp_path / "x.safetensors")
    for name in ("x.npy", "x.safetensors"):
        np.testing.assert_array_equal(read_vectors(tmp_path / name), VECTORS)


@pytest.mark.parametrize(
    ("array", "problem"),
    [
        (VECTORS[0], "float32 in 1 dimensions; vectors are numbers"),
        (np.array([["a"]]), "vectors are numbers"),
        (np.array([[{}]], object), "no array of numbers"),
    ],
)
def test_what_is_no_vectors_is_refused(tmp_path: Path, array: Any, problem: str) -> None:
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(ReadError, match=problem):
        read_vectors(tmp_path / "x.npy")


@pytest.mark.parametrize("name", ["x.npy", "x.safetensors"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nothing of the kind",
        b"\x00" * 64,
        b"PK\x03\x04" + b"x" * 64,
        b"\x93NUMPY\x01\x00\x3d\x00{'descr': '<f8', 'fortran_order': False, 'shape': (True, 4)}\n",
    ],
)
def test_other_files_are_refused(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ReadError, match=name):
        read_vectors(tmp_path / name)


def test_a_file_of_several_arrays_does_not_say_which(tmp_path: Path) -> None:
    save_file({"a": VECTORS, "b": VECTORS}, tmp_path / "x.safetensors")
    with pytest.raises(ReadError, match=r"2 arrays of two dimensions \(a, b\)"):
        read_vectors(tmp_path / "x.safetensors")


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    for name in ("x.npy", "x.safetensors"):
        with pytest.raises(ReadError, match="No such file"):
            read_vectors(tmp_path / name)
