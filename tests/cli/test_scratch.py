"""``deplda train --scratch``, and what it goes with."""

import json
from pathlib import Path
from typing import Any

import pytest

import deplda
from deplda import FlatLDA
from tests.cli.running import QUICK, articles, done, in_shards, lines, problem, run, write_jsonl


def test_a_folder_of_shards_is_learned_from_disk(tmp_path: Path) -> None:
    shards, output, scratch = in_shards(tmp_path / "in"), tmp_path / "model", tmp_path / "kept"
    said = done("train", shards, "-o", output, "--scratch", scratch, *QUICK, "--json")
    assert json.loads(said)["documents"] == 30
    assert len(lines(done("predict", output, shards / "a.jsonl", "-k", 1))) == 12
    again = ("train", shards, "-o", tmp_path / "other", "--scratch", scratch)
    assert "goes without --checkpoint" in problem(2, *again, "--holdout", 0.1)
    svm = problem(1, *again, "--model", "tfidf-svm")
    assert "TfidfSVM learns from documents in memory" in svm


def test_a_topic_model_of_shards_says_that_it_has_no_probabilities(tmp_path: Path) -> None:
    shards, output = in_shards(tmp_path / "in"), tmp_path / "model"
    asked = ("train", shards, "-o", output, "--scratch", tmp_path / "kept", "--model", "flat")
    said = run(*asked).stderr
    assert "FlatLDA holds out no documents of shards, so there are no probabilities" in said
    given = lines(done("predict", output, shards / "a.jsonl"))
    assert {len(line["labels"]) for line in given} == {1}  # as the median document has


def test_how_the_texts_of_shards_are_counted_is_reported(tmp_path: Path) -> None:
    texts = {"LAW": "the court heard the judge", "SPORT": "the team won the game"}
    rows = [{"text": text, "labels": [label]} for label, text in texts.items()] * 110
    shards = tmp_path / "in"
    shards.mkdir()
    for number in range(2):
        write_jsonl(shards / f"{number}.jsonl", rows[number * 110 :][:110])
    output, scratch = tmp_path / "model", tmp_path / "kept"
    said = run("train", shards, "-o", output, "--scratch", scratch, "--model", "flat").stderr
    assert "counted: words and codes; nothing else ranked labels better" in said


def test_a_run_that_is_interrupted_says_how_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(FlatLDA, "fit_shards", interrupted)
    asked = ("-o", tmp_path / "m", "--scratch", tmp_path / "s", "--model", "flat")
    said = problem(130, "train", in_shards(tmp_path / "in"), *asked)
    assert said == "interrupted; run the same command again to continue"


# Where documents are ------------------------------------------------------------------------------


def test_a_folder_of_files_needs_scratch(tmp_path: Path) -> None:
    shards, empty = in_shards(tmp_path / "in"), tmp_path / "empty"
    empty.mkdir()
    for folder in (shards, empty):
        for fields in ((), ("--text-field", "text", "--labels-field", "labels")):
            said = problem(1, "train", folder, "-o", tmp_path / "m", *fields)
            assert f"{folder} is a folder and no data set; add --scratch WORK" in said


def test_a_file_needs_none(tmp_path: Path, corpus: Path) -> None:
    for source in (corpus, "-"):
        said = problem(2, "train", source, "-o", tmp_path / "m", "--scratch", tmp_path / "s")
        assert f"--scratch is for a folder of files, and {source} is none" in said
    said = problem(2, "train", corpus, "-o", tmp_path / "m", "--max-words", 10)
    assert "--max-words goes with --scratch" in said


# What separates labels ----------------------------------------------------------------------------


def _write_csv(path: Path, separator: str) -> None:
    rows = [f'"{row["text"]}","{separator.join(row["labels"])}"' for row in articles()]
    path.write_text("\n".join(["text,labels", *rows]) + "\n")


def _trained(folder: Path, *options: str) -> tuple[str, list[str]]:
    """Return what was said, and the labels that were learned."""
    model, flat = folder.parent / "m", ("--model", "flat")
    scratch = folder.parent / f"s{len(options)}"
    ended = run("train", folder, "-o", model, "--scratch", scratch, "--force", *flat, *options)
    assert ended.exit_code == 0, ended.stderr
    return ended.stderr, deplda.load(model).classes_.tolist()


def test_what_separates_labels_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in "ab":
        _write_csv(folder / f"{name}.csv", "; ")
    said, labels = _trained(folder)
    assert "labels are separated by '; ' (--separator sets another)" in said
    assert "Warning" not in said
    assert len(labels) == 3


def test_files_that_separate_labels_otherwise_are_warned_of(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    write_jsonl(folder / "a.jsonl", [{"text": "court law", "labels": "LAW"}])
    for name, separator in (("b", "; "), ("c", "|"), ("d", "|")):
        _write_csv(folder / f"{name}.csv", separator)
    said, labels = _trained(folder)
    assert "Warning: labels in c.csv (and 1 more) look separated by '|', not by ';'" in said
    assert len(labels) > 3
    said, _ = _trained(folder, "--separator", ";")
    assert "separated" not in said
