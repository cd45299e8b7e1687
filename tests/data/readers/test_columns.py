import sys
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from deplda import Corpus, Fields, InputError, ReadError, WordCounter, read_corpus
from deplda.data.readers import Where, read_records

PLAIN = WordCounter(language=None, stop_words=None, min_count=1)


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def write_parquet(folder: Path, **columns: Any) -> Path:
    path = folder / "documents.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


def problem(path: Path, **options: Any) -> str:
    with pytest.raises(ReadError) as caught:
        read_corpus(path, **options)
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))


def expected() -> Corpus:
    return Corpus(
        [[1, 2, 0], [0, 1, 1], [0, 0, 0]],
        [[1, 1], [0, 1], [0, 0]],
        ["apple", "bee", "cat"],
        ["x", "y"],
        ["a", "b", "2"],
    )


# CSV and TSV ------------------------------------------------------------------------------------


def test_csv_and_tsv_are_read_by_their_header(tmp_path: Path) -> None:
    text = "labels,id,other,text\nx; y ;,a,1,bee apple bee\ny,b,2,cat bee\n,,3,\n"
    csv = write(tmp_path / "a.csv", text)
    tsv = write(tmp_path / "a.tsv", text.replace(",", "\t"))
    assert read_corpus(csv, counter=PLAIN) == expected()
    assert read_corpus(tsv, counter=PLAIN) == expected()


def test_a_quoted_cell_may_hold_delimiters_quotes_and_line_breaks(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", 'text,labels\n"bee, ""cat""\n\nzebra",x\nbad,row,here\n')
    assert problem(path).startswith(", line 5: this row has 3 cells")
    path = write(path, path.read_text().removesuffix("bad,row,here\n"))
    assert read_corpus(path, counter=PLAIN).vocabulary == ("bee", "cat", "zebra")


def test_a_cell_may_be_longer_than_the_csv_modules_own_limit(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", f"text,labels\n{'word ' * 40_000},x\n")
    assert read_corpus(path).n_tokens == 40_000


def test_blank_lines_between_rows_are_passed_over(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "text,labels\n\nbee,x\n\n\ncat,y\n\n")
    assert len(read_corpus(path)) == 2


def test_labels_may_stand_one_a_column(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "text,x,y\nbee,1,\ncat,0,TRUE\n,no,x\n")
    corpus = read_corpus(path, fields=Fields(label_columns=["x", "y"]))
    assert corpus.label_names == ("x", "y")
    assert corpus.labels.toarray().tolist() == [[True, False], [False, True], [False, True]]
    path = write(path, "text,x,y\nbee,1,maybe\n")
    said = problem(path, fields=Fields(label_columns=["x", "y"]))
    assert said.startswith(", line 2: the label column 'y' holds 'maybe'; use 1 or 0")


def test_a_table_may_be_unlabelled(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "text\nbee\n")
    assert read_corpus(path, fields=Fields(labels=None)).labels.shape == (1, 0)


def test_unknown_words_and_labels_of_a_table_are_dropped(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "text,labels\nbee cat,x;y\n")
    corpus = read_corpus(path, vocabulary=["cat"], label_names=["y", "z"])
    assert corpus.counts.toarray().tolist() == [[1]]
    assert corpus.labels.toarray().tolist() == [[True, False]]


@pytest.mark.parametrize("row", ["bee", "bee,x,y"])
def test_a_ragged_row_is_named_with_its_line_and_what_to_do(tmp_path: Path, row: str) -> None:
    path = write(tmp_path / "a.csv", f"text,labels\nfine,x\n{row}\n")
    assert problem(path) == (
        f", line 3: this row has {row.count(',') + 1} cells but the header names 2 columns; "
        "quote cells that hold the delimiter ','"
    )


def test_a_quote_that_is_never_closed_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", 'text,labels\n"bee,x\ncat,y\n')
    assert problem(path).startswith(", line 3: this is not valid CSV (unexpected end of data)")
    path = write(path, 'text,labels\n"bee"cat,x\n')
    assert problem(path).startswith(", line 2: this is not valid CSV")


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("body,labels", "there is no column 'text' (found: 'body', 'labels')"),
        ("text,tags", "there is no column 'labels' (found: 'text', 'tags')"),
        ("body;tags", "there is no column 'text' (found: 'body', 'tags')"),
        ("text,labels,text", "the header names the column 'text' twice; rename one"),
    ],
)
def test_a_header_without_the_right_columns_says_which_it_has(
    tmp_path: Path, header: str, said: str
) -> None:
    assert problem(write(tmp_path / "a.csv", f"{header}\na,b\n")).startswith(f", line 1: {said}")


def test_a_header_with_many_columns_is_shown_in_part(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", ",".join(f"c{i}" for i in range(500)) + "\n")
    assert "(found: 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9', …)" in problem(path)


def test_a_missing_label_column_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "text,x\nbee,1\n")
    said = problem(path, fields=Fields(label_columns=["x", "y"]))
    assert "there is no column 'y' (found: 'text', 'x')" in said


def test_a_table_without_rows_has_no_document(tmp_path: Path) -> None:
    assert problem(write(tmp_path / "a.csv", "")) == (
        ": it is empty; the first line must name the columns"
    )
    assert problem(write(tmp_path / "a.csv", "text,labels\n")) == ": there is no document in it"


def test_an_id_that_stands_twice_in_a_table_is_named_with_both_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", 'id,text,labels\na,"bee\nbee",x\nb,cat,\na,dog,\n')
    assert problem(path).startswith(", line 5: the id 'a' stands on line 3 already")


# Parquet ----------------------------------------------------------------------------------------


def test_parquet_text_tokens_and_counts_give_the_same_corpus(tmp_path: Path) -> None:
    pairs = [[("bee", 2), ("apple", 1)], [("cat", 1), ("bee", 1)], []]
    structs = [{"apple": 1, "bee": 2}, {"cat": 1, "bee": 1}, {}]
    words: list[dict[str, Any]] = [
        {"text": ["bee apple bee", "cat bee", ""]},
        {"tokens": [["bee", "apple", "bee"], ["cat", "bee"], []]},
        {"counts": pyarrow.array(pairs, pyarrow.map_(pyarrow.string(), pyarrow.int32()))},
        {"counts": pyarrow.array(pairs, pyarrow.map_(pyarrow.string(), pyarrow.float64()))},
        {"counts": structs},
    ]
    for columns in words:
        for labels in ([["x", "y"], ["y"], []], ["x;y", "y", None]):
            path = write_parquet(tmp_path, id=["a", "b", None], **columns, labels=labels)
            assert read_corpus(path, counter=PLAIN) == expected()


def test_parquet_labels_may_be_dictionary_encoded_or_columns(tmp_path: Path) -> None:
    labels = pyarrow.array(["x;y", "y", ""]).dictionary_encode()
    path = write_parquet(
        tmp_path, id=["a", "b", "2"], text=["bee apple bee", "cat bee", ""], l=labels
    )
    assert read_corpus(path, counter=PLAIN, fields=Fields(labels="l")) == expected()
    columns = {"x": [True, False, None], "y": [1.0, 1.0, 0.0]}
    path = write_parquet(
        tmp_path, id=["a", "b", "2"], text=["bee apple bee", "cat bee", ""], **columns
    )
    fields = Fields(label_columns=["x", "y"])
    assert read_corpus(path, counter=PLAIN, fields=fields) == expected()


def test_other_parquet_columns_are_not_even_looked_at(tmp_path: Path) -> None:
    odd = pyarrow.array([1], pyarrow.timestamp("ns"))  # cannot become a datetime
    path = write_parquet(tmp_path, text=["bee"], labels=["x"], odd=odd)
    assert read_corpus(path).vocabulary == ("bee",)
    said = problem(path, fields=Fields(id="odd"))
    # What the value becomes depends on whether pandas is there; it is refused in either case.
    assert said.startswith((": this is not readable Parquet (", ", line 1: 'odd' is Timestamp("))


@pytest.mark.parametrize(("count", "shown"), [(-1.0, "-1"), (0.5, "0.5"), (float("nan"), "nan")])
def test_a_bad_parquet_count_is_named_with_its_row(
    tmp_path: Path, count: float, shown: str
) -> None:
    path = write_parquet(tmp_path, counts=[{"a": 1.0}, {"a": count}], labels=["", ""])
    assert problem(path) == (
        f", line 2: the count of 'a' is {shown}; "
        "counts must be whole numbers from 0 to 2,147,483,647"
    )


def test_counts_of_one_word_that_add_up_to_too_much_are_refused(tmp_path: Path) -> None:
    pairs = pyarrow.array(
        [[("a", 2**31 - 1), ("a", 1)]], pyarrow.map_(pyarrow.string(), pyarrow.int64())
    )
    assert "the count of 'a' is 2147483648" in problem(
        write_parquet(tmp_path, counts=pairs, labels=[""])
    )


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"body": ["bee"], "labels": ["x"]}, "there is no column 'text' (found: 'body', 'labels')"),
        ({"text": ["bee"], "tags": ["x"]}, "there is no column 'labels' (found: 'text', 'tags')"),
        ({"text": [5], "labels": ["x"]}, "'text' is 5; it must be a string"),
        ({"text": [b"bee"], "labels": ["x"]}, "'text' is b'bee'; it must be a string"),
        (
            {"text": ["bee"], "labels": [[None]]},
            "'labels' is [None]; it must be a list of",
        ),
        ({"text": ["bee"], "labels": [0.5]}, "'labels' is 0.5; it must be a list"),
        ({"text": ["bee"], "labels": ["x"], "id": [0.5]}, "'id' is 0.5; an id must be"),
        ({"counts": [[[1, 2]]], "labels": ["x"]}, "'counts' is [[1, 2]]; it must be an object"),
    ],
)
def test_parquet_of_the_wrong_form_is_refused(
    tmp_path: Path, columns: dict[str, Any], said: str
) -> None:
    assert said in problem(write_parquet(tmp_path, **columns))


def test_a_null_text_is_an_empty_document(tmp_path: Path) -> None:
    path = write_parquet(tmp_path, text=["bee", None, ""], labels=["x", "y", "z"])
    records = list(read_records(path, "parquet", counter=PLAIN))
    assert [record.is_empty for record in records] == [False, True, True]
    assert read_corpus(path, counter=PLAIN).labels_per_document.tolist() == [1, 1, 1]


def test_a_blank_line_is_an_empty_cell_of_the_only_column_and_else_no_row(tmp_path: Path) -> None:
    """So a spreadsheet writes an empty row of a table of one column; of two it writes a comma."""
    (tmp_path / "one.csv").write_text("text\nbee\n\nbee bee\n")
    fields = Fields(labels=None)
    one = read_corpus(tmp_path / "one.csv", fields=fields, counter=PLAIN)
    assert one.document_lengths.tolist() == [1, 0, 2]
    (tmp_path / "two.csv").write_text("text,note\nbee,\n\n,\nbee bee,\n")
    two = read_corpus(tmp_path / "two.csv", fields=fields, counter=PLAIN)
    assert (two.ids, two.document_lengths.tolist()) == (("0", "1", "2"), [1, 0, 2])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_condition_on_a_column_that_is_not_there_names_those_that_are(
    tmp_path: Path, kind: str
) -> None:
    if kind == "csv":
        path = tmp_path / "a.csv"
        path.write_text("text,labels,split\nbee,x,train\n")
    else:
        path = write_parquet(tmp_path, text=["bee"], labels=["x"], split=["train"])
    for equal in (True, False):
        fields = Fields(where=[Where("splt", "train", equal)])
        with pytest.raises(
            ReadError, match=r"'splt': did you mean 'split'\? \(found: 'text', 'labels"
        ):
            read_corpus(path, fields=fields)


def test_a_missing_column_is_answered_with_the_near_one(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("txt,labls\nbee,x\n")
    assert "there is no column 'text': did you mean 'txt'? (found: 'txt', 'labls')" in problem(
        tmp_path / "a.csv"
    )
    with pytest.raises(ReadError, match=r"no column 'labels': did you mean 'labls'\?"):
        read_corpus(tmp_path / "a.csv", fields=Fields(text="txt"))


def test_a_map_whose_keys_are_no_strings_is_refused(tmp_path: Path) -> None:
    pairs = pyarrow.array([[(1, 1)]], pyarrow.map_(pyarrow.int64(), pyarrow.int64()))
    said = problem(write_parquet(tmp_path, counts=pairs, labels=["x"]))
    assert said.startswith(", line 1: 'counts' has the key 1; words must be strings")


def test_what_is_not_parquet_at_all_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1 and then something else PAR1")
    assert problem(path).startswith(": this is not readable Parquet (")


def test_parquet_without_rows_has_no_document(tmp_path: Path) -> None:
    path = write_parquet(
        tmp_path,
        text=pyarrow.array([], pyarrow.string()),
        labels=pyarrow.array([], pyarrow.string()),
    )
    assert problem(path) == ": there is no document in it"


def test_without_pyarrow_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_parquet(tmp_path, text=["bee"], labels=["x"])
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError, match=r"pip install 'deplda\[arrow\]'"):
        read_corpus(path)
