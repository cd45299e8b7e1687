"""``deplda experiment``, ``report`` and ``demo``."""

import json
from pathlib import Path

import pytest

import deplda.experiments.report
from deplda import datasets
from deplda.experiments.processes import Processes
from deplda.experiments.results import Unit
from deplda.experiments.unit import Task
from tests.cli.running import done, problem, run
from tests.experiments.report import folders


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An experiment whose units end at once: the model called Bad fails."""

    def end(_: Processes, task: Task) -> Unit:
        if task.model == "Bad":
            return Unit(task.model, task.split, "failed", error="alpha is -1")
        return Unit(task.model, task.split, "done", found={"peak_mb": 1.0})

    small = datasets.load("newsroom", n_documents=100)
    monkeypatch.setattr(datasets, "load", lambda *_: small)
    monkeypatch.setattr("deplda.experiments.processes.Processes.run", end)
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


def test_an_experiment_says_why_each_model_worked_on_the_cpu_and_misses_a_gpu_at_once(
    tmp_path: Path, experiment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = {"gpu": "–", "cpu_since": "CuPy is not installed"}
    monkeypatch.setattr(
        "deplda.experiments.processes.Processes.run",
        lambda _, task: Unit(
            task.model, task.split, "done", found={"peak_mb": 1.0, "machine": machine}
        ),
    )
    result = run("experiment", experiment, "-o", tmp_path / "auto", "--device", "auto")
    assert result.exit_code == 0
    assert "Flat on split 0: on the CPU, since CuPy is not installed" in result.stderr
    monkeypatch.setattr("deplda.experiments.runner.missing", lambda: "CuPy is not installed")
    said = problem(1, "experiment", experiment, "-o", tmp_path / "cuda", "--device", "cuda")
    assert "device is 'cuda', but CuPy is not installed; use device='cpu' or 'auto'" in said
    assert not (tmp_path / "cuda").exists()


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


def test_an_experiment_takes_data_that_lies_beside_its_file(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Task] = []

    def end(_: Processes, task: Task) -> Unit:
        asked.append(task)
        return Unit(task.model, task.split, "done", found={"peak_mb": 1.0})

    monkeypatch.setattr("deplda.experiments.processes.Processes.run", end)
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "there"
    place.mkdir()
    (place / "articles.jsonl").write_bytes(corpus.read_bytes())
    models = '[models.Flat]\nestimator="FlatLDA"\n'
    (place / "own.toml").write_text(f'name="own"\ndata="articles.jsonl"\n{models}')
    done("experiment", "there/own.toml", "-o", tmp_path / "a")
    done("experiment", "there/own.toml", "-o", tmp_path / "b", "--data-dir", "there")
    monkeypatch.chdir(place)
    done("experiment", "own.toml", "-o", "c", "--data-dir", ".")
    for task in asked:  # counted once: what units load is the counted copy
        data = datasets.load(task.experiment.data, task.data_dir)
        assert len(data.corpus) == 30
        assert [len(rows) for rows in data.splits[0]] == [22, 8]
    for path in ("../articles.jsonl", "/etc/passwd"):
        (place / "own.toml").write_text(f'name="own"\ndata="{path}"\n{models}')
        assert "leads out of the folder" in problem(1, "experiment", "own.toml", "-o", "d")
    (place / "own.toml").write_text(f'name="own"\ndata="none.csv"\n{models}')
    said = problem(1, "experiment", "own.toml", "-o", "d")
    assert f"no data set, file or folder 'none.csv' in {place}" in said


def test_an_experiment_on_a_folder_or_a_description_runs_all_models(
    tmp_path: Path, news: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "deplda.experiments.processes.Processes.run",
        lambda _, task: Unit(task.model, task.split, "done", found={"peak_mb": 1.0}),
    )
    assert "7 of 7 units done" in done("experiment", news, "-o", tmp_path / "a")
    (tmp_path / "articles.jsonl").write_bytes(corpus.read_bytes())
    (tmp_path / "dataset.toml").write_text('documents = "articles.jsonl"\nfolds = 2\n')
    for number, name in enumerate((tmp_path / "dataset.toml", tmp_path)):
        shown = done("experiment", name, "-o", tmp_path / f"b{number}")
        assert "14 of 14 units done" in shown
    said = problem(1, "experiment", corpus, "-o", tmp_path / "c")
    assert f"models are compared on documents by: deplda compare {corpus}" in said


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
    asked: list[tuple[Path, str, Path | None]] = []
    monkeypatch.setattr(
        deplda.experiments.report,
        "demo",
        lambda folder, data, data_dir: asked.append((folder, data, data_dir)),
    )
    done("demo", "-o", tmp_path / "look")
    (tmp_path / "bibtex").mkdir()
    done("demo", "-o", tmp_path / "look", "--data", "bibtex", "--data-dir", tmp_path)
    assert asked == [
        (tmp_path / "look", "newsroom", None),
        (tmp_path / "look", "bibtex", tmp_path),
    ]
