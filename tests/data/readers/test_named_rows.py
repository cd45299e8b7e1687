from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from deplda import Fields, WordCounter
from deplda.data.readers import read_counted, read_rows, read_settled
from deplda.data.readers.named_rows import Written, fields_in

PLAIN = WordCounter(stop_words=None, min_count=1, language=None)


def test_rows_are_settled_by_the_first_of_them_and_none_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,labels\nbee,x|y\ncat,z\n")
    found = read_settled(path, "csv", Fields(), Written())
    assert found.fields == Fields(separator="|")
    assert [row["text"] for _, row in found.rows] == ["bee", "cat"]
    for fields in (Fields(separator=","), Fields(labels=None), Fields(label_columns=["text"])):
        again = read_settled(path, "csv", fields, Written())
        assert (again.fields, again.separator, again.first) == (fields, None, [])
        assert len(list(again.rows)) == 2


@pytest.mark.parametrize("format", ["csv", "xlsx"])
def test_a_cell_holds_neither_lists_nor_objects(format: Any) -> None:
    assert fields_in(format, Fields()).counts not in ("counts", "tokens")


def test_columns_and_encoding_may_be_said(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("text:labels\nbüe:x\n".encode("utf-16-be"))
    ((_, row),) = read_rows(path, "csv", Fields(), "utf-16-be", ":")
    assert row == {"text": "büe", "labels": "x"}


def test_documents_without_a_text_are_documents_and_are_counted(tmp_path: Path) -> None:
    contents: dict[str, list[Any]] = {"text": ["bee", None, " "], "labels": [["x"], ["y"], []]}
    parquet, jsonl = tmp_path / "a.parquet", tmp_path / "a.jsonl"
    pyarrow.parquet.write_table(pyarrow.table(contents), parquet)
    jsonl.write_text(
        '{"text": "bee", "labels": ["x"]}\n{"text": null, "labels": ["y"]}\n'
        '{"text": " ", "labels": []}\n'
    )
    csv = tmp_path / "a.csv"
    csv.write_text("text,labels\nbee,x\n,y\n ,\n")
    for path in (parquet, jsonl, csv):
        corpus, _, _, notes = read_counted(path, counter=PLAIN)
        assert corpus.document_lengths.tolist() == [1, 0, 0]
        assert corpus.labels_per_document.tolist() == [1, 1, 0]
        assert notes == ["2 of 3 documents have no text"]
