"""Scores and truth as they come in."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import InputError
from deplda.evaluation import rank_metrics


def test_a_top_k_may_be_shorter_for_some_documents() -> None:
    truth = [[1, 0, 0], [0, 1, 0]]
    pair = (np.array([[0, 2], [2, -1]]), np.array([[0.9, 0.5], [0.7, 0.0]]))
    found = rank_metrics(pair, truth, ks=[1])
    assert found["precision@1"].tolist() == [1, 0]
    assert found["coverage"].tolist() == [1, 2.5]


@pytest.mark.parametrize(
    ("scores", "truth", "options", "message"),
    [
        ([[1.0, 2.0]], [[1, 0, 0]], {}, "scores are 1 × 2 but the truth is 1 × 3"),
        ([[1.0, np.nan]], [[1, 0]], {}, "score of label 1 for document 0 is NaN"),
        (csr_array([[0, np.nan]]), [[1, 0]], {}, "score of label 1 for document 0 is NaN"),
        (np.zeros((0, 3)), np.zeros((0, 3)), {}, "truth has 0 documents and 3 labels"),
        ([[1.0]], [[0.5]], {}, "truth holds the value 0.5"),
        ([1.0, 2.0], [[1, 0]], {}, "scores must have two dimensions"),
        ([[1.0, 2.0], [1.0]], [[1, 0]], {}, "scores must have two dimensions"),
        ([["a", "b"]], [[1, 0]], {}, "scores are of type"),
        ([[1.0, 2.0]], [["a", "b"]], {}, "truth is of type"),
        ([[1.0, 2.0]], [[1, 0]], {"ks": [0]}, "ks is 0"),
        ([[1.0, 2.0]], [[1, 0]], {"ks": [1.5]}, r"ks is 1\.5"),
        ([[1.0, 2.0]], [[1, 0]], {"pivot": "row"}, "pivot is 'row'"),
        ([[1.0, 2.0]], [[1, 0]], {"ties": "luck"}, "ties is 'luck'"),
        (([[0, 1]], [[1.0]]), [[1, 0]], {}, "both must be documents × k"),
        (([[0, 2]], [[1.0, 0.5]]), [[1, 0]], {}, "must be whole numbers from 0 to 1"),
        (([[0.5]], [[1.0]]), [[1, 0]], {}, "must be whole numbers"),
        (([[1, 1]], [[1.0, 0.5]]), [[1, 0]], {}, "document 0 has label 1 twice"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_with_a_reason(
    scores: object, truth: object, options: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        rank_metrics(scores, truth, **options)  # type: ignore[arg-type]
