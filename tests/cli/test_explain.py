"""``deplda explain``, ``label``, ``words`` and ``topics``."""

import json
from pathlib import Path
from typing import Any

import deplda
from deplda.data.vocabulary import Concept, Vocabulary
from tests.cli.running import QUICK, TOPICS, done, problem, write_jsonl


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


def test_labels_next_to_one_are_shown_by_the_thesaurus_and_by_the_model(
    tmp_path: Path, model: Path
) -> None:
    loaded: Any = deplda.load(model)
    loaded.vocabulary_ = Vocabulary(
        [
            Concept(uri="LAW", names={"en": "law"}, broader=("SOCIETY",), related=("SPORT",)),
            Concept(uri="SOCIETY", names={"en": "society"}, notation="3"),
            Concept(uri="SPORT", names={"en": "sport"}, broader=("SOCIETY",)),
        ]
    )
    loaded.save(tmp_path / "m")
    found = json.loads(done("label", tmp_path / "m", "law", "--json"))
    documents = loaded.label_sets_[:, [loaded.classes_.tolist().index("LAW")]].sum()
    assert (found["label"], found["uri"], found["documents"]) == ("law", "LAW", documents)
    assert found["thesaurus"] == {
        "broader": [{"label": "society", "uri": "SOCIETY", "notation": "3", "known": False}],
        "narrower": [],
        "related": [{"label": "sport", "uri": "SPORT", "known": True}],
    }
    assert found["model"]["goes_with"] == [
        {"label": name, "probability": weight}
        for name, weight in loaded.similar_labels("LAW", 8, by="topics")
    ]
    assert {each["label"] for each in found["model"]["stands_beside"]} == {"sport", "MUSIC"}
    assert all(each["share"] == each["documents"] / documents
               for each in found["model"]["stands_beside"])  # fmt: skip
    shown = done("label", tmp_path / "m", "LAW")
    assert "by the thesaurus ┃ by the model" in shown
    assert "society *" in shown
    assert "sport *" not in shown
    assert "* not a label of the model" in shown


def test_a_label_of_no_thesaurus_has_those_of_the_model_alone(model: Path) -> None:
    found = json.loads(done("label", model, "LAW", "-k", 1, "--json"))
    assert found["thesaurus"] is None
    assert [len(own) for own in found["model"].values()] == [1, 1]
    assert "no term of a thesaurus" in done("label", model, "LAW")
    assert "did you mean 'SPORT'" in problem(1, "label", model, "Sprot")


def test_topics_are_labels_that_go_together(model: Path) -> None:
    found = json.loads(done("topics", model, "--json"))
    assert {label["label"] for topic in found for label in topic["labels"]} == set(TOPICS)
    assert "LAW" in done("topics", model)
    assert "there is no set of topics 2; the last of its 2 is 1" in problem(
        1, "topics", model, "--topic-set", 2
    )


def test_a_model_without_topics_says_so_and_which_models_have_them(
    tmp_path: Path, corpus: Path
) -> None:
    for verb, name in (("flat", "FlatLDA"), ("prior", "PriorLDA"), ("tfidf-svm", "TfidfSVM")):
        done("train", corpus, "-o", tmp_path / verb, "--model", verb)
        said = problem(1, "topics", tmp_path / verb)
        assert f"is a {name}, which has no topics of labels that go together; the hybrid " in said


def test_a_hybrid_explains_itself_and_shows_its_words_and_topics(
    tmp_path: Path, corpus: Path
) -> None:
    done("train", corpus, "-o", tmp_path / "m", *QUICK, "--model", "hybrid")
    reasons = json.loads(done("explain", tmp_path / "m", "the judge and the jury", "--json"))
    assert reasons["labels"][0]["label"] == "LAW"
    assert reasons["labels"][0]["evidence"]
    assert json.loads(done("words", tmp_path / "m", "LAW", "--json"))
    assert json.loads(done("topics", tmp_path / "m", "--json"))


def test_a_model_that_cannot_explain_says_so(tmp_path: Path, corpus: Path) -> None:
    done("train", corpus, "-o", tmp_path / "svm", "--model", "tfidf-svm")
    for verb in (["explain", "text"], ["words", "LAW"]):
        said = problem(1, verb[0], tmp_path / "svm", *verb[1:])
        assert f"is a TfidfSVM, which knows no words of labels; {verb[0]} is for " in said
        assert "and hybrid models (deplda train --model hybrid)" in said


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path, corpus: Path) -> None:
    for verb in (["predict", tmp_path, corpus], ["info", tmp_path], ["topics", tmp_path]):
        assert "card.json: the file is missing" in problem(1, *verb)
    assert "there is no such folder" in problem(1, "info", tmp_path / "nothing")
