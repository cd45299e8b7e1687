"""Fields that a file spells in another case."""

import pytest

from deplda import Fields, InputError
from deplda.data.readers import Where
from deplda.data.readers.spelling import Spelling


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
