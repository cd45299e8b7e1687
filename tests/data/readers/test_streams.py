"""Documents one by one: chosen by a field, from standard input, plain text, and to other files."""

import gzip
import io
import itertools
import json
import os
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from deplda import Corpus, Fields, InputError, ReadError, WordCounter, read_corpus, read_shards
from deplda.data.files import StandardInput
from deplda.data.readers import (
    Where,
    plain_row,
    read_counted,
    read_records,
    read_rows,
    rows_of,
    write_rows,
)

PLAIN = WordCounter(stop_words=None, min_count=1)
ROWS: list[dict[str, Any]] = [
    {"id": "a", "text": "apple bee", "labels": ["x"], "split": "train", "fold": 0},
    {"id": "b", "text": "bee cat", "labels": ["y"], "split": "test", "fold": 1},
    {"id": "c", "text": "cat", "labels": ["x", "y"], "split": "train", "fold": 2},
]


def write_jsonl(path: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(params=["jsonl", "csv", "parquet"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"documents.{request.param}"
    if request.param == "parquet":
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)
        return path
    if request.param == "jsonl":
        return write_jsonl(path)
    lines = [
        f"{r['id']},{r['text']},{';'.join(r['labels'])},{r['split']},{r['fold']}" for r in ROWS
    ]
    path.write_text("\n".join(["id,text,labels,split,fold", *lines]), encoding="utf-8")
    return path


# Chosen documents -------------------------------------------------------------------------------


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
    path = write_jsonl(tmp_path / "a.jsonl", rows)
    for value, expected in (("true", "0"), ("null", "0"), ("false", None)):
        fields = Fields(where=[Where("ok", value)])
        if expected is None:
            with pytest.raises(ReadError, match="ok is one of true, null"):
                read_corpus(path, fields=fields)
        else:
            assert len(read_corpus(path, fields=fields)) == 1


def test_a_format_without_fields_has_none_to_choose_by(tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    path.write_text("0 1:1\n")
    fields = Fields(where=[Where("split", "train")])
    with pytest.raises(ReadError, match="it has no field 'split'"):
        read_corpus(path, fields=fields)
    with pytest.raises(ReadError, match="it has no field 'split'"):
        next(read_shards(path, fields=fields))


# Standard input and pipes -----------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_stands_in_the_place_of_a_file(packed: bool, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl")
    data = path.read_bytes()
    stream = StandardInput(io.BytesIO(gzip.compress(data) if packed else data))
    assert read_corpus(stream, "jsonl", counter=PLAIN) == read_corpus(path, counter=PLAIN)


def test_the_format_of_standard_input_is_guessed_without_losing_its_beginning(
    tmp_path: Path,
) -> None:
    path = write_jsonl(tmp_path / "a.jsonl")
    assert len(read_corpus(StandardInput(io.BytesIO(path.read_bytes())))) == 3


def test_a_pipe_is_read_when_its_format_is_said(tmp_path: Path) -> None:
    pipe, data = tmp_path / "pipe", write_jsonl(tmp_path / "a.jsonl").read_bytes()
    os.mkfifo(pipe)
    with pytest.raises(ReadError, match="a pipe is read only once; say its format="):
        read_corpus(pipe)
    writer = Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    assert len(read_corpus(pipe, "jsonl")) == 3
    writer.join()


def test_an_error_on_standard_input_is_called_so() -> None:
    with pytest.raises(ReadError, match=r"^standard input, line 2: this is not JSON"):
        read_corpus(StandardInput(io.BytesIO(b'{"text":"a","labels":[]}\n{oops\n')), "jsonl")


# Plain text -------------------------------------------------------------------------------------


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
        read_corpus(path, "text")
    assert read_corpus(path, "text", encoding="latin-1").vocabulary == ("fine", "könig")


def test_a_long_text_is_counted_in_pieces_to_the_same_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Straße und Haus\n" * 500 + "unteilbar" * 300
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": text, "labels": []}])
    whole = read_corpus(path, counter=PLAIN)
    for pairs in ((1, 1), (1, 2)):  # pairs of words are never cut
        counter = WordCounter(stop_words=None, min_count=1, ngram_range=pairs)
        expected = read_corpus(path, counter=counter)
        monkeypatch.setattr("deplda.data.readers.corpora._PIECE", 100)
        assert read_corpus(path, counter=counter) == expected
        monkeypatch.undo()
    assert whole.vocabulary[-1] == "unteilbar" * 300


# The counter of a corpus ------------------------------------------------------------------------


def test_texts_come_with_the_counter_of_their_words(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl")
    corpus, counter = read_counted(path, counter=WordCounter(stop_words=None, min_count=2))
    assert counter is not None
    assert counter.vocabulary_ == corpus.vocabulary == ("bee", "cat")
    assert counter.transform(["bee bee apple"]).toarray().tolist() == [[2, 0]]
    assert counter.stop_words is None


def test_counts_come_without_a_counter(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"counts": {"bee": 2}, "labels": ["x"]}])
    assert read_counted(path)[1] is None
    numbers = tmp_path / "a.svm"
    numbers.write_text("0 1:1\n")
    assert read_counted(numbers)[1] is None


def test_records_are_read_one_by_one_with_ids_as_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "a", "text": "bee"}\n{"id": "a", "text": "cat"}\n{oops\n')
    records = read_records(path, "jsonl", fields=Fields(labels=None))
    first, second = itertools.islice(records, 2)
    assert (first.id, second.id, second.counts) == ("a", "a", {"cat": 1})
    with pytest.raises(ReadError, match="line 3"):
        next(records)


# To other files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["b.jsonl", "b.jsonl.gz", "b.parquet"])
def test_rows_are_written_with_the_names_that_are_read_by_default(
    tmp_path: Path, name: str
) -> None:
    rows = [
        {"key": 7, "body": "bee cat", "tags": "x;y"},
        {"key": 8, "body": "cat", "tags": ""},
    ]
    fields = Fields(id="key", text="body", labels="tags")
    path, target = write_jsonl(tmp_path / "a.jsonl", rows), tmp_path / name
    plain = (plain_row(row, fields) for _, row in read_rows(path, "jsonl", fields))
    assert write_rows(plain, target) == 2
    assert read_corpus(target, counter=PLAIN) == read_corpus(path, fields=fields, counter=PLAIN)


def test_counts_and_tokens_survive_parquet(tmp_path: Path) -> None:
    corpus = Corpus([[2, 0], [1, 3]], [[1, 0], [1, 1]], ["bee", "cat"], ["x", "y"], ["a", "b"])
    target = tmp_path / "a.parquet"
    assert write_rows(rows_of(corpus), target) == 2
    assert read_corpus(target) == corpus
    write_rows([{"tokens": ["bee", "bee"], "labels": ["x"]}], target)
    assert read_corpus(target).counts.toarray().tolist() == [[2]]


def test_parquet_of_more_rows_than_a_batch_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deplda.data.readers.writers._PARQUET_ROWS", 2)
    rows: Any = [{"id": str(i), "text": "bee", "labels": []} for i in range(5)]
    assert write_rows(rows, tmp_path / "a.parquet") == 5
    assert len(read_corpus(tmp_path / "a.parquet")) == 5
    rows[4] = {"id": "4", "counts": {"bee": 1}, "labels": []}
    with pytest.raises(InputError, match="has 'counts', but the first ones have only id, text"):
        write_rows(rows, tmp_path / "b.parquet")
    assert not (tmp_path / "b.parquet").exists()


def test_a_row_without_content_names_what_was_found() -> None:
    with pytest.raises(InputError, match=r"it has none of .*found: body.*--text-field"):
        plain_row({"body": "bee"}, Fields())
