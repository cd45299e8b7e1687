"""`deplda train --keep-examples`: titles or first words, and nothing else of the texts."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from deplda import load
from tests.cli.running import articles, done, problem, write_jsonl

PRIVATE = "confidential"


def train(corpus: Path, *options: str) -> Any:
    """Return the model and what was said when it was made."""
    out = corpus.parent / "model"
    said = done("train", corpus, "-o", out, "--model", "flat", *options)
    return load(out), said


def written(folder: Path, **more: Any) -> Path:
    """Write documents, each with the word `confidential` far from its beginning."""
    rows = [row | {"text": f"{row['text']} {'filler ' * 40}{PRIVATE}"} | more for row in articles()]
    return write_jsonl(folder / "documents.jsonl", rows)


def test_the_title_is_kept_and_how_much_is_said(tmp_path: Path) -> None:
    model, said = train(written(tmp_path, title="A title"), "--keep-examples")
    assert model.examples_.titles == ("A title",) * len(articles())
    assert "titles or first words of 30 documents (0.0 MB); whoever has the model" in said


def test_without_a_title_the_first_words_are_kept_and_no_more(tmp_path: Path) -> None:
    model, _ = train(written(tmp_path), "--keep-examples")
    for title, row in zip(model.examples_.titles, articles(), strict=True):
        assert title[:30] == row["text"][:30]
    assert not [title for title in model.examples_.titles if PRIVATE in title]


def test_nothing_is_kept_unless_it_is_asked_for(tmp_path: Path) -> None:
    model, said = train(written(tmp_path, title="A title"))
    assert model.examples_ is None
    assert "Kept as examples" not in said
    assert b"A title" not in (tmp_path / "model" / "arrays.safetensors").read_bytes()


@pytest.mark.filterwarnings("ignore::deplda.LearnedFromWarning")
def test_documents_that_are_held_out_are_no_examples(tmp_path: Path) -> None:
    path = written(tmp_path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row["title"] = f"Title of {row['id']}"
    model, _ = train(write_jsonl(path, rows), "--keep-examples", "--holdout", "0.3")
    titles = model.examples_.titles
    assert len(titles) == model.label_sets_.shape[0] < len(articles())
    by_title = {row["title"]: row["labels"] for row in rows}
    sets = model.label_sets_.toarray()
    for title, row in zip(titles, sets, strict=True):
        assert sorted(by_title[title]) == sorted(model.classes_[row.astype(bool)])


def test_documents_of_words_have_the_first_of_them_and_of_numbers_their_id(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"tokens": ["court", "jury"], "labels": ["a"]},
        {"counts": {"game": 2}, "labels": ["b"]},
    ]
    path = write_jsonl(tmp_path / "tokens.jsonl", rows)
    assert train(path, "--keep-examples")[0].examples_.titles == ("court jury", "game")
    numbers = tmp_path / "numbers" / "some.svm"
    numbers.parent.mkdir()
    numbers.write_text("0 0:1 1:2\n1 1:1\n", encoding="utf-8")
    model, _ = train(numbers, "--keep-examples", "--format", "svmlight")
    assert model.examples_.titles == ("0", "1")


def test_a_data_set_has_the_first_words_of_its_texts(tmp_path: Path) -> None:
    out = tmp_path / "model"
    done("train", "newsroom", "-o", out, "--model", "flat", "--keep-examples")
    examples = load(out).examples_
    assert examples is not None
    assert len(examples.titles) > 100


@pytest.mark.parametrize("source", ["-", "fifo"])
def test_what_can_be_read_only_once_is_refused(source: str, tmp_path: Path) -> None:
    if source == "fifo":
        os.mkfifo(tmp_path / "pipe")
        source = str(tmp_path / "pipe")
    said = problem(2, "train", source, "-o", tmp_path / "model", "--keep-examples")
    assert "reads the documents twice" in said
