"""SVMs of shards: those of the same documents in memory, to the bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import ReadError
from deplda.engine.execution import HERE
from deplda.models.candidates import training_lists
from deplda.models.linear import reduced, shard_svms
from deplda.models.linear.shard_svms import pair_up
from deplda.models.linear.svm import idf_of, tfidf
from deplda.models.shard_features import (
    BESIDE,
    NEAR,
    Taught,
    centroids,
    load_index,
    write_companions,
)
from deplda.training.shard_layouts import lay_out_shards
from tests.models.test_shard_features import LEFT_OUT, REST, prepared


def taught_by(folder: Path, left_out: Any) -> tuple[Taught, Any, Any]:
    """Return what shards teach but for some documents, with their features and labels."""
    ready, corpus = prepared(folder)
    rest = np.delete(np.arange(len(corpus)), left_out)
    laid = lay_out_shards(folder, ready, "expected")
    taught = Taught(laid, len(ready.labels), left_out)
    idf = idf_of(corpus.counts[rest])
    centroids(taught, idf, HERE)
    write_companions(taught, corpus.labels[rest])
    return taught, tfidf(idf, corpus.counts)[rest], corpus.labels[rest]


def in_memory(taught: Taught, features: Any, labels: Any, k: int) -> reduced.Problem:
    indexes = load_index(taught, NEAR), load_index(taught, BESIDE)
    lists = training_lists(features, labels, *indexes, k, HERE)
    return reduced.problem_of(features, labels, lists)


def assert_same(one: Any, other: Any) -> None:
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize(("n_pairs", "n_rows"), [(50, 1000), (50, 20), (100_000, 1000)])
@pytest.mark.parametrize("k", [5, 10_000])
def test_they_are_those_of_documents_in_memory(
    k: int, n_pairs: int, n_rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_svms, "_MOST_PAIRS", n_pairs)
    monkeypatch.setattr(shard_svms, "_MOST_ROWS", n_rows)  # others are read where they are
    taught, features, labels = taught_by(tmp_path, LEFT_OUT)
    k = min(k, taught.n_labels)
    numbers = np.arange(0, taught.n_labels, 2)
    problem = in_memory(taught, features, labels, k)
    expected = problem.learn((0.3, 1.0), numbers, HERE)
    found = pair_up(taught, k, HERE).learn((0.3, 1.0), numbers, HERE)
    for one, other in zip(found, expected, strict=True):
        assert_same(one.weights, other.weights)


def test_all_documents_start_from_the_solution_without_some(tmp_path: Path) -> None:
    taught, features, labels = taught_by(tmp_path, LEFT_OUT)
    every = np.arange(taught.n_labels)
    part = in_memory(taught, features, labels, 6)
    (solved,) = part.learn((1.0,), every, HERE)
    (on_disk,) = pair_up(taught, 6, HERE).learn((1.0,), every, HERE)
    whole, features, labels = taught_by(tmp_path, np.zeros(0, np.int64))
    problem = in_memory(whole, features, labels, 6)
    (cold,) = problem.learn((1.0,), every, HERE)
    (expected,) = reduced.started(problem, part, solved.alpha, REST).learn((1.0,), every, HERE)
    cold_rows, warm_rows = cold.weights.toarray(), expected.weights.toarray()
    assert (cold_rows != warm_rows).any()  # so that a start is seen
    svms = pair_up(whole, 6, HERE)._replace(start=on_disk.alpha)
    assert_same(svms.learn((1.0,), every, HERE)[0].weights, expected.weights)


CRAFTED: dict[str, Any] = {
    "shard-00001/*-pairs-6-rows.npy": lambda rows: rows + 1000,
    "shard-00002/*-pairs-6-starts.npy": lambda starts: starts * 3,
    "shard-00000/*-pairs-6-signs.npy": lambda signs: signs * 2,
    "lesson-*-words.npy": lambda words: words + 10**6,
    "lesson-????????????-starts.npy": lambda starts: starts[::-1],
}


@pytest.mark.parametrize("n_rows", [20, 1000])
@pytest.mark.parametrize("pattern", CRAFTED)
def test_crafted_files_are_refused_before_a_kernel_sees_them(
    pattern: str, n_rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_svms, "_MOST_ROWS", n_rows)
    taught, _, _ = taught_by(tmp_path, LEFT_OUT)
    svms = pair_up(taught, 6, HERE)
    (file,) = tmp_path.glob(pattern)
    np.save(file, CRAFTED[pattern](np.load(file)))
    with pytest.raises(ReadError, match="prepare them anew"):
        svms.learn((1.0,), np.arange(taught.n_labels), HERE)
