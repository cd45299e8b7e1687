"""The hybrid: no worse than its better parent, cut where held-out documents say."""

from copy import copy
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.power_law import power_law
from scipy.sparse import csr_array
from scipy.special import logit
from sklearn.utils.estimator_checks import parametrize_with_checks

from deplda import (
    Corpus,
    HybridLDA,
    InputError,
    NothingHeldOutWarning,
    WordCounter,
    datasets,
    load,
)
from deplda.evaluation import rank_metrics, reliability
from deplda.models.linear.svm import tfidf
from tests.drawn_news import drawn_news
from tests.models.worlds import EXPECTED_FAILED_CHECKS, pairs


def quick(**others: Any) -> HybridLDA:
    return HybridLDA(**{"n_topic_chains": 2, "n_topic_sweeps": 20} | others)


@cache
def parts() -> tuple[Corpus, Corpus]:
    corpus = drawn_news(450).corpus
    return corpus[:250], corpus[250:]


@cache
def fitted() -> HybridLDA:
    return quick().fit(parts()[0])


@pytest.mark.filterwarnings("ignore::deplda.NoKnownWordsWarning")
@pytest.mark.filterwarnings("ignore::deplda.NothingHeldOutWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # y = inf, on purpose
@parametrize_with_checks(
    [quick(C=1.0, n_held_out=5)],  # one fold, not five
    expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS,
)
def test_scikit_learn_is_satisfied(estimator: Any, check: Any) -> None:
    check(estimator)


def test_both_signals_together_beat_each_on_new_documents() -> None:
    """Half of the labels show by words alone, the other half by the labels they go with."""
    train, test = pairs(300, seed=0), pairs(300, seed=1)
    model = quick().fit(train)
    found = rank_metrics(model.decision_function(test), test.labels)["average_precision"]
    topics = model.topic_model_.decision_function(test)
    features = tfidf(model.idf_, test.counts)
    margins = np.asarray((features @ model.weights_.T).toarray())
    for scores in (topics, margins):
        alone = rank_metrics(scores, test.labels)["average_precision"]
        assert np.nanmean(found) > np.nanmean(alone)


def test_it_is_not_below_its_parts_on_documents_held_out() -> None:
    measures = quick().fit(pairs(300, seed=0)).measures_
    told = {name: of["document average precision"] for name, of in measures.items()}
    assert max(told["crossed"], told["full"]) > max(told["margin"], told["share"])


@pytest.mark.parametrize("kept", [1.0, 0.85])
def test_documents_learned_from_and_near_copies_of_them_get_their_own_labels(kept: float) -> None:
    """Nothing held out is as like a label as they are to labels that no other document has."""
    corpus = datasets.newsroom(300).corpus
    model = quick(C=1.0, n_topics=5, n_topic_chains=1).fit(corpus)
    counts = corpus.counts.copy()
    counts.data = np.random.default_rng(0).binomial(counts.data, kept)
    counts.eliminate_zeros()
    scores = model.decision_function(counts)[:, : corpus.n_labels]
    found = rank_metrics(scores, corpus.labels)
    assert np.nanmean(found["ranking_loss"]) < 0.5  # of 100
    n_before = (scores[:, None, :] > scores[:, :, None]).sum(axis=2)
    is_only = corpus.labels.toarray() & (corpus.label_counts == 1)
    assert is_only.sum() > 100
    assert (n_before[is_only] < 10).all()


def many_labels() -> tuple[Corpus, Corpus]:
    corpus = power_law(700, 400, 900, tokens_per_document=60, seed=3)
    return corpus[:600], corpus[600:]


@cache
def shortlisted() -> HybridLDA:
    return quick(candidates=40, C=1.0).fit(many_labels()[0])


@pytest.mark.slow
def test_a_shortlist_finds_nearly_what_all_labels_give() -> None:
    train, test = many_labels()
    every = quick(candidates="all", C=1.0).fit(train)
    found = [
        float(np.nanmean(rank_metrics(m.rank_matrix(test, 40), test.labels)["average_precision"]))
        for m in (every, shortlisted())
    ]
    assert found[1] > found[0] - 0.02
    assert shortlisted().n_candidates_ == 40
    assert every.n_candidates_ == len(every.classes_)


def test_the_best_of_a_shortlist_are_the_best_of_all_scores() -> None:
    _, test = many_labels()
    scores, ranking = shortlisted().decision_function(test), shortlisted().rank(test, 40)
    np.testing.assert_array_equal(ranking.scores, -np.sort(-scores, axis=1)[:, :40])
    beyond = shortlisted().rank(test[:3], 60)  # those that are no candidates follow by their share
    np.testing.assert_array_equal(beyond.scores, -np.sort(-scores[:3], axis=1)[:, :60])


def test_labels_outside_a_shortlist_are_hardly_likely_and_all_adds_up() -> None:
    _, test = many_labels()
    chances = shortlisted().predict_proba(test)
    assert 0.5 < chances.sum() / test.labels.nnz < 2
    listed = shortlisted().rank_matrix(test, 40).toarray() != 0
    assert chances[~listed].max() < 0.02


@pytest.mark.filterwarnings("ignore::deplda.NoKnownWordsWarning")
def test_a_document_without_known_words_gets_the_usual_labels() -> None:
    train, test = many_labels()
    blank = csr_array(test.counts.shape, dtype=test.counts.dtype)[:1]
    found = shortlisted().rank(blank, 3)
    often = train.label_counts[shortlisted()._targets.numbers(found.labels[0])]
    assert often.min() >= np.sort(train.label_counts)[-60]


@pytest.mark.parametrize("candidates", [0, -3, 2.5, "most", True])
def test_a_number_of_candidates_that_is_none_is_named(candidates: Any) -> None:
    with pytest.raises(InputError, match=r"candidates is .*'auto', 'all' or"):
        quick(candidates=candidates).fit(parts()[0])


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
    reached = [m.measures_["margin"]["document average precision"] for m in (untold, told)]
    assert reached[0] > reached[1]


def test_groups_of_a_wrong_length_are_refused() -> None:
    train, _ = parts()
    with pytest.raises(InputError, match=r"shape \(3,\); they need one value for each of 250"):
        quick().fit(train, groups=[1, 2, 3])


def test_labels_of_one_document_each_leave_nothing_to_tune_by() -> None:
    x = np.eye(12, dtype=int) * 3 + 1
    with pytest.warns(NothingHeldOutWarning, match="none has a label that others have too"):
        model = quick().fit(x, np.eye(12, dtype=int))
    assert model.measures_ == {}
    assert not model.has_probabilities
    assert model.predict(x).sum(axis=1).min() >= 1


def test_a_fold_without_which_nothing_can_be_learned_is_not_held_out() -> None:
    x = np.zeros((20, 3), dtype=int)
    x[0] = 1
    labels = np.zeros((20, 2), dtype=int)
    labels[:, 0] = 1
    model = quick().fit(x, labels)
    assert model.predict(x[:1])[:, [0]].sum() == 1


def test_one_document_held_out_is_enough_to_fit() -> None:
    train, _ = parts()
    assert quick(n_held_out=1).fit(train).held_out_["documents"] == 1


def test_counts_too_large_are_named_by_the_document_as_it_was_given() -> None:
    counts = parts()[0].counts.toarray().astype(float)
    counts[99, 0] = 2.0**31
    with pytest.raises(InputError, match="word 0 in document 99 is 2147483648"):
        quick().fit(counts, parts()[0].labels)


@pytest.mark.parametrize("place", [-1, 10**9])
def test_entries_outside_of_a_matrix_are_refused(place: int) -> None:
    train, _ = parts()
    wrong = train.counts.copy()
    wrong.indices = wrong.indices.copy()
    wrong.indices[5] = place
    model = quick(C=1.0, n_held_out=0).fit(train)
    for use in (
        model.rank,
        lambda x: quick().fit(x, train.labels),
        lambda x: Corpus(x, train.labels),
    ):
        with pytest.raises(InputError, match="are no sparse matrix of 250"):
            use(wrong)


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


@pytest.mark.filterwarnings("ignore::deplda.NoKnownWordsWarning")
def test_classes_have_probabilities_that_sum_to_one() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    x = rng.poisson(1 + 3 * np.eye(3)[y])
    model = quick().fit(x, y)
    chances = model.predict_proba(x)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert (model.classes_[chances.argmax(axis=1)] == model.predict(x)).all()


def test_the_validated_cut_off_gives_the_best_micro_f1_and_may_give_no_label() -> None:
    _, test = parts()
    model = fitted()
    predicted = {}
    for cutoff in ("validated", "at-least-one", "expected-f1", "proportional"):
        model.cutoff = cutoff
        predicted[cutoff] = model.predict(test)
    model.cutoff = "validated"

    def micro(found: Any) -> float:
        hits = found.multiply(test.labels).sum()
        return 2 * float(hits) / (found.sum() + test.labels.nnz)

    assert micro(predicted["validated"]) > micro(predicted["proportional"]) + 0.05
    assert micro(predicted["expected-f1"]) > micro(predicted["proportional"]) + 0.05
    calibration = model.calibration_
    assert calibration is not None
    likeliest = model.predict_proba(test).max(axis=1)
    has_labels = predicted["validated"].sum(axis=1) > 0
    assert has_labels.tolist() == (likeliest >= calibration.threshold).tolist()
    assert predicted["at-least-one"].sum(axis=1).min() == 1
    more = predicted["at-least-one"] - predicted["validated"]
    assert more.sum() == np.count_nonzero(~has_labels)


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


def test_reasons_add_up_to_the_log_odds_of_the_probability() -> None:
    _, test = parts()
    found = fitted().explain(test[[0]], k=3)
    assert found.reasons[0].words
    for reason in found.reasons:
        assert reason.evidence
        assert sum(reason.parts.values()) == pytest.approx(reason.score, rel=1e-12)
        assert reason.probability is not None
        assert reason.score == pytest.approx(logit(reason.probability))
    told = found.to_dict()["labels"][0]
    assert {"parts", "evidence", "words", "probability"} <= told.keys()
    label = found.reasons[0].label
    assert len(fitted().top_words(label, 4)) == 4
    assert fitted().topics(3)
    assert fitted().similar_labels(label, 2)


def test_shown_parts_add_up_to_the_shown_log_odds() -> None:
    _, test = parts()
    for document in (test[[0]], test[[1]], test[[2]]):
        for reason in fitted().explain(document, k=10).reasons:
            rounded = reason.rounded_parts()
            assert sum(Decimal(f"{x:.3f}") for x in rounded.values()) == Decimal(
                f"{reason.score:.3f}"
            )
            for name, value in rounded.items():
                assert value == pytest.approx(reason.parts[name], abs=0.0031)


def test_more_labels_than_candidates_are_not_explained() -> None:
    assert len(shortlisted().explain(many_labels()[1][[0]], k=100).reasons) == 40


# Learning on --------------------------------------------------------------------------------------


def halves() -> tuple[Corpus, Corpus, Corpus]:
    corpus = power_law(1_000, 60, 600, tokens_per_document=60, seed=5)
    return corpus[:300], corpus[300:800], corpus[800:]


def test_learning_on_comes_closer_to_a_fit_of_everything() -> None:
    first, second, test = halves()
    model = quick(C=1.0).fit(first)
    reached = []
    for _ in range(2):
        own = test.align(model.words_, [str(c) for c in model.classes_])
        found = rank_metrics(model.decision_function(own), own.labels)["average_precision"]
        reached.append(float(np.nanmean(found)))
        model.partial_fit(second)
    assert reached[1] > reached[0] + 0.01


def test_new_labels_and_words_are_learned_and_have_probabilities() -> None:
    texts = ["court judge law", "team game goal", "court law suit", "game team coach"] * 10
    counter = WordCounter(stop_words=None, min_count=1)
    model = quick().fit(counter.fit_transform(texts), [["LAW"], ["SPORT"]] * 20, counter=counter)
    model.partial_fit(["violin opera soprano", "opera violin aria"] * 5, [["MUSIC"]] * 10)
    assert model.classes_.tolist() == ["LAW", "SPORT", "MUSIC"]
    assert model.rank(["an aria of the opera"], 1).labels.tolist() == [["MUSIC"]]
    assert model.predict_proba(["an aria of the opera"]).argmax() == 2
    assert model.explain("an aria of the opera", k=1).reasons[0].label == "MUSIC"


def test_a_model_that_was_saved_learns_on_to_the_same_bits(tmp_path: Path) -> None:
    first, second, test = halves()
    model = quick(C=1.0).fit(first)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    found = [
        m.partial_fit(second[:100]).decision_function(test.align(m.words_)) for m in (model, again)
    ]
    np.testing.assert_array_equal(*found)


# Texts --------------------------------------------------------------------------------------------


def test_texts_are_counted_by_the_counter_that_made_the_counts() -> None:
    texts = ["court judge law", "team game goal", "court law suit", "game team coach"] * 10
    labels = [["LAW"], ["SPORT"]] * 20
    counter = WordCounter(stop_words=None, min_count=1)
    counts = counter.fit_transform(texts)
    model = quick().fit(counts, labels, counter=counter)
    assert model.rank(["the judge at court"], 1).labels.tolist() == [["LAW"]]
    assert model.explain("the game", k=1).reasons[0].label == "SPORT"


def test_it_runs_on_the_cpu_alone() -> None:
    new = parts()[1]
    model = copy(fitted()).set_params(device="auto")
    np.testing.assert_array_equal(model.decision_function(new), fitted().decision_function(new))
    model.set_params(device="cuda")
    for call in (model.rank, quick(device="cuda").fit):
        with pytest.raises(InputError, match=r"HybridLDA runs on the CPU; use device='cpu' or"):
            call(new)
