"""Ranking metrics of every item, each its expected value over the orders of equal scores.

A metric is a function of `TieGroups` that returns one value per item, NaN where it is not defined.
Group by group, with p of n tied candidates positive, n₀ candidates above and p₀ positives among
them, rank n₀ + j holds a positive with probability p/n, and if it does, then p₀ + (j − 1)q more
positives stand above it on average, q = (p − 1)/(n − 1): that is all that the formulas use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.special import binom

from deplda.data import checks
from deplda.evaluation.matrices import Floats, Ints, read_scores, read_truth
from deplda.evaluation.ties import TieGroups, sums, tie_groups

PIVOTS = ("document", "label")


def rank_metrics(
    scores: Any,
    truth: Any,
    *,
    pivot: str = "document",
    ks: Iterable[int] = (1, 3, 5),
    ties: str = "expected",
) -> dict[str, Floats]:
    """Return the ranking metrics of each document, or of each label, by name.

    Parameters
    ----------
    scores, truth, ks, ties
        See `evaluate`.
    pivot : "document" or "label"
        Whether labels are ranked for each document, or documents for each label.
    """
    checks.choice("pivot", pivot, PIVOTS)
    truth = read_truth(truth)
    scores = read_scores(scores, truth.shape)
    if pivot == "label":
        scores, truth = scores.T, truth.T.tocsr()
        scores = scores.tocsr() if hasattr(scores, "tocsr") else scores
    return metrics_of(tie_groups(scores, truth, ties=ties), check_ks(ks))


def metrics_of(groups: TieGroups, ks: tuple[int, ...]) -> dict[str, Floats]:
    """Return every ranking metric by name."""
    found = {name: metric(groups) for name, metric in METRICS.items()}
    for k in ks:
        found[f"precision@{k}"] = precision_at(groups, k)
        found[f"recall@{k}"] = recall_at(groups, k)
        found[f"r_precision@{k}"] = r_precision_at(groups, k)
        found[f"ndcg@{k}"] = ndcg_at(groups, k)
    return found


def check_ks(ks: Iterable[int]) -> tuple[int, ...]:
    """Return the distinct k in their order, and raise if one is not a whole number from 1."""
    chosen = tuple(dict.fromkeys(ks))
    for k in chosen:
        checks.at_least_one(ks=k)
    return tuple(int(k) for k in chosen)


# The paper's seven, and coverage ----------------------------------------------------------------


def auc_roc(groups: TieGroups) -> Floats:
    """Return the share of (positive, negative) pairs in the right order, a tie being half right.

    NaN for an item without positives or without negatives.
    """
    negatives_above = groups.above - groups.hits_above
    negatives_tied = groups.size - groups.hits
    wrong = groups.total(groups.hits * (negatives_above + negatives_tied / 2))
    pairs = groups.positives * (groups.n_candidates - groups.positives)
    return np.divide(pairs - wrong, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)


def ranking_loss(groups: TieGroups) -> Floats:
    """Return the percentage of (positive, negative) pairs in the wrong order: 100 (1 − AUC-ROC)."""
    return 100 * (1 - auc_roc(groups))


def average_precision(groups: TieGroups) -> Floats:
    """Return the mean, over the positives, of the precision at each one's rank."""
    return _per_positive(groups, groups.total(_share(groups) * _precision_sums(groups)))


def auc_pr(groups: TieGroups) -> Floats:
    """Return the area under the precision–recall curve, by the trapezoid over all ranks.

    Left of the first positive's recall, precision is held at its value there.
    """
    share, slope = _share(groups), _slope(groups)
    n, above = groups.size, groups.above
    harmonic = _harmonic(groups.n_candidates)
    # Precision one rank above each positive; at rank 0 there is none, and nothing is added for it.
    offset = groups.hits_above - slope * above
    before = slope * (n - (above == 0)) + offset * (
        harmonic[above + n - 1] - harmonic[np.maximum(above - 1, 0)]
    )
    areas = share * (_precision_sums(groups) + before)
    first = groups.hits_above == 0
    areas[first] += _first_hit_precision(above[first], n[first], groups.hits[first])
    return _per_positive(groups, groups.total(areas / 2))


def one_error(groups: TieGroups) -> Floats:
    """Return 100 where the candidate at the top is not a positive, 0 where it is."""
    hit = groups.total(np.where(groups.above == 0, _share(groups), 0.0))
    return groups.defined(100 * (1 - hit))


def is_error(groups: TieGroups) -> Floats:
    """Return 0 where every positive stands above every negative, else 100."""
    return groups.defined(100 * (1 - _perfect(groups)))


def coverage(groups: TieGroups) -> Floats:
    """Return the rank of the lowest positive: how far down one must read to see them all."""
    return groups.defined(_lowest_positive(groups))


def margin(groups: TieGroups) -> Floats:
    """Return the rank of the lowest positive less that of the highest negative, 0 if below it."""
    mixed = groups.above + groups.size > groups.hits_above + groups.hits
    item, first = np.unique(groups.item[mixed], return_index=True)
    at = np.flatnonzero(mixed)[first]
    above, size, hits = groups.above[at], groups.size[at], groups.hits[at]
    # The highest negative stands right after the positives above this group, or is tied in it.
    higher = above > groups.hits_above[at]
    highest = np.where(
        higher, groups.hits_above[at] + 1, above + (size + 1) / np.maximum(size - hits + 1, 1)
    )
    margins = np.zeros(groups.n_items)
    # A perfect order is one rank apart the other way, and counts 0, not −1.
    margins[item] = (_lowest_positive(groups) + _perfect(groups))[item] - highest
    return groups.defined(margins)


METRICS: dict[str, Callable[[TieGroups], Floats]] = {
    "auc_roc": auc_roc,
    "auc_pr": auc_pr,
    "average_precision": average_precision,
    "one_error": one_error,
    "is_error": is_error,
    "margin": margin,
    "ranking_loss": ranking_loss,
    "coverage": coverage,
}
LOWER_IS_BETTER = {"one_error", "is_error", "margin", "ranking_loss", "coverage"}


# The top k --------------------------------------------------------------------------------------


def hits_in_top(groups: TieGroups, n: int | Ints) -> Floats:
    """Return the expected positives among the top n of each item; n may differ by item."""
    limit = n if isinstance(n, int) else n[groups.item]
    return groups.total(_share(groups) * np.clip(limit - groups.above, 0, groups.size))


def precision_at(groups: TieGroups, k: int) -> Floats:
    """Return positives among the top k, divided by k."""
    return groups.defined(hits_in_top(groups, k) / k)


def recall_at(groups: TieGroups, k: int) -> Floats:
    """Return positives among the top k, divided by all positives."""
    return _per_positive(groups, hits_in_top(groups, k))


def r_precision_at(groups: TieGroups, k: int) -> Floats:
    """Return positives among the top k, divided by the most there can be (Chalkidis 2019: RP@k)."""
    most = np.minimum(groups.positives, k)
    hits = hits_in_top(groups, k)
    return np.divide(hits, most, out=np.full(len(hits), np.nan), where=most > 0)


def ndcg_at(groups: TieGroups, k: int) -> Floats:
    """Return Σ 1/log₂(rank + 1) of the positives among the top k, divided by the best possible."""
    k = min(k, groups.n_candidates)
    discounts = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, k + 2)))])
    ends = discounts[np.minimum(groups.above + groups.size, k)]
    gained = groups.total(_share(groups) * (ends - discounts[np.minimum(groups.above, k)]))
    best = discounts[np.minimum(groups.positives, k)]
    return np.divide(gained, best, out=np.full(len(best), np.nan), where=groups.positives > 0)


def propensity_gain(groups: TieGroups, weights: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the weight of the positives among the top k, and the most that could be had."""
    mine = weights[groups.candidate]
    held = sums(groups.group, mine, len(groups.item))
    within = np.clip(k - groups.above, 0, groups.size) / groups.size
    item = groups.item[groups.group]
    order = np.lexsort((-mine, item))
    starts = np.concatenate([[0], np.cumsum(groups.positives)[:-1]])
    place = np.arange(len(order)) - starts[item[order]]
    best = order[place < k]
    return groups.total(held * within), sums(item[best], mine[best], groups.n_items)


def inverse_propensities(
    label_counts: Ints, n_documents: int, a: float = 0.55, b: float = 1.5
) -> Floats:
    """Return 1/p of each label: how much a positive that was found is worth, rare labels more.

    The model of Jain, Prabhu & Varma (2016), with its usual a and b: 1/p = 1 + c (N + b)⁻ᵃ with
    c = (log D − 1)(b + 1)ᵃ, for N of D training documents.
    """
    c = max(np.log(n_documents) - 1, 0.0) * (b + 1) ** a
    return np.asarray(1 + c * (label_counts + b) ** -a)


# What the formulas share ------------------------------------------------------------------------


def _share(groups: TieGroups) -> Floats:
    return groups.hits / groups.size


def _slope(groups: TieGroups) -> Floats:
    return (groups.hits - 1) / np.maximum(groups.size - 1, 1)


def _harmonic(n: int) -> Floats:
    """Return 1 + 1/2 + … + 1/m for every m from 0 to n."""
    return np.concatenate([[0.0], np.cumsum(1 / np.arange(1, n + 1))])


def _precision_sums(groups: TieGroups) -> Floats:
    """Return Σⱼ (p₀ + 1 + (j − 1)q)/(n₀ + j): the precision at each rank with a positive."""
    slope, harmonic = _slope(groups), _harmonic(groups.n_candidates)
    offset = groups.hits_above + 1 - slope * (groups.above + 1)
    ranks = harmonic[groups.above + groups.size] - harmonic[groups.above]
    return slope * groups.size + offset * ranks


def _first_hit_precision(above: Ints, size: Ints, hits: Ints) -> Floats:
    """Return E[1/rank] of an item's first positive, which is in this group.

    It is at place j with probability C(n − j, p − 1)/C(n, p); each is had from the one before.
    """
    found = 1 / (above + 1.0)
    tied = np.flatnonzero(size > hits)
    cases, which = np.unique(
        np.stack([above[tied], size[tied], hits[tied]], axis=1), axis=0, return_inverse=True
    )
    expected = np.empty(len(cases))
    for case, (n0, n, p) in enumerate(cases.tolist()):
        left = np.arange(n, p, -1)
        chances = p / n * np.cumprod(np.concatenate([[1.0], (left - p) / (left - 1)]))
        expected[case] = (chances / (n0 + 1 + np.arange(n - p + 1))).sum()
    found[tied] = expected[which.ravel()]
    return found


def _lowest_positive(groups: TieGroups) -> Floats:
    """Return the expected rank of each item's lowest positive."""
    last = groups.last
    ranks = groups.above + groups.hits * (groups.size + 1) / (groups.hits + 1)
    return groups.total(np.where(last, ranks, 0.0))


def _perfect(groups: TieGroups) -> Floats:
    """Return the probability that all positives stand above all negatives."""
    possible = groups.last & (groups.above == groups.hits_above)
    return groups.total(np.where(possible, 1 / binom(groups.size, groups.hits), 0.0))


def _per_positive(groups: TieGroups, totals: Floats) -> Floats:
    return groups.defined(totals / np.maximum(groups.positives, 1))
