"""What documents are given, as tables: one row a label."""

import csv
import io
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openpyxl
import pandas
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deplda import InputError, ReadError
from deplda.data.readers import tables
from deplda.data.readers.tables import (
    DelimitedTable,
    check_can_write,
    columns,
    csv_line,
    open_parquet,
    open_spreadsheet,
    table_rows,
)

LAW = {"label": "law", "uri": "http://y/law", "notation": "34", "probability": 0.5}
ANSWER: dict[str, Any] = {
    "labels": [LAW, {"label": "=1+1", "by_name": True, "probability": 0.25}], "n_known": 7
}  # fmt: skip
NONE: dict[str, Any] = {"labels": [], "n_known": 0, "out_of_vocabulary": True}
ROWS = [
    ("a", 1, "law", "http://y/law", "34", 0.5, 7, None),
    ("a", 2, "=1+1", None, None, 0.25, 7, "by_name"),
    ("b", None, None, None, None, None, 0, "out_of_vocabulary"),
]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["=1", "'=1", "-x", "a;=b", "\r\n", '"', "\t@", "＝x", "a\n+b", "'"]
)


def all_rows() -> list[Any]:
    return [*table_rows("a", ANSWER, "probability"), *table_rows("b", NONE, "probability")]


def write(path: Path, rows: list[Any]) -> Path:
    opener = open_spreadsheet if path.suffix == ".xlsx" else open_parquet
    with opener(path, "probability") as add:
        add(rows[:1])
        add(rows[1:])
    return path


def test_a_row_is_a_document_and_a_label_and_a_document_without_one_has_a_row() -> None:
    assert all_rows() == ROWS
    unknown = NONE | {"labels": [LAW | {"by_name": True, "score": -1.5}]}
    assert table_rows("c", unknown, "score")[0][5:] == (-1.5, 0, "by_name out_of_vocabulary")
    assert columns("score")[5] == "score"


# CSV and TSV --------------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_pandas_opens_the_table(tmp_path: Path, delimiter: str) -> None:
    table = DelimitedTable(delimiter, "probability")
    path = tmp_path / "a.csv"
    path.write_bytes(table.header + table.encode("a", ANSWER) + table.encode("b", NONE))
    found = pandas.read_csv(path, sep=delimiter)
    assert tuple(found.columns) == columns("probability")
    assert found["label"].tolist()[:2] == ["law", "'=1+1"]
    assert found["probability"].tolist()[:2] == [0.5, 0.25]
    assert path.read_bytes().startswith(b"\xef\xbb\xbf") == (delimiter == ",")


@pytest.mark.parametrize(
    "cell",
    ["=cmd", "+1", "-1", "@x", "a;=b", "a\t=b", "a,=b", "a|=b", "\r=x", "'=x", "＝x", "\t=x"],
)
def test_no_cell_is_a_formula_wherever_a_spreadsheet_splits_it(cell: str) -> None:
    content = DelimitedTable(",", "probability").encode(cell, NONE).decode()
    for separator in ",;\t|\n\r":
        parts = content.replace('"', "").split(separator)
        assert not any(part.startswith(("=", "+", "-", "@", "＝")) for part in parts)


def test_numbers_below_zero_stay_numbers() -> None:
    answer = {"labels": [{"label": "x", "score": -2.5}], "n_known": 1}
    assert DelimitedTable(",", "score").encode("a", answer) == b"a,1,x,,,-2.5,1,\n"


@given(st.lists(TEXTS, unique=True, min_size=1, max_size=4), TEXTS)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_what_is_stored_is_what_was_written_but_for_the_last(ids: list[str], label: str) -> None:
    table = DelimitedTable(",", "probability")
    answer = ANSWER | {"labels": [LAW, LAW | {"label": label}]}
    documents = [table.encode(id, answer if n % 2 else NONE) for n, id in enumerate(ids)]
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        path.write_bytes(table.header + b"".join(documents))
        found = [(each.id, each.content) for each in table.stored(path)]
        expected = [(table.stored_id(id), own) for id, own in zip(ids, documents, strict=True)]
        assert found == expected[:-1]
        # Cut off anywhere, what is left is a beginning of it.
        whole = path.read_bytes()
        for end in range(0, len(whole), 7):
            path.write_bytes(whole[:end])
            found = [(each.id, each.content) for each in table.stored(path)]
            assert found == expected[: len(found)]


def test_lines_and_places_of_documents_are_told(tmp_path: Path) -> None:
    table, path = DelimitedTable(",", "probability"), tmp_path / "a.csv"
    path.write_bytes(
        table.header + table.encode("a\nb", ANSWER) + table.encode("c", NONE) + b"d,,,,,,0,\n"
    )
    assert [(each.line, each.id) for each in table.stored(path)] == [(2, "a\nb"), (6, "c")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b"my diary, and more of it than a header has, which is not short",
            "line 1: this is no ta",
        ),
        (b"HEADa,1\n", "line 2: this is no row of predictions"),
        (b'HEADa,,,,,,0,\n"b"c,,,,,,0,\nd,,,,,,0,\n', "line 3: this is no row of a table"),
    ],
)
def test_another_file_is_no_table_of_predictions(tmp_path: Path, content: bytes, said: str) -> None:
    table = DelimitedTable(",", "probability")
    (tmp_path / "a.csv").write_bytes(content.replace(b"HEAD", table.header))
    with pytest.raises(ReadError, match=said):
        list(table.stored(tmp_path / "a.csv"))


@given(st.lists(TEXTS, min_size=2, max_size=4))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_a_line_of_csv_has_its_cells(cells: list[str]) -> None:
    line = csv_line(tuple(cells)).decode()
    assert list(csv.reader(io.StringIO(line, newline=""))) == [cells]


# Spreadsheets and Parquet -------------------------------------------------------------------------


def test_a_spreadsheet_has_texts_and_numbers_but_no_formula(tmp_path: Path) -> None:
    sheet = openpyxl.load_workbook(write(tmp_path / "a.xlsx", all_rows())).active
    header, *rows = sheet.iter_rows(values_only=True)
    assert header == columns("probability")
    assert rows == ROWS
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} == {"n", "s"}
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", "A1:H4")


def test_more_rows_than_a_sheet_has_go_on_in_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_SHEET_ROWS", 3)
    book = openpyxl.load_workbook(write(tmp_path / "a.xlsx", [*ROWS, *ROWS]))
    assert book.sheetnames == ["labels", "labels 2", "labels 3"]
    told = [[*sheet.iter_rows(min_row=2, values_only=True)] for sheet in book]
    assert [row for rows in told for row in rows] == [*ROWS, *ROWS]


def test_a_cell_that_excel_does_not_take_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the id 'xxx.* has 32,768 characters, but a cell"):
        write(tmp_path / "a.xlsx", [("x" * 32_768, *ROWS[0][1:])])
    assert list(tmp_path.iterdir()) == []


def test_parquet_has_types(tmp_path: Path) -> None:
    table = pyarrow.parquet.read_table(write(tmp_path / "a.parquet", all_rows()))
    assert [tuple(row.values()) for row in table.to_pylist()] == ROWS
    assert [str(field.type) for field in table.schema] == [
        "string", "int32", "string", "string", "string", "double", "int64", "string",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["a.xlsx", "a.parquet"])
def test_the_same_labels_give_the_same_bytes(tmp_path: Path, name: str) -> None:
    first = write(tmp_path / name, all_rows()).read_bytes()
    assert write(tmp_path / name, all_rows()).read_bytes() == first


@pytest.mark.parametrize("name", ["a.xlsx", "a.parquet"])
def test_what_is_cut_off_leaves_what_was_there(tmp_path: Path, name: str) -> None:
    path, opener = tmp_path / name, open_spreadsheet if name == "a.xlsx" else open_parquet
    path.write_text("of an earlier run")

    def cut_off() -> None:
        with opener(path, "probability") as add:
            add(all_rows())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cut_off()
    assert [each.name for each in tmp_path.iterdir()] == [name]
    assert path.read_text() == "of an earlier run"


@pytest.mark.parametrize(("suffix", "extra"), [(".xlsx", "xlsx"), (".parquet", "arrow")])
def test_a_missing_package_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, suffix: str, extra: str
) -> None:
    check_can_write(suffix)
    for package in ("xlsxwriter", "pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(InputError, match=rf"pip install 'deplda\[{extra}\]'"):
        check_can_write(suffix)
