"""A chain over word tokens: what it watches, goes on from, and cannot learn from."""

import pickle
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from deplda import (
    Corpus,
    InputError,
    Schedule,
    expect_label_words,
    prior_topic_labels,
    train_label_words,
    train_topic_labels,
)
from deplda.data.datasets import newsroom
from deplda.training.checkpoint import SavedArrays
from deplda.training.word_chain import WordChain, Words, lay_out
from tests.training.worlds import small


def test_a_corpus_with_nothing_to_learn_from_is_refused() -> None:
    unlabelled = Corpus([[1]], [[0]])
    for train in (train_label_words, expect_label_words):
        with pytest.raises(InputError, match="none of 1 document has a label"):
            train(unlabelled)
        with pytest.raises(InputError, match="no document has both words and labels"):
            train(Corpus([[1], [0]], [[0], [1]]))
    with pytest.raises(InputError, match="none of 1 document has a label"):
        train_topic_labels(unlabelled, 2)
    with pytest.raises(InputError, match="none of 1 document has a label"):
        prior_topic_labels(unlabelled, beta=1.0)
    with pytest.raises(InputError, match="cannot watch word 0 of label 1: they never meet"):
        train_label_words(Corpus([[1, 0], [0, 1]], [[1, 0], [0, 1]]), watch=[(0, 1)])


def test_a_watched_entry_is_the_phi_of_its_sweep() -> None:
    corpus = newsroom(200).corpus
    word, label = corpus.vocabulary.index("said"), int(corpus.label_counts.argmax())
    trained = train_label_words(corpus, schedule=Schedule(15), watch=[(word, label)])
    assert trained.traces is not None
    final = trained.traces.values[0, -1, 1]
    assert trained.label_words.dense()[word, label] == pytest.approx(final, rel=1e-6)


def test_a_chain_goes_on_from_its_state_to_the_same_bits() -> None:
    data = Words(small(), 50.0, 0.01)
    whole, cut, resumed = (WordChain(data, 3, 1, data.default_watch()) for _ in range(3))
    for sweep in range(1, 7):
        if sweep == 4:
            state = {name: array.copy() for name, array in cut.state().items()}
            resumed.restore(SavedArrays(Path("chain"), state, "run it again"))
        for chain in (whole, cut if sweep < 4 else resumed):
            chain.sweep(sweep, Event())
            chain.collect()
    assert resumed.trace() == whole.trace()
    for name, samples in whole.samples().items():
        assert samples.tobytes() == resumed.samples()[name].tobytes()


def test_words_travel_as_the_corpus_alone() -> None:
    data = Words(small(), 50.0, 0.01, "log")
    again = pickle.loads(pickle.dumps(data))  # noqa: S301
    assert (again.eta, again.beta, again.n_swept) == (data.eta, data.beta, data.n_swept)
    for one, other in zip(data.layout, again.layout, strict=True):
        assert np.array_equal(one, other)


def test_more_labels_than_a_document_can_have_are_named() -> None:
    with pytest.raises(InputError, match="'0' has 65,536 labels; at most 65,535 are possible"):
        lay_out(Corpus([[1]], np.ones((1, 65_536))))
