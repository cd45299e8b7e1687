"""What the hybrid learns from shards: the same as from documents in memory, stage by stage.

Every stage leaves its result in the folder of prepared shards, by shard or by block of labels, and
finds there what was done before. In memory are the labels of all documents, what is known of labels
and words, and the documents held out.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deplda.data.corpus import only_columns
from deplda.data.targets import Indicator, Targets
from deplda.engine.execution import Execution
from deplda.models import holdout
from deplda.models.base import Counts, Floats, Numbers
from deplda.models.candidates import Centroids, Index, Sparse
from deplda.models.dependency import DependencyLDA
from deplda.models.hybrid_scorer import Shortlister, lengths_of
from deplda.models.linear.shard_svms import ShardSvms, pair_up
from deplda.models.linear.svm import idf_by
from deplda.models.name_evidence import NameIndex, WordDocuments
from deplda.models.shard_features import (
    Taught,
    centroids,
    count_words,
    forget_indexes,
    gathered,
    write_companions,
)
from deplda.training.shard_layouts import lay_out_shards
from deplda.training.shards import Labels, Ready

NONE: Numbers = np.zeros(0, np.int64)


class Shards(NamedTuple):
    """Prepared shards: where they are, and the labels of their documents."""

    folder: Path
    ready: Ready
    labels: Labels

    @property
    def n_documents(self) -> int:
        """How many documents there are."""
        return int(self.labels.matrix.shape[0])

    def teach(self) -> npt.NDArray[np.bool_]:
        """Return which documents have words and labels."""
        return self.labels.has_words & (np.diff(self.labels.matrix.indptr) > 0)

    def count_words(self, left_out: Numbers, execution: Execution) -> WordDocuments:
        """Return how many documents have each word, but for some documents."""
        return count_words(self.folder, self.ready, left_out, execution)

    def counts_of(self, documents: Numbers, execution: Execution) -> Counts:
        """Return the counts of some documents, in memory; their numbers rise."""
        found: Counts = gathered(self.folder, self.ready, documents, execution)
        return found


class ShardLesson(NamedTuple):
    """What documents of shards teach, all but those left out; `holdout.Others` of a fold."""

    taught: Taught
    labels: Indicator
    words: WordDocuments
    idf: Floats
    topics: DependencyLDA
    near: Centroids

    @property
    def n_documents(self) -> int:
        """How many documents there are."""
        return int(self.labels.shape[0])

    @property
    def label_counts(self) -> Numbers:
        """How many of them have each label."""
        return np.bincount(self.labels.indices, minlength=self.labels.shape[1])

    def problem(self, near: Index, k: int, execution: Execution) -> ShardSvms:
        """Return what SVMs are to learn from shortlists of k labels."""
        self.topics._tables.forget()  # until candidates are looked for again
        write_companions(self.taught, self.labels)
        return pair_up(self.taught, k, execution)


def lesson_of(
    shards: Shards, left_out: Numbers, topics: DependencyLDA, targets: Targets,
    execution: Execution,
) -> ShardLesson:  # fmt: skip
    """Return what all documents but some teach: topics, words and mean documents.

    `topics` is a model that has learned nothing yet, and `targets` are its labels.
    """
    forget_indexes()
    every = shards.labels.matrix
    labels = every[np.delete(np.arange(shards.n_documents), left_out)] if len(left_out) else every
    topics._begin_shards(shards.ready, labels, targets)
    topics._learn_shards(shards.folder, shards.ready, shards.labels, left_out)
    laid = lay_out_shards(
        shards.folder, shards.ready, "expected", topics.settings_["word_counts"],
        background=topics._background() > 0, execution=execution,
    )  # fmt: skip
    taught = Taught(laid, len(shards.ready.labels), left_out)
    words = shards.count_words(left_out, execution)
    idf = idf_by(words.n, words.n_with)
    return ShardLesson(taught, labels, words, idf, topics, centroids(taught, idf, execution))


def fold_of(
    shards: Shards, lesson: ShardLesson, counts: Counts, shortlister: Shortlister,
    index: NameIndex | None, execution: Execution,
) -> holdout.Fold:  # fmt: skip
    """Return the documents that a lesson left out, whose counts these are, with what it taught."""
    known, mentions = only_columns(counts, lesson.words.n_with > 0), None
    if index is not None:
        mentions = index.with_idf(lesson.words).find(counts, lengths_of(known))
    held = known, shards.labels.matrix[lesson.taught.left_out]
    return holdout.fold_of(shortlister, lesson, held, mentions, (), execution)


def learn(
    lesson: ShardLesson, k: int, cost: float, part: holdout.Lesson | None, execution: Execution
) -> Sparse:
    """Return the weights of all labels' SVMs, by shortlists of k labels.

    `part` is what was learned without a fold: the SVMs start from there.
    """
    svms = lesson.problem(lesson.near.nearby, k, execution)
    if part is not None:
        svms = svms._replace(start=part.alpha)
    (solved,) = svms.learn((cost,), np.arange(lesson.labels.shape[1]), execution)
    return solved.weights
