"""φ and φ′ laid out: the background, and what does not fit together."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import InputError
from deplda.inference import layout
from deplda.inference.layout import Tables
from deplda.training.estimates import LabelWords, TopicLabels


def test_the_prior_of_the_other_labels_is_as_without_a_background() -> None:
    rng = np.random.default_rng(0)
    topics = TopicLabels(csr_array(rng.dirichlet(np.ones(6), 3).T * 0.94), np.full(3, 0.01))
    phi = LabelWords(csr_array((4, 7)), np.full(7, 0.25))
    theta = rng.dirichlet(np.ones(3), 2)
    plain = Tables(LabelWords(csr_array((4, 6)), np.full(6, 0.25)), [topics])
    shared = Tables(phi, [topics], background=0.3)
    expected = plain.mean_prior(theta, 70.0, 0.5)
    found = shared.mean_prior(theta, 70.0 / 0.7, 0.5)
    np.testing.assert_allclose(found[:, :6], expected)
    np.testing.assert_allclose(found[:, 6], 0.5 + 70.0 * 0.3 / 0.7)


def test_labels_must_be_those_of_the_topics() -> None:
    label_words = LabelWords(csr_array((4, 1)), np.full(1, 0.25))
    with pytest.raises(InputError, match="φ knows 1 labels but φ′ 3"):
        Tables(label_words, [TopicLabels(csr_array((3, 1)), np.full(1, 1 / 3))])


def test_tables_travel_as_their_estimates_and_are_laid_out_again() -> None:
    rng = np.random.default_rng(0)
    phi = LabelWords(csr_array(rng.dirichlet(np.ones(4), 7).T * 0.96), np.full(7, 0.01))
    topics = TopicLabels(csr_array(rng.dirichlet(np.ones(6), 3).T * 0.94), np.full(3, 0.01))
    tables = Tables(phi, [topics], background=0.3)
    again = pickle.loads(pickle.dumps(tables))  # noqa: S301
    assert (again.n_labels, again.n_ranked) == (7, 6)
    for one, other in ((tables.words, again.words), (tables.sets, again.sets)):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("part", [1, 3, 1 << 20])
def test_totals_of_words_are_the_last_of_their_running_sums(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "_PART", part)
    rng = np.random.default_rng(0)
    values = np.where(rng.random((9, 6)) < 0.4, rng.random((9, 6)), 0.0)
    values[[0, 4, 5, 8]] = 0.0
    weights = csr_array(values)
    tables = Tables(LabelWords(weights, np.full(6, 0.01)), [])
    words = tables.words
    for row in range(9):
        own = words.row_sums[words.row_starts[row] : words.row_starts[row + 1]]
        assert words.row_totals[row] == (own[-1] if len(own) else 0.0)
    assert not tables.expected_words.row_sums.size
    tables.forget()
    assert all(np.array_equal(a, b) for a, b in zip(tables.words, words, strict=True))
