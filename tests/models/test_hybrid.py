"""The hybrid: no worse than its better parent, cut where held-out documents say."""

from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import parametrize_with_checks

from deplda import (
    Corpus,
    HybridLDA,
    InputError,
    NothingHeldOutWarning,
    TfidfSVM,
    WordCounter,
    datasets,
)
from deplda.evaluation import reliability
from deplda.models.mixture import quality
from tests.models.worlds import pairs


def quick(**others: Any) -> HybridLDA:
    return HybridLDA(**{"n_topic_chains": 2, "n_topic_sweeps": 20} | others)


@cache
def parts() -> tuple[Corpus, Corpus]:
    corpus = datasets.newsroom(450).corpus
    return corpus[:250], corpus[250:]


@cache
def fitted() -> HybridLDA:
    return quick().fit(parts()[0])


@pytest.mark.filterwarnings("ignore::deplda.NothingHeldOutWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # y = inf, on purpose
@parametrize_with_checks(
    [quick(C=1.0)],
    expected_failed_checks=lambda _: {
        "check_decision_proba_consistency": "it passes negative numbers, which no counts are"
    },
)
def test_scikit_learn_is_satisfied(estimator: Any, check: Any) -> None:
    check(estimator)


def test_it_is_no_worse_than_its_better_parent_on_what_it_is_tuned_for() -> None:
    told = fitted().qualities_
    assert told["hybrid"] >= max(told["svm"], told["topics"])


def test_both_parents_together_beat_each_on_new_documents() -> None:
    """Half of the labels show by words alone, the other half by the labels they go with."""
    train, test = pairs(300, seed=0), pairs(300, seed=1)
    model = quick().fit(train)
    assert model.mixture_.model == "both"
    truth = test.labels.toarray()
    found = [
        quality(one.decision_function(test), truth)
        for one in (model, model.svm_, model.topic_model_)
    ]
    assert found[0] > max(found[1:])


def test_where_no_mixture_is_better_it_is_the_better_parent() -> None:
    model = fitted()
    assert model.mixture_.model == "topics"
    assert model.qualities_["hybrid"] == model.qualities_["topics"]
    np.testing.assert_array_equal(
        model.decision_function(parts()[1]),
        model.topic_model_.decision_function(parts()[1]) / 2,
    )


def test_the_parents_are_those_of_all_documents() -> None:
    train, test = parts()
    alone = TfidfSVM(C=fitted().svm_.C_).fit(train)
    np.testing.assert_allclose(
        fitted().svm_.decision_function(test), alone.decision_function(test), atol=3e-3
    )
    assert fitted().topic_model_.rank(test[:2], 3).labels.dtype == object


# What is held out ---------------------------------------------------------------------------------


def test_copies_do_not_spoil_the_weights_if_their_groups_are_told() -> None:
    """Two copies of each document: held out one by one, an SVM knows every answer by heart."""
    train = parts()[0][:120]
    twice = Corpus(
        csr_array(np.repeat(train.counts.toarray(), 2, axis=0)),
        csr_array(np.repeat(train.labels.toarray(), 2, axis=0)),
    )
    groups = np.repeat(np.arange(len(train)), 2)
    told, untold = quick(C=1.0).fit(twice, groups=groups), quick(C=1.0).fit(twice)
    assert untold.qualities_["svm"] > told.qualities_["svm"]


def test_groups_of_a_wrong_length_are_refused() -> None:
    train, _ = parts()
    with pytest.raises(InputError, match=r"shape \(3,\); they need one value for each of 250"):
        quick().fit(train, groups=[1, 2, 3])


def test_labels_of_one_document_each_leave_nothing_to_tune_by() -> None:
    x = np.eye(12, dtype=int) * 3 + 1
    with pytest.warns(NothingHeldOutWarning, match="none has a label that others have too"):
        model = quick().fit(x, np.eye(12, dtype=int))
    assert model.qualities_ == {}
    assert model.predict(x).sum(axis=1).min() >= 1


def test_a_parent_that_fails_says_so() -> None:
    x = np.zeros((20, 3), dtype=int)
    x[0] = 1
    labels = np.zeros((20, 2), dtype=int)
    labels[:, 0] = 1
    with pytest.raises(InputError, match="cannot learn from the 16 documents that are not held"):
        quick().fit(x, labels)


# Predictions --------------------------------------------------------------------------------------


def test_probabilities_are_as_often_right_as_they_say() -> None:
    _, test = parts()
    chances = fitted().predict_proba(test)
    assert chances.shape == test.labels.shape
    assert chances.min() > 0
    assert chances.max() < 1
    for told, seen, n in reliability(chances, test.labels, bins=8):
        # Three standard errors, and what the drift from 4/5 of the documents to all may do.
        assert abs(told - seen) < 3 * np.sqrt(told * (1 - told) / n) + 0.1


def test_classes_have_probabilities_that_sum_to_one() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    x = rng.poisson(1 + 3 * np.eye(3)[y])
    model = quick().fit(x, y)
    chances = model.predict_proba(x)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert (model.classes_[chances.argmax(axis=1)] == model.predict(x)).all()


def test_the_validated_cut_off_gives_the_best_micro_f1_and_a_label_at_least() -> None:
    _, test = parts()
    model = fitted()
    predicted = {}
    for cutoff in ("validated", "expected-f1", "proportional"):
        model.cutoff = cutoff
        predicted[cutoff] = model.predict(test)
    model.cutoff = "validated"

    def micro(found: Any) -> float:
        hits = found.multiply(test.labels).sum()
        return 2 * float(hits) / (found.sum() + test.labels.nnz)

    assert micro(predicted["validated"]) > micro(predicted["proportional"]) + 0.05
    assert micro(predicted["expected-f1"]) > micro(predicted["proportional"]) + 0.05
    for cutoff in ("validated", "expected-f1"):
        assert predicted[cutoff].sum(axis=1).min() >= 1


@pytest.mark.parametrize("cutoff", ["best", 0, True, float("nan")])
def test_a_cut_off_that_is_none_is_named(cutoff: Any) -> None:
    with pytest.raises(InputError, match="cutoff is"):
        quick(cutoff=cutoff).fit(parts()[0])


def test_numbers_of_labels_and_thresholds_are_cut_offs_too() -> None:
    _, test = parts()
    model = fitted()
    model.cutoff = 3
    assert set(model.predict(test).sum(axis=1).tolist()) == {3}
    model.cutoff = 0.3
    np.testing.assert_array_equal(model.predict(test).toarray(), model.predict_proba(test) >= 0.3)
    model.cutoff = "validated"


def test_ranks_are_the_best_scores_in_order() -> None:
    _, test = parts()
    ranking = fitted().rank(test, 4)
    scores = fitted().decision_function(test)
    np.testing.assert_array_equal(ranking.scores, -np.sort(-scores, axis=1)[:, :4])


def test_same_seed_same_scores_for_any_number_of_threads() -> None:
    train, test = parts()
    one, two = (quick(C=1.0, n_jobs=n).fit(train[:150]) for n in (1, 2))
    assert one.mixture_ == two.mixture_
    np.testing.assert_array_equal(one.decision_function(test), two.decision_function(test))


# Explanations -------------------------------------------------------------------------------------


def test_both_parents_say_which_words_speak_for_a_label() -> None:
    _, test = parts()
    found = fitted().explain(test[[0]], k=3)
    scores = fitted().rank(test[[0]], 3)
    for reason, score in zip(found.reasons, scores.scores[0], strict=True):
        assert reason.score == pytest.approx(score)
        assert reason.words
        assert reason.svm_words
        assert sum(reason.parts.values()) == pytest.approx(reason.score, rel=1e-12)
    told = found.to_dict()["labels"][0]
    assert {"parts", "svm_words", "words"} <= told.keys()
    assert len(fitted().top_words(scores.labels[0, 0], 4)) == 4
    assert fitted().topics(3)
    assert fitted().similar_labels(scores.labels[0, 0], 2)


def test_shown_parts_add_up_to_the_shown_score() -> None:
    _, test = parts()
    for document in (test[[0]], test[[1]], test[[2]]):
        found = fitted().explain(document, k=10)
        html = found.to_html()
        for reason in found.reasons:
            rounded = reason.rounded_parts()
            assert sum(Decimal(f"{x:.3f}") for x in rounded.values()) == Decimal(
                f"{reason.score:.3f}"
            )
            for name, value in rounded.items():
                assert value == pytest.approx(reason.parts[name], abs=0.0011)
            assert f"{reason.score:.3f}".replace("-", "−") in html


def test_the_words_of_the_svm_make_up_its_margin() -> None:
    _, test = parts()
    model = fitted()
    found = model.explain(test[[0]], k=1, n_words=10_000).reasons[0]
    c = model._targets.numbers(np.array([found.label], dtype=object))[0]
    features = model.svm_._features()(test[[0]].counts)
    weights = model.svm_.weights_[:, [c]].toarray().ravel()
    added = features.data * weights[features.indices]
    assert sum(w.weight for w in found.svm_words) == pytest.approx(added[added >= 0.005].sum())


def test_texts_are_counted_by_the_counter_that_made_the_counts() -> None:
    texts = ["court judge law", "team game goal", "court law suit", "game team coach"] * 10
    labels = [["LAW"], ["SPORT"]] * 20
    counter = WordCounter(stop_words=None, min_count=1)
    counts = counter.fit_transform(texts)
    model = quick().fit(counts, labels, counter=counter)
    assert model.rank(["the judge at court"], 1).labels.tolist() == [["LAW"]]
    assert model.explain("the game", k=1).reasons[0].label == "SPORT"
