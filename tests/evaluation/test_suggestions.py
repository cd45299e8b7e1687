"""Suggestions, measured as users of Annif know it."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics import precision_recall_fscore_support

from deplda import InputError
from deplda.evaluation import suggestion_metrics, suggestions
from deplda.evaluation.suggestions import SUBJECT_COLUMNS, subject_lines
from tests.evaluation import naive_evaluation as naive
from tests.evaluation.cases import Matrix, random_case, shown, tied_cases


def case(n_documents: int = 60, n_labels: int = 9) -> tuple[Matrix, Matrix]:
    """Return probabilities, of which many are 0, and a truth; some documents have none of both."""
    scores, truth, _ = random_case(n_documents, n_labels)
    chances = np.clip(scores / 3, 0, 1)
    chances[3] = truth[3] = truth[4] = False
    truth[:, -1] = False  # a label that no document has
    return chances, truth


@given(tied_cases(), st.one_of(st.none(), st.integers(1, 6)), st.integers(0, 3))
def test_every_measure_is_that_of_sets_of_labels(
    some: tuple[Matrix, Matrix], limit: int | None, step: int
) -> None:
    scores, truth = some
    scores, threshold, ks = scores / 3, step / 3, (1, 2, 5)
    found = suggestion_metrics(scores, truth, limit=limit, threshold=threshold, ks=ks)
    expected = naive.suggestion_metrics(scores.tolist(), truth.tolist(), limit, threshold, ks)
    assert {name: found[name] for name in found} == pytest.approx(expected)
    told = found.to_dict()
    hits = sum(
        len(set(naive.given_labels(row, limit, threshold)) & set(np.flatnonzero(true)))
        for row, true in zip(scores.tolist(), truth, strict=True)
    )
    assert (told["true_positives"], told["documents"]) == (hits, len(truth))
    assert told["true_positives"] + told["false_positives"] == found.n_given
    assert told["true_positives"] + told["false_negatives"] == found.n_true == truth.sum()


@pytest.mark.parametrize(
    ("ours", "average"),
    [("document", "samples"), ("label", "macro"), ("weighted", "weighted"), ("micro", "micro")],
)
def test_scikit_learn_agrees_where_zero_divisions_are_zero(ours: str, average: Any) -> None:
    chances, truth = case()
    found = suggestion_metrics(chances, truth, threshold=0.2)
    theirs = precision_recall_fscore_support(
        truth, chances >= 0.2, average=average, zero_division=0
    )
    for name, value in zip(("precision", "recall", "f1"), theirs[:3], strict=True):
        assert found[f"{ours}_{name}"] == pytest.approx(value), name


def test_a_document_without_labels_counts_nothing_but_in_ndcg_where_it_is_perfect() -> None:
    found = suggestion_metrics([[0.5, 0.0], [0.9, 0.0]], [[0, 0], [1, 0]])
    assert found["document_f1"] == found["document_precision"] == 0.5
    assert found["given_ndcg"] == found["given_ndcg@1"] == 1


def test_precision_of_the_first_k_is_of_those_that_were_given() -> None:
    found = suggestion_metrics([[0.9, 0.0, 0.0]], [[1, 1, 0]], ks=(2,))
    assert (found["given_precision@2"], found["given_recall@2"]) == (1, 0.5)
    assert found["given_ndcg@2"] == pytest.approx(1 / (1 + 1 / np.log2(3)))


def test_scores_may_be_dense_sparse_or_the_top_k(monkeypatch: pytest.MonkeyPatch) -> None:
    chances, truth = case()
    expected = suggestion_metrics(chances, truth, limit=3).to_dict()
    assert suggestion_metrics(csr_array(chances), csr_array(truth), limit=3).to_dict() == expected
    labels = np.argsort(-chances, axis=1, kind="stable")[:, :3]
    top = labels, np.take_along_axis(chances, labels, axis=1)
    assert suggestion_metrics(top, truth, limit=3).to_dict() == expected
    monkeypatch.setattr(suggestions, "BLOCK", 20)  # two documents at a time
    assert suggestion_metrics(chances, truth, limit=3).to_dict() == expected


def test_intervals_are_of_documents_or_of_labels_and_hold_the_value() -> None:
    found = suggestion_metrics(*case(), limit=2)
    for name in ("document_f1", "micro_recall", "label_f1", "given_ndcg@5"):
        value, low, high = found.interval(name, seed=1)
        assert low < value == found[name] < high
        assert found.interval(name, seed=1) == (value, low, high)


def test_the_table_by_subject_has_every_label_and_adds_up() -> None:
    chances, truth = case()
    counts = suggestion_metrics(chances, truth, limit=2).labels
    uris = [f"http://example.org/{n}" for n in range(truth.shape[1])]
    heading, *rows = subject_lines(counts, uris, ["a\tname\nof two lines", *uris[1:]])
    assert heading.split("\t") == list(SUBJECT_COLUMNS)
    cells = [row.split("\t") for row in rows]
    assert cells[0][:2] == [uris[0], "a name of two lines"]
    assert [row[0] for row in cells] == uris
    for row, own in zip(cells, truth.T, strict=True):
        support, right, wrong, missed = map(int, row[2:6])
        precision, recall, f1 = map(float, row[6:])
        assert support == right + missed == own.sum()
        expected = naive.precision_recall_f1(right, right + wrong, support)
        assert [precision, recall, f1] == pytest.approx(list(expected.values()))
    assert cells[-1][2:4] == ["0", "0"]


def test_what_is_shown_has_all_averages_and_counts() -> None:
    found = suggestion_metrics([[0.5, 0.9, 0.0]], [[1, 0, 1]], ks=(1,))
    text = shown(found)
    assert "1 label right, 1 wrong, 1 not found" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["precision", "│", "0.5", "│", "0.5", "│", "0.3333", "│", "0.5"] in lines
    assert ["ndcg", "│", "0"] in lines


def test_what_cannot_be_is_refused() -> None:
    chances, truth = case()
    for options, message in (
        ({"limit": 0}, "limit is 0"),
        ({"threshold": -0.1}, "threshold is -0.1; it must be a number from 0"),
        ({"threshold": float("nan")}, "threshold is nan"),
        ({"ks": (0,)}, "ks is 0"),
    ):
        with pytest.raises(InputError, match=message):
            suggestion_metrics(chances, truth, **options)
    with pytest.raises(InputError, match="a score is -1; suggestions have scores from 0"):
        suggestion_metrics(-np.ones((1, 2)), [[1, 0]])
