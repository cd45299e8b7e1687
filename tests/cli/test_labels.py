"""``deplda labels``."""

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
    found = json.loads(done("labels", model, "--json"))
    assert (found["total"], found["measured"]) == (3, True)
    loaded: Any = deplda.load(model)
    for entry in found["labels"]:
        number = loaded.classes_.tolist().index(entry["label"])
        assert entry["documents"] == loaded.label_sets_[:, [number]].sum()
        assert entry["held_out"] == loaded.label_quality_.documents[number]
        assert set(entry["words"]) <= set(TOPICS[entry["label"]].split())
    result = run("labels", model)
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
    assert "training" in done("labels", copy)


def test_the_rarest_labels_come_first_if_asked(tmp_path: Path) -> None:
    words = ["apple", "pear", "plum", "fig"]
    rows = [{"text": words[i % 2 + 2 * (i == 9)], "labels": [f"L{i % 2 + 2 * (i == 9)}"]}
            for i in range(10)]  # fmt: skip
    write_jsonl(tmp_path / "a.jsonl", rows)
    done("train", tmp_path / "a.jsonl", "-o", tmp_path / "m", "--model", "flat")

    def listed(*how: Any) -> list[str]:
        found = json.loads(done("labels", tmp_path / "m", "--json", *how))
        return [each["label"] for each in found["labels"]]

    assert listed() == ["L0", "L1", "L3"]
    assert listed("--sort", "rarest") == ["L3", "L1", "L0"]
    assert listed("--sort", "rarest", "--limit", 1) == ["L3"]
    assert listed("--search", "l1") == ["L1"]
    shown = run("labels", tmp_path / "m", "--sort", "rarest", "--limit", 1)
    # The only document of the label was either held out or learned from, so that nothing is known.
    assert shown.stdout.splitlines()[-1].split()[:7] == ["L3", "│", "1", "│", "0", "│", "–"]
    assert "(1 of 3 labels; --limit N shows more" in shown.stderr
    said = run("labels", tmp_path / "m", "--search", "kiwi").stderr
    assert "none of 3 labels has 'kiwi' in its name" in said
    assert "Did you mean 'rarest'?" in problem(2, "labels", tmp_path / "m", "--sort", "rarst")


def test_labels_are_written_to_a_file_for_a_spreadsheet(tmp_path: Path, model: Path) -> None:
    assert done("labels", model, "-o", tmp_path / "l.csv") == f"3 labels: {tmp_path / 'l.csv'}\n"
    with open(tmp_path / "l.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    done("labels", model, "-o", tmp_path / "l.jsonl")
    told = lines((tmp_path / "l.jsonl").read_text())
    assert [row["label"] for row in rows] == [entry["label"] for entry in told]
    assert [int(row["documents"]) for row in rows] == [entry["documents"] for entry in told]
    assert rows[0]["words"].split() == told[0]["words"]
    done("labels", model, "-o", tmp_path / "l.tsv")
    assert "l.txt: labels are written as .csv, .tsv, .jsonl." in problem(
        2, "labels", model, "-o", tmp_path / "l.txt"
    )
    assert "exists" in problem(1, "labels", model, "-o", tmp_path / "l.csv")


def test_labels_of_a_vocabulary_have_names_and_notations(tmp_path: Path, model: Path) -> None:
    loaded: Any = deplda.load(model)
    loaded.vocabulary_ = Vocabulary([Concept(uri="LAW", names={"en": "law"}, notation="34")])
    loaded.save(tmp_path / "m")
    found = json.loads(done("labels", tmp_path / "m", "--search", "34", "--json"))["labels"]
    assert [(each["label"], each["uri"], each["notation"]) for each in found] == [
        ("law", "LAW", "34")
    ]
    assert "notation" in done("labels", tmp_path / "m")


def test_a_model_of_an_earlier_version_says_that_quality_is_not_measured(
    tmp_path: Path, corpus: Path
) -> None:
    assert "not measured: the model was fitted by an earlier version" in run("labels", OLD).stderr
    done("train", corpus, "-o", tmp_path / "m", *QUICK, "--set", "n_held_out=0")
    result = run("labels", tmp_path / "m", "--words", 0)
    assert "not measured: no training documents were held out" in result.stderr
    assert result.stdout.splitlines()[-1].count("–") == 2
