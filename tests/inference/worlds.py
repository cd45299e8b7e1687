"""φ and φ′ of the three models, and the weights they are used with."""

from typing import Any

from deplda import Corpus, Schedule, expect_label_words, prior_topic_labels, train_topic_labels
from deplda.inference.layout import Tables

MODELS: dict[str, dict[str, Any]] = {
    "dependency": {"eta": 100.0, "alpha": 10.0, "gamma": 1.0},
    "prior": {"eta": 70.0, "alpha": 30.0, "gamma": 1.0},
    "flat": {"eta": 0.0, "alpha": 100.0, "gamma": 1.0},
}


News = tuple[dict[str, Tables], Corpus]


def tables_of(train: Corpus, n_topics: int, beta: float, prior_beta: float) -> dict[str, Tables]:
    label_words = expect_label_words(train).label_words
    topics = train_topic_labels(
        train, n_topics, beta=beta, n_chains=3, schedule=Schedule(200)
    ).topic_labels
    return {
        "dependency": Tables(label_words, topics),
        "prior": Tables(label_words, [prior_topic_labels(train, beta=prior_beta)]),
        "flat": Tables(label_words, []),
    }
