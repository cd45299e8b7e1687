import datetime
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from deplda import Fields, ReadError, WordCounter, read_corpus, read_shards
from deplda.data.readers import read_rows
from deplda.data.sizes import VARIABLE
from tests.data.readers.office_files import archive, xlsx

PLAIN = WordCounter(stop_words=None, min_count=1, language=None)
HEADER = ("id", "text", "labels")


def write(path: Path, *rows: Any, **options: Any) -> Path:
    path.write_bytes(xlsx(rows, "Notes", **options))
    return path


def problem(path: Path, **options: Any) -> str:
    with pytest.raises(ReadError) as caught:
        read_corpus(path, **options)
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))


def test_a_spreadsheet_is_what_the_same_table_is_in_csv(tmp_path: Path) -> None:
    rows = [HEADER, ("a", "bee cat", "x; y"), ("b", "zebra", "y")]
    (tmp_path / "a.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    expected = read_corpus(tmp_path / "a.csv", counter=PLAIN)
    path = write(tmp_path / "a.xlsx", *rows)
    assert read_corpus(path, counter=PLAIN) == expected
    assert [len(shard) for shard in read_shards(path, 1)] == [1, 1]
    unnamed = tmp_path / "documents"
    unnamed.write_bytes(path.read_bytes())
    assert read_corpus(unnamed, counter=PLAIN) == expected
    renamed = tmp_path / "renamed.csv"
    renamed.write_bytes(path.read_bytes())
    assert read_corpus(renamed, counter=PLAIN) == expected


def test_cells_are_read_as_a_person_reads_them(tmp_path: Path) -> None:
    cells = (
        12, 12.0, 12.5, True, datetime.date(2026, 1, 2), datetime.datetime(2026, 1, 2, 3, 4), None,
        "a\nb", " c ",
    )  # fmt: skip
    names = [f"c{number}" for number in range(len(cells))]
    path = write(tmp_path / "a.xlsx", [*names, "text"], [*cells, "bee"])
    ((number, row),) = read_rows(path, "xlsx", Fields(labels=None))
    assert number == 2
    assert [row[name] for name in names] == [
        "12", "12", "12.5", "true", "2026-01-02", "2026-01-02 03:04:00", "", "a\nb", " c ",
    ]  # fmt: skip


def test_numbers_are_ids_and_labels_and_an_empty_id_is_none(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", HEADER, (7, "bee", 2024), (None, "cat", None))
    corpus = read_corpus(path, counter=PLAIN)
    assert (corpus.ids, corpus.label_names) == (("7", "1"), ("2024",))


def test_labels_may_have_columns_with_numbers_or_truth_values(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", ("text", "x", "y"), ("bee", 1, False), ("cat", None, True))
    corpus = read_corpus(path, fields=Fields(label_columns=["x", "y"]))
    assert corpus.labels.toarray().tolist() == [[True, False], [False, True]]


def test_empty_rows_and_columns_without_a_name_are_passed_over(tmp_path: Path) -> None:
    rows = [(None,), ("text ", None, "labels", None), (), ("bee", "?", "x", "?"), (), ("cat",)]
    path = write(tmp_path / "a.xlsx", *rows)
    corpus = read_corpus(path, counter=PLAIN)
    assert corpus.vocabulary == ("bee", "cat")
    assert corpus.labels_per_document.tolist() == [1, 0]


def test_a_sheet_is_chosen_by_name_or_number(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", HEADER, ("a", "bee", "x"))
    assert read_corpus(path, sheet="Articles") == read_corpus(path, sheet=1) == read_corpus(path)
    assert problem(path, sheet=2) == (
        ": the sheet 'Notes' is empty; its first row must name the columns (sheet=, --sheet says "
        "another)"
    )
    assert read_corpus(path, sheet="articles") == read_corpus(path)
    assert problem(path, sheet="Artikles") == (
        ": there is no sheet 'Artikles': did you mean 'Articles'? say one of 'Articles', 'Notes', "
        "or 1 to 2"
    )
    assert ": there is no sheet 3; say one of" in problem(path, sheet=3)


def test_an_error_names_the_sheet_and_the_row(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", HEADER, ("a", "bee", "x"), (), ("a", "cat", "x"))
    assert problem(path).startswith(
        ", sheet 'Articles', row 4: the id 'a' stands on sheet 'Articles', row 2 already"
    )
    path = write(path, HEADER, ("a", "bee", "#REF!"))
    assert problem(path).startswith(
        ", sheet 'Articles', row 2: the cell of the column 'labels' is #REF!: its formula failed"
    )
    path = write(path, (), ("Nr", "Body"))
    assert problem(path).startswith(
        ", sheet 'Articles', row 2: there is no column 'text' (found: 'Nr', 'Body'); name the right"
    )


def test_a_formula_is_its_value_and_one_that_is_not_available_is_empty(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["text", "labels"])
    book.active.append(["=A1", "#N/A"])
    path = tmp_path / "a.xlsx"
    book.save(path)  # as from a program that does not compute: there is no value
    corpus = read_corpus(path)
    assert (corpus.n_words, corpus.n_labels) == (0, 0)


def test_a_cell_at_the_far_end_of_a_sheet_fills_no_memory(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(HEADER)
    sheet.append(("a", "bee", "x"))
    sheet["XFD1048576"] = "end"
    path = tmp_path / "a.xlsx"
    book.save(path)
    read = "import deplda, sys; print(len(deplda.read_corpus(sys.argv[1])))"
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)); {read}"
    done = subprocess.run(
        [sys.executable, "-c", limited, path], capture_output=True, text=True, check=True
    )
    assert done.stdout == "2\n"


def test_what_unpacks_to_more_than_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.xlsx", HEADER, ("a", "bee " * 5000, "x"))
    monkeypatch.setenv(VARIABLE, "1K")
    assert ": this file, unpacked, has" in problem(path)
    monkeypatch.setenv(VARIABLE, "4K")
    assert "characters of a text" in problem(path)


def test_what_is_no_workbook_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    for content in (b"text;labels\nbee;x\n", archive({"xl/nothing": ""}), xlsx([HEADER])[:-40]):
        path.write_bytes(content)
        said = problem(path)
        assert said.startswith(": this is no readable .xlsx (")
        assert said.endswith("open it in its program and save it again")
    path.write_bytes(b"\xd0\xcf\x11\xe0" + b"\0" * 100)
    assert "it is protected by a password, or of the formats before 2007" in problem(path)


def test_a_row_with_a_number_that_no_sheet_has_is_not_waited_for(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", HEADER, ("a", "bee", "x"))
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name).decode() for name in book.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace('<row r="2"', '<row r="99999999999"')
    path.write_bytes(archive(parts))
    assert ", row 1048577: a sheet has 1,048,576 rows at most" in problem(path)


def test_entities_of_a_sheet_are_not_expanded(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", HEADER, ("a", "bee", "x"))
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name).decode() for name in book.namelist()}
    for name in ("xl/worksheets/sheet1.xml", "xl/workbook.xml"):
        content = parts[name][parts[name].index("<") :]
        hostile = f'<!DOCTYPE a [<!ENTITY b "c">]>{content}'
        path.write_bytes(archive(parts | {name: hostile}))
        assert f"({name} has a document type" in problem(path)
