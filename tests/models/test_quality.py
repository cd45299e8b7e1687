"""What a model reached on documents held out."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda.models.quality import (
    FrequencyBand,
    LabelQuality,
    by_frequency,
    held_out_in_words,
    held_out_quality,
)

TRUTH = np.array([[1, 0, 0, 1], [0, 1, 0, 0]])
SCORES = np.array([[4.0, 3.0, 1.0, 2.0], [1.0, 2.0, 3.0, 0.5]])


TRAINED = np.array([9, 2, 3, 6])


def figures(scores: Any, truth: Any) -> dict[str, float]:
    return held_out_quality(scores, truth, TRAINED).figures


def test_means_are_over_documents_that_have_labels() -> None:
    found = figures(np.vstack([SCORES, SCORES[:1]]), np.vstack([TRUTH, [[0] * 4]]))
    assert found["documents"] == 2
    assert found["average_precision"] == pytest.approx(((1 + 2 / 3) / 2 + 1 / 2) / 2)
    assert found["one_error"] == pytest.approx(50)


def test_candidates_alone_are_enough() -> None:
    listed = csr_array(np.where(SCORES >= 2, SCORES, 0))
    assert figures(listed, TRUTH)["one_error"] == pytest.approx(50)


def test_documents_without_labels_tell_nothing() -> None:
    assert held_out_quality(SCORES, np.zeros_like(TRUTH), TRAINED) == ({}, None)


@pytest.mark.parametrize("form", [np.array, csr_array], ids=["array", "sparse"])
def test_labels_are_judged_by_how_they_rank_documents(form: Any) -> None:
    scores = np.array([[3.0, 1.0, 2.0], [2.0, 4.0, 1.0], [1.0, 3.0, 3.0], [4.0, 2.0, 4.0]])
    truth = np.array([[1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]])
    figures, labels = held_out_quality(form(scores), truth, np.array([8, 5, 7]))
    assert labels is not None
    assert labels.documents.tolist() == [2, 1, 0]
    # Of the first label, ranks 2 and 4; of the second, 4; the third is not measured.
    assert labels.average_precision.tolist() == pytest.approx([(1 / 2 + 2 / 4) / 2, 1 / 4, 0])
    assert (figures["labels"], figures["rare_labels"]) == (2, 1)
    assert figures["label_average_precision"] == pytest.approx(3 / 8)
    assert figures["rare_label_average_precision"] == pytest.approx(1 / 4)


def test_documents_that_cannot_be_judged_are_counted() -> None:
    scores, truth = np.tile(SCORES, (2, 1)), np.vstack([TRUTH, np.zeros_like(TRUTH)])
    figures = held_out_quality(scores, truth, TRAINED).figures
    more = "2 more have no label that other documents have"
    assert held_out_in_words(figures, 4) == f"2 training documents held out ({more})"
    assert held_out_in_words(figures, 1000) == f"2 training documents held out (of 1,000; {more})"
    del figures["documents_held_out"]  # of an older model
    assert held_out_in_words(figures, 2) == "2 training documents held out"


def test_labels_are_judged_by_what_was_taught_of_them() -> None:
    taught = TRUTH * np.array([1, 0, 1, 1])  # the second label is of no other document
    figures, labels = held_out_quality(SCORES, TRUTH, TRAINED, taught)
    assert figures["documents"] == 2
    assert labels is not None
    assert labels.documents.tolist() == [1, 0, 0, 1]


def test_without_rare_labels_there_is_no_mean_of_them() -> None:
    found = held_out_quality(SCORES, TRUTH, np.full(4, 6)).figures
    assert found["rare_labels"] == 0
    assert "rare_label_average_precision" not in found


def test_labels_are_grouped_by_their_training_documents() -> None:
    n_trained = np.array([0, 1, 1, 4, 5, 30, 40, 700])
    quality = LabelQuality(
        np.array([0, 1, 0, 2, 1, 3, 3, 9]), np.array([0, 0.5, 0, 0.2, 0.4, 0.6, 0.8, 0.9])
    )
    once, few, some, many = by_frequency(n_trained, quality)
    assert once == FrequencyBand(1, 1, 2, 1, 0.5, 0.5, 0.5)
    assert (few.least, few.most, few.n_labels, few.n_measured) == (4, 5, 2, 2)
    assert (few.average_precision, few.lower, few.upper) == pytest.approx((0.3, 0.25, 0.35))
    assert (some.least, some.most) == (30, 40)
    assert some.average_precision == pytest.approx(0.7)
    assert (many.least, many.n_labels, many.average_precision) == (700, 1, 0.9)


def test_labels_that_no_document_held_out_has_are_counted_but_not_measured() -> None:
    (band,) = by_frequency(np.array([1, 1]), LabelQuality(np.zeros(2, int), np.zeros(2)))
    assert band == FrequencyBand(1, 1, 2, 0, None, None, None)
    assert by_frequency(np.array([1, 1]), None) == []
