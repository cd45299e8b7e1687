"""Suggestions of other programs are read as they are written, and looked up by name."""

import gzip
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deplda import GuessedEncodingWarning, ReadError
from deplda.data.readers.expert_files import read_suggestions, suggestions
from tests.data.readers.office_files import xlsx

ANNIF = (
    '{"document_id": "a", "results": [{"uri": "http://x/1", "label": "one", "notation": null, '
    '"score": 0.5}, {"uri": "http://x/2", "label": "two", "score": 0.25}]}\n'
    '{"document_id": "b", "results": []}\n'
)
OURS = (
    '{"id": "a", "labels": [{"label": "one", "uri": "http://x/1", "probability": 0.5}, '
    '{"label": "two", "uri": "http://x/2", "probability": 0.25}], "n_known": 3}\n'
    '{"id": "b", "labels": [], "n_known": 0}\n'
)
TABLE = "id,label,score\na,http://x/1,0.5\na,http://x/2,0.25\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("annif.jsonl", ANNIF),
        ("ours.jsonl", "\ufeff" + OURS),
        ("table.csv", TABLE),
        ("table.tsv", TABLE.replace(",", "\t")),
    ],
)
@pytest.mark.parametrize("is_packed", [False, True])
def test_the_same_suggestions_are_read_from_every_format(
    tmp_path: Path, name: str, content: str, is_packed: bool
) -> None:
    path = tmp_path / (f"{name}.gz" if is_packed else name)
    path.write_bytes(gzip.compress(content.encode()) if is_packed else content.encode())
    found = read_suggestions(path)
    scores, are_known = found.of(["b", "a", "c"], ["http://x/2", "http://x/3", "http://x/1"])
    np.testing.assert_array_equal(scores.toarray(), [[0, 0, 0], [0.25, 0, 0.5], [0, 0, 0]])
    assert are_known == [name.startswith(("annif", "ours")), True, False]


def test_a_score_of_zero_is_a_suggestion() -> None:
    scores, _ = suggestions({"a": [("x", 0.0)], "b": []}).of(["a", "b"], ["x"])
    assert np.diff(scores.indptr).tolist() == [1, 0]


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=3),
        st.dictionaries(st.sampled_from("vwxyz"), st.floats(-9, 9), max_size=4),
        max_size=5,
    ),
    st.lists(st.text(min_size=1, max_size=3), max_size=5),
    st.permutations("vwxy"),
)
def test_looking_up_is_as_in_a_dictionary(
    rows: dict[str, dict[str, float]], ids: list[str], labels: list[str]
) -> None:
    ids = [*ids, *rows]
    found = suggestions({id: own.items() for id, own in rows.items()})
    scores, are_known = found.of(ids, labels)
    assert are_known == [id in rows for id in ids]
    for row, id in enumerate(ids):
        own = scores[[row]]
        told = {labels[c]: v for c, v in zip(own.indices, own.data, strict=True)}
        assert told == {k: v for k, v in rows.get(id, {}).items() if k in labels}


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("x.jsonl", "", "no suggestions in it"),
        ("x.jsonl", "[1]", "line 1: expected a JSON object, found list"),
        ("x.jsonl", "{oops", "line 1: this is not JSON"),
        ("x.jsonl", '{"id": "a"}', "'results' or 'labels'; found 'id'"),
        ("x.jsonl", '{"labels": []}', "line 1: a document needs 'document_id' or 'id'"),
        ("x.jsonl", '{"id": "a", "labels": ["x"]}', "not a list of objects"),
        ("x.jsonl", '{"id": "a", "labels": [{"label": "x"}]}', "'score' or 'probability'"),
        ("x.jsonl", '{"id": "a", "labels": [{"label": "x", "score": "high"}]}', "'high'"),
        ("x.jsonl", '{"id": "a", "labels": [{"label": "x", "score": "nan"}]}', "'x' is nan"),
        ("x.jsonl", '{"id": "a", "labels": [{"label": "x", "score": 1e6}]}', "from -100000 to"),
        ("x.jsonl", f'{{"id": "a", "labels": [{{"label": "x", "score": 1{"0" * 400}}}]}}', "1000"),
        ("x.jsonl", OURS + OURS, "line 3: document 'a' is here a second time"),
        ("x.csv", "id,label,score\na,x,1\nb,x,1\na,y,1\n", "document 'a' is here a second time"),
        ("x.csv", "id,label,score\na,x,1\na,x,2\n", "'x' twice"),
        ("x.csv", "id,label,score\na,x,\n", "line 2: a suggestion needs 'score'"),
        ("x.csv", "a,b\n1,2\n", "there is no column"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(
    tmp_path: Path, name: str, content: str, problem: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ReadError, match=problem):
        read_suggestions(tmp_path / name)


def test_scores_may_come_from_a_spreadsheet_and_have_a_decimal_comma(tmp_path: Path) -> None:
    tables = {
        "a.csv": "id;label;score\na;Bäder;0,5\na;y;-,25\nb;y;1,5e-1\n".encode("cp1252"),
        "a.tsv": "id\tlabel\tscore\na\tBäder\t0.5\na\ty\t-.25\nb\ty\t.15\n".encode("utf-16"),
        "a.xlsx": xlsx([("id", "label", "score"), ("a", "Bäder", 0.5), ("a", "y", -0.25),
                        ("b", "y", 0.15)]),
    }  # fmt: skip
    for name, content in tables.items():
        (tmp_path / name).write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GuessedEncodingWarning)
            found = read_suggestions(tmp_path / name)
        assert found.labels == ("Bäder", "y")
        assert found.scores.toarray().tolist() == [[0.5, -0.25], [0, 0.15]]
    (tmp_path / "a.csv").write_text("id;label;score\na;x;1,5,5\n")
    with pytest.raises(ReadError, match="line 2: the score of 'x' is '1,5,5'; it must be a number"):
        read_suggestions(tmp_path / "a.csv")
