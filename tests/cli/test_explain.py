"""``deplda explain``, ``words``, ``topics``, ``info`` and ``evaluate``."""

import json
from pathlib import Path
from typing import Any

import deplda
from tests.cli.running import TOPICS, articles, done, problem, write_jsonl


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
    assert "nothing.txt: there is no such file" in problem(1, "explain", model, "nothing.txt")


def test_a_text_may_be_longer_than_a_file_name(model: Path) -> None:
    found = json.loads(done("explain", model, "judge and jury " * 100, "--json", "-k", 1))
    assert found["labels"][0]["label"] == "LAW"


def test_an_explanation_is_a_table_and_a_page(tmp_path: Path, model: Path) -> None:
    shown = done("explain", model, "judge and jury", "--html", tmp_path / "why.html", "-k", 2)
    assert "LAW" in shown
    assert "judge" in shown
    assert "<html" in (tmp_path / "why.html").read_text()


def test_words_of_a_label_are_shown_and_an_unknown_one_suggests_others(model: Path) -> None:
    found = json.loads(done("words", model, "LAW", "-k", 3, "--json"))
    assert {entry["word"] for entry in found} < set(TOPICS["LAW"].split())
    assert found[0]["word"] in done("words", model, "LAW")
    assert "does not know the label 'Sprot'; did you mean 'SPORT'" in problem(
        1, "words", model, "Sprot"
    )


def test_topics_are_labels_that_go_together(model: Path) -> None:
    found = json.loads(done("topics", model, "--json"))
    assert {label["label"] for topic in found for label in topic["labels"]} == set(TOPICS)
    assert "LAW" in done("topics", model)
    assert "there is no set of topics 2; the model has 2" in problem(
        1, "topics", model, "--topic-set", 2
    )


def test_a_model_that_cannot_explain_says_so(tmp_path: Path, corpus: Path) -> None:
    done("train", corpus, "-o", tmp_path / "svm", "--model", "tfidf-svm")
    for verb in (["explain", "text"], ["words", "LAW"], ["topics"]):
        said = problem(1, verb[0], tmp_path / "svm", *verb[1:])
        assert f"is a TfidfSVM, which knows no words of labels; {verb[0]} is for topic" in said


def test_info_says_what_the_model_is(model: Path) -> None:
    told = json.loads(done("info", model, "--json"))
    assert (told["model"], told["labels"], told["takes_text"]) == ("DependencyLDA", 3, True)
    assert told["statistics"]["n_documents"] == 24
    assert "DependencyLDA" in done("info", model)


def test_figures_are_those_of_python_and_unseen_labels_are_counted(
    tmp_path: Path, model: Path
) -> None:
    rows = [row for row in articles() if row["part"] == "test"]
    rows[0]["labels"] = [*rows[0]["labels"], "CHESS"]
    path = write_jsonl(tmp_path / "test.jsonl", rows)
    found = json.loads(done("evaluate", model, path, "--json"))
    loaded: Any = deplda.load(model)
    scores = loaded.decision_function([row["text"] for row in rows])
    truth = [[label in row["labels"] for label in loaded.classes_] for row in rows]
    expected = deplda.evaluate(scores, truth, loaded.label_sets_)
    assert found["n_unseen"] == 1
    assert found["label"]["ranking"] == expected.to_dict()["label"]["ranking"]
    shown = done("evaluate", model, path)
    assert "average_precision by training documents" in shown
    assert "1 labels of documents were never seen in training" in shown
