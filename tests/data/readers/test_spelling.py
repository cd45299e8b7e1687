"""Fields that a file spells with other capitals or blanks."""

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from deplda import Fields, InputError, WordCounter, read_corpus
from deplda.data.readers import Where
from deplda.data.readers.spelling import Spelling
from tests.data.readers.office_files import xlsx


def test_a_field_is_found_in_another_case_if_it_is_the_only_one() -> None:
    spelling = Spelling(Fields(text=("title", "body"), labels="Straße", where=[Where("part", "x")]))
    row = {"ID": 1, "Title": "a", "body": "b", "STRASSE": ["c"], "PART": "x", "other": 0}
    wanted = {"id": 1, "title": "a", "Straße": ["c"], "part": "x"}
    assert spelling.applied(row) == row | wanted
    assert spelling.read_of(row) == row.keys() - {"other"}


def test_the_exact_name_goes_first_and_rows_may_differ() -> None:
    spelling = Spelling(Fields(id=None, labels=None))
    both = {"TEXT": "a", "text": "b"}
    assert spelling.applied(both) is both
    assert spelling.applied({"TEXT": "a"})["text"] == "a"
    assert spelling.applied({"Text": "c"})["text"] == "c"
    assert spelling.applied(both)["text"] == "b"


def test_two_that_differ_in_case_are_both_named() -> None:
    spelling = Spelling(Fields())
    for _ in range(2):  # what was wrong is not remembered as found
        with pytest.raises(InputError, match=r"no field 'text', but there are 'TEXT' and 'Text'"):
            spelling.applied({"TEXT": "a", "Text": "b"})


def test_a_field_that_is_wanted_itself_stands_for_no_other() -> None:
    columns = Spelling(Fields(label_columns=["AI", "ai"]))
    assert "ai" not in columns.applied({"text": "a", "AI": 1})
    assert "Counts" not in Spelling(Fields(text="Counts")).applied({"counts": {"a": 1}})


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx", "a.jsonl", "a.parquet"])
def test_blanks_around_a_name_are_ignored_as_case_is(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    row: Any = {"Nr.": "a", " Title ": "ant", "text\u00a0": "bee", " Tags": "x"}
    if name == "a.csv":
        path.write_text("\n".join(";".join(each) for each in (row, row.values())), "utf-8")
    elif name == "a.xlsx":
        path.write_bytes(xlsx([list(row), list(row.values())]))
    elif name == "a.jsonl":
        path.write_text(json.dumps(row))
    else:
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist([row]), path)
    fields = Fields(id=" nr.", text=["Title", "Text"], labels="tags", where=[Where("TAGS", "x")])
    corpus = read_corpus(path, fields=fields, counter=WordCounter(min_count=1))
    assert (corpus.ids, corpus.vocabulary, corpus.label_names) == (("a",), ("ant", "bee"), ("x",))


def test_two_that_differ_in_blanks_are_both_named() -> None:
    with pytest.raises(InputError, match=r"no field 'text', but there are ' text' and 'text '"):
        Spelling(Fields()).applied({" text": "a", "text ": "b"})
    row = {" text": "a", "text": "b"}
    assert Spelling(Fields()).applied(row) is row
