"""The three SVMs as classifiers: LinearSVC's decisions, on features of their own."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from deplda import InputError, ReadError, WordCounter, load
from deplda.models.linear import TfidfSVM, TunedSVM, VanillaSVM
from tests.models.linear.worlds import MODELS, reference, shares, world
from tests.models.worlds import EXPECTED_FAILED_CHECKS


@pytest.mark.filterwarnings("ignore::deplda.NoKnownWordsWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # y = inf, on purpose
@parametrize_with_checks(
    [model() for model in MODELS],
    expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS,
)
def test_scikit_learns_own_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


def test_vanilla_decides_as_linear_svc_does() -> None:
    train, test = world(), world(seed=1)
    found = VanillaSVM(tol=1e-5).fit(train).decision_function(test)
    for label, y in enumerate(train.labels.toarray().T):
        expected = reference(shares(train), y).decision_function(shares(test))
        np.testing.assert_allclose(found[:, label], expected, atol=1e-4)


@pytest.mark.parametrize("cost", [0.3, 3.0])
def test_tfidf_decides_as_linear_svc_on_tfidf_features_does(cost: float) -> None:
    train, test = world(), world(seed=1)
    found = TfidfSVM(C=cost, tol=1e-5).fit(train).decision_function(test)
    tfidf = TfidfTransformer(sublinear_tf=True).fit(train.counts)
    x, z = tfidf.transform(train.counts), tfidf.transform(test.counts)
    for label, y in enumerate(train.labels.toarray().T):
        expected = reference(x, y, cost=cost).decision_function(z)
        np.testing.assert_allclose(found[:, label], expected, atol=1e-4)


def test_a_word_that_counts_next_to_nothing_tells_next_to_nothing() -> None:
    corpus = world()
    model = TfidfSVM(C=1.0).fit(corpus)
    without = corpus.counts[[0]].toarray().astype(float)
    nearly = np.where(without == 0, 1e-9, without)
    expected = model.decision_function(without)
    np.testing.assert_allclose(model.decision_function(nearly), expected, atol=1e-6)


def test_default_tolerance_is_within_a_thousandth_of_the_solution() -> None:
    train = world()
    for model in (VanillaSVM, TfidfSVM):
        fine, default = (
            model(C=1.0, tol=tol).fit(train).decision_function(train) for tol in (1e-7, 1e-3)
        )
        np.testing.assert_allclose(default, fine, atol=1e-3)


def test_a_label_with_one_document_is_learned() -> None:
    corpus = world()
    labels = corpus.labels.toarray()
    labels[:, 5] = False
    labels[17, 5] = True
    for model in MODELS:
        scores = model().fit(corpus.counts, labels).decision_function(corpus.counts)
        assert scores[:, 5].argmax() == 17


@pytest.mark.filterwarnings("ignore::deplda.NoKnownWordsWarning")
@pytest.mark.parametrize("model", MODELS)
def test_documents_without_words_score_the_intercepts(model: Any) -> None:
    corpus = world()
    counts = corpus.counts.toarray()
    counts[:10] = 0
    fitted = model().fit(counts, corpus.labels)
    assert np.array_equal(fitted.decision_function(counts[:1])[0], fitted.intercepts_)


def test_what_is_held_out_depends_on_the_seed_alone() -> None:
    corpus = world()
    first, again, other = (TunedSVM(random_state=seed).fit(corpus) for seed in (0, 0, 5))
    assert np.array_equal(first.positive_weights_, again.positive_weights_)
    assert not np.array_equal(first.positive_weights_, other.positive_weights_)


def test_the_chosen_c_is_of_the_grid_and_kept() -> None:
    assert TfidfSVM().fit(world()).C_ in (0.3, 1.0, 3.0)
    assert TfidfSVM(C=7).fit(world()).C_ == 7


@pytest.mark.parametrize("model", MODELS)
def test_a_loaded_model_gives_the_same_bits(model: Any, tmp_path: Path) -> None:
    corpus = world()
    fitted = model(cutoff=0.3).fit(corpus)
    fitted.save(tmp_path / "model")
    for loaded in (load(tmp_path / "model"), model.load(tmp_path / "model")):
        assert type(loaded) is model
        assert loaded.C_ == fitted.C_
        assert loaded.get_params() == fitted.get_params()
        assert np.array_equal(loaded.decision_function(corpus), fitted.decision_function(corpus))
        assert (loaded.predict(corpus) != fitted.predict(corpus)).nnz == 0


def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    fitted = VanillaSVM().fit(world())
    fitted.intercepts_ = fitted.intercepts_[:-1]
    fitted.save(tmp_path / "model")
    with pytest.raises(ReadError, match="intercepts"):
        load(tmp_path / "model")
    fitted = VanillaSVM().fit(world())
    fitted.weights_.data[0] = np.nan
    fitted.save(tmp_path / "model")
    with pytest.raises(ReadError, match="not finite numbers"):
        load(tmp_path / "model")


def test_texts_are_counted_by_the_counter_that_made_the_counts() -> None:
    texts = ["wheat and maize", "wheat harvest", "steel works", "steel and coal"]
    counter = WordCounter(min_count=1)
    model = VanillaSVM(cutoff=1).fit(
        counter.fit_transform(texts), [["farm"], ["farm"], ["mill"], ["mill"]], counter=counter
    )
    assert model.rank(["maize harvest", "coal"], 1).labels.tolist() == [["farm"], ["mill"]]


def test_one_class_a_document_is_predicted_by_the_best_score() -> None:
    corpus = world()
    y = np.where(corpus.labels.toarray()[:, 0], "yes", "no")
    for model in MODELS:
        fitted = model().fit(corpus.counts, y)
        assert fitted.predict(corpus.counts).dtype == y.dtype
        assert fitted.score(corpus.counts, y) > 0.8


def test_ranks_are_the_best_scores_in_order() -> None:
    corpus = world()
    model = TfidfSVM().fit(corpus)
    labels, scores = model.rank(corpus, 3)
    expected = np.sort(model.decision_function(corpus), axis=1)[:, ::-1][:, :3]
    assert np.array_equal(scores, expected)
    assert labels.shape == (150, 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C is 0"),
        ({"C": np.inf}, "C is inf"),
        ({"C": "best"}, "C is 'best'"),
        ({"tol": -1.0}, "tol is -1"),
        ({"cutoff": "all"}, "cutoff is 'all'"),
        ({"n_jobs": 0}, "n_jobs is 0"),
    ],
)
@pytest.mark.parametrize("model", MODELS)
def test_bad_parameters_are_named(model: Any, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        model(**parameters).fit(world())
