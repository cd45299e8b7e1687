"""Time and memory of all metrics, both pivots, beside scikit-learn's few, in the same run.

Run: ``python -m benchmarks.evaluation``. Scores are random, of the shape of a fold of eurlex20k and
of the paper's RCV1-v2; as many labels per document, frequencies like 1/rank.
"""

import tracemalloc
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.sparse import csr_array
from sklearn import metrics

from benchmarks.common import Row, cpu_seconds
from deplda.evaluation import evaluate

SHAPES = {  # documents, labels, labels of a document, training documents, CPU seconds allowed
    "eurlex20k": (1_935, 3_800, 5, 17_413, 5),
    "RCV1-v2": (75_000, 101, 3, 23_149, 10),
}


def random_labels(
    rng: np.random.Generator, n_documents: int, n_labels: int, size: int
) -> csr_array[Any, tuple[int, int]]:
    rates = 1 / np.arange(5, n_labels + 5)
    columns = rng.choice(n_labels, size=(n_documents, size), p=rates / rates.sum())
    labels = np.zeros((n_documents, n_labels), dtype=bool)
    np.put_along_axis(labels, columns, True, axis=1)
    labels[np.arange(n_labels) % n_documents, np.arange(n_labels)] = True  # each has a document
    return csr_array(labels)


def peers(scores: Any, truth: Any) -> dict[str, Callable[[], object]]:
    """Return scikit-learn's metrics that are among ours; documents first, then labels."""
    return {
        "label_ranking_average_precision_score": lambda: (
            metrics.label_ranking_average_precision_score(truth, scores)
        ),
        "label_ranking_loss": lambda: metrics.label_ranking_loss(truth, scores),
        "coverage_error": lambda: metrics.coverage_error(truth, scores),
        "ndcg_score, k=5, ties ignored": lambda: metrics.ndcg_score(
            truth, scores, k=5, ignore_ties=True
        ),
        "average_precision_score by label": lambda: metrics.average_precision_score(truth, scores),
        "roc_auc_score by label": lambda: metrics.roc_auc_score(truth, scores),
    }


def random_data(name: str) -> tuple[Any, Any, Any]:
    """Return scores, truth and training labels of a shape."""
    n_documents, n_labels, size, n_train, _ = SHAPES[name]
    rng = np.random.default_rng(0)
    truth = random_labels(rng, n_documents, n_labels, size)
    train = random_labels(rng, n_train, n_labels, size)
    return 2 * truth.toarray() + rng.normal(size=truth.shape), truth, train


def rows(names: Iterable[str]) -> list[Row]:
    """Return the time of all our metrics beside that of six of scikit-learn's."""
    found = []
    for name in names:
        scores, truth, train = random_data(name)
        evaluate(scores[:50], truth[:50], train)  # what is loaded once is not measured
        ours = cpu_seconds(lambda: evaluate(scores, truth, train))  # noqa: B023
        six = sum(cpu_seconds(call) for call in peers(scores, truth.toarray()).values())
        what = f"evaluation, {scores.shape[0]:,} × {scores.shape[1]:,}: all metrics, both pivots"
        found.append(Row(what, ours, "scikit-learn, six metrics, one pivot each", six, "s", "less"))
    return found


def measure(name: str) -> Table:
    n_documents, n_labels, _, _, allowed = SHAPES[name]
    scores, truth, train = random_data(name)
    dense = truth.toarray()
    top = np.argsort(-scores, axis=1)[:, :20]
    pair = (top, np.take_along_axis(scores, top, axis=1))
    found = evaluate(scores, truth, train)
    rows = {
        "all metrics, both pivots": lambda: evaluate(scores, truth, train),
        "… scores rounded, so that many tie": lambda: evaluate(np.round(scores, 1), truth, train),
        '… ties="order"': lambda: evaluate(scores, truth, train, ties="order"),
        "… the top 20 only": lambda: evaluate(pair, truth, train),
        "1,000 resamples of every metric by document": lambda: found.document.intervals(),
    }
    ours = {row: cpu_seconds(function) for row, function in rows.items()}
    theirs = {
        f"scikit-learn {row}": cpu_seconds(call) for row, call in peers(scores, dense).items()
    }
    theirs["scikit-learn, these six"] = sum(theirs.values())
    tracemalloc.start()
    evaluate(scores, truth, train)
    peak = tracemalloc.get_traced_memory()[1] / scores.nbytes
    tracemalloc.stop()
    whole = ours["all metrics, both pivots"]
    title = (
        f"{name}: {n_documents:,} × {n_labels:,}; "
        f"peak {peak:.1f} × the scores' memory; allowed {allowed} s"
    )
    table = Table("what", title=title)
    for column in ("CPU s", "÷ all metrics"):
        table.add_column(column, justify="right")
    for row, seconds in (ours | theirs).items():
        table.add_row(row, f"{seconds:.2f}", f"{seconds / whole:.1f}")
    return table


def main() -> None:
    for name in SHAPES:
        Console().print(measure(name))


if __name__ == "__main__":
    main()
