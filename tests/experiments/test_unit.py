"""One unit: the same metrics however it is run, and labels worth showing."""

import numpy as np

from deplda import Corpus
from deplda.experiments.protocol import Experiment
from deplda.experiments.unit import Task, run_unit, telling_labels


def test_a_unit_gives_the_same_metrics_for_any_number_of_threads(small: Experiment) -> None:
    one, two = (
        run_unit(Task(small, "Dependency (few)", 0, "quick", n_jobs=n))["metrics"] for n in (1, 2)
    )
    assert one == two


def test_labels_that_tell_are_frequent_of_middling_frequency_and_of_one_document() -> None:
    labels = np.arange(6)[:, None] < [6, 5, 4, 3, 2, 1, 0]
    names = ["most", "many", "more", "some", "few", "one", "none"]
    train = Corpus(np.ones((6, 1)), labels, None, names)
    assert telling_labels(train) == ["most", "many", "some", "few", "one"]
