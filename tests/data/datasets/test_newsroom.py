from functools import cache

import numpy as np
import pytest

from deplda import InputError, datasets
from deplda.data.datasets import Newsroom

STORY = ("VIDEO GAMES", "ANTITRUST ACTIONS AND LAWS", "SUITS AND LITIGATION")


@cache
def full() -> Newsroom:
    return datasets.newsroom()


@cache
def first_hundred() -> Newsroom:
    return datasets.newsroom(100)


def test_the_columns_of_both_distributions_sum_to_one() -> None:
    room = first_hundred()
    assert room.label_words.shape == (room.corpus.n_words, room.corpus.n_labels)
    assert room.topic_labels.shape == (room.corpus.n_labels, len(room.topic_names))
    for truth in (room.label_words, room.topic_labels):
        assert truth.min() >= 0
        np.testing.assert_allclose(truth.sum(axis=0), 1.0, rtol=1e-12)


def test_the_same_seed_gives_the_same_corpus_and_another_seed_another() -> None:
    assert datasets.newsroom(100).corpus == first_hundred().corpus
    assert datasets.newsroom(100, seed=1).corpus != first_hundred().corpus


@pytest.mark.parametrize("n_documents", [1, 2, 99])
def test_a_larger_corpus_begins_with_the_documents_of_a_smaller_one(n_documents: int) -> None:
    smaller = datasets.newsroom(n_documents).corpus
    assert smaller == first_hundred().corpus[:n_documents]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_document_0_alone_tells_the_story_of_the_rare_label(seed: int) -> None:
    corpus = datasets.newsroom(300, seed=seed).corpus
    story = [corpus.label_names.index(name) for name in STORY]
    carried = corpus.labels[[0]].indices.tolist()
    assert sorted(carried) == sorted(story)
    assert corpus.label_counts[story[0]] == 1
    assert corpus.document_lengths[0] == 180


def test_the_companions_of_the_rare_label_are_frequent() -> None:
    corpus = full().corpus
    counts = dict(zip(corpus.label_names, corpus.label_counts.tolist(), strict=True))
    for name in STORY[1:]:
        assert counts[name] > np.median(corpus.label_counts)
        assert counts[name] >= 20


def test_every_document_has_words_and_labels_it_was_drawn_from() -> None:
    room = full()
    corpus = room.corpus
    assert corpus.document_lengths.min() >= 1
    assert corpus.labels_per_document.min() >= 1
    # A word that none of a document's labels can give is not in it.
    possible = corpus.labels.astype(np.float64) @ room.label_words.T
    assert (possible[corpus.counts.nonzero()] > 0).all()


def test_steroids_belong_to_three_labels_only() -> None:
    room = first_hundred()
    word = room.corpus.vocabulary.index("steroids")
    own = np.flatnonzero(room.label_words[word] > 0)
    assert {room.corpus.label_names[label] for label in own} == {
        "MEDICINE AND HEALTH",
        "BASEBALL",
        "BLACK MARKETS",
    }


def test_a_common_word_is_equally_likely_under_labels_that_do_not_own_it() -> None:
    room = first_hundred()
    shares = room.label_words[room.corpus.vocabulary.index("said")]
    assert shares.min() > 0
    np.testing.assert_allclose(shares, shares[0])


def test_a_good_part_of_the_labels_is_rare_in_training() -> None:
    dataset = datasets.load("newsroom")
    (split,) = dataset.splits
    counts = dataset.corpus[split.train].label_counts
    assert (counts < 10).mean() >= 0.25
    assert ((counts > 0) & (counts < 10)).mean() >= 0.25
    assert counts.max() >= 100


@pytest.mark.parametrize("n_documents", [1, 2, 50, 2000])
def test_document_0_trains_and_each_document_is_in_one_part(n_documents: int) -> None:
    dataset = datasets.load("newsroom", n_documents=n_documents)
    (split,) = dataset.splits
    assert 0 in split.train
    both = np.concatenate([split.train, split.test])
    assert np.sort(both).tolist() == list(range(n_documents))


def test_names_are_distinct_and_readable() -> None:
    room = first_hundred()
    assert len(set(room.topic_names)) == len(room.topic_names) == room.topic_labels.shape[1]
    assert all(name == name.upper() for name in room.corpus.label_names)
    assert all(word.isalpha() and word == word.lower() for word in room.corpus.vocabulary)


@pytest.mark.parametrize("n_documents", [0, -5])
def test_less_than_one_document_is_refused(n_documents: int) -> None:
    with pytest.raises(InputError, match=f"n_documents is {n_documents}; it must be a whole"):
        datasets.newsroom(n_documents)
