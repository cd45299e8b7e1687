"""The real data sets, against the statistics that came with them (their PROVENANCE.md)."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from deplda import Corpus, WordCounter
from deplda.data.corpus import concat
from deplda.data.datasets import Dataset
from paper import data
from paper.data.mat import read_mat
from paper.protocol import read_preset
from paper.results import describe_for_paper

pytestmark = pytest.mark.data


class Expected(NamedTuple):
    """Sizes of the whole, and of the first split's parts: documents and words seen."""

    documents: int
    words: int
    labels: int
    splits: int
    train: int
    test: int
    words_seen: tuple[int, int]
    labels_used: tuple[int, int]
    labels_per_document: tuple[float, float]
    tokens_per_document: tuple[float, float]


DATA_SETS = {
    "yahoo-arts": Expected(
        7441, 17973, 19, 5, 1000, 6441, (14764, 17973), (19, 19), (1.654, 1.619), (192.0, 210.4)
    ),
    "yahoo-health": Expected(
        9109, 18430, 14, 5, 1000, 8109, (14223, 18430), (14, 14), (1.587, 1.612), (200.8, 184.5)
    ),
    "debtags": Expected(
        29417, 12055, 590, 1, 23577, 5840, (12055, 6917), (590, 523), (3.747, 3.785), (40.8, 39.2)
    ),
    "eurlex20k": Expected(
        19348, 16785, 3810, 10, 17413, 1935,
        (16785, 12189), (3731, 1970), (5.293, 5.29), (412.9, 411.2),
    ),
    # Words have no names here; their ids run to the 47,236 of Lewis's whole list.
    "rcv1-subset1": Expected(
        6000, 47236, 101, 1, 3000, 3000, (15043, 15538), (101, 97), (2.914, 2.876), (123.3, 124.2)
    ),
    "bibtex": Expected(
        7395, 1836, 159, 1, 4880, 2515, (1836, 1836), (159, 159), (2.38, 2.444), (68.5, 69.0)
    ),
    "kirjastonhoitaja": Expected(
        3150, 7899, 4291, 1, 2838, 312, (7899, 4501), (4097, 784), (4.714, 4.545), (67.2, 58.5)
    ),
    "tib-core": Expected(
        6980, 7492, 9021, 1, 5933, 1047, (7492, 6692), (8102, 2374), (3.024, 3.055), (67.1, 65.7)
    ),
    "tib-core-en": Expected(
        6980, 6535, 9021, 1, 5933, 1047, (6535, 5929), (8102, 2374), (3.024, 3.055), (91.7, 90.4)
    ),
}  # fmt: skip


@cache
def load(name: str, data_dir: Path) -> Dataset:
    return data.load(name, data_dir)


def check_part(part: Corpus, expected: Expected, which: int) -> None:
    assert np.count_nonzero(part.word_counts) == expected.words_seen[which]
    assert np.count_nonzero(part.label_counts) == expected.labels_used[which]
    # The statistics are rounded to three and to one places.
    assert part.labels_per_document.mean() == pytest.approx(
        expected.labels_per_document[which], abs=5.01e-4
    )
    assert part.document_lengths.mean() == pytest.approx(
        expected.tokens_per_document[which], abs=0.0501
    )
    assert part.document_lengths.min() > 0
    assert part.labels_per_document.min() > 0


@pytest.mark.parametrize("name", DATA_SETS)
def test_a_data_set_has_the_statistics_it_came_with(data_dir: Path, name: str) -> None:
    expected = DATA_SETS[name]
    dataset = load(name, data_dir)
    corpus = dataset.corpus
    assert (len(corpus), corpus.n_words, corpus.n_labels) == expected[:3]
    assert len(dataset.splits) == expected.splits
    first = dataset.splits[0]
    assert (len(first.train), len(first.test)) == (expected.train, expected.test)
    check_part(corpus[first.train], expected, 0)
    check_part(corpus[first.test], expected, 1)
    check_splits(dataset)


def check_splits(dataset: Dataset) -> None:
    for split in dataset.splits:
        both = np.concatenate([split.train, split.test])
        assert np.array_equal(np.sort(both), np.arange(len(dataset.corpus)))


def test_the_cooking_questions_include_empty_and_unlabelled_ones(data_dir: Path) -> None:
    dataset = load("stackex-cooking", data_dir)
    corpus = dataset.corpus
    assert (len(corpus), corpus.n_words, corpus.n_labels) == (10491, 577, 400)
    assert np.count_nonzero(corpus.document_lengths == 0) == 3
    assert np.count_nonzero(corpus.labels_per_document == 0) == 134
    assert corpus.label_counts.max() == 960
    assert corpus.labels_per_document.mean() == pytest.approx(2.225, abs=5.01e-4)
    assert corpus.document_lengths.mean() == pytest.approx(21.7, abs=0.0501)
    check_splits(dataset)


@pytest.mark.parametrize(
    ("name", "row", "begins"),
    [
        ("kirjastonhoitaja", -312, "Tuleeko pienelle piirille"),
        ("tib-core", 0, "Grammatikkenntnisse für Rechtschreibregeln? : Drei deutsche"),
        ("tib-core-en", 0, "Grammar knowledge for spelling rules?: Three German"),
    ],
)
def test_texts_stand_in_the_order_of_the_corpus(
    data_dir: Path, name: str, row: int, begins: str
) -> None:
    dataset = load(name, data_dir)
    assert dataset.texts[row].startswith(begins)
    counter = WordCounter(
        language=None,
        stop_words=None,
        token_pattern="words",
        vocabulary=dataset.corpus.vocabulary,
    )
    assert (counter.fit_transform(dataset.texts) != dataset.corpus.counts).nnz == 0


def test_a_record_has_the_same_labels_and_part_in_both_languages(data_dir: Path) -> None:
    german, english = load("tib-core", data_dir), load("tib-core-en", data_dir)
    assert np.array_equal(german.corpus.labels.indptr, english.corpus.labels.indptr)
    assert np.array_equal(german.corpus.labels.indices, english.corpus.labels.indices)
    assert np.array_equal(german.splits[0].test, english.splits[0].test)


def test_every_folder_data_set_of_the_registry_is_covered_here() -> None:
    known = {*DATA_SETS, "stackex-cooking"}
    assert {entry.name for entry in data.entries() if entry.origin == "folder"} <= known


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("debtags", ("accessibility::input", "accessibility::ocr")),
        ("eurlex20k", ("adhesive", "State trading")),
        ("rcv1-subset1", ("C11", "C12")),
        ("bibtex", ("TAG_2005", "TAG_2006")),
        ("stackex-cooking", ("acidity", "alcohol")),
        ("kirjastonhoitaja", tuple(f"http://www.yso.fi/onto/yso/p{n}" for n in (1000, 10000))),
        ("tib-core", tuple(f"https://d-nb.info/gnd/{n}" for n in (1022420135, 1022831690))),
    ],
)
def test_labels_have_their_names(data_dir: Path, name: str, labels: tuple[str, ...]) -> None:
    assert load(name, data_dir).corpus.label_names[:2] == labels


@pytest.mark.parametrize(
    "name", ["debtags", "eurlex20k", "rcv1-subset1", "yahoo-arts", "yahoo-health"]
)
def test_a_preset_finds_its_data_and_can_describe_it(data_dir: Path, name: str) -> None:
    experiment = read_preset(name)
    facts = describe_for_paper(load(experiment.data, data_dir), experiment, 0)
    assert facts.n_train == DATA_SETS[name].train
    assert sum(n for _, n in facts.labels_by_frequency) == DATA_SETS[name].labels_used[0]
    assert facts.n_training_words == DATA_SETS[name].words_seen[0]


def test_the_authors_own_file_equals_the_converted_folder(data_dir: Path) -> None:
    path = data_dir / "yahoo_mat" / "Yahoo_Arts_Split01.mat"
    authors, ours = concat(read_mat(path)), load("yahoo-arts", data_dir)
    assert Corpus(authors.counts, authors.labels) == Corpus(ours.corpus.counts, ours.corpus.labels)
    first = ours.splits[0]
    for name, rows in (("train", first.train), ("test", first.test)):
        assert [authors.ids[row] for row in rows] == [
            f"{name}-{number}" for number in range(1, len(rows) + 1)
        ]
