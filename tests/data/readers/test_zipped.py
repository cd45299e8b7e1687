from pathlib import Path

import pytest

from deplda import ReadError
from deplda.data.readers.zipped import open_archive
from deplda.data.sizes import VARIABLE
from tests.data.readers.office_files import archive


def test_an_archive_is_opened_and_one_that_unpacks_to_too_much_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(archive({"a": "words", "b": "a" * 100_000}))
    with open_archive(path, ".docx") as opened:
        assert opened.read("a") == b"words"
    monkeypatch.setenv(VARIABLE, "4K")
    with (
        pytest.raises(ReadError, match="this file, unpacked, has 97"),
        open_archive(path, ".docx"),
    ):
        pass


def test_whatever_goes_wrong_in_it_names_the_file_and_the_next_step(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(b"no archive")
    with (
        pytest.raises(ReadError, match=r"a\.docx: this is no readable \.docx \(BadZipFile"),
        open_archive(path, ".docx"),
    ):
        pass
