import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deplda.evaluation.frequency import frequency_bins, frequency_table, paired_t_test
from tests.evaluation.cases import shown


def test_quintiles_hold_about_equally_many_labels_and_never_part_a_frequency() -> None:
    assert frequency_bins(np.arange(1, 101)) == [(1, 20), (21, 40), (41, 60), (61, 80), (81, 100)]
    counts = np.repeat([1, 2, 3, 7, 50], [30, 10, 10, 30, 20])
    assert frequency_bins(counts, 5) == [(1, 1), (2, 2), (3, 6), (7, 49), (50, 50)]
    assert frequency_bins(np.ones(9, dtype=int), 5) == [(1, 1)]


def test_given_bins_are_the_papers() -> None:
    counts = np.array([1, 4, 5, 60, 1139])
    bins = frequency_bins(counts, (1, 5, 12, 23, 55))
    assert bins == [(1, 4), (5, 11), (12, 22), (23, 54), (55, 1139)]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.integers(1, 8))
def test_every_label_is_in_one_bin(counts: list[int], n_bins: int) -> None:
    bins = frequency_bins(np.array(counts), n_bins)
    assert len(bins) <= n_bins
    assert all(sum(low <= n <= high for low, high in bins) == 1 for n in counts)
    assert all(any(low <= n <= high for n in counts) for low, high in bins)


def test_the_paired_t_test_is_scipys() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 30))
    ours, theirs = paired_t_test(first, second), stats.ttest_rel(first, second)
    assert (ours.t, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert ours.difference == pytest.approx((first - second).mean())
    assert ours.n == 30


def test_a_t_test_of_one_pair_or_of_no_spread_has_no_p() -> None:
    assert np.isnan(paired_t_test(np.ones(1), np.zeros(1)).p)
    assert np.isnan(paired_t_test(np.ones(5), np.zeros(5)).p)
    assert paired_t_test(np.ones(5), np.zeros(5)).difference == 1


def test_a_better_model_on_rare_labels_is_seen_in_the_first_bin_only() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 200, size=500)
    plain = rng.uniform(0.2, 0.6, size=500)
    better = plain + np.where(counts < 40, 0.1, 0) + rng.normal(scale=0.02, size=500)
    table = frequency_table(counts, {"LDA": better, "SVM": plain}, 5)
    assert len(table.bins) == 5
    assert sum(part.n_labels for part in table.bins) == 500
    first, last = table.bins[0], table.bins[-1]
    assert first.tests["LDA", "SVM"].p < 1e-6 < last.tests["LDA", "SVM"].p
    assert first.tests["LDA", "SVM"].difference == pytest.approx(0.1, abs=0.02)
    assert first.means["LDA"].low < first.means["LDA"].value < first.means["LDA"].high
    inside = (counts >= first.low) & (counts <= first.high)
    assert first.means["LDA"].value == pytest.approx(better[inside].mean())
    text = shown(table)
    assert text.count("*") >= 1
    assert "training documents of a label" in text
    assert json.loads(json.dumps(table.to_dict()))["bins"][0]["tests"]["LDA > SVM"]["n"] > 50


def test_a_label_that_one_model_has_no_value_for_is_left_out_of_all() -> None:
    values = {"a": np.array([1.0, np.nan, 0.0]), "b": np.array([0.0, 0.0, 0.0])}
    table = frequency_table(np.array([1, 1, 1]), values)
    assert [part.n_labels for part in table.bins] == [2]
