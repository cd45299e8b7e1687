"""Documents chosen by a field, numbered, named, and those that are not documents."""

from pathlib import Path
from typing import Any

import pytest

from deplda import Fields, InputError, ReadError, read_corpus, read_shards
from deplda.data.readers import (
    Where,
    plain_row,
)
from tests.data.readers.documents import ROWS, write_lines


@pytest.fixture(params=["jsonl", "csv", "parquet"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"documents.{request.param}"
    if request.param == "parquet":
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)
        return path
    if request.param == "jsonl":
        return write_lines(path)
    lines = [
        f"{r['id']},{r['text']},{';'.join(r['labels'])},{r['split']},{r['fold']}" for r in ROWS
    ]
    path.write_text("\n".join(["id,text,labels,split,fold", *lines]), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ([Where("split", "train")], ("a", "c")),
        ([Where("split", "train", equal=False)], ("b",)),
        ([Where("fold", "0", equal=False), Where("split", "train")], ("c",)),
    ],
)
def test_only_documents_with_the_fields_that_are_asked_for_are_read(
    table: Path, where: list[Where], ids: tuple[str, ...]
) -> None:
    assert read_corpus(table, fields=Fields(where=where)).ids == ids
    shards = read_shards(table, 1, fields=Fields(where=where))
    assert tuple(shard.ids[0] for shard in shards) == ids


def test_a_condition_that_no_document_meets_says_what_was_found(table: Path) -> None:
    with pytest.raises(
        ReadError, match=r"no document has split=dev \(found: split is one of train"
    ):
        read_corpus(table, fields=Fields(where=[Where("split", "dev")]))


def test_truth_and_nothing_are_written_as_json_has_them(tmp_path: Path) -> None:
    rows: Any = [{"text": "a", "labels": [], "ok": True}, {"text": "b", "labels": [], "ok": None}]
    path = write_lines(tmp_path / "a.jsonl", rows)
    for value, expected in (("true", "0"), ("null", "0"), ("false", None)):
        fields = Fields(where=[Where("ok", value)])
        if expected is None:
            with pytest.raises(ReadError, match="ok is one of true, null"):
                read_corpus(path, fields=fields)
        else:
            assert len(read_corpus(path, fields=fields)) == 1


def test_a_row_without_content_names_what_was_found() -> None:
    with pytest.raises(InputError, match=r"it has none of .*found: body.*--text-field"):
        plain_row({"body": "bee"}, Fields())
