"""``--engine``, and ``deplda predict`` of a folder of shards."""

import json
from pathlib import Path

from tests.cli.running import QUICK, articles, done, lines, problem, run, write_jsonl


def in_shards(folder: Path) -> Path:
    folder.mkdir()
    write_jsonl(folder / "a.jsonl", articles()[:12])
    write_jsonl(folder / "b.jsonl", articles()[12:])
    return folder


def test_a_folder_of_shards_becomes_a_folder_of_parts(
    tmp_path: Path, model: Path, corpus: Path
) -> None:
    shards = in_shards(tmp_path / "in")
    said = done("predict", model, shards, "-o", tmp_path / "out", "-k", 2)
    assert said.startswith("30 documents in 2 parts")
    parts = [tmp_path / "out" / f"{name}.jsonl.labels.jsonl" for name in "ab"]
    found = [line for part in parts for line in lines(part.read_text())]
    assert found == lines(done("predict", model, corpus, "-k", 2))
    times = [part.stat().st_mtime_ns for part in parts]
    done("predict", model, shards, "-o", tmp_path / "out", "-k", 2)
    assert [part.stat().st_mtime_ns for part in parts] == times


def test_what_is_left_out_of_a_shard_is_said(tmp_path: Path, model: Path) -> None:
    shards = in_shards(tmp_path / "in")
    with (shards / "a.jsonl").open("a") as file:
        file.write('{"id": "odd", "text": 7}\n')
    (shards / "c.csv").write_text("a,b\n")
    result = run("predict", model, shards, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "a.jsonl, document 'odd' is left out" in result.stderr
    assert "1 shards have no part (see manifest.json); c.csv" in result.stderr
    assert json.loads((tmp_path / "out" / "manifest.json").read_bytes())["documents"] == 30


def test_processes_train_and_predict_the_same(tmp_path: Path, model: Path, corpus: Path) -> None:
    far = ("--engine", "processes", "-j", 1)
    done("train", corpus, "-o", tmp_path / "model", "--where", "part=train", *QUICK, *far)
    near = done("predict", model, corpus)
    assert done("predict", tmp_path / "model", corpus, *far) == near


def test_a_folder_of_shards_is_learned_from_disk(tmp_path: Path) -> None:
    shards, output, scratch = in_shards(tmp_path / "in"), tmp_path / "model", tmp_path / "kept"
    said = done("train", shards, "-o", output, "--scratch", scratch, *QUICK, "--json")
    assert json.loads(said)["documents"] == 30
    assert len(lines(done("predict", output, shards / "a.jsonl", "-k", 1))) == 12
    again = ("train", shards, "-o", tmp_path / "other", "--scratch", scratch)
    assert "goes without --checkpoint" in problem(2, *again, "--holdout", 0.1)
    svm = problem(1, *again, "--model", "tfidf-svm")
    assert "TfidfSVM learns from documents in memory" in svm


def test_engines_that_cannot_be_are_named(tmp_path: Path, model: Path, corpus: Path) -> None:
    output = tmp_path / "model"
    assert "engine is 'gpu'" in problem(1, "train", corpus, "-o", output, "--engine", "gpu")
    assert "engine is 'gpu'" in problem(1, "predict", model, corpus, "--engine", "gpu")
    svm = ("--model", "vanilla-svm", "--engine", "gpu")
    assert "engine is 'gpu'" in problem(1, "train", corpus, "-o", output, *svm)
    assert "use --engine" in problem(2, "train", corpus, "-o", output, "--set", "engine=processes")
    shards = in_shards(tmp_path / "in")
    assert "A folder of shards needs -o" in problem(2, "predict", model, shards)
