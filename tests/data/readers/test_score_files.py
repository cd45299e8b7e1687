"""Scores of other programs are read from every format, and looked up by document and label."""

import gzip
import warnings
from pathlib import Path

import numpy as np
import pytest

from deplda import GuessedEncodingWarning, ReadError, read_scores
from deplda.data.readers.score_files import ScoreFile
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
def test_the_same_scores_are_read_from_every_format(
    tmp_path: Path, name: str, content: str, is_packed: bool
) -> None:
    path = tmp_path / (f"{name}.gz" if is_packed else name)
    path.write_bytes(gzip.compress(content.encode()) if is_packed else content.encode())
    scores = read_scores(path, ["b", "a", "c", "a"], ["http://x/2", "http://x/3", "http://x/1"])
    expected = [[0, 0, 0], [0.25, 0, 0.5], [0, 0, 0], [0.25, 0, 0.5]]
    np.testing.assert_array_equal(scores.toarray(), expected)


def test_labels_are_compared_as_texts(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,label,score\n1,7,0.5\n")
    scores = read_scores(tmp_path / "x.csv", ["1"], np.array([5, 7]))
    assert scores.toarray().tolist() == [[0, 0.5]]


def test_a_file_without_any_of_the_documents_or_labels_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(TABLE)
    file = ScoreFile.read(tmp_path / "x.csv")
    with pytest.raises(ReadError, match="none of 2 documents, such as 'A', but others, such as 'a"):
        file.check(["A", "B"], ["http://x/1"])
    with pytest.raises(ReadError, match="none of 1 label, such as 'one', but others, such as 'htt"):
        read_scores(tmp_path / "x.csv", ["a"], ["one"])
    assert file.of(["A", "B"], ["http://x/1"]).nnz == 0


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("x.jsonl", "", "no scores in it"),
        ("x.jsonl", "[1]", "line 1: expected a JSON object, got list"),
        ("x.jsonl", "{oops", "line 1: this is not JSON"),
        ("x.jsonl", '{"id": "a"}', "'results' or 'labels'; got 'id'"),
        ("x.jsonl", '{"labels": []}', "line 1: a document needs 'document_id' or 'id'"),
        ("x.jsonl", '{"id": "a", "labels": ["x"]}', "not a list of objects"),
        ("x.jsonl", '{"id": "a", "labels": [{"label": "x"}]}', "'score' or 'probability'"),
        ("x.jsonl", '{"id": "a", "labels": [{"label": "x", "score": "high"}]}', "'high'"),
        ("x.jsonl", f'{{"id": "a", "labels": [{{"label": "x", "score": 1{"0" * 400}}}]}}', "1000"),
        ("x.jsonl", OURS + OURS, "document 'a' has label 'http://x/1' twice"),
        ("x.csv", "id,label,score\na,x,1\na,x,2\n", "document 'a' has label 'x' twice"),
        ("x.csv", "id,label,score\na,x,\n", "line 2: a label needs 'score'"),
        ("x.csv", "a,b\n1,2\n", "there is no column"),
    ],
)
def test_errors_have_the_file_and_the_line(
    tmp_path: Path, name: str, content: str, problem: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ReadError, match=problem):
        ScoreFile.read(tmp_path / name)


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
            scores = read_scores(tmp_path / name, ["a", "b"], ["Bäder", "y"])
        assert scores.toarray().tolist() == [[0.5, -0.25], [0, 0.15]]
    (tmp_path / "a.csv").write_text("id;label;score\na;x;1,5,5\n")
    with pytest.raises(ReadError, match="line 2: the score of 'x' is '1,5,5'; it must be a number"):
        ScoreFile.read(tmp_path / "a.csv")
