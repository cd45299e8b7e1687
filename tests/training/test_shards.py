"""Shards made ready on disk: words and labels as those of one file."""

import json
from pathlib import Path

import pytest

from deplda import (
    Corpus,
    Fields,
    FlatLDA,
    InputError,
    ReadError,
    WordCounter,
    read_corpus,
    write_svmlight,
)
from deplda.data.datasets import newsroom
from deplda.training.shards import label_matrix, prepare, settled_fields
from tests.training.worlds import in_shards


@pytest.fixture(scope="module")
def news() -> Corpus:
    return newsroom(60, seed=4).corpus


def test_texts_are_counted_over_all_shards_as_in_one_file(tmp_path: Path) -> None:
    texts = [
        ("the cat purrs", "cat"),
        ("a dog barks", "dog"),
        ("cat and dog", "cat;dog"),
        ("cat", ""),
    ]
    rows = [json.dumps({"text": text, "labels": labels}) for text, labels in texts]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text("\n".join(rows[:2]))
    (tmp_path / "in" / "b.jsonl").write_text("\n".join(rows[2:]))
    (tmp_path / "all.jsonl").write_text("\n".join(rows))
    counter = WordCounter(min_count=2)
    together = read_corpus(tmp_path / "all.jsonl", counter=counter)
    ready = prepare(tmp_path / "in", tmp_path / "scratch", counter=counter)
    assert tuple(ready.words) == together.vocabulary == ("cat", "dog")
    assert tuple(ready.labels) == together.label_names
    assert (label_matrix(tmp_path / "scratch", ready) != together.labels).nnz == 0
    model = FlatLDA().fit_shards(tmp_path / "in", tmp_path / "scratch", counter=counter)
    model.save(tmp_path / "model")
    assert FlatLDA.load(tmp_path / "model").rank(["a dog"], k=1).labels.tolist() == [["dog"]]


def test_svmlight_shards_keep_their_numbers(news: Corpus, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write_svmlight(news[:20], tmp_path / "in" / "a.svm")
    write_svmlight(news[20:], tmp_path / "in" / "b.svm")
    ready = prepare(tmp_path / "in", tmp_path / "scratch")
    assert tuple(ready.words) == news.vocabulary
    assert tuple(ready.labels) == news.label_names


def test_a_folder_of_other_shards_is_refused(news: Corpus, tmp_path: Path) -> None:
    source = in_shards(news[:40], tmp_path / "in", 2)
    prepare(source, tmp_path / "scratch")
    with pytest.raises(InputError, match="holds other shards, or the same ones read otherwise"):
        prepare(source, tmp_path / "scratch", fields=Fields(labels="subjects"))
    (source / "docs-0.jsonl").write_text("oops")
    with pytest.raises(ReadError, match=r"docs-0\.jsonl, line 1"):
        prepare(source, tmp_path / "other")


def test_one_shard_tells_what_separates_the_labels_of_all(tmp_path: Path) -> None:
    shards = tmp_path / "shards"
    shards.mkdir()
    (shards / "a.csv").write_text("text,labels\ncourt judge,law|sport\nteam goal,sport\n")
    (shards / "b.csv").write_text('text,labels\nteam court,"law, order;peace|sport"\n')
    fields = settled_fields(shards, None)
    assert fields == Fields(separator="|")
    ready = prepare(shards, tmp_path / "ready", fields=fields)
    assert ready.labels == ["law", "law, order;peace", "sport"]
    model = FlatLDA(n_held_out=0).fit_shards(shards, tmp_path / "scratch")
    assert model.fields_ == fields
    (shards / "a.csv").write_text("text,labels\ncourt,law\n")
    assert settled_fields(shards, None) is None
