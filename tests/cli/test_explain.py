"""``deplda explain``."""

import json
from pathlib import Path

import pytest

from tests.cli.running import QUICK, done, problem, run, write_jsonl


def test_a_text_a_file_and_standard_input_are_explained_alike(tmp_path: Path, model: Path) -> None:
    text = "judge and jury in court"
    (tmp_path / "a.txt").write_text(text)
    write_jsonl(tmp_path / "a.jsonl", [{"id": "x", "text": "opera"}, {"id": "y", "text": text}])
    expected = json.loads(done("explain", model, text, "--json", "-k", 1))
    assert expected["labels"][0]["label"] == "LAW"
    assert {word["word"] for word in expected["labels"][0]["words"]} == {"judge", "jury", "court"}
    for arguments, given in (
        ([tmp_path / "a.txt"], None), (["-"], text), ([], text),
        ([tmp_path / "a.jsonl", "--pick", "y"], None),
        (["-"], json.dumps({"tokens": ["judge", "jury", "court"]})),
        (["-"], json.dumps({"counts": {"judge": 1, "jury": 1, "court": 1}})),
    ):  # fmt: skip
        found = json.loads(done("explain", model, *arguments, "--json", "-k", 1, input=given))
        assert found["labels"] == expected["labels"]
    first = json.loads(done("explain", model, tmp_path / "a.jsonl", "--json", "-k", 1))
    assert first["labels"][0]["label"] == "MUSIC"
    assert "it has no document 'z'" in problem(
        1, "explain", model, tmp_path / "a.jsonl", "--pick", "z"
    )


def test_a_file_is_explained_where_there_is_one_and_that_is_said(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("court.txt").write_text("opera and song")
    result = run("explain", model, "court.txt", "--json", "-k", 1)
    assert json.loads(result.stdout)["labels"][0]["label"] == "MUSIC"
    assert result.stderr == "explained: the file court.txt\n"
    write_jsonl(Path("a.jsonl"), [{"id": "x", "text": "opera"}, {"id": "y", "text": "judge"}])
    first = "explained: the file a.jsonl, its first document, 'x' (--pick ID takes another)\n"
    assert run("explain", model, "a.jsonl").stderr == first
    assert run("explain", model, "a.jsonl", "--pick", "y").stderr == (
        "explained: the file a.jsonl\n"
    )


@pytest.mark.parametrize("name", ["report.txt", "docs/x.md", "docs/report"])
def test_what_looks_like_a_file_that_is_not_there_is_not_taken_for_a_text(
    name: str, model: Path
) -> None:
    said = problem(1, "explain", model, name)
    assert said.startswith(f"{name}: there is no such file; if this is a text")
    assert done("explain", model, "-", input=name)
    assert done("explain", model, "judge")


@pytest.mark.parametrize("text", ["The judge won.", "3.5", "U.S.", "jury"])
def test_what_looks_like_a_text_is_one(text: str, model: Path) -> None:
    assert run("explain", model, text).stderr == ""


def test_an_empty_text_is_no_document_to_explain(model: Path) -> None:
    assert "Give a text, a file, or" in problem(2, "explain", model, " ")


def test_a_text_may_be_longer_than_a_file_name(model: Path) -> None:
    found = json.loads(done("explain", model, "judge and jury " * 100, "--json", "-k", 1))
    assert found["labels"][0]["label"] == "LAW"


def test_an_explanation_is_a_table_and_a_page(tmp_path: Path, model: Path) -> None:
    shown = done("explain", model, "judge and jury", "--html", tmp_path / "why.html", "-k", 2)
    assert "LAW" in shown
    assert "judge" in shown
    assert "<html" in (tmp_path / "why.html").read_text()


def test_a_hybrid_explains_itself_and_shows_its_words_and_topics(
    tmp_path: Path, corpus: Path
) -> None:
    done("train", corpus, "-o", tmp_path / "m", *QUICK, "--model", "hybrid")
    reasons = json.loads(done("explain", tmp_path / "m", "the judge and the jury", "--json"))
    assert reasons["labels"][0]["label"] == "LAW"
    assert reasons["labels"][0]["evidence"]
    assert json.loads(done("show", tmp_path / "m", "LAW", "--json"))["words"]
    assert json.loads(done("show", tmp_path / "m", "--topics", "--json"))


def test_a_model_that_cannot_explain_says_so(tmp_path: Path, corpus: Path) -> None:
    done("train", corpus, "-o", tmp_path / "svm", "--model", "tfidf-svm")
    said = problem(1, "explain", tmp_path / "svm", "text")
    assert "is a TfidfSVM, which knows no words of labels; explain is for " in said
    assert "and hybrid models (deplda train --model hybrid)" in said
    assert json.loads(done("show", tmp_path / "svm", "LAW", "--json"))["words"] == []


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path, corpus: Path) -> None:
    for verb in (["predict", tmp_path, corpus], ["show", tmp_path], ["show", tmp_path, "--topics"]):
        assert "card.json: the file is missing" in problem(1, *verb)
    assert "there is no such folder" in problem(1, "show", tmp_path / "nothing")
