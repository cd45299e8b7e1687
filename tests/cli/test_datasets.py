"""``deplda datasets``, ``experiment``, ``report`` and ``demo``."""

import json
from pathlib import Path

import pytest

import deplda.experiments.report
from deplda import WordCounter, datasets, read_corpus
from deplda.experiments.results import Unit
from deplda.experiments.unit import Task
from tests.cli.running import articles, done, problem, run, write_jsonl
from tests.experiments.report import folders

# datasets -----------------------------------------------------------------------------------------


def test_data_sets_are_listed_and_described() -> None:
    names = [entry["name"] for entry in json.loads(done("datasets", "list", "--json"))]
    assert names == [entry.name for entry in datasets.list()]
    assert all(name in done("datasets", "list") for name in names)
    assert json.loads(done("datasets", "stats", "newsroom", "--json"))["n_documents"] == 2000
    assert "2,000" in done("datasets", "stats", "newsroom")
    assert "no files to download" in done("datasets", "fetch", "newsroom")
    assert json.loads(done("datasets", "fetch", "newsroom", "--json")) == []
    assert "there is no data set 'nope'" in problem(1, "datasets", "fetch", "nope")


@pytest.mark.parametrize("name", ["b.jsonl", "b.jsonl.gz", "b.parquet", "b.svm", "b.svm.gz", "b"])
def test_a_corpus_survives_every_conversion(name: str, tmp_path: Path) -> None:
    source, target = tmp_path / "a.csv", tmp_path / name
    source.write_text("key|body|tags\n".replace("|", ",") + "k1,court judge,LAW;X\nk2,opera,X\n")
    fields = ("--id-field", "key", "--text-field", "body", "--labels-field", "tags")
    assert done("datasets", "convert", source, target, *fields) == f"2 documents: {target}\n"
    told = json.loads(done("datasets", "stats", target, "--json"))
    assert (told["n_documents"], told["n_words"], told["n_labels"]) == (2, 3, 2)
    if name != "b":
        corpus = read_corpus(target, counter=WordCounter(stop_words=None))
        assert (corpus.ids, corpus.label_names) == (("k1", "k2"), ("LAW", "X"))
    assert "exists; choose another name" in problem(
        1, "datasets", "convert", source, target, *fields
    )


def test_a_data_set_keeps_its_splits_in_a_folder(tmp_path: Path, news: Path) -> None:
    done("datasets", "convert", news, tmp_path / "b")
    result = run("train", tmp_path / "b", "-o", tmp_path / "m", "--model", "flat")
    assert "train part of split 0: 301 of 400" in result.stderr
    said = problem(1, "datasets", "convert", news, tmp_path / "b", "--force")
    assert "is a folder, which --force does not replace" in said
    said = problem(1, "train", tmp_path / "b", "-o", tmp_path / "n", "--where", "a=b")
    assert "--where is for files with fields" in said


@pytest.mark.parametrize("name", ["news.jsonl", "news.parquet"])
def test_a_data_set_of_counts_becomes_a_file_of_counts(
    name: str, tmp_path: Path, news: Path
) -> None:
    done("datasets", "convert", news, tmp_path / name)
    expected = datasets.load_folder(news, "news").corpus
    assert read_corpus(tmp_path / name).n_tokens == expected.n_tokens


def test_a_target_of_no_known_format_is_refused(tmp_path: Path, corpus: Path) -> None:
    for name in ("b.docx", "b.parquet.gz", "b.csv"):
        said = problem(2, "datasets", "convert", corpus, tmp_path / name)
        assert "is of no format that can be written; its name must end in .jsonl" in said


def test_a_bad_line_leaves_no_half_converted_file(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [*articles(), {"id": "x", "labels": []}])
    said = problem(1, "datasets", "convert", path, tmp_path / "b.jsonl")
    assert "line 31: it has none of 'text'" in said
    assert [each.name for each in tmp_path.iterdir()] == ["a.jsonl"]


# experiment, report, demo -------------------------------------------------------------------------


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An experiment whose units end at once: the model called Bad fails."""

    def end(task: Task) -> Unit:
        if task.model == "Bad":
            return Unit(task.model, task.split, "failed", error="alpha is -1")
        return Unit(task.model, task.split, "done", found={"peak_mb": 1.0})

    monkeypatch.setattr("deplda.experiments.runner._in_own_process", end)
    path = tmp_path / "small.toml"
    path.write_text('name="small"\ndata="newsroom"\n[models.Flat]\nestimator="FlatLDA"\n')
    return path


def test_an_experiment_is_run_and_kept(tmp_path: Path, experiment: Path) -> None:
    asked = ("-o", tmp_path / "results", "--budget", "quick", "--splits", "0", "--jobs", 1)
    found = json.loads(done("experiment", experiment, *asked, "--json"))
    assert found == [{"model": "Flat", "split": 0, "status": "done", "error": None}]
    assert done("experiment", experiment, *asked) == (
        f"1 of 1 units done: {tmp_path / 'results'}\n"
    )
    some = ("-o", tmp_path / "none", "--models", "Flat, Sharp", "--device", "auto")
    assert "there is no model 'Sharp'; small has Flat" in problem(
        1, "experiment", experiment, *some
    )


def test_an_experiment_with_failures_ends_with_1_and_names_them(
    tmp_path: Path, experiment: Path
) -> None:
    with experiment.open("a") as file:
        file.write('[models.Bad]\nestimator="FlatLDA"\n')
    result = run("experiment", experiment, "-o", tmp_path / "results", "--jobs", 1)
    assert result.exit_code == 1
    assert "Bad on split 0: alpha is -1" in result.stderr
    assert "1 of 2 units failed" in result.stderr
    asked = ("-o", tmp_path / "r", "--splits", "one")
    assert "--splits is 'one'" in problem(2, "experiment", "newsroom", *asked)
    assert "there is no experiment 'nope'" in problem(1, "experiment", "nope", "-o", tmp_path / "r")


def test_a_report_is_a_table_a_page_and_markdown(tmp_path: Path) -> None:
    results = folders.make(tmp_path / "results")
    page, text, notes = tmp_path / "r.html", tmp_path / "r.md", tmp_path / "notes.md"
    notes.write_text("what we saw")
    shown = done("report", results, "-o", page, "--markdown", text, "--notes", notes)
    assert "Leaderboard of tiny" in shown
    assert "Leaderboard of tiny" in page.read_text(encoding="utf-8")
    assert "what we saw" in text.read_text(encoding="utf-8")
    assert "--notes needs --markdown" in problem(2, "report", results, "--notes", notes)
    assert "r.html exists" in problem(1, "report", results, "-o", page)
    assert "there are no results here" in problem(1, "report", tmp_path)


def test_the_demonstration_goes_where_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []
    monkeypatch.setattr(deplda.experiments.report, "demo", asked.append)
    done("demo", "-o", tmp_path / "look")
    assert asked == [tmp_path / "look"]
