"""Files that are not as expected, and outputs that are there already."""

import gzip
import json
import os
from pathlib import Path

import pytest

from tests.cli.running import (
    QUICK,
    done,
    problem,
)

# Files that are not as expected -------------------------------------------------------------------


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


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path, corpus: Path) -> None:
    for verb in (["predict", tmp_path, corpus], ["info", tmp_path], ["topics", tmp_path]):
        assert "card.json: the file is missing" in problem(1, *verb)
    assert "there is no such folder" in problem(1, "info", tmp_path / "nothing")


# Outputs ------------------------------------------------------------------------------------------


def test_an_output_that_exists_is_replaced_only_by_force(
    tmp_path: Path, model: Path, corpus: Path
) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("mine")
    page = tmp_path / "page.html"
    page.write_text("mine")
    for verb in (
        ["predict", model, corpus, "-o", there],
        ["datasets", "convert", corpus, there],
        ["explain", model, "court", "--html", page],
    ):
        assert "exists; choose another name, or --force to replace it" in problem(1, *verb)
    assert there.read_text() == page.read_text() == "mine"
    done("predict", model, corpus, "-o", there, "--force")
    done("datasets", "convert", corpus, there, "--force")
    done("explain", model, "court", "--html", page, "--force")
    assert "mine" not in there.read_text() + page.read_text()


def test_a_model_is_replaced_by_force_but_nothing_else_is(tmp_path: Path, corpus: Path) -> None:
    done("train", corpus, "-o", tmp_path / "m", *QUICK)
    assert "m exists; choose another name" in problem(1, "train", corpus, "-o", tmp_path / "m")
    done("train", corpus, "-o", tmp_path / "m", "--force", *QUICK)
    other = tmp_path / "folder"
    other.mkdir()
    (other / "thesis.tex").write_text("years of work")
    said = problem(1, "train", corpus, "-o", other, "--force")
    assert "exists and is not a saved model" in said
    assert (other / "thesis.tex").exists()


def test_a_folder_that_cannot_be_made_is_refused_before_any_work(
    tmp_path: Path, corpus: Path, model: Path
) -> None:
    (tmp_path / "file").write_text("")
    for verb in (
        ["train", tmp_path / "nothing", "-o", tmp_path / "file" / "m"],
        ["predict", model, corpus, "-o", tmp_path / "file" / "out.jsonl"],
        ["datasets", "convert", corpus, tmp_path / "file" / "b.jsonl"],
    ):
        assert "file: " in problem(1, *verb)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path, corpus: Path) -> None:
    tmp_path.chmod(0o500)
    assert "cannot be written to" in problem(1, "train", corpus, "-o", tmp_path / "m")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device")
def test_a_full_disk_is_said_so(model: Path, corpus: Path) -> None:
    said = problem(1, "predict", model, corpus, "-o", "/dev/full", "--force")
    assert said == "/dev/full: No space left on device"


def test_a_full_disk_leaves_no_half_model(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("deplda.models.card._flush", full)
    said = problem(1, "train", corpus, "-o", tmp_path / "m", *QUICK)
    assert said.endswith("No space left on device")
    assert list(tmp_path.iterdir()) == []
