"""Documents chosen by a field, numbered, named, and those that are not documents."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deplda import (
    Fields,
    GuessedSeparatorWarning,
    InputError,
    ReadError,
    WordCounter,
    read_corpus,
    read_shards,
)
from deplda.data.readers import Where, guess_format, plain_row, read_counted, read_rows
from deplda.data.readers.records import counts_in, record_of
from deplda.errors import MissingFieldWarning
from tests.data.readers.documents import ROWS, write_lines
from tests.data.readers.office_files import xlsx


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


@pytest.mark.parametrize("equal", [True, False])
def test_a_condition_on_a_field_that_no_document_has_names_those_there_are(
    tmp_path: Path, equal: bool
) -> None:
    path = write_lines(tmp_path / "a.jsonl")
    with pytest.raises(
        ReadError,
        match=r"no document has the field 'splt': did you mean 'split'\? \(found: 'id', 'text', 'l",
    ):
        read_corpus(path, fields=Fields(where=[Where("splt", "train", equal)]))


def test_a_field_that_some_documents_have_may_be_asked_for(tmp_path: Path) -> None:
    rows: Any = [{"text": "a", "labels": []}, {"text": "b", "labels": [], "part": "x"}]
    path = write_lines(tmp_path / "a.jsonl", rows)
    assert len(read_corpus(path, fields=Fields(where=[Where("part", "x", equal=False)]))) == 1


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


@pytest.mark.parametrize(
    ("row", "is_empty"),
    [
        ({"text": ""}, True), ({"text": " \n\t"}, True), ({"text": None}, True),
        ({"tokens": []}, True), ({"tokens": None}, True), ({"counts": {}}, True),
        ({"text": "?"}, False), ({"text": "the"}, False), ({"tokens": ["a"]}, False),
    ],
)  # fmt: skip
def test_a_document_in_which_nothing_stands_is_empty(row: Any, is_empty: bool) -> None:
    record = record_of(row, 1, Fields(), WordCounter().analyzer().document_counts)
    assert record.is_empty == is_empty


def test_empty_documents_are_told_of_before_their_shard(tmp_path: Path) -> None:
    rows: Any = [
        {"text": "bee", "labels": ["x"]},
        {"id": "n", "text": None, "labels": ["x"]},
        {"text": " ", "labels": []},
    ]
    path, empty = write_lines(tmp_path / "a.jsonl", rows), list[str]()
    for _ in read_shards(path, 2, on_empty=empty.append):
        empty.append("|")
    assert empty == ["n", "|", "2", "|"]
    (tmp_path / "a.svm").write_text("0 1:2\n0\n")
    empty.clear()
    list(read_shards(tmp_path / "a.svm", on_empty=empty.append))
    assert empty == ["1"]


def test_a_language_is_told_though_the_first_text_is_null(tmp_path: Path) -> None:
    text = "the court heard the judge and the jury before it was over"
    rows: Any = [{"text": None, "labels": ["x"]}, {"text": text, "labels": ["x"]}]
    counter = WordCounter()
    read_counted(write_lines(tmp_path / "a.jsonl", rows), counter=counter)
    assert counter.detected_.code == "en"


def test_a_row_without_content_names_what_was_found() -> None:
    with pytest.raises(InputError, match=r"'counts': did you mean 'txt'\? \(found: 'txt'\)"):
        plain_row({"txt": "bee"}, Fields())
    assert plain_row({"text": None}, Fields()) == {"text": "", "labels": []}
    with pytest.raises(InputError, match=r"it has none of .*found: 'body.*--text-field"):
        plain_row({"body": "bee"}, Fields())


# Several fields -----------------------------------------------------------------------------------

BOTH = Fields(text=("title", "body"), weights={"title": 2})


@pytest.fixture(params=["jsonl", "csv", "tsv", "parquet"])
def titled(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Three documents with a title and a body, of which the second has no title."""
    rows: Any = [
        {"id": "a", "title": "ant bee", "body": "cat bee", "labels": "x"},
        {"id": "b", "title": None, "body": "cat", "labels": "x;y"},
        {"id": "c", "title": "dog", "body": "", "labels": "y"},
    ]
    path = tmp_path / f"titled.{request.param}"
    if request.param == "parquet":
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    elif request.param == "jsonl":
        write_lines(path, rows)
    else:
        mark = "," if request.param == "csv" else "\t"
        lines = [mark.join(value or "" for value in row.values()) for row in rows]
        path.write_text("\n".join([mark.join(rows[0]), *lines]), encoding="utf-8")
    return path


@pytest.mark.parametrize("case", [str.lower, str.upper, str.title])
def test_words_of_several_fields_count_together_by_weight(case: Any, titled: Path) -> None:
    fields = Fields(text=[case("title"), case("body")], weights={case("title"): 2})
    for corpus in (
        read_corpus(titled, fields=fields, counter=WordCounter(min_count=1)),
        *read_shards(titled, fields=fields, counter=WordCounter(min_count=1)),
    ):
        assert corpus.ids == ("a", "b", "c")
        assert corpus.vocabulary == ("ant", "bee", "cat", "dog")
        assert corpus.counts.toarray().tolist() == [[2, 3, 1, 0], [0, 0, 1, 0], [0, 0, 0, 2]]


def test_no_sequence_of_words_goes_from_one_field_to_the_next(titled: Path) -> None:
    corpus, *_ = read_counted(titled, fields=BOTH, counter=WordCounter(ngrams=2))
    assert {word for word in corpus.vocabulary if " " in word} == {"ant bee", "cat bee"}


def test_labelled_documents_of_which_none_has_one_of_the_text_fields_are_refused(
    titled: Path,
) -> None:
    fields = Fields(text=("titel", "body"))
    said = r"'titel': did you mean 'title'\? \(found: 'id', 'title', 'body'.*--text-field"
    with pytest.raises(ReadError, match=f"(no document has the text field|no column) {said}"):
        read_corpus(titled, fields=fields)
    unlabelled = replace(fields, labels=None)
    if titled.suffix == ".parquet":  # of which only the columns that are needed are read
        said = "'titel'"
    with pytest.warns(MissingFieldWarning, match=f"no document has the text field {said}"):
        corpus = read_corpus(titled, fields=unlabelled, counter=WordCounter())
    assert corpus.vocabulary == ("bee", "cat")
    fields = Fields(text=("headline", "lead"))
    with pytest.raises(ReadError, match=r"'headline'(,| or) 'lead'.*found: 'id', 'title', 'body"):
        read_corpus(titled, fields=fields)


def test_two_fields_that_differ_in_case_alone_are_an_error(tmp_path: Path) -> None:
    line, table = tmp_path / "a.jsonl", tmp_path / "a.csv"
    line.write_text('{"Text": "bee", "TEXT": "cat", "labels": []}')
    table.write_text("Text,TEXT,labels\nbee,cat,x\n")
    for path in (line, table):
        with pytest.raises(ReadError, match="line 1: there is no field 'text', but there are"):
            read_corpus(path)


def test_a_plain_text_is_no_field_that_has_a_weight(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("ant bee bee")
    corpus = read_corpus(path, "text", fields=BOTH, counter=WordCounter(min_count=1))
    assert corpus.counts.toarray().tolist() == [[1, 2]]


def test_several_texts_are_written_as_one_without_weights(titled: Path) -> None:
    format: Any = titled.suffix[1:]
    row = plain_row(next(read_rows(titled, format, BOTH))[1], BOTH)
    assert row == {"id": "a", "text": "ant bee\ncat bee", "labels": ["x"]}


def test_a_text_that_is_none_names_its_field() -> None:
    with pytest.raises(InputError, match="'body' is 5; it must be a string"):
        counts_in({"title": "a", "body": 5}, BOTH, WordCounter().analyzer().document_counts)


# Several fields of labels -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.xlsx"])
def test_a_document_has_the_labels_of_all_its_label_fields(tmp_path: Path, name: str) -> None:
    header = ["text", "Subject 1", "Subject 2", "Subject 3"]
    rows = [["bee", "x", "y", ""], ["cat", "y", "", "y"], ["dog", "", "", "z, x"]]
    path = tmp_path / name
    if name == "a.jsonl":
        write_lines(path, [dict(zip(header, row, strict=True)) for row in rows])
    elif name == "a.csv":
        path.write_text("\n".join(";".join(row) for row in (header, *rows)))
    else:
        path.write_bytes(xlsx([header, *rows]))
    fields = Fields(labels=header[1:], separator=",")
    corpus = read_corpus(path, fields=fields)
    assert corpus.label_names == ("x", "y", "z")
    assert corpus.labels.toarray().astype(int).tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 1]]
    with pytest.warns(GuessedSeparatorWarning, match="'z, x' is taken as 2 labels"):
        assert read_corpus(path, fields=replace(fields, separator=None)) == corpus
    (_, row), *_ = read_rows(path, guess_format(path), fields)
    assert plain_row(row, fields)["labels"] == ["x", "y"]
    with pytest.raises(ReadError, match="'Subject 4': did you mean 'Subject 3'"):
        read_corpus(path, fields=Fields(labels=["Subject 1", "Subject 4"]))


def test_one_field_of_labels_in_a_list_is_what_it_is_by_itself(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", [{"text": "bee", "tags": ["x"]}])
    expected = read_corpus(tmp_path / "a.jsonl", fields=Fields(labels="tags"))
    assert read_corpus(tmp_path / "a.jsonl", fields=Fields(labels=["tags"])) == expected
    assert not read_corpus(tmp_path / "a.jsonl", fields=Fields(labels=[])).label_names
