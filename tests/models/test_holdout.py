"""What is learned from documents held out, and that nothing of them is in what scores them."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import Corpus
from deplda.engine import execution
from deplda.engine.execution import Execution
from deplda.models import holdout, hybrid_scorer, mixture
from deplda.models.calibration import calibrate
from deplda.models.external import CountsAndArrays
from deplda.models.holdout import Chosen, Fold, choose, numbers_to_try
from deplda.models.hybrid_scorer import BELOW
from deplda.models.mixture import HeldOut
from tests.models.hybrids import quick
from tests.models.worlds import pairs

Array = np.ndarray[Any, Any]
ONE = Execution(n_jobs=1)
TRAIN = pairs(150, seed=0)
HELD = np.arange(0, 150, 5)
FOLDS = [HELD, HELD + 1]


def fold_without(held: Array, train: Corpus, n_candidates: int) -> Fold:
    """Return a fold as `HybridLDA.fit` makes it."""
    model = quick()
    counts, labels, _, _ = model._begin_fit(train, None, None)
    model._n_learned = labels.shape[1]
    return model._without(held, CountsAndArrays(counts), labels, n_candidates, None)


@cache
def folds(n_candidates: int) -> list[Fold]:
    return [fold_without(held, TRAIN, n_candidates) for held in FOLDS]


def chosen(n_candidates: int = 4, **others: Any) -> Chosen:
    asked: dict[str, Any] = {"costs": (1.0,), "numbers": (n_candidates,)} | others
    return choose(folds(n_candidates), execution=ONE, **asked)


@cache
def usual() -> Chosen:
    return chosen()


# What scores them ---------------------------------------------------------------------------------


def changed(held: Array) -> Corpus:
    """Return the documents, all but the first of those held out with other words and labels."""
    other = pairs(150, seed=9)
    counts, labels = TRAIN.counts.toarray(), TRAIN.labels.toarray()
    counts[held[1:]], labels[held[1:]] = other.counts[held[1:]].toarray(), ~labels[held[1:]]
    labels[held[0]] = ~labels[held[0]]
    return Corpus(csr_array(counts), csr_array(labels))


def signals(fold: Fold) -> tuple[Array, dict[str, Array]]:
    """Return the candidates of the documents held out, and the signals of each."""
    problem = fold.problem(ONE)
    (solved,) = problem.learn((1.0,), np.arange(12), ONE)
    held_out = fold.held_out(solved.weights)
    return held_out.labels, held_out.values


@pytest.mark.parametrize("n_candidates", [4, 12])
def test_nothing_of_documents_held_out_is_in_what_scores_them(n_candidates: int) -> None:
    fold = folds(n_candidates)[0]
    other = fold_without(HELD, changed(HELD), n_candidates)
    assert (fold.truth.toarray() != other.truth.toarray()).any()
    (labels, values), (labels_then, values_then) = signals(fold), signals(other)
    np.testing.assert_array_equal(labels[0], labels_then[0])
    for name, value in values.items():
        np.testing.assert_array_equal(value[0], values_then[name][0])
    assert any((value[1:] != values_then[name][1:]).any() for name, value in values.items())


def test_documents_learned_from_are_in_what_scores_others() -> None:
    """So that the test above could fail."""
    rest = np.setdiff1d(np.arange(150), HELD)
    other = fold_without(HELD, changed(rest), 4)
    assert (signals(folds(4)[0])[1]["margin"][0] != signals(other)[1]["margin"][0]).any()


def test_only_labels_that_others_have_are_looked_for() -> None:
    labels = TRAIN.labels.toarray()
    labels[:, 3] = False
    labels[HELD[2], 3] = True
    fold = fold_without(HELD, Corpus(TRAIN.counts, csr_array(labels)), 4)
    expected = labels[HELD]
    expected[:, 3] = False
    np.testing.assert_array_equal(fold.truth.toarray(), expected)


# Choosing -----------------------------------------------------------------------------------------


def test_folds_are_put_together_document_by_document() -> None:
    held = usual().held_out
    expected = np.concatenate([fold.found.labels for fold in folds(4)])
    np.testing.assert_array_equal(held.labels, expected)
    truth = np.concatenate([TRAIN.labels[rows].toarray() for rows in FOLDS])
    np.testing.assert_array_equal(held.truth.toarray(), truth)
    for value in held.values.values():
        assert value.shape == (60, 4)


def test_the_cost_with_the_best_measures_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    noise, gains = np.tile([1.0, -1.0], 25), {0.1: 0.1, 0.3: 0.2, 1.0: 0.0, 3.0: -0.1}

    def measured(_: Any, costs: Any, *__: Any) -> list[dict[str, Array]]:
        return [{"m": gains[cost] + noise * (cost != 1)} for cost in costs]

    assert chosen(costs=(3.0,)).cost == 3.0
    monkeypatch.setattr(holdout, "_measured", measured)
    assert chosen(costs=(0.1, 0.3, 1.0, 3.0)).cost == 0.3


@pytest.mark.parametrize("best", [0.3, 1.0])
def test_all_labels_decide_between_the_usual_cost_and_that_of_a_sample(
    best: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise, asked = np.tile([1.0, -1.0], 25), iter((0.3, 1.0))

    def by_sample(_: Any, costs: Any, *__: Any) -> list[dict[str, Array]]:
        return [{"m": (cost == 0.3) + noise * (cost != 1)} for cost in costs]

    def by_all(*_: Any) -> dict[str, Array]:
        cost = next(asked)
        return {"m": (cost == best) + noise * (cost != 1)}

    monkeypatch.setattr(holdout, "_SAMPLED_PAIRS", 120 * 4 / 3)
    monkeypatch.setattr(holdout, "_measured", by_sample)
    monkeypatch.setattr(mixture, "measured", by_all)
    found = chosen(costs=(0.1, 0.3, 1.0, 3.0))
    assert found.cost == best
    assert not list(asked)
    alone = chosen(costs=(best,))
    np.testing.assert_allclose(
        found.held_out.values["margin"], alone.held_out.values["margin"], atol=0.2
    )


def test_more_candidates_are_taken_where_they_are_better() -> None:
    """With two of twelve labels, most true ones are not there to be ranked."""
    assert chosen(2, numbers=(2, 12)).n_candidates == 12
    assert chosen(12, numbers=(12, 1)).n_candidates == 12


def test_with_other_candidates_a_fold_is_as_if_made_with_them() -> None:
    fold = folds(4)[0]
    assert fold.with_candidates(4, ONE) is fold
    wider = fold.with_candidates(12, ONE)
    np.testing.assert_array_equal(wider.found.labels, folds(12)[0].found.labels)
    np.testing.assert_array_equal(wider.found.shares, folds(12)[0].found.shares)


@pytest.mark.parametrize("engine", ["threads", "processes", "tcp://127.0.0.1:9"])
def test_candidates_of_many_documents_are_found_here_some_after_the_other(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fold = folds(4)[0]
    monkeypatch.setattr(hybrid_scorer, "_BATCH", 7)
    monkeypatch.setattr(execution, "processes", lambda *asked: pytest.fail("sent elsewhere"))
    where = Execution(engine=engine, n_jobs=2)
    found = holdout.find_all(fold.shortlister, TRAIN.counts[HELD], where)
    np.testing.assert_array_equal(found.features.toarray(), fold.found.features.toarray())
    for one, other in zip(found[1:], fold.found[1:], strict=True):
        np.testing.assert_array_equal(one, other)


def test_recall_is_the_share_of_true_labels_among_those_with_the_largest_shares() -> None:
    fold = folds(4)[0]
    hits = 0
    for labels, shares, own in zip(
        fold.found.labels, fold.found.shares, fold.truth.toarray(), strict=True
    ):
        hits += own[labels[np.argsort(-shares)[:2]]].sum()
    assert fold.recall_of(2) == pytest.approx(hits / fold.truth.nnz)
    assert 0 < fold.recall_of(2) < fold.recall_of(4) < folds(12)[0].recall_of(12) == 1


def test_numbers_to_try_are_few_if_that_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    fold = folds(4)[0]
    assert numbers_to_try(fold) == [12]
    monkeypatch.setattr(holdout, "FEW", 1)
    monkeypatch.setattr(holdout, "MANY", 4)
    assert numbers_to_try(fold) == [4, 12]
    monkeypatch.setattr(holdout, "_WORTH_MORE", 1.0)
    assert numbers_to_try(fold) == [1, 12]
    monkeypatch.setattr(holdout, "_CHEAP_PAIRS", 0)
    assert numbers_to_try(fold) == [1]


def test_a_sample_of_labels_is_of_all_frequencies(monkeypatch: pytest.MonkeyPatch) -> None:
    fold = folds(4)[0]
    np.testing.assert_array_equal(holdout._sample(fold), np.arange(12))
    monkeypatch.setattr(holdout, "_SAMPLED_PAIRS", 120 * 4 / 3)
    sample = holdout._sample(fold)
    rank = np.argsort(np.argsort(-fold.shortlister.log_frequencies, kind="stable"))
    assert sorted(rank[sample].tolist()) == [0, 3, 6, 9]
    only = holdout._only(usual().held_out, sample)
    assert set(np.unique(only.labels)) == {-1, *sample.tolist()}
    assert set(np.unique(only.truth.indices)) <= {*sample.tolist()}
    assert 0 < only.is_true.sum() < usual().held_out.is_true.sum()


# Probabilities ------------------------------------------------------------------------------------


def n_trained() -> Array:
    return np.bincount(TRAIN.labels.indices, minlength=12)


@pytest.mark.parametrize("n_candidates", [4, 6])
def test_labels_that_are_no_candidates_are_as_likely_as_true_ones_were_missed(
    n_candidates: int,
) -> None:
    """Or less: no more likely than the least likely of the candidates."""
    known = chosen(n_candidates)
    held, found = known.held_out, known.calibration(n_trained(), 150)
    plain = calibrate(known._pairs(slice(None)), np.append(n_trained(), 0), 150, is_part=True)
    assert found is not None
    assert plain is not None
    missed, n_below = held.truth.nnz - held.is_true.sum(), 60 * (12 - n_candidates)
    assert missed > 10
    labels = np.arange(12)
    unshifted = plain._replace(shifts=np.zeros(13))
    least = unshifted.at(np.full(12, plain.points[0]), labels).min()
    expected = min((missed + 0.5) / (n_below + 1), least)
    for score in (BELOW, BELOW - 5):
        told = found._replace(shifts=np.zeros(13)).at(np.full(12, score), labels)
        assert told == pytest.approx(expected, rel=1e-3)
        assert (told < least).all()


def test_pairs_are_the_candidates_and_what_they_miss() -> None:
    held = usual().held_out
    pairs_of = usual()._pairs(slice(None))
    assert len(pairs_of.labels) == held.is_given.sum()
    assert pairs_of.truth.sum() + pairs_of.missed.sum() == held.truth.nnz
    np.testing.assert_array_equal(pairs_of.scores, usual().judged.log_odds[held.is_given])
    d = int(pairs_of.documents[17])
    assert held.truth[d, int(pairs_of.labels[17])] == pairs_of.truth[17]


def test_labels_are_ranked_by_calibrated_log_odds_only_where_that_is_better() -> None:
    """Log-odds that do not know how often a label is given rank better with what is added by it."""
    assert not usual().is_better_calibrated(n_trained(), 150)
    rng = np.random.default_rng(1)
    labels, often = np.tile(np.arange(12, dtype=np.int32), (400, 1)), np.geomspace(0.02, 0.6, 12)
    truth = rng.random((400, 12)) < often
    log_odds = truth + rng.normal(size=truth.shape)
    blind = Chosen(
        1.0,
        12,
        usual().judged._replace(log_odds=log_odds),
        HeldOut(labels, {}, csr_array(truth)),
        [],
    )
    assert blind.is_better_calibrated(np.round(2000 * often).astype(np.int64), 2000)
