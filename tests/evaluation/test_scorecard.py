"""On how many metrics a model is best."""

import pytest

from deplda import InputError
from deplda.evaluation import scorecard


def ranking(**values: float) -> dict[str, dict[str, dict[str, float]]]:
    return {"document": {"ranking": values}}


def test_ties_share_a_win_and_errors_are_best_when_low() -> None:
    card = scorecard(
        {
            "news": {
                "a": ranking(auc_roc=0.9512, one_error=20.0, margin=float("nan")),
                "b": ranking(auc_roc=0.9508, one_error=19.0, margin=float("nan")),
                "c": ranking(auc_roc=0.9400, one_error=25.0, margin=float("nan")),
            }
        }
    )
    key = ("news", "document", "ranking")
    assert card.counts[key] == {"a": 1, "b": 2, "c": 0}
    assert card.n_metrics[key] == 3
    assert card.to_dict()["news"]["document"]["ranking"] == {"a": 1, "b": 2, "c": 0}
    exact = scorecard(
        {"x": {"a": ranking(auc_roc=0.9512), "b": ranking(auc_roc=0.9508)}}, digits=None
    )
    assert exact.total("x") == {"a": 1, "b": 0}


def test_a_scorecard_needs_the_same_models_everywhere() -> None:
    with pytest.raises(InputError, match="'two' has the models b, the first has a"):
        scorecard({"one": {"a": ranking()}, "two": {"b": ranking()}})
