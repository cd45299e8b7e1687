"""The description of the data of a preset."""

import numpy as np
from msgspec import structs

from deplda import Corpus
from deplda.data.datasets import Dataset
from deplda.data.splits import Split
from paper.results import describe_for_paper
from paper.tests.report.folders import experiment


def test_distributions_are_those_of_the_training_part() -> None:
    labels = [[1, 0, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1]]
    corpus = Corpus([[2, 1], [0, 3], [1, 1], [5, 0]], labels, ["a", "b"], ["x", "y", "z"])
    data = Dataset("tiny", corpus, (Split(np.arange(3), np.array([3])),))
    facts = describe_for_paper(data, experiment(), 0)
    assert facts.labels_by_frequency == [(1, 1), (3, 1)]
    assert facts.documents_by_labels == [(1, 2), (2, 1)]
    assert facts.shown_labels == {"x": 3, "y": 1}
    assert facts.n_training_words == 2
    fewer = structs.replace(experiment(), min_count=4)
    assert describe_for_paper(data, fewer, 0).n_training_words == 1
