from pathlib import Path
from typing import Any

import pytest

from deplda import Fields, InputError, ReadError, WordCounter, read_corpus
from deplda.data.readers.delimiters import checked_delimiter, told_delimiter

PLAIN = WordCounter(stop_words=None, min_count=1, language=None)


def written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "documents"])
def test_columns_are_found_whatever_stands_between_them(
    tmp_path: Path, name: str, delimiter: str
) -> None:
    rows = [["id", "text", "labels"], ["a", '"bee, cat; dog"', "x"], ["b", "bee", "y"]]
    text = "".join(delimiter.join(row) + "\r\n" for row in rows)
    corpus = read_corpus(written(tmp_path / name, text), counter=PLAIN)
    assert (corpus.ids, corpus.label_names) == (("a", "b"), ("x", "y"))


def test_the_columns_that_are_asked_for_tell_more_than_the_number_of_columns(
    tmp_path: Path,
) -> None:
    path = written(tmp_path / "a.csv", "Title, place, date, author;Text;Tags\nA;bee;x\n")
    corpus = read_corpus(path, fields=Fields(text="Text", labels="Tags"), counter=PLAIN)
    assert corpus.vocabulary == ("bee",)


def test_a_delimiter_that_is_given_wins_and_the_likely_one_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "id;title;text\na;b;c\n")
    with pytest.raises(ReadError) as caught:
        read_corpus(path, delimiter=",")
    assert str(caught.value) == (
        f"{path}, line 1: there is no column 'text' (found: 'id;title;text'); the header "
        "'id;title;text' looks as if its columns were separated by ';': delimiter=';' "
        "(--delimiter ';'); or name the right ones with Fields(text=..., labels=...) "
        "(--text-field, --labels-field), or the row of the header with header_row= (--header-row)"
    )
    path = written(path, "text:labels\nbee:x\n")
    assert read_corpus(path, delimiter=":").label_names == ("x",)


def test_excels_own_line_is_obeyed_and_lines_keep_their_numbers(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "sep=;\ntext;labels\nbee;x\ncat\n")
    with pytest.raises(ReadError, match="line 4: this row has 1 cells but the header names 2"):
        read_corpus(path)
    assert len(read_corpus(written(path, "sep=:\r\ntext:labels\r\nbee:x\r\n"))) == 1
    with pytest.raises(ReadError, match="it is empty; the first line must name the columns"):
        read_corpus(written(path, "sep=;\n"))


def test_columns_without_a_name_are_passed_over(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "text;labels;;\nbee;x;;\n")
    assert read_corpus(path).label_names == ("x",)


def test_one_column_is_read_as_the_name_of_the_file_says() -> None:
    assert told_delimiter(["text"], ["text"], "\t") == "\t"
    assert told_delimiter(['"unfinished'], ["text"], ",") == ","
    assert told_delimiter(["a;b,c"], ["text"], ",") == ","


@pytest.mark.parametrize(("given", "expected"), [("tab", "\t"), ("\\t", "\t"), (";", ";")])
def test_a_delimiter_may_be_named(given: str, expected: str) -> None:
    assert checked_delimiter(given) == expected


@pytest.mark.parametrize("given", ["", ";;", "\n", '"', "blank"])
def test_a_delimiter_is_one_character(given: Any) -> None:
    with pytest.raises(InputError, match="it must be one character, such as ';', ',' or 'tab'"):
        checked_delimiter(given)
