"""φ′: distributions over labels, what is true recovered, the same bits."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from deplda import Corpus, InputError, Schedule, prior_topic_labels, train_topic_labels
from tests.drawn_news import drawn_news
from tests.training.worlds import small


def test_phi_prime_sums_to_one_and_every_set_is_kept() -> None:
    trained = train_topic_labels(small(), 3, n_chains=2, schedule=Schedule(10, n_samples=3, lag=2))
    assert len(trained.topic_labels) == 6
    for topic_labels in trained.topic_labels:
        assert topic_labels.shape == (6, 3)
        assert topic_labels.dense().sum(axis=0) == pytest.approx(1)
        assert (topic_labels.dense() > 0).all()


def test_the_prior_phi_prime_is_label_frequency() -> None:
    corpus = Corpus(np.ones((3, 1)), [[1, 0, 0], [1, 1, 0], [1, 0, 0]])
    phi = prior_topic_labels(corpus, beta=0.5)
    assert phi.shape == (3, 1)
    assert phi.dense().ravel() == pytest.approx((np.array([3, 1, 0]) + 0.5) / 5.5)


def test_phi_prime_is_recovered_from_news_that_was_drawn_from_it() -> None:
    news = drawn_news(1_200, seed=4)
    trained = train_topic_labels(
        news.corpus, 16, gamma=0.05, beta=0.05, n_chains=1, schedule=Schedule(200)
    )
    found, true = trained.topic_labels[0].dense(), news.topic_labels
    overlap = np.minimum(found[:, :, None], true[:, None, :]).sum(axis=0)
    rows, columns = linear_sum_assignment(-overlap)
    assert np.median(overlap[rows, columns]) > 0.6


def test_same_seed_same_topics_for_any_number_of_workers() -> None:
    runs = [
        train_topic_labels(small(), 4, n_chains=3, schedule=Schedule(20), seed=1, n_jobs=n)
        for n in (1, 3)
    ]
    for one, other in zip(runs[0].topic_labels, runs[1].topic_labels, strict=True):
        assert one.dense().tobytes() == other.dense().tobytes()


def test_more_topics_than_label_tokens_leave_topics_that_hold_all_labels_alike() -> None:
    corpus = Corpus([[1]], [[1, 1, 0]])
    phi = train_topic_labels(corpus, 50, schedule=Schedule(5)).topic_labels[0].dense()
    assert phi.sum(axis=0) == pytest.approx(1)
    assert sum(np.allclose(column, 1 / 3) for column in phi.T) >= 48


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": 0.0}, "gamma is 0.0"),
        ({"beta": float("nan")}, "beta is nan"),
        ({"n_topics": 0}, "n_topics is 0"),
        ({"n_topics": 70_000}, "from 1 to 65,535"),
    ],
)
def test_bad_parameters_of_topics_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        train_topic_labels(small(), **{"n_topics": 2, **options})
