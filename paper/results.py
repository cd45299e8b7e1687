"""Folders of results of the reproduction: those of a comparison, with more fields."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from deplda.comparison.comparison import Comparison
from deplda.comparison.facts import describe_data
from deplda.comparison.results import Count, DataFacts, Head, Results, read_results
from deplda.comparison.unit import parts_of
from deplda.data.datasets import Dataset
from deplda.data.files import StrPath
from paper.protocol import Budget, Experiment
from paper.shown import telling_labels


class PaperHead(Head, frozen=True, kw_only=True):
    """The head of a run of a preset."""

    experiment: Experiment
    budget: Budget | None = None
    """Of deplda 1.0.0, which did not keep it with the experiment."""


class PaperFacts(DataFacts, frozen=True, kw_only=True):
    """The data of a preset, described."""

    n_training_words: int
    labels_by_frequency: list[tuple[Count, Count]]
    """(training documents, labels that have so many)."""
    documents_by_labels: list[tuple[Count, Count]]
    """(labels, training documents that have so many)."""
    shown_labels: dict[str, int]
    """Training documents of the labels whose words are shown."""


def read_paper_results(folder: StrPath) -> Results:
    """Return the results of a run of a preset."""
    return read_results(Path(folder), PaperHead, PaperFacts)


def describe_for_paper(data: Dataset, comparison: Comparison, split: int) -> PaperFacts:
    """Return the description of the data, with distributions in a split's training part."""
    train, _ = parts_of(data, split, comparison.min_count)
    counts = dict(zip(train.label_names, train.label_counts.tolist(), strict=True))
    return PaperFacts(
        **msgspec.structs.asdict(describe_data(data, comparison, split)),
        n_training_words=int(np.count_nonzero(train.word_counts)),
        labels_by_frequency=_histogram(train.label_counts[train.label_counts > 0]),
        documents_by_labels=_histogram(train.labels_per_document),
        shown_labels={name: counts[name] for name in telling_labels(train)},
    )


def _histogram(values: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    found, times = np.unique(values, return_counts=True)
    return list(zip(found.tolist(), times.tolist(), strict=True))
