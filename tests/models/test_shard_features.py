"""Features and mean documents of shards: those of the same documents in memory."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import vstack

from deplda import Corpus
from deplda.engine.execution import HERE
from deplda.models import candidates
from deplda.models.linear.svm import idf_of, tfidf
from deplda.models.name_evidence import WordDocuments
from deplda.models.shard_features import (
    BESIDE,
    Taught,
    centroids,
    count_words,
    gathered,
    load_index,
    write_companions,
)
from deplda.training import shard_layouts
from deplda.training.shard_layouts import lay_out_shards
from deplda.training.shards import Ready, prepare, read_shard
from tests.drawn_news import drawn_news
from tests.training.worlds import in_shards

LEFT_OUT = np.arange(3, 120, 9)
REST = np.delete(np.arange(120), LEFT_OUT)


@cache
def news() -> Corpus:
    return drawn_news(120).corpus


def prepared(folder: Path) -> tuple[Ready, Corpus]:
    """Return shards made ready in a folder, and their documents as they are numbered there."""
    source = folder / "in"
    ready = prepare(source if source.exists() else in_shards(news(), source, 3), folder)
    sizes = len(ready.words), len(ready.labels)
    parts = [read_shard(folder, sizes, number) for number in range(3)]
    return ready, Corpus(
        vstack([part.counts for part in parts]), vstack([part.labels for part in parts])
    )


def test_words_are_counted_and_documents_gathered(tmp_path: Path) -> None:
    ready, corpus = prepared(tmp_path)
    n, n_with = count_words(tmp_path, ready, LEFT_OUT, HERE)
    expected = WordDocuments.of(corpus.counts[REST])
    assert n == expected.n == len(REST)
    np.testing.assert_array_equal(n_with, expected.n_with)
    some = np.array([0, 1, 41, 118])
    counts = gathered(tmp_path, ready, some, HERE)
    np.testing.assert_array_equal(counts.toarray(), corpus.counts[some].toarray())


@pytest.mark.parametrize("background", [False, True])
def test_mean_documents_are_those_of_documents_in_memory(
    background: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_layouts, "_BLOCK_CELLS", 400)
    ready, corpus = prepared(tmp_path)
    laid = lay_out_shards(tmp_path, ready, "expected", background=background)
    taught = Taught(laid, len(ready.labels), LEFT_OUT)
    idf = idf_of(corpus.counts[REST])
    found = centroids(taught, idf, HERE)
    features = tfidf(idf, corpus.counts)
    expected = candidates.centroids(features[REST], corpus.labels[REST])
    np.testing.assert_allclose(found.lengths, expected.lengths, rtol=1e-12)
    difference = abs(found.nearby.matrix - expected.nearby.matrix)
    assert difference.max() < 1e-6
    again = centroids(taught, idf, HERE)
    np.testing.assert_array_equal(again.nearby.matrix.data, found.nearby.matrix.data)
    rows = slice(features.indptr[40], features.indptr[80])
    sizes, words, values, squares = taught.features().rows(np.arange(40, 80))
    np.testing.assert_array_equal(sizes, np.diff(features.indptr[40:81]))
    np.testing.assert_array_equal(words, features.indices[rows])
    np.testing.assert_array_equal(values, features.data[rows].astype(np.float32))
    np.testing.assert_allclose(squares, 1.0)
    assert not list(tmp_path.glob("*/*-sums.npy"))
    write_companions(taught, corpus.labels[REST])
    beside = candidates.companions(corpus.labels[REST]).matrix
    np.testing.assert_array_equal(load_index(taught, BESIDE).matrix.toarray(), beside.toarray())
