"""Which documents to label next: by the measure as it is written, however they are read."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import Corpus, FlatLDA, InputError, TfidfSVM, concat
from deplda.data.names import MARK
from deplda.models.queueing import (
    Candidates,
    candidates,
    in_order,
    queue,
    told,
    uncertainty,
)
from tests.models.hybrids import fitted, quick
from tests.models.test_knows_names import fitted as with_names
from tests.models.test_knows_names import world
from tests.models.worlds import news, pairs


@cache
def unlabelled() -> Corpus:
    return pairs(60, seed=5)


def naive(model: Any, documents: Any, n: int) -> list[tuple[int, float]]:
    """The queue by all values anew for each place."""
    counts = model._read_counts(documents, reset=False).toarray()
    known = candidates(model, documents)
    n_documents = np.asarray(model.label_sets_.sum(axis=0)).ravel()
    n_with, n_rows = (counts > 0).sum(axis=0), len(counts)
    weights = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)
    weights = weights * (1 + np.log((1 + n_rows) / (1 + n_with)))
    weights = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    queued, met = np.zeros(len(n_documents)), np.zeros(counts.shape[1])
    left, found = list(range(n_rows)), []
    for _ in range(min(n, len(left))):
        values = {}
        for place in left:
            of_words = float((weights[place] / np.sqrt(1 + met)).sum())
            of_labels = sum(
                float(uncertainty(np.array([chance]))[0])
                / (1 + n_documents[label] + queued[label]) ** 0.5
                for label, chance in zip(known.numbers[place], known.chances[place], strict=True)
                if label >= 0
            )
            values[place] = (of_words + of_labels) / (1 + known.chances[place].sum()) ** 0.5
        best = max(left, key=lambda place: values[place])
        found.append((best, values[best]))
        left.remove(best)
        met += counts[best] > 0
        for label, chance in zip(known.numbers[best], known.chances[best], strict=True):
            queued[label] += chance if label >= 0 else 0
    return found


@pytest.mark.parametrize("kind", ["hybrid", "flat", "svm"])
def test_the_order_is_that_of_the_measure_as_it_is_written(kind: str) -> None:
    train = pairs(300, seed=0)
    model: Any = fitted()
    if kind != "hybrid":
        model = (FlatLDA() if kind == "flat" else TfidfSVM()).fit(train)
    found = queue(model, unlabelled(), 25)
    expected = naive(model, unlabelled(), 25)
    assert [one.place for one in found] == [place for place, _ in expected]
    assert [one.value for one in found] == pytest.approx([value for _, value in expected])
    values = [one.value for one in found]
    assert values == sorted(values, reverse=True)


def test_all_documents_are_queued_unless_fewer_are_asked_for() -> None:
    every = queue(fitted(), unlabelled())
    assert sorted(one.place for one in every) == list(range(60))
    assert queue(fitted(), unlabelled(), 7) == every[:7]
    assert queue(fitted(), unlabelled()[:0]) == []
    assert len(queue(fitted(), unlabelled(), 100)) == 60


def test_how_documents_are_read_does_not_matter() -> None:
    model, documents = fitted(), unlabelled()
    parts = [
        candidates(model, documents[rows]) for rows in (slice(0, 1), slice(1, 40), slice(40, 60))
    ]
    assert in_order(model, parts, 20) == queue(model, documents, 20)
    assert in_order(model, iter(()), 20) == []
    other = quick(candidates=3, n_jobs=1).fit(pairs(300, seed=0))
    assert queue(other, documents, 20) == queue(model, documents, 20)


def test_documents_that_the_model_has_learned_from_are_left_out() -> None:
    learned, new = pairs(300, seed=0)[:4], unlabelled()[:3]
    model = fitted()
    mixed = concat([learned, new], prefixes=("a", "b"))
    found = queue(model, mixed)
    assert sorted(one.place for one in found) == [4, 5, 6]
    assert queue(model, learned) == []


def with_counts(n_documents: list[int]) -> Any:
    """A model whose labels have so many training documents."""
    model = FlatLDA()
    rows = max(n_documents)
    sets = np.arange(rows)[:, None] < np.array(n_documents)
    model.label_sets_ = csr_array(sets)
    model.classes_ = np.array([f"L{number}" for number in range(len(n_documents))], dtype=object)
    model.feature_names_in_ = np.array(["cat", "dog", "cow", "pig"], dtype=object)
    model.vocabulary_ = model.counter_ = None
    return model


def known(*documents: dict[int, float], words: Any = None) -> list[Candidates]:
    k = max(map(len, documents))
    numbers = np.full((len(documents), k), -1)
    chances = np.zeros((len(documents), k))
    for row, own in enumerate(documents):
        numbers[row, : len(own)], chances[row, : len(own)] = list(own), list(own.values())
    counts = np.zeros((len(documents), 4), int) if words is None else np.array(words)
    n_known, is_new = counts.sum(axis=1), np.ones(len(documents), bool)
    return [Candidates(numbers, chances, csr_array(counts), n_known, is_new)]


def test_what_is_uncertain_comes_before_what_is_certain() -> None:
    found = in_order(with_counts([4, 4]), known({0: 0.99}, {0: 0.5}, {1: 0.001}, {1: 1.0}))
    assert [one.place for one in found] == [1, 0, 2, 3]
    assert found[0].value == pytest.approx(1 / 5**0.5 / 1.5**0.5)
    assert found[-1].value == 0


def test_labels_of_few_documents_count_more() -> None:
    found = in_order(with_counts([99, 3]), known({0: 0.5}, {1: 0.5}))
    assert [one.place for one in found] == [1, 0]
    assert found[0].value == pytest.approx(5 * found[1].value) == pytest.approx(0.5 / 1.5**0.5)


def test_a_copy_comes_after_what_is_new() -> None:
    same, other = {0: 0.6}, {1: 0.65}
    found = in_order(with_counts([2, 2]), known(same, same, same, other))
    assert [one.place for one in found] == [0, 3, 1, 2]
    assert [round(one.doubts[0].n_before, 6) for one in found] == [0, 0, 0.6, 1.2]
    # Of documents with the same labels, those with other words come first.
    words = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]
    found = in_order(with_counts([2]), known({0: 0.5}, {0: 0.5}, {0: 0.5}, words=words))
    assert [one.place for one in found] == [0, 2, 1]
    assert [one.words for one in found] == [("cat", "dog"), ("cow", "pig"), ("cat", "dog")]


def test_of_equal_doubts_fewer_labels_to_give_come_first() -> None:
    found = in_order(with_counts([3, 3, 3]), known({0: 0.5, 1: 1.0}, {0: 0.5}, {0: 0.5, 2: 1.0}))
    assert found[0].place == 1


def test_the_reason_names_labels_and_words_that_count_most() -> None:
    model = with_counts([1, 20, 0, 5])
    documents = known({1: 0.5, 0: 0.4, 2: 0.3, 3: 0.001}, words=[[0, 3, 0, 1]])
    (one,) = in_order(model, documents)
    assert [doubt.label for doubt in one.doubts] == ["L2", "L0", "L1"]
    said = told(model, one)
    assert said["reason"] == (
        "perhaps L2 (30%, no training document), L0 (40%, 1 training document), "
        "L1 (50%, 20 training documents); words that few before it have: dog, pig"
    )
    assert [label["documents"] for label in said["uncertain_labels"]] == [0, 1, 20]
    assert sum(label["part"] for label in said["uncertain_labels"]) < said["value"] == one.value
    (certain,) = in_order(model, known({0: 0.97, 1: 0.03}, words=[[1, 0, 0, 0]]))
    assert certain.doubts == ()
    assert told(model, certain)["reason"] == "words that few before it have: cat"
    (nothing,) = in_order(model, known({0: 1.0}))
    assert told(model, nothing)["reason"] == "no word that the model knows"


def test_words_that_are_counted_for_the_sake_of_names_count_too() -> None:
    model, texts = with_names(), world().new_texts
    found = queue(model, texts)
    assert len(found) == len(texts)
    assert any(doubt.n_documents == 0 for one in found for doubt in one.doubts)
    words = {word for one in found for word in one.words}
    assert words <= {word for word in model.words_ if not word.endswith(MARK)}
    assert words - set(model.surface_words_)


def test_a_model_without_probabilities_is_refused() -> None:
    model = FlatLDA(n_held_out=0).fit(news())
    with pytest.raises(InputError, match="this model has no probabilities, so it cannot tell"):
        queue(model, news()[:3])
    with pytest.raises(InputError, match="n is 0"):
        queue(fitted(), unlabelled(), 0)


def test_uncertainty_is_entropy_in_bits() -> None:
    found = uncertainty(np.array([0.0, 0.5, 1.0, 0.25]))
    assert found == pytest.approx([0, 1, 0, 0.811278])
