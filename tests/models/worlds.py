"""Small corpora and quick models, for the tests of the models."""

from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from deplda import Corpus, DependencyLDA, FlatLDA, PriorLDA, WordCounter
from deplda.models.topic_model import TopicModel
from tests.drawn_news import DrawnNews, drawn_news

MODELS = [FlatLDA, PriorLDA, DependencyLDA]
EXPECTED_FAILED_CHECKS = {
    "check_decision_proba_consistency": "it passes negative numbers, which no counts are",
    "check_supervised_y_2d": "a column of classes is a matrix, which must hold 0 and 1 only",
    "check_classifiers_multilabel_representation_invariance": (
        "a list of lists is label lists, also if it holds 0 and 1 only"
    ),
    **dict.fromkeys(
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        "it compares probabilities: which documents are held out for them, and whether a copy of "
        "one is learned from, depends on how many there are (test_lesson.py compares the rest)",
    ),
}
"""Checks of scikit-learn that no model passes, and why."""
Model = type[TopicModel]


def quick(model: Model, **others: Any) -> TopicModel:
    few: Any = {"n_topic_chains": 2, "n_topic_sweeps": 20} if model is DependencyLDA else {}
    return model(**few, **others)


@cache
def news() -> Corpus:
    return drawn_news(300).corpus


def label_lists(corpus: Corpus) -> list[list[str]]:
    names, labels = corpus.label_names, corpus.labels
    return [
        [names[c] for c in labels.indices[labels.indptr[d] : labels.indptr[d + 1]]]
        for d in range(len(corpus))
    ]


def same_learned(left: Any, right: Any) -> bool:
    pairs = [(left.label_words_, right.label_words_)]
    pairs += zip(left.topic_labels_, right.topic_labels_, strict=True)
    return all(
        (a.weights != b.weights).nnz == 0 and np.array_equal(a.base, b.base) for a, b in pairs
    )


TEXTS = [
    "The pitcher threw strikes in the ninth inning",
    "A doctor treats patients in the hospital",
    "The league suspended the pitcher over a doctor's steroids",
    "Hospital patients wait for the doctor",
]
TOPICS = [["sports"], ["health"], ["sports", "health"], ["health"]]


def counted() -> tuple[WordCounter, Any]:
    counter = WordCounter(language=None)
    return counter, counter.fit_transform(TEXTS)


@cache
def newsroom() -> DrawnNews:
    return drawn_news(1000)


@cache
def trained(model: type[TopicModel]) -> TopicModel:
    few: Any = {"n_topic_chains": 4} if model is DependencyLDA else {}
    return model(**few).fit(newsroom().corpus)


def pairs(n: int, seed: int) -> Corpus:
    """Return short documents of 12 labels, which come in pairs, among many words of no meaning."""
    rng = np.random.default_rng(seed)
    labels = np.zeros((n, 12), dtype=bool)
    met = rng.random((n, 6)) < 0.2
    labels[:, ::2] = met & (rng.random((n, 6)) < 0.9)
    labels[:, 1::2] = met & (rng.random((n, 6)) < 0.7)
    rates = np.full((n, 150), 0.15)
    for label in range(12):
        rates[:, label * 6 : label * 6 + 6] += 0.35 * labels[:, [label]]
    return Corpus(csr_array(rng.poisson(rates)), csr_array(labels))
