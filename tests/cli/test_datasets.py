"""``deplda datasets``."""

import json
from pathlib import Path

import pytest

from deplda import WordCounter, datasets, read_corpus
from tests.cli.running import articles, done, problem, run, write_jsonl


def test_data_sets_are_listed_and_described(news: Path) -> None:
    names = [entry["name"] for entry in json.loads(done("datasets", "list", "--json"))]
    assert names == [entry.name for entry in datasets.list()]
    assert all(name in done("datasets", "list") for name in names)
    assert json.loads(done("datasets", "stats", "newsroom", "--json"))["n_documents"] == 2000
    assert "2,685" in done("datasets", "stats", news)
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
