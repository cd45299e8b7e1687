"""MATLAB 5 files that are damaged, nested, or of another byte order."""

from pathlib import Path

import numpy as np
import pytest

from deplda import ReadError
from deplda.data.readers import read_mat
from tests.data.readers.mat_files import contents, write_mat


def problem(path: Path) -> str:
    with pytest.raises(ReadError) as caught:
        read_mat(path)
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))


def test_what_is_not_a_matlab_5_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    path.write_bytes(b"")
    assert "this is not a MATLAB 5 file" in problem(path)
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x89HDF\r\n\x1a\n")
    assert problem(path) == ": this is not a MATLAB 5 file; save it with: save(..., '-v7')"


def test_every_truncation_of_a_file_is_an_error_or_a_corpus(tmp_path: Path) -> None:
    whole = write_mat(tmp_path / "a.mat", contents()).read_bytes()
    path = tmp_path / "b.mat"
    refused = 0
    for end in range(0, len(whole), 8):
        path.write_bytes(whole[:end])
        try:
            read_mat(path)
        except ReadError:
            refused += 1
    assert refused == len(range(0, len(whole), 8))


def test_deeply_nested_cells_are_refused_not_followed(tmp_path: Path) -> None:
    def element(kind: int, data: bytes) -> bytes:
        return np.array([kind, len(data)], "<u4").tobytes() + data

    start = element(6, bytes([1, 0, 0, 0, 0, 0, 0, 0])) + element(5, bytes([1, 0, 0, 0] * 2))
    cell = b""
    for _ in range(3000):
        cell = element(14, start + element(1, b"") + cell if cell else b"")
    path = tmp_path / "a.mat"
    path.write_bytes(bytes(124) + b"\x00\x01IM" + cell)
    assert "nested too deeply" in problem(path)


def test_big_endian_files_are_read(tmp_path: Path) -> None:
    def element(kind: int, data: bytes) -> bytes:
        padded = data + bytes(-len(data) % 8)
        return np.array([kind, len(data)], ">u4").tobytes() + padded

    def matrix(form: int, shape: list[int], name: bytes, *parts: bytes) -> bytes:
        flags = np.array([form, 0], ">u4").tobytes()
        sizes = np.array(shape, ">i4").tobytes()
        return element(
            14, element(6, flags) + element(5, sizes) + element(1, name) + b"".join(parts)
        )

    def text(letters: str) -> bytes:
        return matrix(4, [1, len(letters)], b"", element(4, letters.encode("utf-16-be")))

    def numbers(*values: int) -> bytes:
        return matrix(6, [len(values), 1], b"", element(9, np.array(values, ">f8").tobytes()))

    def struct(name: bytes, words: bytes, documents: bytes) -> bytes:
        # The width of the field names stands in a small element: two bytes each of size and kind.
        width = bytes([0, 4, 0, 5, 0, 0, 0, 8])
        names = b"".join(key.ljust(8, b"\0") for key in (b"widx", b"wdidx", b"cidx", b"cdidx"))
        return matrix(2, [1, 1], name, width, element(1, names), words, documents, words, documents)

    path = tmp_path / "a.mat"
    path.write_bytes(
        bytes(124)
        + b"\x01\x00MI"
        + struct(b"traindata", numbers(1, 2), numbers(1, 1))
        + struct(b"testdata", numbers(2), numbers(1))
        + matrix(1, [1, 2], b"wlabels", text("bee"), text("猫"))
        + matrix(1, [1, 2], b"clabels", text("x"), text("y"))
    )
    corpus = read_mat(path)
    assert corpus.vocabulary == ("bee", "猫")
    assert corpus.counts.toarray().tolist() == [[1, 1], [0, 1]]
    assert corpus.labels.toarray().tolist() == [[True, True], [False, True]]
