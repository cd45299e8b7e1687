"""What a report says of an experiment's data, kept beside its results: the data may be far away."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deplda.data.datasets import Dataset
from deplda.data.statistics import describe
from deplda.experiments.protocol import Experiment
from deplda.experiments.results import DataFacts
from deplda.experiments.unit import telling_labels


def data_facts(data: Dataset, experiment: Experiment, split: int) -> DataFacts:
    """Return the statistics of the corpus, and the distributions in a split's training part."""
    part = data.splits[split]
    train = data.corpus[part.train].keep_words(experiment.min_count)
    counts = dict(zip(train.label_names, train.label_counts.tolist(), strict=True))
    return DataFacts(
        statistics=describe(data.corpus).to_dict(),
        split=split,
        n_train=len(part.train),
        n_test=len(part.test),
        n_training_words=int(np.count_nonzero(train.word_counts)),
        labels_by_frequency=_histogram(train.label_counts[train.label_counts > 0]),
        documents_by_labels=_histogram(train.labels_per_document),
        shown_labels={name: counts[name] for name in telling_labels(train)},
    )


def _histogram(values: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return each value with how often it occurs, ascending."""
    found, times = np.unique(values, return_counts=True)
    return list(zip(found.tolist(), times.tolist(), strict=True))
