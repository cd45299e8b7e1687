"""Plain text: one document a file, or one a line."""

from pathlib import Path

import pytest

from deplda import ReadError, read_corpus
from tests.data.readers.documents import PLAIN


def test_a_text_file_is_one_document_and_lines_are_many(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffKönig bee\r\n\r\nbee\r\n".encode())
    whole = read_corpus(path, "text", counter=PLAIN)
    assert (whole.ids, whole.vocabulary, whole.n_tokens) == ((str(path),), ("bee", "könig"), 3)
    lines = read_corpus(path, "lines", counter=PLAIN)
    assert lines.ids == ("0", "1")
    assert lines.document_lengths.tolist() == [2, 1]


def test_a_wrong_byte_in_plain_text_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"fine\nk\xf6nig\n")
    with pytest.raises(ReadError, match="line 2: byte 0xf6 at column 2 is not utf-8"):
        read_corpus(path, "text", encoding="utf-8")
    assert read_corpus(path, "text", encoding="latin-1").vocabulary == ("fine", "könig")
