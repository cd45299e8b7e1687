"""The mixture: log-odds are sums of parts, and the form that is judged best by other documents."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from deplda.models import mixture
from deplda.models.mixture import (
    FORMS,
    UNTAUGHT,
    Alone,
    FloorAndSum,
    HeldOut,
    best_of,
    judge,
    logistic,
    measures,
    t_statistic,
)

Array = np.ndarray[Any, Any]
N_DOCUMENTS, N_CANDIDATES, N_LABELS = 120, 8, 20
FITS: dict[str, Any] = {
    "margin": mixture._FITS["margin"], "share": mixture._FITS["share"],
    "floor and sum": mixture._fit_floor,
    **{name: mixture._Fit(terms) for name, terms in FORMS.items()},
}  # fmt: skip
FIXED = {"untaught": UNTAUGHT, "no floor": FloorAndSum((0.1, 2.0, 0.3, 0.1), 0.0, 0.4)}


def held_out(
    margin: float = 1.5, share: float = 1.5, seed: int = 0, k: int = N_CANDIDATES,
    empty: float = 0.1,
) -> HeldOut:  # fmt: skip
    """Return signals that tell the truth with so much weight, and noise; some places are empty."""
    rng = np.random.default_rng(seed)
    labels = np.array([rng.permutation(max(k, N_LABELS))[:k] for _ in range(N_DOCUMENTS)])
    is_true = rng.random(labels.shape) < 0.25
    values = {
        "margin": margin * (is_true - 0.5) + rng.normal(size=labels.shape),
        "share": share * (is_true - 0.5) + rng.normal(size=labels.shape),
        "likeness": rng.random(labels.shape),
        "frequency": np.log(0.05 + rng.random(max(k, N_LABELS)))[labels],
    }
    labels[rng.random(labels.shape) < empty] = -1
    rows, at = np.nonzero(is_true & (labels >= 0))
    truth = csr_array(
        (np.ones(len(rows), bool), (rows, labels[rows, at])), shape=(N_DOCUMENTS, max(k, N_LABELS))
    )
    return HeldOut(labels.astype(np.int32), values, truth)


@cache
def form(name: str) -> Any:
    """Return a mixture of this form."""
    return FITS[name](held_out()) if name in FITS else FIXED[name]


# Parts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*FITS, *FIXED])
def test_log_odds_are_the_sum_of_the_parts_bit_by_bit(name: str) -> None:
    values = held_out(seed=1).values
    total = np.zeros(values["margin"].shape)
    for part in form(name).parts(values).values():
        total = total + part
    np.testing.assert_array_equal(form(name).log_odds(values), total)


@pytest.mark.parametrize("name", FORMS)
def test_terms_are_weighted_products_of_scaled_signals(name: str) -> None:
    values, fitted = held_out(seed=1).values, form(name)
    values["likeness"] = np.minimum(values["likeness"], fitted.most["likeness"])
    scaled = {n: (values[n] - fitted.means[n]) / fitted.scales[n] for n in values}
    expected = sum(
        weight * np.prod([scaled[name] for name in term] or [np.ones(scaled["margin"].shape)], 0)
        for term, weight in zip(fitted.terms, fitted.weights, strict=True)
    )
    np.testing.assert_allclose(fitted.log_odds(values), expected, rtol=1e-9, atol=1e-9)


def test_frequency_has_its_own_term_but_no_part_in_products() -> None:
    fitted = form("full")
    values = held_out(seed=1).values
    scaled = (values["frequency"] - fitted.means["frequency"]) / fitted.scales["frequency"]
    weight = dict(zip(fitted.terms, fitted.weights, strict=True))
    own = weight["frequency",] * scaled + weight["frequency", "frequency"] * scaled**2
    np.testing.assert_allclose(fitted.parts(values)["frequency"], own, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", FORMS)
def test_likeness_beyond_that_of_true_labels_held_out_says_no_more(name: str) -> None:
    taught, fitted = held_out(), form(name)
    most = np.quantile(taught.values["likeness"][taught.is_true], 0.99)
    assert fitted.most == {"likeness": most}
    values = held_out(seed=1).values
    one, far, below = (
        fitted.log_odds(values | {"likeness": np.full(values["margin"].shape, likeness)})
        for likeness in (most, 20.0, most - 0.1)
    )
    np.testing.assert_array_equal(far, one)
    assert (below != one).all()


def test_below_the_floor_the_share_decides() -> None:
    values = {
        "margin": np.array([[-9.0, -8.0]]), "share": np.log([[0.6, 0.1]]),
        "frequency": np.zeros((1, 2)),
    }  # fmt: skip
    weights = (0.0, 4.0, 0.0, 0.0)
    for floor, best in ((0.0, 1), (0.01, 0)):
        assert FloorAndSum(weights, floor, 0.2).log_odds(values).argmax() == best


# Fitting ------------------------------------------------------------------------------------------


def test_logistic_is_scikit_learns_with_weights_and_a_ridge() -> None:
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(200, 3)), rng.random(200) * 3
    truth = rng.random(200) < 1 / (1 + np.exp(-(x @ [1.0, -2.0, 0.0] + 0.5)))
    found = logistic(np.column_stack([np.ones(200), x]), truth, weights, [0.0, 2.5, 2.5, 2.5])
    reference = LogisticRegression(C=1 / 2.5, tol=1e-10, max_iter=1000).fit(x, truth, weights)
    expected = np.append(reference.intercept_, reference.coef_)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_classes_that_are_parted_end_with_weights_that_part_them() -> None:
    x = np.column_stack([np.ones(20), np.linspace(-1, 1, 20)])
    found = logistic(x, x[:, 1] > 0, np.ones(20), [0.0, 0.0])
    assert np.isfinite(found).all()
    assert ((x @ found > 0) == (x[:, 1] > 0)).all()


@pytest.mark.parametrize(("k", "empty"), [(8, 0.1), (50, 0.1), (51, 0.1), (90, 0.1), (90, 0.8)])
def test_the_pairs_learned_from_stand_for_all_pairs(k: int, empty: float) -> None:
    told = held_out(k=k, empty=empty)
    chosen, weights = mixture._learned_from(told)
    is_chosen = np.zeros(told.labels.shape, bool)
    is_chosen[chosen] = True
    assert weights.sum() == pytest.approx(told.is_given.sum())
    assert not (is_chosen & ~told.is_given).any()
    assert is_chosen[told.is_true].all()
    assert (weights[told.is_true[chosen]] == 1).all()
    if k <= 50:
        assert is_chosen[told.is_given].all()
    elif empty < 0.5:
        best = np.argsort(-np.where(told.is_given, told.values["margin"], -np.inf), axis=1)[:, :25]
        assert np.take_along_axis(is_chosen, best, axis=1).all()
        assert is_chosen.sum() < 0.95 * told.is_given.sum()


@pytest.mark.parametrize("name", FITS)
def test_a_document_has_no_say_in_what_scores_it(name: str) -> None:
    """The log-odds of one half are what the other half alone teaches, whatever this half says."""
    told, half = held_out(), N_DOCUMENTS // 2
    other = held_out(seed=5).truth.toarray()
    mixed = replace(told, truth=csr_array(np.vstack([other[:half], told.truth.toarray()[half:]])))
    one, two = (mixture._cross_fitted(FITS[name], each) for each in (told, mixed))
    np.testing.assert_array_equal(one[:half], two[:half])
    assert (one[half:] != two[half:]).any()
    first, second = told.only(slice(half)), told.only(slice(half, None))
    np.testing.assert_array_equal(one[:half], FITS[name](second).log_odds(first.values))


# Judging ------------------------------------------------------------------------------------------


def gain(name: str, over: str, found: Any) -> float:
    return float(found[name]["label average precision"] - found[over]["label average precision"])


def test_two_signals_that_each_know_something_are_mixed() -> None:
    found = judge(held_out(2.0, 2.0))
    assert found.name not in ("margin", "share")
    for part in ("margin", "share"):
        assert gain(found.name, part, found.measures) > 0.05


@pytest.mark.parametrize(("margin", "share", "better"), [(4, 0, "margin"), (0, 4, "share")])
def test_the_chosen_form_is_not_clearly_worse_than_a_part(
    margin: float, share: float, better: str
) -> None:
    told = held_out(margin, share)
    found = judge(told)
    part = measures(mixture._cross_fitted(mixture._Fit(((), (better,))), told), told)
    chosen = measures(found.log_odds, told)
    for name in chosen:
        assert t_statistic(chosen[name] - part[name]) > -2


def test_a_form_that_is_clearly_worse_than_a_part_in_one_measure_is_not_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    same = rng.random(50)
    up, down = same + 0.1 + 0.01 * rng.random(50), same - 0.1 - 0.01 * rng.random(50)

    def by_form(log_odds: Array, _: HeldOut) -> dict[str, Array]:
        is_alone = (log_odds == 0).all()
        return dict.fromkeys("vwxyz", same) if is_alone else dict.fromkeys("vwxy", up) | {"z": down}

    def zero_alone(fit: Any, told: HeldOut, _: Any) -> Array:
        return np.full(told.labels.shape, float(fit not in (FITS["margin"], FITS["share"])))

    monkeypatch.setattr(mixture, "_cross_fitted", zero_alone)
    monkeypatch.setattr(mixture, "measures", by_form)
    assert judge(held_out()).name == "margin"


def test_a_form_that_bends_is_chosen_where_the_truth_does() -> None:
    """Both signals speak for a label only together: no sum of the two says so."""
    told = held_out(0.0, 0.0, seed=3)
    is_true = (told.values["margin"] * told.values["share"] > 0.5) & told.is_given
    rows, at = np.nonzero(is_true)
    truth = csr_array(
        (np.ones(len(rows), bool), (rows, told.labels[rows, at])), shape=told.truth.shape
    )
    found = judge(replace(told, truth=truth))
    assert found.name in ("crossed", "squared", "full")
    assert gain(found.name, "linear", found.measures) > 0.2


def test_what_is_judged_is_fitted_to_all_documents_and_measured_by_cross_fitting() -> None:
    told = held_out(2.0, 2.0)
    found = judge(told)
    assert found.mixture == FITS[found.name](told)
    log_odds = mixture._cross_fitted(FITS[found.name], told)
    np.testing.assert_array_equal(found.log_odds, log_odds)
    expected = measures(log_odds, told)
    assert found.measures[found.name] == {k: mixture.mean(v) for k, v in expected.items()}
    assert set(found.measures) == set(FITS)


def test_of_equals_the_reference_is_best_and_clearly_worse_than_a_part_comes_last() -> None:
    rng = np.random.default_rng(0)
    same = rng.random(50)
    assert best_of({"a": {"m": same}, "b": {"m": same}}, "b") == "b"
    up, down = same + 0.1 + 0.01 * rng.random(50), same - 0.1 - 0.01 * rng.random(50)
    # Four measures speak for a, but in the fifth it is clearly worse than its part.
    a = dict.fromkeys("wxyz", up) | {"m": down}
    part = dict.fromkeys("wxyzm", same)
    assert best_of({"part": part, "a": a}, "part") == "a"
    assert best_of({"part": part, "a": a}, "part", parts=("part",)) == "part"


def test_no_measure_outweighs_all_others() -> None:
    rng = np.random.default_rng(0)
    same = rng.random(400)
    much, little = same - 0.5 + 0.01 * rng.random(400), same + 0.2 * (rng.random(400) - 0.4)
    found = {"a": {"x": much, "y": little, "z": little}, "b": dict.fromkeys("xyz", same)}
    assert t_statistic(much - same) < -100
    assert 2 < t_statistic(little - same) < 10
    assert best_of(found, "b") == "a"


def test_of_two_that_are_far_better_than_the_reference_the_better_is_taken() -> None:
    noise = np.random.default_rng(0).normal(size=400)
    found = {
        "good": {"x": 0.3 + noise}, "better": {"x": 0.6 + noise}, "reference": {"x": 0 * noise}
    }  # fmt: skip
    assert t_statistic(found["good"]["x"]) > 3
    assert best_of(found, "reference") == "better"


def test_t_is_the_mean_in_standard_errors_of_what_is_known() -> None:
    values = np.array([1.0, 2.0, np.nan, 4.0, -1.0])
    known = values[np.isfinite(values)]
    assert t_statistic(values) == pytest.approx(known.mean() / known.std() * np.sqrt(4))
    for alike in ([], [3.0], [np.nan], [2.0, 2.0, 2.0]):
        assert t_statistic(np.array(alike)) == 0


def test_measures_are_higher_for_better_log_odds() -> None:
    told = held_out()
    rng = np.random.default_rng(0)
    good = measures(told.is_true + 0.1 * rng.random(told.labels.shape), told)
    bad = measures(rng.random(told.labels.shape), told)
    for name in good:
        assert mixture.mean(good[name]) > mixture.mean(bad[name])


def test_only_candidates_that_are_there_can_be_true() -> None:
    told = held_out()
    expected = [
        [c >= 0 and bool(told.truth[d, c]) for c in row]
        for d, row in enumerate(told.labels.tolist())
    ]
    np.testing.assert_array_equal(told.is_true, expected)
    assert told.is_true.sum() == told.truth.nnz


def test_a_signal_alone_keeps_its_order() -> None:
    """Even one that is taught to be wrong: its rank is what it is there for."""
    told = held_out(margin=-3.0)
    assert isinstance(found := mixture._fit_alone("margin", told), Alone)
    assert found.weight > 0
