"""The published values are all there, and they say what the paper says."""

from typing import Any

import pytest

from deplda.evaluation import scorecard
from paper.report.literature import comparisons, paper_values
from paper.report.measures import METRICS, nested

DATA_SETS = ("NYT", "EUR-Lex", "Y! Arts", "Y! Health", "RCV1-v2")
MODELS = {"Vanilla-SVM", "Tuned-SVM", "Dependency-LDA", "Prior-LDA", "Flat-LDA"}


def test_there_are_26_metrics_of_five_models_on_five_data_sets() -> None:
    assert len(METRICS) == 26
    for data in DATA_SETS:
        values = paper_values(data)
        assert set(values) == MODELS
        for row in values.values():
            assert set(row) == set(METRICS)
            for metric, printed in row.items():
                high = {"margin": 1e6, "ranking_loss": 100, "one_error": 100, "is_error": 100}
                assert 0 <= float(printed) <= high.get(metric.name, 1)
    assert paper_values("moon") == {}


def printed_tables(data: str) -> dict[str, Any]:
    return {
        model: nested({metric: float(printed) for metric, printed in row.items()})
        for model, row in paper_values(data).items()
    }


@pytest.mark.parametrize(
    ("data", "dependency", "tuned"),
    [
        ("NYT", 22, 1), ("EUR-Lex", 18, 6), ("Y! Arts", 13, 12), ("Y! Health", 11, 13),
        ("RCV1-v2", 1, 24),
    ],
)  # fmt: skip
def test_the_rows_give_the_win_counts_that_the_paper_claims(
    data: str, dependency: int, tuned: int
) -> None:
    total = scorecard({data: printed_tables(data)}).total(data)
    assert (total["Dependency-LDA"], total["Tuned-SVM"]) == (dependency, tuned)


def test_the_ranking_loss_repeats_the_auc_in_print_too() -> None:
    for data in DATA_SETS:
        for tables in printed_tables(data).values():
            for pivot in ("document", "label"):
                row = tables[pivot]["ranking"]
                assert row["ranking_loss"] == pytest.approx(100 * (1 - row["auc_roc"]), abs=0.2)


def test_every_row_of_another_method_is_whole() -> None:
    found = [c for data in (*DATA_SETS, "EURLEX57K") for c in comparisons(data)]
    assert [(c.data, len(c.rows)) for c in found] == [
        ("EUR-Lex", 9), ("EUR-Lex", 12), ("Y! Arts", 6), ("Y! Health", 6), ("RCV1-v2", 10),
        ("EURLEX57K", 1),
    ]  # fmt: skip
    for comparison in found:
        for row in comparison.rows.values():
            assert len(row.split()) == len(comparison.columns)
