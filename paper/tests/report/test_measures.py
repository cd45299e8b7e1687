"""The metrics are the paper's."""

from paper.report.measures import BY_LABEL, METRICS, TABLES


def test_all_26_metrics_are_those_of_the_paper() -> None:
    assert [metric.short_title for metric in TABLES["document", "ranking"]] == [
        "AUC-PR", "AUC-ROC", "Avg-Prec", "Rank-Loss", "One-Err", "Is-Err", "Margin",
    ]  # fmt: skip
    assert TABLES["label", "binary"][2].short_title == "Calibrated macro-F1"
    assert BY_LABEL in METRICS
