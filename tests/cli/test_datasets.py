"""``deplda datasets``."""

import json
from pathlib import Path

import pytest

from deplda import WordCounter, datasets, read_corpus
from tests.cli.running import QUICK, articles, done, problem, run, write_jsonl


def test_data_sets_are_listed_and_described(news: Path) -> None:
    names = [entry["name"] for entry in json.loads(done("datasets", "list", "--json"))]
    assert names == [entry.name for entry in datasets.list()]
    assert all(name in done("datasets", "list") for name in names)
    assert json.loads(done("datasets", "stats", "newsroom", "--json"))["n_documents"] == 2000
    assert "400" in done("datasets", "stats", news)
    assert "no files to fetch: it is generated" in done("datasets", "fetch", "newsroom")
    assert json.loads(done("datasets", "fetch", "newsroom", "--json")) == []
    assert "there is no data set, file or folder 'nope'" in problem(1, "datasets", "fetch", "nope")


def test_stats_count_words_as_train_does(tmp_path: Path) -> None:
    rows = [row | {"text": f"judges of {row['text']} judging songs"} for row in articles()]
    corpus = write_jsonl(tmp_path / "a.jsonl", rows)
    told = json.loads(done("datasets", "stats", corpus, "--json"))
    trained = json.loads(done("train", corpus, "-o", tmp_path / "m", "--json", *QUICK))
    assert (told["n_documents"], told["n_words"]) == (trained["documents"], trained["words"])


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
    for name in ("b.docx", "b.parquet.gz"):
        said = problem(2, "datasets", "convert", corpus, tmp_path / name)
        assert "is of no format that can be written; its name must end in .jsonl" in said
    said = problem(2, "datasets", "convert", corpus, tmp_path / "b.csv")
    assert "can be written as Annif has it: add --output-format annif" in said
    for name in ("b.parquet", "b.gz"):
        said = problem(
            2, "datasets", "convert", corpus, tmp_path / name, "--output-format", "annif"
        )
        assert "is none of Annif's formats; its name must end in .tsv, .csv or .jsonl" in said


def test_a_bad_line_leaves_no_half_converted_file(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [*articles(), {"id": "x", "labels": []}])
    said = problem(1, "datasets", "convert", path, tmp_path / "b.jsonl")
    assert "line 31: it has none of 'text'" in said
    assert [each.name for each in tmp_path.iterdir()] == ["a.jsonl"]


# Annif's formats ----------------------------------------------------------------------------------

TO_ANNIF = ("--output-format", "annif")


@pytest.fixture
def names(tmp_path: Path) -> Path:
    path = tmp_path / "names.tsv"
    path.write_text("".join(f"<http://y/{n.lower()}>\t{n}\n" for n in ("LAW", "SPORT", "MUSIC")))
    return path


@pytest.mark.parametrize("name", ["b.tsv", "b.csv.gz", "b.jsonl", "b"])
def test_a_corpus_becomes_annifs_and_ours_again(
    name: str, tmp_path: Path, corpus: Path, names: Path
) -> None:
    target, again = tmp_path / name, tmp_path / "again.jsonl"
    said = done("datasets", "convert", corpus, target, *TO_ANNIF, "--vocabulary", names)
    assert said == f"30 documents: {target}\n"
    done("datasets", "convert", target, again)
    rows = [json.loads(line) for line in again.read_text().splitlines()]
    expected = [
        {"text": row["text"], "labels": [f"http://y/{n.lower()}" for n in row["labels"]]}
        | ({} if name == "b.tsv" else {"id": row["id"]})
        for row in articles()
    ]
    if name == "b":
        expected.sort(key=lambda row: str(row["id"]))
    assert rows == expected
    for verb in (["datasets", "stats"], ["vocabulary", "check", names]):
        assert "3" in done(*verb, target)


def test_names_are_written_where_annif_takes_them_and_refused_elsewhere(
    tmp_path: Path, corpus: Path
) -> None:
    done("datasets", "convert", corpus, tmp_path / "b", *TO_ANNIF)
    assert (tmp_path / "b" / "d0.key").read_text() == "LAW\nSPORT\n"
    said = problem(1, "datasets", "convert", corpus, tmp_path / "b.tsv", *TO_ANNIF)
    assert "the label 'LAW' is not an address (http://…)" in said
    assert "--vocabulary" in said
    assert not (tmp_path / "b.tsv").exists()


def test_a_vocabulary_gives_labels_their_addresses_in_formats_of_ours_too(
    tmp_path: Path, corpus: Path, names: Path
) -> None:
    asked = ("--vocabulary", names)
    for name in ("b.jsonl", "b.svm"):
        done("datasets", "convert", corpus, tmp_path / name, *asked)
        assert read_corpus(tmp_path / name).label_names == tuple(
            f"http://y/{n}" for n in ("law", "music", "sport")
        )
    names.write_text("<http://y/other>\tother\n")
    said = problem(1, "datasets", "convert", corpus, tmp_path / "c.jsonl", *asked)
    assert "none of 3 labels is in the vocabulary" in said
    assert not (tmp_path / "c.jsonl").exists()


def test_a_data_set_that_has_texts_is_converted_with_them(tmp_path: Path) -> None:
    done("datasets", "convert", "newsroom", tmp_path / "news.jsonl")
    first = json.loads((tmp_path / "news.jsonl").read_text(encoding="utf-8").partition("\n")[0])
    assert first["text"] == datasets.newsroom(1).texts[0]
    assert "VIDEO GAMES" in first["labels"]


def test_counts_are_no_texts_for_annif(tmp_path: Path, news: Path) -> None:
    done("datasets", "convert", news, tmp_path / "a.svm")
    done("datasets", "convert", news, tmp_path / "a.jsonl")
    for source in (news, tmp_path / "a.svm"):
        said = problem(1, "datasets", "convert", source, tmp_path / "b.tsv", *TO_ANNIF)
        assert "holds counts of words, and Annif's formats hold texts" in said
    said = problem(1, "datasets", "convert", tmp_path / "a.jsonl", tmp_path / "b.csv", *TO_ANNIF)
    assert "has no text but counts" in said
    said = problem(2, "datasets", "convert", tmp_path / "a.jsonl", tmp_path / "b.csv", *TO_ANNIF,
                   "--field-weight", "text=2")  # fmt: skip
    assert "--field-weight is for counts" in said
