"""What a report says of an experiment's data, kept beside its results: the data may be far away."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deplda.data.datasets import Dataset
from deplda.data.statistics import describe
from deplda.data.text import WordCounter
from deplda.experiments.protocol import Experiment
from deplda.experiments.results import DataFacts, TextOfOne
from deplda.experiments.shown import shown_row, telling_labels
from deplda.experiments.unit import parts_of

_MOST_CHARACTERS = 6_000
"""Of a document that is explained; of a longer one the beginning is shown."""


def data_facts(data: Dataset, experiment: Experiment, split: int) -> DataFacts:
    """Return the statistics of the corpus, and the distributions in a split's training part."""
    part = data.splits[split]
    train, test = parts_of(data, experiment, split)
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
        generated=data.generated,
        document=_shown_text(data, int(part.test[shown_row(test)])),
    )


def _shown_text(data: Dataset, row: int) -> TextOfOne | None:
    """Return the text of a document, long ones in part, if the data set has texts."""
    if not data.texts:
        return None
    # Where nothing is said of the counter, words are counted as they are written.
    counter = data.counter or WordCounter(stop_words=None).with_words(data.corpus.vocabulary)
    text = data.texts[row]
    end = len(text)
    if end > _MOST_CHARACTERS:
        end = max(text.rfind(" ", 0, _MOST_CHARACTERS), _MOST_CHARACTERS // 2)
    spans = [span for span in counter.spans(text[:end]) if span[1] <= end]
    return TextOfOne(data.corpus.ids[row], text[:end], spans, end == len(text))


def _histogram(values: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return each value with how often it occurs, ascending."""
    found, times = np.unique(values, return_counts=True)
    return list(zip(found.tolist(), times.tolist(), strict=True))
