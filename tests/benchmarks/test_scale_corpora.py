"""Generated shards: the same bytes for the same shape, and documents like those of EUR-Lex."""

from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from benchmarks.scale_corpora import Shape, spelled, write_shards

from deplda import Corpus, WordCounter, read_corpus

SHAPE = Shape(900, 400, words=3_000, shard=400)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_shards(tmp_path_factory.mktemp("shards"), SHAPE)


@pytest.fixture(scope="module")
def corpus(folder: Path) -> Corpus:
    counter = WordCounter(min_count=1)
    parts = [read_corpus(path, counter=counter) for path in sorted(folder.iterdir())]
    assert [len(part) for part in parts] == [400, 400, 100]
    return parts[0]


def test_the_same_shape_is_the_same_bytes_and_other_seeds_others(
    folder: Path, tmp_path: Path
) -> None:
    again = write_shards(tmp_path / "again", SHAPE)
    other = write_shards(tmp_path / "other", SHAPE._replace(seed=1))
    for path in folder.iterdir():
        assert path.read_bytes() == (again / path.name).read_bytes()
        assert path.read_bytes() != (other / path.name).read_bytes()


def test_more_documents_begin_with_the_same_shards(folder: Path, tmp_path: Path) -> None:
    larger = write_shards(tmp_path, SHAPE._replace(documents=1_200))
    assert len(list(larger.iterdir())) == 3
    for name in ("00000.jsonl", "00001.jsonl"):
        assert (larger / name).read_bytes() == (folder / name).read_bytes()


def test_shards_that_are_there_are_kept(tmp_path: Path) -> None:
    (tmp_path / "00000.jsonl").write_text("kept")
    write_shards(tmp_path, SHAPE._replace(documents=500))
    assert (tmp_path / "00000.jsonl").read_text() == "kept"
    assert len((tmp_path / "00001.jsonl").read_text().splitlines()) == 100


def test_the_same_documents_may_be_in_more_files(folder: Path, tmp_path: Path) -> None:
    shape = SHAPE._replace(parts=3)
    files = sorted(write_shards(tmp_path, shape).iterdir())
    lines = [path.read_text().splitlines() for path in files]
    assert list(map(len, lines)) == [134, 134, 132] * 2 + [100]
    assert len(files) == shape.shards == 7
    whole = [path.read_text().splitlines() for path in sorted(folder.iterdir())]
    assert [*chain(*lines)] == [*chain(*whole)]


def test_documents_have_the_shape_of_eurlex(corpus: Corpus) -> None:
    assert 150 <= corpus.document_lengths.mean() <= 250
    assert 4 <= np.diff(corpus.labels.indptr).mean() <= 6.5
    documents = np.sort(np.asarray(corpus.labels.sum(axis=0)).ravel())
    assert np.median(documents) <= 5
    assert documents[-1] >= 40
    assert sum(count == 1 for count in corpus.word_counts) > 100


def test_labels_go_together(corpus: Corpus) -> None:
    y = corpus.labels.astype(int)
    together = np.asarray((y.T @ y).todense())
    alone = together.diagonal()
    expected = np.outer(alone, alone) / len(corpus)
    often = np.ix_(alone >= 10, alone >= 10)
    ratio = together[often] / expected[often]
    np.fill_diagonal(ratio, 1.0)
    assert ratio.max() > 3


def test_every_number_has_a_word_of_its_own() -> None:
    words = [spelled(number) for number in range(20_000)] + [spelled(95**3), spelled(95**3 + 1)]
    assert len(set(words)) == len(words)
    assert min(map(len, words)) >= 6
