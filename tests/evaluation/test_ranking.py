import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn import metrics as sklearn_metrics

from deplda.evaluation import rank_metrics, ties
from deplda.evaluation.matrices import read_truth
from deplda.evaluation.ranking import inverse_propensities, propensity_gain
from tests.evaluation import naive_evaluation as naive
from tests.evaluation.cases import Matrix, random_case, same, tied_cases

KS = (1, 2, 4)


@given(tied_cases())
@settings(deadline=None, max_examples=60)
def test_every_metric_is_the_mean_over_all_orders_of_equal_scores(
    case: tuple[Matrix, Matrix],
) -> None:
    scores, truth = case
    found = rank_metrics(scores, truth, ks=KS)
    for item, (row, positive) in enumerate(zip(scores.tolist(), truth.tolist(), strict=True)):
        if not any(positive):
            assert all(np.isnan(values[item]) for values in found.values())
            continue
        twins = {name: naive.expected(twin, row, positive) for name, twin in naive.METRICS.items()}
        for k in KS:
            for name in ("precision", "recall", "r_precision", "ndcg"):
                twin = getattr(naive, f"{name}_at")
                twins[f"{name}@{k}"] = naive.expected(
                    lambda ranking, twin=twin, k=k: twin(ranking, k),  # type: ignore[misc]
                    row,
                    positive,
                )
        assert {name: values[item] for name, values in found.items()} == {
            name: pytest.approx(value, abs=1e-9, nan_ok=True) for name, value in twins.items()
        }


@given(tied_cases())
@settings(deadline=None, max_examples=60)
def test_ties_in_order_leave_equals_as_they_stand(case: tuple[Matrix, Matrix]) -> None:
    scores, truth = case
    strict = scores - 0.01 * np.arange(scores.shape[1])
    found = rank_metrics(scores, truth, ties="order")
    same(found, rank_metrics(strict, truth))
    stored = csr_array(np.where(scores > 0, scores, 0))  # zeros are not stored
    same(found, rank_metrics(stored, truth, ties="order"))


@given(tied_cases(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_the_order_of_candidates_and_items_does_not_matter(
    case: tuple[Matrix, Matrix], random: np.random.RandomState
) -> None:
    scores, truth = case
    rows, columns = list(range(len(scores))), list(range(scores.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    shuffled = rank_metrics(scores[rows][:, columns], truth[rows][:, columns])
    same({name: v[rows] for name, v in rank_metrics(scores, truth).items()}, shuffled)


@given(tied_cases())
@settings(deadline=None, max_examples=60)
def test_only_the_order_of_scores_matters(case: tuple[Matrix, Matrix]) -> None:
    scores, truth = case
    found = rank_metrics(scores, truth)
    same(found, rank_metrics(np.exp(scores), truth))
    same(found, rank_metrics(scores.astype(np.int8), truth))
    same(found, rank_metrics(scores.astype(np.float32) * 1e-3 - 7, truth))


@given(tied_cases(max_items=6))
@settings(deadline=None, max_examples=60)
def test_a_pivot_is_the_other_pivot_of_the_transposed(case: tuple[Matrix, Matrix]) -> None:
    scores, truth = case
    by_label = rank_metrics(scores, truth, pivot="label")
    same(by_label, rank_metrics(scores.T, truth.T))
    same(rank_metrics(csr_array(scores + 1), truth, pivot="label"), by_label)


@given(tied_cases())
@settings(deadline=None, max_examples=60)
def test_the_ranking_loss_is_the_other_side_of_auc_and_figures_stay_in_range(
    case: tuple[Matrix, Matrix],
) -> None:
    found = rank_metrics(*case)
    np.testing.assert_allclose(found["ranking_loss"], 100 * (1 - found["auc_roc"]))
    for name, values in found.items():
        top = 100 if name.endswith(("error", "loss")) else case[0].shape[1]
        top = (
            1
            if name.startswith(("auc", "average", "ndcg", "precision", "r_precision", "recall"))
            else top
        )
        defined = values[~np.isnan(values)]
        assert (defined >= -1e-12).all()
        assert (defined <= top + 1e-9).all()


def test_scikit_learn_agrees() -> None:
    scores, truth, _ = random_case(200, 12)
    kept = truth.any(axis=1) & ~truth.all(axis=1)
    scores, truth = scores[kept], truth[kept]
    found = {name: values.mean() for name, values in rank_metrics(scores, truth).items()}
    rows = list(zip(truth, scores, strict=True))
    assert found["auc_roc"] == pytest.approx(
        np.mean([sklearn_metrics.roc_auc_score(*row) for row in rows])
    )
    assert found["average_precision"] == pytest.approx(
        np.mean([sklearn_metrics.average_precision_score(*row) for row in rows])
    )
    assert found["average_precision"] == pytest.approx(
        sklearn_metrics.label_ranking_average_precision_score(truth, scores)
    )
    assert found["ranking_loss"] == pytest.approx(
        100 * sklearn_metrics.label_ranking_loss(truth, scores)
    )
    assert found["coverage"] == pytest.approx(sklearn_metrics.coverage_error(truth, scores))
    assert found["ndcg@5"] == pytest.approx(sklearn_metrics.ndcg_score(truth, scores, k=5))


def test_scikit_learn_agrees_on_ties_where_it_averages_over_them() -> None:
    scores, truth, _ = random_case(200, 12)
    kept = truth.any(axis=1) & ~truth.all(axis=1)
    scores, truth = np.round(scores[kept]), truth[kept]
    found = {name: values.mean() for name, values in rank_metrics(scores, truth).items()}
    rows = zip(truth, scores, strict=True)
    assert found["auc_roc"] == pytest.approx(
        np.mean([sklearn_metrics.roc_auc_score(*row) for row in rows])
    )
    for k in (1, 3, 5):
        theirs = sklearn_metrics.ndcg_score(truth, scores, k=k)
        assert found[f"ndcg@{k}"] == pytest.approx(theirs)


def test_equal_scores_for_all_say_nothing_and_gain_nothing() -> None:
    truth = np.zeros((1, 100), dtype=bool)
    truth[0, :2] = True
    found = rank_metrics(np.ones((1, 100)), truth)
    assert found["auc_roc"][0] == pytest.approx(0.5)
    assert found["one_error"][0] == pytest.approx(98)
    assert found["precision@5"][0] == pytest.approx(0.02)
    assert found["average_precision"][0] < 0.07


def test_an_item_without_positives_has_no_values_and_one_of_positives_only_has_no_auc() -> None:
    found = rank_metrics(np.arange(6.0).reshape(2, 3), [[0, 0, 0], [1, 1, 1]])
    assert all(np.isnan(values[0]) for values in found.values())
    undefined = {name for name, values in found.items() if np.isnan(values[1])}
    assert undefined == {"auc_roc", "ranking_loss"}
    assert found["average_precision"][1] == found["auc_pr"][1] == 1
    assert found["one_error"][1] == found["is_error"][1] == found["margin"][1] == 0
    assert found["coverage"][1] == 3


def test_propensities_make_rare_labels_count_more() -> None:
    weights = inverse_propensities(np.array([1, 10, 1000]), 5000)
    assert weights == pytest.approx([naive.inverse_propensity(n, 5000) for n in (1, 10, 1000)])
    assert weights[0] > weights[1] > weights[2] > 1
    scores, truth, train = random_case(80, 10)
    weights = inverse_propensities(train.sum(axis=0), len(train))
    groups = ties.tie_groups(scores, read_truth(truth))
    for k in (1, 3, 12):
        found, best = propensity_gain(groups, weights, k)
        assert found.sum() / best.sum() == pytest.approx(
            naive.propensity_precision(scores.tolist(), truth.tolist(), weights.tolist(), k)
        )
