"""Reasons of a hybrid add up: to the log-odds, a margin's to words, a share's to words and labels.

Shown are words that give .005 at least, and three companions; these tests let all be shown.
"""

from copy import copy
from typing import Any

import numpy as np
import pytest
from scipy.special import logit

from deplda import HybridLDA
from deplda.engine.execution import HERE
from deplda.models import hybrid_reasons
from deplda.models.explanation import Explanation
from deplda.models.mixture import UNTAUGHT, Alone
from deplda.models.reasons import Reason
from tests.models.hybrids import N_CANDIDATES, fitted
from tests.models.worlds import pairs

TEST = pairs(40, seed=1)
EVERY_WORD = 1000


@pytest.fixture(autouse=True)
def _all_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hybrid_reasons, "_LEAST_SHOWN", 0.0)


def explained(model: HybridLDA, d: int) -> Explanation:
    return model.explain(TEST[[d]], k=model.n_candidates_, n_words=EVERY_WORD)


def log_odds(reason: Reason) -> float:
    assert reason.probability is not None
    return float(logit(reason.probability))


def signals_of(model: HybridLDA, d: int, label: Any) -> dict[str, Any]:
    """Return the signals of one label of a document."""
    counts = TEST[[d]].counts
    found, values = model._scorer(counts, HERE)[0].signals(counts)
    at = found.labels[0].tolist().index(model._number(label))
    return {name: value[:, [at]] for name, value in values.items()}


@pytest.mark.parametrize("candidates", [N_CANDIDATES, "all"])
def test_parts_add_up_to_the_log_odds_of_the_probability(candidates: Any) -> None:
    model = fitted(candidates)
    for d in range(3):
        chances = model.predict_proba(TEST[[d]])[0]
        for reason in explained(model, d).reasons:
            assert reason.probability == pytest.approx(chances[model._number(reason.label)])
            assert sum(reason.parts.values()) == pytest.approx(log_odds(reason), abs=1e-9)
            assert reason.score == pytest.approx(log_odds(reason), abs=1e-9)
            mixed = model.mixture_.parts(signals_of(model, d, reason.label))
            for name, part in mixed.items():
                assert reason.parts[name] == pytest.approx(float(part[0, 0]), abs=1e-9)


def test_all_candidates_can_be_explained_and_no_other_label_is() -> None:
    """A label that is no candidate may be likelier than the last of the candidates."""
    model = fitted()
    scores, chances = model.decision_function(TEST), model.predict_proba(TEST)
    is_candidate = scores > -30
    assert (is_candidate.sum(axis=1) == N_CANDIDATES).all()
    least = np.where(is_candidate, chances, 1).min(axis=1)
    odd = np.flatnonzero(np.where(is_candidate, 0, chances).max(axis=1) > 0.5 * least)
    assert len(odd)
    for d in odd[:9].tolist():
        numbers = [model._number(reason.label) for reason in explained(model, d).reasons]
        assert sorted(numbers) == np.flatnonzero(is_candidate[d]).tolist()


@pytest.mark.parametrize("candidates", [N_CANDIDATES, "all"])
def test_margins_of_words_are_what_the_margin_gives_above_the_bias(candidates: Any) -> None:
    model = fitted(candidates)
    for d in range(3):
        for reason in explained(model, d).reasons:
            signals = signals_of(model, d, reason.label)
            empty = signals | {"margin": np.full((1, 1), -1.0)}
            given, without = (
                float(model.mixture_.parts(each)["margin"][0, 0]) for each in (signals, empty)
            )
            of_words = sum(word.margin for word in reason.evidence)
            assert of_words == pytest.approx(given - without, abs=1e-6)


def test_a_words_margin_is_in_proportion_to_its_weight() -> None:
    model = fitted()
    reason = explained(model, 0).reasons[0]
    given = {word.name: word.margin for word in reason.evidence}
    counts = TEST[[0]].counts
    features = model._scorer(counts, HERE)[0].signals(counts)[0].features
    weights = model.weights_[[model._number(reason.label)]].toarray().ravel()
    values = features.data * weights[features.indices]
    own = {model.words_[w]: x for w, x in zip(features.indices, values, strict=True)}
    strongest = max(own, key=lambda word: abs(own[word]))
    assert abs(own[strongest]) > 0.05
    for word, value in own.items():
        wanted = value / own[strongest] * given[strongest]
        assert given.get(word, 0.0) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("candidates", [N_CANDIDATES, "all"])
def test_words_and_companions_share_the_shares_part(candidates: Any) -> None:
    model = fitted(candidates)
    topics = model.topic_model_
    for d in range(3):
        for reason in explained(model, d).reasons:
            part = reason.parts["share"]
            number = np.array([[model._number(reason.label)]])
            own = topics._explain(TEST[[d]], TEST[[d]].counts, number, None, EVERY_WORD).reasons[0]
            prior = part * own.parts["prior"] / own.score
            of_words = sum(word.share for word in reason.evidence)
            assert of_words == pytest.approx(part - prior, abs=1e-6)
            of_labels = sum(companion.added or 0.0 for companion in reason.companions)
            assert abs(of_labels) <= abs(prior) + 1e-9
            assert of_words + of_labels + reason.other_prior == pytest.approx(part, abs=1e-6)
            for companion in reason.companions:
                assert companion.added == pytest.approx(prior * companion.weight)


@pytest.mark.parametrize("candidates", [N_CANDIDATES, "all"])
def test_every_word_says_what_it_adds_to_each_label(candidates: Any) -> None:
    found = explained(fitted(candidates), 0)
    assert found.scale == "log-odds"
    for number, reason in enumerate(found.reasons):
        given = {word.name: word.margin + word.share for word in reason.evidence}
        assert {word.word: word.added[number] for word in found.words} == pytest.approx(given)


def test_only_words_that_give_something_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    whole = explained(fitted(), 0).reasons[0].evidence
    some = fitted().explain(TEST[[0]], k=1, n_words=4).reasons[0].evidence
    sizes = [abs(word.margin + word.share) for word in whole]
    assert sizes == sorted(sizes, reverse=True)
    assert min(sizes) >= 0.005
    assert some == whole[:4]


def test_a_mixture_without_margins_has_none_of_words() -> None:
    model = copy(fitted())
    model.mixture_ = Alone("share")
    for reason in explained(model, 0).reasons:
        assert set(reason.parts) == {"base", "share", "calibration"}
        assert all(word.margin == 0 for word in reason.evidence)


def test_without_probabilities_parts_add_up_to_the_score() -> None:
    model = copy(fitted())
    model.mixture_, model.calibration_ = UNTAUGHT, None
    found, ranking = explained(model, 0).reasons, model.rank(TEST[[0]], N_CANDIDATES)
    for reason, score in zip(found, ranking.scores[0], strict=True):
        assert set(reason.parts) == {"base", "margin", "share"}
        assert sum(reason.parts.values()) == reason.score == pytest.approx(score)


def test_a_document_without_words_has_reasons_but_no_words() -> None:
    empty = np.zeros(TEST.n_words, int)
    for reason in fitted().explain(empty, k=2).reasons:
        assert reason.evidence == ()
        assert sum(reason.parts.values()) == pytest.approx(log_odds(reason), abs=1e-9)
