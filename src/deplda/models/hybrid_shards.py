"""What the hybrid learns from shards: the same as from documents in memory, stage by stage.

Every stage leaves its result in the folder of prepared shards, by shard or by block of labels, and
finds there what was done before. In memory are the labels of all documents, what is known of labels
and words, and the documents held out.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from deplda.data.corpus import only_columns
from deplda.data.fields import Fields
from deplda.data.files import StrPath
from deplda.data.targets import Indicator, Targets
from deplda.data.text import WordCounter
from deplda.engine.execution import Execution
from deplda.engine.progress import steps
from deplda.errors import InputError
from deplda.models import holdout
from deplda.models.base import Counts, Floats, Numbers
from deplda.models.calibration import Calibration
from deplda.models.candidates import Centroids, Index, Sparse
from deplda.models.dependency import DependencyLDA
from deplda.models.external import ExternalSignal, LabelledEmbeddings
from deplda.models.folds import folds_among, others_teach
from deplda.models.hybrid_scorer import Shortlister, lengths_of
from deplda.models.knows_names import KnowsNames
from deplda.models.linear import reduced
from deplda.models.linear.shard_svms import ShardSvms, pair_up
from deplda.models.linear.svm import idf_by
from deplda.models.name_evidence import NameIndex, WordDocuments
from deplda.models.parameters import checked
from deplda.models.shard_features import (
    Taught,
    centroids,
    count_words,
    forget_indexes,
    gathered,
    write_companions,
)
from deplda.training import shards
from deplda.training.shard_layouts import lay_out_shards
from deplda.training.shards import Labels, Ready

NONE: Numbers = np.zeros(0, np.int64)
_STEPS = 10
"""As shown: words are counted and numbered; three are of documents held out, five of all."""


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
    shards: Shards, single_words: Shards, left_out: Numbers, topics: DependencyLDA,
    targets: Targets, execution: Execution,
) -> ShardLesson:  # fmt: skip
    """Return what all documents but some teach: topics, words and mean documents.

    `topics` is a model that has learned nothing yet, and `targets` are its labels; it learns from
    `single_words`.
    """
    forget_indexes()
    every = shards.labels.matrix
    labels = every[np.delete(np.arange(shards.n_documents), left_out)] if len(left_out) else every
    topics._begin_shards(shards.ready, labels, targets)
    topics._learn_shards(single_words.folder, single_words.ready, single_words.labels, left_out)
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


class LearnsShards(KnowsNames):
    """A hybrid that learns from shards what it learns from documents in memory."""

    C_: float
    n_candidates_: int
    _last_stage: Calibration | None
    _external: tuple[ExternalSignal, ...]
    """Signals of external arrays, those of embeddings last."""
    _embedded: LabelledEmbeddings | None

    def _forget_choices(self, labels: Indicator) -> None:
        """Set everything that is chosen on held-out documents as if there were none."""
        self._n_learned = labels.shape[1]
        self._last_stage, self._names = None, None
        self._external, self._embedded = (), None

    @property
    @abstractmethod
    def _single_words(self) -> npt.NDArray[np.bool_] | None:
        """Which words a topic model learns from; None if all."""

    @abstractmethod
    def _topic_model(self) -> DependencyLDA:
        """Return the topic model, which has learned nothing yet."""

    @abstractmethod
    def _learned_targets(self) -> Targets:
        """Return the labels that are learned."""

    @abstractmethod
    def _shortlister_by(
        self, idf: Floats, near: Index, topics: DependencyLDA, labels: Indicator,
        n_candidates: int, weights: Floats | None,
    ) -> Shortlister:  # fmt: skip
        """Return what finds candidates of others."""

    @abstractmethod
    def _choose(
        self,
        labels: Indicator,
        folds: Sequence[Numbers],
        without: Callable[[Numbers, int], holdout.Fold],
        index: NameIndex | None,
        signals: Sequence[str] = (),
    ) -> list[holdout.Lesson]:
        """Set C, the number of candidates and the mixture; return what was learned."""

    @abstractmethod
    def _set_learned(
        self, idf: Floats, near: Centroids, weights: Counts, topics: DependencyLDA,
        labels: Indicator,
    ) -> None:  # fmt: skip
        """Keep what was learned from all documents."""

    @steps(_STEPS)
    def fit_shards(
        self,
        source: StrPath,
        folder: StrPath,
        *,
        fields: Fields | None = None,
        counter: WordCounter | None = None,
    ) -> Self:
        """Learn as `fit` does from a folder of labelled files, however large they are together.

        A worker has one file in memory at a time, or the documents that some labels learn from;
        this process what is known of labels and words, the labels of all documents and the
        documents held out. With one file it is `fit` of its documents, bit by bit.

        Parameters
        ----------
        source : path
            A folder of JSONL, CSV, TSV, svmlight or Parquet files, plain or gzip.
        folder : path
            Where the results of all stages are kept; on a cluster, under this path on all machines.
            A run that was cut off goes on from what is there, to the same bits. It may be deleted
            afterwards.
        fields : Fields, optional
            Which fields hold the id, the text and the labels.
        counter : WordCounter, optional
            How texts become words.
        """
        checked(self.get_params(deep=False))
        self._check_shards(counter)
        execution, fields = self._execution(), shards.settled_fields(source, fields)
        counter, fields = shards.settled_words(source, fields, counter)
        ready = shards.prepare(source, folder, execution, fields=fields, counter=counter)
        every = shards.read_labels(folder, ready)
        prepared = Shards(Path(folder).absolute(), ready, every)
        labels = self._begin_fit(
            shards.without_words(ready, every), None, shards.fitted(counter, ready)
        ).labels
        self.fields_, self.n_tokens_ = fields, int(every.tokens.sum())
        self._forget_choices(labels)
        single_words = prepared
        if self._single_words is not None:
            path, of_single = shards.with_words(
                prepared.folder, ready, self._single_words, "single-words"
            )
            single_words = Shards(path, of_single, shards.read_labels(path, of_single))
        index = self._index_names(prepared.count_words(NONE, execution))
        every_one = np.ones(prepared.n_documents, bool)
        folds = [
            fold
            for fold in folds_among(every_one, self.n_held_out, None, self.seed_)
            if others_teach(prepared.teach(), fold)
        ]

        def lesson_without(fold: Numbers) -> ShardLesson:
            how = self._topic_model(), self._learned_targets(), execution
            return lesson_of(prepared, single_words, fold, *how)

        def without(fold: Numbers, n_candidates: int) -> holdout.Fold:
            lesson, counts = lesson_without(fold), prepared.counts_of(fold, execution)
            shortlister = self._shortlister_by(
                lesson.idf, lesson.near.nearby, lesson.topics, lesson.labels, n_candidates, None,
            )  # fmt: skip
            return fold_of(prepared, lesson, counts, shortlister, index, execution)

        lessons = self._choose(labels, folds, without, index)
        part = lessons[0] if len(folds) == 1 and lessons else None
        lesson = lesson_without(NONE)
        weights = learn(lesson, self.n_candidates_, self.C_, part, execution)
        weights = reduced.as_saved(weights, self.C_)
        self._set_learned(lesson.idf, lesson.near, weights, lesson.topics, labels)
        forget_indexes()
        return self

    def _check_shards(self, counter: WordCounter | None) -> None:
        """Raise at what shards cannot be learned with."""
        if counter is not None and counter.names is not None:
            raise InputError(
                "the counter counts for the names of a vocabulary, which shards are not learned "
                "with; leave its names out, or use fit"
            )
