"""Annif's own files through the command line, against what the data sets are as published."""

import tarfile
from pathlib import Path

import numpy as np
import pytest
from paper.data import load

from deplda import Corpus, WordCounter, concat, read_corpus
from deplda.data.datasets import Dataset
from tests.cli.running import done, lines

pytestmark = pytest.mark.data

TO_ANNIF = ("--output-format", "annif")


def as_published(path: Path, dataset: Dataset, stop_words: str) -> Corpus:
    """Read a file, with the words and labels of a data set."""
    counter = WordCounter(
        language=None,
        stop_words=stop_words,
        token_pattern="words",  # noqa: S106
        vocabulary=dataset.corpus.vocabulary,
    )
    return read_corpus(path, counter=counter, label_names=dataset.corpus.label_names)


def same(found: Corpus, expected: Corpus) -> bool:
    """Return whether the documents are the same, whatever they are called."""
    given = expected.counts, expected.labels, expected.vocabulary, expected.label_names
    return found == Corpus(*given, found.ids)


@pytest.fixture(scope="module")
def finnish(tmp_path_factory: pytest.TempPathFactory, data_dir: Path) -> Path:
    folder = tmp_path_factory.mktemp("finnish")
    (archive,) = data_dir.glob("kirjastonhoitaja/*.tar.gz")
    with tarfile.open(archive) as contents:
        contents.extractall(folder, filter="data")
    return folder / "kirjastonhoitaja"


def test_full_texts_are_the_published_data_set(finnish: Path, data_dir: Path) -> None:
    dataset = load("kirjastonhoitaja", data_dir)
    parts = [
        as_published(finnish / part, dataset, "finnish") for part in ("train", "validate", "test")
    ]
    assert concat(parts) == dataset.corpus


@pytest.mark.parametrize("name", ["test.tsv.gz", "test.csv", "test.jsonl", "test-2"])
def test_full_texts_are_the_same_in_every_format_of_annifs(
    tmp_path: Path, finnish: Path, data_dir: Path, name: str
) -> None:
    dataset = load("kirjastonhoitaja", data_dir)
    done("datasets", "convert", finnish / "test", tmp_path / name, *TO_ANNIF)
    test = dataset.corpus[dataset.splits[0].test]
    found = as_published(tmp_path / name, dataset, "finnish")
    assert same(found, test)
    assert name == "test.tsv.gz" or found == test
    done("datasets", "convert", tmp_path / name, tmp_path / "ours.jsonl")
    assert same(as_published(tmp_path / "ours.jsonl", dataset, "finnish"), test)


@pytest.mark.parametrize(("language", "stop_words"), [("de", "german"), ("en", "english")])
def test_lines_are_the_published_data_set_and_come_back_from_a_folder(
    tmp_path: Path, data_dir: Path, language: str, stop_words: str
) -> None:
    dataset = load("tib-core" if language == "de" else "tib-core-en", data_dir)
    path = data_dir / "tib_core" / f"dev-{language}.tsv.gz"
    assert same(as_published(path, dataset, stop_words), dataset.corpus)
    done("datasets", "convert", path, tmp_path / "folder", *TO_ANNIF)
    found = as_published(tmp_path / "folder", dataset, stop_words)
    assert same(found, dataset.corpus[np.array([int(id) for id in found.ids])])


def test_what_is_trained_on_annifs_files_labels_them(finnish: Path, tmp_path: Path) -> None:
    done("train", finnish / "validate", "-o", tmp_path / "m", "--model", "flat")
    expected = lines(done("predict", tmp_path / "m", finnish / "test", "-k", 3))
    done("predict", tmp_path / "m", finnish / "test", "-k", 3, "--format", "annif",
         "-o", tmp_path / "out")  # fmt: skip
    assert len(expected) == 312
    for line in expected:
        told = (tmp_path / "out" / f"{line['id']}.annif").read_text().splitlines()
        assert [each.split("\t")[0] for each in told] == [f"<{x['label']}>" for x in line["labels"]]
    done("evaluate", tmp_path / "m", finnish / "test", "--json")
