import math

import numpy as np
import pytest
from benchmarks.power_law import power_law

from deplda import InputError


def test_the_same_seed_gives_the_same_corpus_and_another_seed_another() -> None:
    corpus = power_law(200, 50, 300)
    assert power_law(200, 50, 300) == corpus
    assert power_law(200, 50, 300, seed=1) != corpus


def test_label_frequencies_have_a_heavy_tail() -> None:
    corpus = power_law(4_000, 1_100, 3_000, tokens_per_document=20)
    counts = np.sort(corpus.label_counts)[::-1]
    assert counts[0] > 50 * np.median(counts)
    assert (counts <= 10).mean() > 0.5
    # On logarithmic axes frequency falls by rank along a line: heavier than any exponential.
    ranks = np.arange(10, 400)
    slope, _ = np.polyfit(np.log(ranks), np.log(counts[ranks]), 1)
    assert -2.0 < slope < -0.7


def test_sizes_are_about_what_was_asked_for() -> None:
    corpus = power_law(3_000, 1_000, 2_000, tokens_per_document=60, labels_per_document=4)
    assert (corpus.n_documents, corpus.n_labels, corpus.n_words) == (3_000, 1_000, 2_000)
    assert corpus.document_lengths.mean() == pytest.approx(60, rel=0.1)
    assert corpus.labels_per_document.mean() == pytest.approx(4, rel=0.15)
    assert corpus.document_lengths.min() >= 1
    assert corpus.labels_per_document.min() >= 1


def test_labels_of_a_topic_go_together() -> None:
    corpus = power_law(3_000, 200, 500, tokens_per_document=1)
    together = (corpus.labels.T.astype(np.int64) @ corpus.labels.astype(np.int64)).toarray()
    # 200 labels are dealt out to 5 topics: those whose numbers agree modulo 5.
    np.fill_diagonal(together, 0)
    same = np.equal.outer(np.arange(200) % 5, np.arange(200) % 5)
    assert together[same].sum() > 0.35 * together.sum()


@pytest.mark.parametrize("n_documents", [1, 3])
@pytest.mark.parametrize("n_labels", [1, 41])
@pytest.mark.parametrize("n_words", [1, 7])
@pytest.mark.parametrize("length", [1, 20])
def test_the_smallest_corpora_are_legal(
    n_documents: int, n_labels: int, n_words: int, length: int
) -> None:
    corpus = power_law(
        n_documents, n_labels, n_words, tokens_per_document=length, labels_per_document=1
    )
    assert corpus.counts.shape == (n_documents, n_words)
    assert corpus.labels.shape == (n_documents, n_labels)
    assert corpus.document_lengths.min() >= 1
    if length == 1:
        assert corpus.document_lengths.max() == 1


def test_a_corpus_of_several_chunks_has_no_repeated_documents() -> None:
    corpus = power_law(5_000, 50, 500, tokens_per_document=10)
    assert len(corpus) == 5_000
    # Each chunk has its own random numbers: the second does not begin like the first.
    first, second = corpus.counts[:5].toarray(), corpus.counts[4_096:4_101].toarray()
    assert not np.array_equal(first, second)


@pytest.mark.parametrize(
    "name",
    ["n_documents", "n_labels", "n_words", "tokens_per_document", "labels_per_document"],
)
@pytest.mark.parametrize("value", [0, -1, math.nan])
def test_an_option_below_1_is_refused_by_name(name: str, value: float) -> None:
    limit = "a whole number from 1" if name.startswith("n_") else "at least 1"
    with pytest.raises(InputError, match=f"{name} is {value}; it must be {limit}"):
        power_law(**{name: value})  # type: ignore[arg-type]
