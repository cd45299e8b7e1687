from pathlib import Path

import pytest

from deplda import ReadError
from deplda.data.readers import zipped
from deplda.data.readers.zipped import open_archive
from deplda.data.sizes import VARIABLE
from tests.data.readers.office_files import archive


def test_an_archive_is_opened_and_one_that_unpacks_to_too_much_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(archive({"a": "<a>words</a>", "b": "a" * 100_000}))
    with open_archive(path, ".docx") as opened:
        assert opened.read("a") == b"<a>words</a>"
    monkeypatch.setenv(VARIABLE, "4K")
    with (
        pytest.raises(ReadError, match="this file, unpacked, has 97"),
        open_archive(path, ".docx"),
    ):
        pass


MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "has a document type"),
        ('<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', "a document type"),
        ("<a>" * 9_000, "has 1,001 elements within each other, more than"),
        (f"<a {MAIN}><row>" + "<c/>" * 300, "elements of a row, more than 200"),
        (f"<a {MAIN}>" + "<row><c/></row>" * 600, "has 501 elements, more than 500"),
        ("<a>" + "<row><c/></row>" * 300, "has 501 elements, more than 500"),
        ("<a" + " b='c'" * 300_000, "bytes of a tag, more than 1,000"),
    ],
)
def test_a_part_that_would_take_all_memory_is_refused(
    part: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, most in (("_MOST_ELEMENTS", 500), ("_MOST_IN_ONE", 200), ("_LONGEST_TAG", 1_000)):
        if "within each other" not in said:
            monkeypatch.setattr(zipped, name, most)
    path = tmp_path / "a.xlsx"
    path.write_bytes(archive({"xl/a.xml": part}))
    with pytest.raises(ReadError, match=said), open_archive(path, ".xlsx") as opened:
        opened.read("xl/a.xml")


def test_a_text_of_one_row_has_the_limit_of_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "4K")
    path = tmp_path / "a.xlsx"
    for n, rows in ((3_000, 10), (5_000, 1)):
        part = f"<a {MAIN}>" + f"<row><c>{'b' * n}</c></row>" * rows + "</a>"
        path.write_bytes(archive({"xl/a.xml": part}))
        with open_archive(path, ".xlsx") as opened:
            if rows > 1:
                assert opened.read("xl/a.xml") == part.encode()
                continue
            with pytest.raises(
                zipped.Refused, match=rf"characters of a text \({VARIABLE}\), more than 4,096"
            ):
                opened.read("xl/a.xml")


def test_rows_and_shared_texts_count_as_one_each_when_they_have_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zipped, "_MOST_ELEMENTS", 500)
    path = tmp_path / "a.xlsx"
    parts = {name: f"<a {MAIN}>{f'<{name}><c/><c/></{name}>' * 400}</a>" for name in ("row", "si")}
    path.write_bytes(archive(parts))
    with open_archive(path, ".xlsx") as opened:
        for name, part in parts.items():
            assert opened.read(name) == part.encode()


def test_whatever_goes_wrong_in_it_names_the_file_and_the_next_step(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(b"no archive")
    with (
        pytest.raises(ReadError, match=r"a\.docx: this is no readable \.docx \(BadZipFile"),
        open_archive(path, ".docx"),
    ):
        pass
