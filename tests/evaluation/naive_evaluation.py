"""Slow, obvious twins of the evaluation: one ranking at a time, and every order of equal scores."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from math import ceil, log, log2
from statistics import mean, median

Ranking = Sequence[bool]
"""Which candidates are positive, from the top of a ranking down."""


def rankings(scores: Sequence[float], truth: Sequence[bool]) -> Iterator[list[bool]]:
    """Yield the ranking of every order of equal scores."""
    levels = sorted(set(scores), reverse=True)
    tied = [[t for s, t in zip(scores, truth, strict=True) if s == level] for level in levels]
    for orders in product(*(list(permutations(group)) for group in tied)):
        yield [t for group in orders for t in group]


def expected(
    metric: Callable[[Ranking], float], scores: Sequence[float], truth: Sequence[bool]
) -> float:
    return mean(metric(ranking) for ranking in rankings(scores, truth))


def ranks(ranking: Ranking, of: bool = True) -> list[int]:
    return [rank for rank, positive in enumerate(ranking, 1) if positive == of]


def auc_roc(ranking: Ranking) -> float:
    pairs = [(p, n) for p in ranks(ranking) for n in ranks(ranking, of=False)]
    return mean(p < n for p, n in pairs) if pairs else float("nan")


def ranking_loss(ranking: Ranking) -> float:
    return 100 * (1 - auc_roc(ranking))


def average_precision(ranking: Ranking) -> float:
    return mean(sum(ranking[:rank]) / rank for rank in ranks(ranking))


def auc_pr(ranking: Ranking) -> float:
    area, recall, precision = 0.0, 0.0, None
    for rank in range(1, len(ranking) + 1):
        found = sum(ranking[:rank])
        if found and precision is None:
            precision = found / rank  # held at its value at the first positive
        if precision is not None:
            next_recall, next_precision = found / sum(ranking), found / rank
            area += (next_recall - recall) * (precision + next_precision) / 2
            recall, precision = next_recall, next_precision
    return area


def one_error(ranking: Ranking) -> float:
    return 0.0 if ranking[0] else 100.0


def is_error(ranking: Ranking) -> float:
    return 0.0 if all(ranking[: sum(ranking)]) else 100.0


def margin(ranking: Ranking) -> float:
    negatives = ranks(ranking, of=False)
    return max(0, ranks(ranking)[-1] - negatives[0]) if negatives else 0.0


def coverage(ranking: Ranking) -> float:
    return ranks(ranking)[-1]


METRICS = {
    "auc_roc": auc_roc,
    "auc_pr": auc_pr,
    "average_precision": average_precision,
    "one_error": one_error,
    "is_error": is_error,
    "margin": margin,
    "ranking_loss": ranking_loss,
    "coverage": coverage,
}


def precision_at(ranking: Ranking, k: int) -> float:
    return sum(ranking[:k]) / k


def recall_at(ranking: Ranking, k: int) -> float:
    return sum(ranking[:k]) / sum(ranking)


def r_precision_at(ranking: Ranking, k: int) -> float:
    return sum(ranking[:k]) / min(k, sum(ranking))


def ndcg_at(ranking: Ranking, k: int) -> float:
    best = sum(1 / log2(rank + 1) for rank in range(1, min(k, sum(ranking)) + 1))
    return sum(1 / log2(rank + 1) for rank in ranks(ranking) if rank <= k) / best


def f1(ranking: Ranking, n: int) -> float:
    return 2 * sum(ranking[:n]) / (n + sum(ranking))


def best_cut(scores: Sequence[float], truth: Sequence[bool]) -> int:
    """Return the smallest n whose F1, expected over the orders of equal scores, is the best."""
    values = [
        round(expected(lambda ranking, n=n: f1(ranking, n), scores, truth), 12)  # type: ignore[misc]
        for n in range(len(scores) + 1)
    ]
    return values.index(max(values))


def inverse_propensity(n: int, n_documents: int) -> float:
    a, b = 0.55, 1.5
    c = (log(n_documents) - 1) * (b + 1) ** a
    return 1 + c * (n + b) ** -a


def propensity_precision(
    scores: Sequence[Sequence[float]],
    truth: Sequence[Sequence[bool]],
    weights: Sequence[float],
    k: int,
) -> float:
    """Return Σ weight of the positives in the top k ÷ Σ the most it could be; scores all differ."""
    found = best = 0.0
    for row, positive in zip(scores, truth, strict=True):
        top = sorted(range(len(row)), key=lambda label: -row[label])[:k]
        found += sum(weights[label] for label in top if positive[label])
        mine = [w for w, p in zip(weights, positive, strict=True) if p]
        best += sum(sorted(mine, reverse=True)[:k])
    return found / best


def proportional_for_label(n_label: int, n_train: int, n_test: int) -> int:
    return ceil(Fraction(n_test * n_label, n_train))


def proportional_for_document(sizes: Sequence[int]) -> int:
    return ceil(median(size for size in sizes if size))


# Suggestions --------------------------------------------------------------------------------------


def given_labels(scores: Sequence[float], limit: int | None, threshold: float) -> list[int]:
    """Return the labels that a document is given, the best first and equals in their order."""
    order = sorted(range(len(scores)), key=lambda label: -scores[label])
    return [n for n in order[:limit] if scores[n] > 0 and scores[n] >= threshold]


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def precision_recall_f1(hits: int, n_given: int, n_true: int) -> dict[str, float]:
    precision, recall = share(hits, n_given), share(hits, n_true)
    f1 = share(2 * precision * recall, precision + recall)
    return {"precision": precision, "recall": recall, "f1": f1}


def ndcg_of(given: Sequence[int], true: set[int], k: int | None = None) -> float:
    if not true:
        return 1.0
    ideal = sum(1 / log2(rank + 2) for rank in range(min(len(true), k or len(true))))
    return sum(1 / log2(rank + 2) for rank, n in enumerate(given[:k]) if n in true) / ideal


def suggestion_metrics(
    scores: Sequence[Sequence[float]],
    truth: Sequence[Sequence[bool]],
    limit: int | None,
    threshold: float,
    ks: Sequence[int],
) -> dict[str, float]:
    """Return every measure of suggestions, by sets of labels."""
    given = [given_labels(row, limit, threshold) for row in scores]
    true = [{n for n, is_true in enumerate(row) if is_true} for row in truth]
    pairs = list(zip(given, true, strict=True))
    found: dict[str, float] = {}
    names = ("precision", "recall", "f1")

    def mean_by_document(k: int | None) -> dict[str, float]:
        each = [precision_recall_f1(len(set(g[:k]) & t), len(g[:k]), len(t)) for g, t in pairs]
        return {name: mean(one[name] for one in each) for name in names}

    found |= {f"document_{name}": value for name, value in mean_by_document(None).items()}
    hits = sum(len(set(g) & t) for g, t in pairs)
    together = precision_recall_f1(hits, sum(map(len, given)), sum(map(len, true)))
    found |= {f"micro_{name}": value for name, value in together.items()}
    for k in ks:
        found |= {f"given_{name}@{k}": value for name, value in mean_by_document(k).items()}
        found[f"given_ndcg@{k}"] = mean(ndcg_of(g, t, k) for g, t in pairs)
    found["given_ndcg"] = mean(ndcg_of(g, t) for g, t in pairs)
    by_label = []
    for label in range(len(truth[0])):
        own, support = sum(label in g for g, _ in pairs), sum(label in t for _, t in pairs)
        right = sum(label in g and label in t for g, t in pairs)
        by_label.append((precision_recall_f1(right, own, support), support))
    n_true = sum(support for _, support in by_label)
    for name in names:
        found[f"label_{name}"] = mean(one[name] for one, _ in by_label)
        weighted = sum(one[name] * support for one, support in by_label)
        found[f"weighted_{name}"] = share(weighted, n_true)
    return found
