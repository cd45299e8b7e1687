"""``deplda show`` of labels and topics."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import deplda
from deplda.data.vocabulary import Concept, Vocabulary
from tests.cli.running import QUICK, TOPICS, done, lines, problem, run, write_jsonl

OLD = Path(__file__).parents[1] / "models" / "fixtures" / "model-v1"


def test_labels_are_listed_with_documents_quality_and_words(model: Path) -> None:
    found = json.loads(done("show", model, "--labels", "--json"))
    assert (found["total"], found["measured"]) == (3, True)
    loaded: Any = deplda.load(model)
    for entry in found["labels"]:
        number = loaded.classes_.tolist().index(entry["label"])
        assert entry["documents"] == loaded.label_sets_[:, [number]].sum()
        assert entry["held_out"] == loaded.label_quality_.documents[number]
        assert set(entry["words"]) <= set(TOPICS[entry["label"]].split())
    result = run("show", model, "--labels")
    assert "training" in result.stdout
    assert found["labels"][0]["words"][0] in result.stdout
    n = loaded.held_out_["documents"]
    assert f"of the ranking of {n:.0f} training documents held out" in result.stderr


def test_a_model_that_does_not_say_how_many_documents_were_held_out_is_listed(
    tmp_path: Path, model: Path
) -> None:
    copy = Path(shutil.copytree(model, tmp_path / "m"))
    card = json.loads((copy / "card.json").read_text())
    card["learned"]["held_out"] = {}
    (copy / "card.json").write_text(json.dumps(card))
    assert "training" in done("show", copy, "--labels")


def test_the_rarest_labels_come_first_if_asked(tmp_path: Path) -> None:
    words = ["apple", "pear", "plum", "fig"]
    rows = [{"text": words[i % 2 + 2 * (i == 9)], "labels": [f"L{i % 2 + 2 * (i == 9)}"]}
            for i in range(10)]  # fmt: skip
    write_jsonl(tmp_path / "a.jsonl", rows)
    done("train", tmp_path / "a.jsonl", "-o", tmp_path / "m", "--model", "flat")

    def listed(*how: Any) -> list[str]:
        found = json.loads(done("show", tmp_path / "m", "--labels", "--json", *how))
        return [each["label"] for each in found["labels"]]

    assert listed() == ["L0", "L1", "L3"]
    assert listed("--sort", "rarest") == ["L3", "L1", "L0"]
    assert listed("--sort", "rarest", "--limit", 1) == ["L3"]
    assert listed("--search", "l1") == ["L1"]
    shown = run("show", tmp_path / "m", "--sort", "rarest", "--limit", 1)
    # The only document of the label was either held out or learned from, so that nothing is known.
    assert shown.stdout.splitlines()[-1].split()[:7] == ["L3", "│", "1", "│", "0", "│", "–"]
    assert "(1 of 3 labels; --limit N shows more" in shown.stderr
    said = run("show", tmp_path / "m", "--search", "kiwi").stderr
    assert "none of 3 labels has 'kiwi' in its name" in said
    assert "Did you mean 'rarest'?" in problem(2, "show", tmp_path / "m", "--sort", "rarst")


def test_labels_are_written_to_a_file_for_a_spreadsheet(tmp_path: Path, model: Path) -> None:
    assert done("show", model, "-o", tmp_path / "l.csv") == f"3 labels: {tmp_path / 'l.csv'}\n"
    with open(tmp_path / "l.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    done("show", model, "-o", tmp_path / "l.jsonl")
    told = lines((tmp_path / "l.jsonl").read_text())
    assert [row["label"] for row in rows] == [entry["label"] for entry in told]
    assert [int(row["documents"]) for row in rows] == [entry["documents"] for entry in told]
    assert rows[0]["words"].split() == told[0]["words"]
    done("show", model, "-o", tmp_path / "l.tsv")
    assert "l.txt: labels are written as .csv, .tsv, .jsonl." in problem(
        2, "show", model, "-o", tmp_path / "l.txt"
    )
    assert "exists" in problem(1, "show", model, "-o", tmp_path / "l.csv")


def test_labels_of_a_vocabulary_have_names_and_notations(tmp_path: Path, model: Path) -> None:
    loaded: Any = deplda.load(model)
    loaded.vocabulary_ = Vocabulary([Concept(uri="LAW", names={"en": "law"}, notation="34")])
    loaded.save(tmp_path / "m")
    found = json.loads(done("show", tmp_path / "m", "--search", "34", "--json"))["labels"]
    assert [(each["label"], each["uri"], each["notation"]) for each in found] == [
        ("law", "LAW", "34")
    ]
    assert "notation" in done("show", tmp_path / "m", "--labels")


def test_a_model_without_held_out_documents_says_that_quality_is_not_measured(
    tmp_path: Path, corpus: Path
) -> None:
    assert (
        "not measured: no training documents were held out" in run("show", OLD, "--labels").stderr
    )
    done("train", corpus, "-o", tmp_path / "m", *QUICK, "--set", "n_held_out=0")
    result = run("show", tmp_path / "m", "--labels")
    assert "not measured: no training documents were held out" in result.stderr
    assert "–" in result.stdout


def test_a_label_has_words_and_an_unknown_one_suggests_others(model: Path) -> None:
    found = json.loads(done("show", model, "LAW", "-k", 3, "--json"))["words"]
    assert {entry["word"] for entry in found} < set(TOPICS["LAW"].split())
    assert found[0]["word"] in done("show", model, "LAW")
    assert "does not know the label 'Sprot'; did you mean 'SPORT'" in problem(
        1, "show", model, "Sprot"
    )


def test_labels_related_to_one_are_those_of_the_model_and_of_the_thesaurus(
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
    found = json.loads(done("show", tmp_path / "m", "law", "--json"))
    documents = loaded.label_sets_[:, [loaded.classes_.tolist().index("LAW")]].sum()
    assert (found["label"], found["uri"], found["documents"]) == ("law", "LAW", documents)
    assert found["thesaurus"] == {
        "broader": [{"label": "society", "uri": "SOCIETY", "notation": "3", "known": False}],
        "narrower": [],
        "related": [{"label": "sport", "uri": "SPORT", "known": True}],
    }
    assert found["in_topics"] == [
        {"label": name, "probability": weight}
        for name, weight in loaded.similar_labels("LAW", 10, by="topics")
    ]
    assert {other["label"] for other in found["together"]} == {"sport", "MUSIC"}
    assert all(x["share"] == x["documents"] / documents for x in found["together"])
    shown = done("show", tmp_path / "m", "LAW")
    assert "in its documents" in shown
    assert "broader: society *" in shown
    assert "sport *" not in shown
    assert "* not a label of the model" in shown


def test_a_label_outside_a_thesaurus_has_related_labels_of_the_model_alone(model: Path) -> None:
    found = json.loads(done("show", model, "LAW", "-k", 1, "--json"))
    assert found["thesaurus"] is None
    assert (len(found["together"]), len(found["in_topics"])) == (1, 1)
    assert "broader" not in done("show", model, "LAW")


def test_topics_are_labels_that_occur_together(model: Path) -> None:
    found = json.loads(done("show", model, "--topics", "--json"))
    assert {label["label"] for topic in found for label in topic["labels"]} == set(TOPICS)
    assert "LAW" in done("show", model, "--topics")
    assert "there is no set of topics 2; the last is 1" in problem(
        1, "show", model, "--topics", "--topic-set", 2
    )


def test_a_model_without_topics_says_so_and_which_models_have_them(
    tmp_path: Path, corpus: Path
) -> None:
    for verb, name in (("flat", "FlatLDA"), ("prior", "PriorLDA"), ("tfidf-svm", "TfidfSVM")):
        done("train", corpus, "-o", tmp_path / verb, "--model", verb)
        said = problem(1, "show", tmp_path / verb, "--topics")
        assert f"a {name} has no topics of labels; the hybrid " in said


def test_one_thing_is_shown_at_a_time(model: Path) -> None:
    assert "Give a label, options of the list of labels, or --topics" in problem(
        2, "show", model, "LAW", "--sort", "worst"
    )
