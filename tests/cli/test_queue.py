"""``deplda queue``."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import deplda
from deplda.models.queueing import queue
from tests.cli.running import QUICK, articles, done, problem, run, write_jsonl


@pytest.fixture
def new(tmp_path: Path) -> Path:
    rows = [{"id": row["id"], "text": row["text"]} for row in articles()]
    return write_jsonl(tmp_path / "new.jsonl", rows)


def test_the_queue_is_that_of_the_function(model: Path, new: Path) -> None:
    said = json.loads(done("queue", model, new, "-n", 5, "--json"))
    assert said["documents"] == 30
    texts = [row["text"] for row in articles()]
    expected = queue(deplda.load(model), texts, 5)
    assert [row["id"] for row in said["queue"]] == [f"d{one.place}" for one in expected]
    assert [row["value"] for row in said["queue"]] == [one.value for one in expected]
    for row in said["queue"]:
        assert all(word in row["reason"] for word in row["words"])
        for label in row["uncertain_labels"]:
            assert 0.05 <= label["probability"] <= 0.95
            assert f"{label['label']} (" in row["reason"]


def test_documents_of_several_files_are_one_queue(tmp_path: Path, model: Path, new: Path) -> None:
    rows = [json.loads(line) for line in new.read_text().splitlines()]
    parts = [write_jsonl(tmp_path / f"{n}.jsonl", rows[n::2]) for n in (0, 1)]
    one = json.loads(done("queue", model, new, "-n", 30, "--json"))["queue"]
    both = json.loads(done("queue", model, *parts, "-n", 30, "--json"))["queue"]
    assert {row["id"] for row in one} == {row["id"] for row in both}
    assert one[0]["value"] == both[0]["value"]
    piped = run("queue", model, "-", "-n", 30, "--json", input=new.read_bytes())
    assert json.loads(piped.stdout)["queue"] == one


def test_it_is_shown_as_a_table(model: Path, new: Path) -> None:
    said = done("queue", model, new, "-n", 3)
    assert "3 of 30 documents" in said
    assert "words that few before it have" in " ".join(said.replace("│", " ").split())


def test_it_is_written_as_lines_or_as_a_table(tmp_path: Path, model: Path, new: Path) -> None:
    rows = json.loads(done("queue", model, new, "-n", 4, "--json"))["queue"]
    lines, table = tmp_path / "next.jsonl", tmp_path / "next.csv"
    assert done("queue", model, new, "-n", 4, "-o", lines) == f"4 of 30 documents: {lines}\n"
    texts = {row["id"]: row["text"] for row in articles()}
    assert [json.loads(line) for line in lines.read_text().splitlines()] == [
        row | {"text": texts[row["id"]]} for row in rows
    ]
    done("queue", model, new, "-n", 4, "-o", table)
    with table.open(newline="", encoding="utf-8-sig") as file:
        read = list(csv.DictReader(file))
    assert [tuple(row.values()) for row in read] == [
        (row["id"], str(row["value"]), row["reason"], texts[row["id"]]) for row in rows
    ]


@pytest.mark.parametrize(
    "options", [(), ("--text-field", "body", "--text-field", "head", "--id-field", "key")]
)
@pytest.mark.parametrize("name", ["next.jsonl", "next.csv"])
def test_predict_reads_the_queue_as_the_documents_themselves(
    name: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    def renamed(row: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
        head, _, body = row["text"].partition(" ")
        values = {"id": row["id"], "head": head, "body": f"=1+1, - {body}", "labels": row["labels"]}
        return {names.get(key, key): value for key, value in values.items()}

    own = {"id": "Nr.", "head": "Title", "body": "Abstract", "labels": "Subjects"}
    corpus = write_jsonl(tmp_path / "all.jsonl", [renamed(row, own) for row in articles()])
    model = tmp_path / "m"
    done(
        "train", corpus, "-o", model, "--id-field", "Nr.", "--text-field", "Title",
        "--text-field", "Abstract", "--labels-field", "Subjects", *QUICK,
    )  # fmt: skip
    others = {"id": "key"} if options else own
    titled = [renamed(row, others) | {"title": f"No. {row['id']}"} for row in articles()[:9]]
    for row in titled:
        row[others.get("body", "body")] += " court"  # the model has not learned from it
    new, output = write_jsonl(tmp_path / "new.jsonl", titled), tmp_path / name
    done("queue", model, new, *options, "-o", output)

    def predicted(path: Path, *options: str) -> dict[str, Any]:
        said = done("predict", model, path, *options).splitlines()
        return {one["id"]: one["labels"] for one in map(json.loads, said)}

    assert predicted(output) == predicted(new, *options)


def test_the_queue_has_titles_and_of_counts_the_counts(
    tmp_path: Path, model: Path, counts_model: Path
) -> None:
    new = write_jsonl(tmp_path / "new.jsonl", [{"title": "A case", "text": "the judge in court"}])
    done("queue", model, new, "-o", tmp_path / "next.csv")
    header, row = (tmp_path / "next.csv").read_text("utf-8-sig").splitlines()
    assert header == "id,value,reason,title,text"
    assert row.endswith(",A case,the judge in court")
    word = deplda.load(counts_model).words_[0]
    counted = write_jsonl(tmp_path / "counts.jsonl", [{"id": "c", "counts": {word: 2}}])
    done("queue", counts_model, counted, "-o", tmp_path / "next.jsonl")
    assert json.loads((tmp_path / "next.jsonl").read_text())["counts"] == {word: 2}
    done("predict", counts_model, tmp_path / "next.jsonl")


def test_what_cannot_be_written_is_said_before_any_work(
    tmp_path: Path, model: Path, new: Path
) -> None:
    assert "is written as .jsonl or .csv" in problem(2, "queue", model, new, "-o", "next.txt")
    there = tmp_path / "next.csv"
    there.write_text("mine")
    assert "exists; choose another name" in problem(1, "queue", model, new, "-o", there)
    assert there.read_text() == "mine"
    done("queue", model, new, "-o", there, "--force")
    assert there.read_text("utf-8").startswith("\ufeffid,value,reason,text\n")


def test_a_model_without_probabilities_is_refused(tmp_path: Path, corpus: Path, new: Path) -> None:
    options = ("--language", "none", "--model", "flat", "--set", "n_held_out=0")
    done("train", corpus, "-o", tmp_path / "m", *options)
    said = problem(1, "queue", tmp_path / "m", new)
    assert said.startswith("this model has no probabilities, so it cannot tell what it is")


def test_documents_without_a_known_word_say_so(tmp_path: Path, model: Path) -> None:
    new = write_jsonl(tmp_path / "odd.jsonl", [{"id": "x", "text": "zzz qqq"}])
    (row,) = json.loads(done("queue", model, new, "--json"))["queue"]
    assert row["n_known"] == 0
    assert row["reason"].endswith("no word that the model knows")


def test_empty_documents_are_not_worth_labelling(model: Path) -> None:
    result = run("queue", model, "-", "--json", input="violin\n\nverdict\n")
    assert result.stderr == "1 empty document left out\n"
    found = json.loads(result.stdout)
    assert (found["documents"], {each["id"] for each in found["queue"]}) == (2, {"0", "2"})
