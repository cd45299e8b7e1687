"""Plain text: one document a file, or one a line."""

from pathlib import Path

import pytest

from deplda import ReadError, read_corpus
from deplda.data.readers import read_records
from tests.data.readers.documents import PLAIN


def test_a_text_file_is_one_document_and_lines_are_many(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffKönig bee\r\n\r\nbee\r\n".encode())
    whole = read_corpus(path, "text", counter=PLAIN)
    assert (whole.ids, whole.vocabulary, whole.n_tokens) == ((str(path),), ("bee", "könig"), 3)
    lines = read_corpus(path, "lines", counter=PLAIN)
    assert lines.ids == ("0", "1", "2")
    assert lines.document_lengths.tolist() == [2, 0, 1]


def test_a_blank_line_keeps_its_place_and_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("bee\n\n \t\n...\nbee")
    records = list(read_records(path, "lines", counter=PLAIN))
    assert [record.line for record in records] == [1, 2, 3, 4, 5]
    assert [record.is_empty for record in records] == [False, True, True, False, False]


def test_a_wrong_byte_in_plain_text_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"fine\nk\xf6nig\n")
    with pytest.raises(ReadError, match="line 2: byte 0xf6 at column 2 is not utf-8"):
        read_corpus(path, "text", encoding="utf-8")
    assert read_corpus(path, "text", counter=PLAIN, encoding="latin-1").vocabulary == (
        "fine",
        "könig",
    )
