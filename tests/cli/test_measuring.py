"""A model on labelled documents: what is measured, and in which columns."""

import numpy as np
import pytest

from deplda import Corpus, FlatLDA
from deplda.cli.measuring import columns_of, in_columns, measure
from deplda.data.vocabulary import Concept, Vocabulary
from deplda.errors import LearnedFromWarning
from deplda.models.suggesting import Asked


def world() -> tuple[FlatLDA, Corpus]:
    rng = np.random.default_rng(0)
    labels = np.eye(3, dtype=int)[np.arange(60) % 3]
    counts = rng.poisson(0.3 + 3 * np.repeat(labels, 3, axis=1))
    words, names = [f"w{n}" for n in range(9)], ["b", "a", "c"]
    whole = Corpus(counts, labels, words, names)
    return FlatLDA().fit(whole[:48]), whole[48:]


def test_columns_are_those_of_the_vocabulary_then_the_models_then_the_documents() -> None:
    model, test = world()
    assert columns_of(model, test) == ["b", "a", "c"]
    old = [Concept(uri=uri, deprecated=True) for uri in ("old", "c")]
    model.vocabulary_ = Vocabulary([Concept(uri="z"), Concept(uri="a"), *old])
    other = Corpus(test.counts, test.labels, test.vocabulary, ["b", "new", "c"])
    assert columns_of(model, other) == ["z", "a", "b", "c", "new"]
    moved = in_columns(test.labels, model, ["z", "a", "b", "c", "new"])
    assert moved.toarray()[:, [2, 1, 3]].tolist() == test.labels.toarray().tolist()


def test_a_label_that_the_model_does_not_know_is_one_that_it_did_not_find() -> None:
    model, test = world()
    other = Corpus(test.counts, test.labels, test.vocabulary, ["b", "new", "c"])
    found = measure(model, other, Asked(k=1))
    n_new = int(test.labels.toarray()[:, 1].sum())
    assert found.headline.n_unknown == found.ranking.n_unseen == n_new > 0
    assert found.given.to_dict()["false_negatives"] >= n_new
    assert found.names == ["b", "a", "c", "new"]
    assert found.to_dict().keys() >= {"document", "label", "suggestions", "best_5", "headline"}


def test_a_label_without_training_documents_is_not_known() -> None:
    model, test = world()
    labels = model.label_sets_.toarray()
    labels[:, 1] = False
    model.label_sets_ = type(model.label_sets_)(labels)
    found = measure(model, test)
    n_second = int(test.labels.toarray()[:, 1].sum())
    assert found.headline.n_unknown == found.ranking.n_unseen == n_second > 0
    assert found.headline.rare.low > 0


def test_it_warns_of_documents_learned_from() -> None:
    model, _ = world()
    rng = np.random.default_rng(0)
    labels = np.eye(3, dtype=int)[np.arange(60) % 3]
    counts = rng.poisson(0.3 + 3 * np.repeat(labels, 3, axis=1))
    again = Corpus(counts, labels, [f"w{n}" for n in range(9)], ["b", "a", "c"])
    with pytest.warns(LearnedFromWarning, match=r"48 of 60 documents have the same words as"):
        assert measure(model, again).n_learned == 48


def test_empty_documents_are_given_no_labels_as_by_predict() -> None:
    model, test = world()
    counts = test.counts.toarray()
    counts[:2] = 0
    empty = Corpus(counts, test.labels, test.vocabulary, test.label_names)
    usual, given = (measure(model, each, Asked(cutoff=1)) for each in (test, empty))
    assert usual.given.n_given - given.given.n_given == 2
    assert given.headline.n_documents == len(test)
    assert given.suggestions[:2].nnz == 0
