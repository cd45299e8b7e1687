"""What a model reached on documents held out."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda.models.quality import held_out_quality

TRUTH = np.array([[1, 0, 0, 1], [0, 1, 0, 0]])
SCORES = np.array([[4.0, 3.0, 1.0, 2.0], [1.0, 2.0, 3.0, 0.5]])


def test_means_are_over_documents_that_have_labels() -> None:
    found = held_out_quality(np.vstack([SCORES, SCORES[:1]]), np.vstack([TRUTH, [[0] * 4]]))
    assert found["documents"] == 2
    assert found["average_precision"] == pytest.approx(((1 + 2 / 3) / 2 + 1 / 2) / 2)
    assert found["one_error"] == pytest.approx(50)


def test_candidates_alone_are_enough() -> None:
    listed = csr_array(np.where(SCORES >= 2, SCORES, 0))
    assert held_out_quality(listed, TRUTH)["one_error"] == pytest.approx(50)


def test_documents_without_labels_tell_nothing() -> None:
    assert held_out_quality(SCORES, np.zeros_like(TRUTH)) == {}
