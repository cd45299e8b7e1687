"""Files that are not as expected, whatever the verb."""

import gzip
import json
import os
from pathlib import Path

import pytest

from tests.cli.running import QUICK, done, problem


def test_a_corpus_that_is_nowhere_is_named_with_the_data_sets(tmp_path: Path) -> None:
    said = problem(1, "train", tmp_path / "nothing.jsonl", "-o", tmp_path / "m")
    assert "nothing.jsonl: there is no such file or folder, and no data set" in said
    assert "newsroom, power-law" in said


def test_wrong_field_names_are_answered_by_those_found(tmp_path: Path, corpus: Path) -> None:
    said = problem(1, "train", corpus, "-o", tmp_path / "m", "--labels-field", "subjects")
    assert "no document has the field 'subjects' (found: id, text, labels, part)" in said
    assert "--labels-field" in said
    said = problem(1, "train", corpus, "-o", tmp_path / "m", "--text-field", "body")
    assert "line 1: it has none of 'body', 'tokens' and 'counts' (found: id, text" in said
    said = problem(1, "train", corpus, "-o", tmp_path / "m", "--where", "part=dev")
    assert "no document has part=dev (found: part is one of train, test)" in said
    table = tmp_path / "a.csv"
    table.write_text("key,body\n1,court\n")
    said = problem(1, "train", table, "-o", tmp_path / "m")
    assert "there is no column 'text' (found: key, body)" in said


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "picture.jsonl"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    assert "line 1: byte 0x89 at column 1 is not utf-8" in problem(
        1, "train", path, "-o", tmp_path / "m"
    )
    path = tmp_path / "broken.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "a"}' * 1000)[:40])
    assert "the gzip data is damaged" in problem(1, "train", path, "-o", tmp_path / "m")


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_a_file_without_documents_is_refused(content: bytes, tmp_path: Path, model: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(content)
    for verb in (
        ["train", path, "-o", tmp_path / "m"], ["predict", model, path],
        ["evaluate", model, path], ["explain", model, path], ["datasets", "stats", path],
        ["datasets", "convert", path, tmp_path / "b.jsonl"],
    ):  # fmt: skip
        assert "there is no document in it" in problem(1, *verb)
    assert not (tmp_path / "b.jsonl").exists()
    assert "standard input: there is no document in it" in problem(
        1, "predict", model, "-", input=""
    )


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(
    tmp_path: Path, model: Path, corpus: Path
) -> None:
    windows = tmp_path / "windows.jsonl"
    windows.write_bytes(b"\xef\xbb\xbf" + corpus.read_bytes().replace(b"\n", b"\r\n"))
    assert done("predict", model, windows) == done("predict", model, corpus)
    assert done("predict", model, "-", input=windows.read_bytes()) == done("predict", model, corpus)
    text = tmp_path / "windows.txt"
    text.write_bytes(b"\xef\xbb\xbfcourt\r\njudge\r\n")
    labels = json.loads(done("predict", model, text))["labels"]
    text.write_bytes(b"court\njudge\n")
    assert json.loads(done("predict", model, text))["labels"] == labels


def test_latin_1_is_refused_with_byte_and_remedy_and_read_when_named(
    tmp_path: Path, model: Path
) -> None:
    path = tmp_path / "latin.jsonl"
    path.write_bytes('{"text": "König court", "labels": ["LAW"]}\n'.encode("latin-1"))
    for verb in (["train", path, "-o", tmp_path / "m"], ["predict", model, path]):
        said = problem(1, *verb)
        assert "line 1: byte 0xf6 at column 12 is not utf-8" in said
        assert "--encoding latin-1" in said
    done("predict", model, path, "--encoding", "latin-1")
    done("train", path, "-o", tmp_path / "m", "--encoding", "latin-1", *QUICK)
    assert "the encoding 'klingon' is unknown" in problem(
        1, "predict", model, path, "--encoding", "klingon"
    )


def test_one_long_document_is_no_trouble(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("the court heard the judge \n" * 100_000)  # 2.7 MB
    assert json.loads(done("predict", model, path, "-k", 1))["labels"][0]["label"] == "LAW"


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ('{"text": "court", "labels": ["a"]}', ["--token-pattern", "a("], "at position 1"),
        ('{"text": "court", "labels": ["a"]}', ["--token-pattern", "x*"], "there is nothing"),
        ('{"text": " ", "labels": ["a"]}', [], "no word has 1 tokens or more in 1 documents"),
        ('{"text": "the of", "labels": ["a"]}', [], "no word has 1 tokens or more in 1 documents"),
        ('{"text": "court", "labels": []}', [], "none of the 1 documents has a label"),
        ('{"counts": {}, "labels": ["a"]}', [], "no document has both words and labels"),
    ],
)
@pytest.mark.parametrize("model", ["flat", "tfidf-svm"])
def test_nothing_to_learn_from_is_one_line(
    content: str, options: list[str], said: str, model: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(content)
    assert said in problem(1, "train", path, "-o", tmp_path / "m", "--model", model, *options)
    assert not (tmp_path / "m").exists()


def test_what_is_neither_file_nor_folder_is_named(tmp_path: Path, model: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for verb in (["train", pipe, "-o", tmp_path / "m"], ["predict", model, pipe]):
        assert f"{pipe}: a pipe is read only once; say its format" in problem(1, *verb)
    for verb in (
        ["train", "/dev/zero", "-o", tmp_path / "m"], ["predict", model, "/dev/zero"],
        ["explain", model, "/dev/zero"], ["datasets", "convert", "/dev/zero", tmp_path / "b.jsonl"],
    ):  # fmt: skip
        assert "/dev/zero: cannot tell its format" in problem(1, *verb)
        said = problem(1, *verb, "--format", "lines", env={"DEPLDA_MAX_RECORD": "1MiB"})
        assert "/dev/zero, line 1: this line has more than 1 MiB" in said
    assert "this is a folder" in problem(1, "explain", model, tmp_path)
