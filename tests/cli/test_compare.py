"""``deplda compare``: one's own documents, several models, one command."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from deplda import datasets
from deplda.comparison import read_results
from deplda.comparison.results import Unit
from deplda.comparison.unit import Task, measure
from tests.cli.running import articles, done, problem, run


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """Units are run in this process, which is faster; those of a model called Bad fail."""
    asked: list[Task] = []

    def here(task: Task, _: tuple[str, ...]) -> Unit:
        asked.append(task)
        if task.model.estimator == "PriorLDA":
            return Unit(task.title, task.split, "failed", error="MemoryError: no room")
        found = msgspec.json.decode(msgspec.json.encode(measure(task).results))
        return Unit(task.title, task.split, "done", results=found)

    monkeypatch.setattr("deplda.comparison.runner.run_process", here)
    return asked


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A spreadsheet's CSV, with columns that have names of their own."""
    path = tmp_path / "articles.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["nr", "body", "subjects", "source", "part"])
        for number, row in enumerate(articles() * 2):
            text, labels = row["text"], ";".join(row["labels"])
            writer.writerow([number, f"{text} {number}.", labels, number // 4, row["part"]])
    return path


FIELDS = ("--text-field", "body", "--labels-field", "subjects", "--id-field", "nr")


def test_models_are_compared_on_ones_own_csv_in_one_command(table: Path) -> None:
    """Really in processes of their own."""
    result = run("compare", table.name, *FIELDS, "--models", "tfidf-svm,flat", "--jobs", 1)
    assert result.exit_code == 0, result.stderr
    assert "60 documents, 3 labels: 45 train, 15 test" in result.stderr
    assert re.search(r"tf-idf SVM, split 0: average precision \S+ in \S+ CPU s\n", result.stderr)
    assert "topic models have fewer sets of topics here" in result.stderr
    shown = result.stdout
    assert "Leaderboard of articles" in shown
    assert "±" in shown
    assert "tie at ranking labels for a document" in shown
    assert "the difference is within noise" in shown
    assert "The whole report: articles-comparison/report.html" in shown
    options = "--text-field body --labels-field subjects --id-field nr"
    assert f"Next: deplda train articles.csv -o model --model tfidf-svm {options}" in shown or (
        f"Next: deplda train articles.csv -o model --model flat {options}" in shown
    )
    page = Path("articles-comparison/report.html").read_text(encoding="utf-8")
    assert "Why Flat-LDA ranks them so" in page
    assert "are generated" not in page


def test_a_second_run_goes_on_and_may_add_models(table: Path, tasks: list[Task]) -> None:
    asked = ("compare", table, *FIELDS, "-o", "out", "--json")
    first = json.loads(done(*asked, "--models", "tfidf-svm"))
    assert [row["model"] for row in first["models"]] == ["tf-idf SVM"]
    assert first["best"] == ["tf-idf SVM"]
    both = json.loads(done(*asked, "--models", "tfidf-svm,flat"))
    assert [task.title for task in tasks] == ["tf-idf SVM", "Flat-LDA"]
    assert {row["model"] for row in both["models"]} == {"tf-idf SVM", "Flat-LDA"}
    for row in both["models"]:
        found = row["average_precision_by_document"]
        low, high = found["interval"]
        assert low <= found["value"] <= high
    with table.open("a") as file:
        file.write("99,another text,LAW,9,train\n")
    assert "holds results of other documents, labels or splits" in problem(1, *asked)


def test_a_model_that_fails_is_named_and_the_others_are_shown(
    table: Path, tasks: list[Task]
) -> None:
    result = run("compare", table, *FIELDS, "-o", "out", "--models", "prior,tfidf-svm")
    assert result.exit_code == 1
    assert "Prior-LDA on split 0: MemoryError: no room" in result.stderr
    assert "1 of 2 units failed, the others are kept; run again to retry" in result.stderr
    assert "tf-idf SVM" in result.stdout
    assert Path("out/report.html").exists()
    alone = run("compare", table, *FIELDS, "-o", "none", "--models", "prior")
    assert alone.exit_code == 1
    assert "Prior-LDA on split 0: MemoryError" in alone.stderr


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        (("--holdout", 0.5), [30]),
        (("--folds", 3), [20, 20, 20]),
        (("--split-field", "part"), [12]),
        (("--test", "articles.csv"), [60]),
        (("--folds", 2, "--group-field", "source"), [32, 28]),
    ],
)
def test_documents_are_split_as_one_asks(
    options: tuple[Any, ...], sizes: list[int], table: Path, tasks: list[Task]
) -> None:
    done("compare", table, *FIELDS, "-o", "out", "--models", "tfidf-svm", *options)
    data = datasets.load("data", "out")
    assert [len(split.test) for split in data.splits] == sizes
    assert [task.split for task in tasks] == list(range(len(sizes)))
    for split in data.splits if "--group-field" in options else ():
        groups = [{data.groups[row] for row in part} for part in split]
        assert not groups[0] & groups[1]


def test_rare_words_are_told_by_the_training_part_alone(table: Path, tasks: list[Task]) -> None:
    done("compare", table, *FIELDS, "-o", "out", "--models", "tfidf-svm", "--min-count", 2)
    assert tasks[0].min_count == 2
    done("compare", table, *FIELDS, "-o", "auto", "--models", "tfidf-svm")
    assert tasks[1].min_count == "auto"
    assert datasets.load("data", "out").corpus == datasets.load("data", "auto").corpus


def test_a_data_set_is_compared_on_by_its_name_its_folder_or_its_description(
    news: Path, table: Path, tasks: list[Task]
) -> None:
    done("compare", news, "-o", "a", "--models", "flat")
    assert len(datasets.load("data", "a").splits) == 1
    done("compare", news, "-o", "b", "--models", "flat", "--folds", 2)
    assert len(datasets.load("data", "b").splits) == 2
    Path("own.toml").write_text(
        'documents = "articles.csv"\nfolds = 2\ngroups = "source"\n'
        'fields = { text = "body", labels = "subjects", id = "nr" }\n'
    )
    shown = done("compare", "own.toml", "-o", "c", "--models", "flat")
    assert "Next: deplda train own.toml -o model --model flat --split none" in shown
    assert len(read_results("c").done) == 2
    assert "are for files; own.toml is a data set" in problem(
        2, "compare", "own.toml", "--split-field", "part"
    )


def test_what_cannot_be_asked_for_is_said_before_any_work(table: Path) -> None:
    assert "--holdout and --folds are different ways" in problem(
        2, "compare", table, "--holdout", 0.2, "--folds", 5
    )
    said = problem(2, "compare", table, "--models", "hybrid,bert")
    assert "--models has 'bert'; known are dependency, prior, flat" in said
    assert "no column 'text' (found: 'nr', 'body', 'subjects" in problem(1, "compare", table)
    assert "no data set, file or folder 'nope.csv'" in problem(1, "compare", "nope.csv")
    said = problem(1, "compare", table, *FIELDS, "--group-field", "publisher")
    assert "no document has the field 'publisher' (found: 'nr', 'body" in said
    lines = '{"text": "a b", "labels": ["x"]}\n'
    said = problem(2, "compare", "-", "--group-field", "s", "--format", "jsonl", input=lines)
    assert "are for files, not for -" in said
    assert not list(Path().glob("*-comparison"))


def test_the_groups_of_documents_reach_the_hybrid(
    table: Path, tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    known: list[Any] = []

    def fit(self: Any, train: Any, **options: Any) -> None:
        known.append(options)
        raise InterruptedError

    monkeypatch.setattr("deplda.comparison.unit._compile", lambda *_: None)
    monkeypatch.setattr("deplda.models.hybrid.HybridLDA.fit", fit)
    asked = (
        "compare",
        table,
        *FIELDS,
        "-o",
        "out",
        "--models",
        "hybrid",
        "--group-field",
        "source",
    )
    assert run(*asked).exit_code == 1
    assert len(known[0]["groups"]) == len(datasets.load("data", "out").splits[0].train)
    assert known[0]["counter"].surface_words_


@pytest.mark.parametrize("option", ["--split-field", "--group-field"])
def test_a_misspelt_column_is_named_with_those_there_are(
    option: str, table: Path, tmp_path: Path
) -> None:
    said = problem(1, "compare", table, *FIELDS, "-o", tmp_path / "r", option, "nothing")
    assert "no document has the field 'nothing' (found: " in said
    assert said.endswith("name one of these")
    assert "--where" not in said
