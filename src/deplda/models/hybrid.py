"""HybridLDA: shortlists by words and topics, SVMs that re-rank them, a mixture that decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from msgspec import structs
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from deplda.data import checks, wording
from deplda.data.corpus import Corpus, check_counts, grown, only_columns
from deplda.data.external import Documents
from deplda.data.names import MARK
from deplda.data.targets import Indicator, Targets, by_place, extended
from deplda.data.text import WordCounter
from deplda.data.vocabulary import Vocabulary
from deplda.data.weighting import WordCounts, label_frequencies
from deplda.engine.execution import Execution, Where
from deplda.engine.pool import Stop
from deplda.engine.progress import skip_steps, steps
from deplda.errors import NothingHeldOutWarning, warn
from deplda.inference.cpu import Cpu
from deplda.models import external, holdout, hybrid_codec, hybrid_reasons
from deplda.models.base import Counts, Floats, Numbers, Ranking, Suggestion
from deplda.models.calibration import Calibration
from deplda.models.candidates import (
    Centroids,
    Index,
    Sparse,
    centroids,
    companions,
    training_lists,
)
from deplda.models.card import Arrays, Card, Stored
from deplda.models.cutting import Cutoff
from deplda.models.dependency import DependencyLDA
from deplda.models.explainer import Explainer
from deplda.models.explanation import Explanation
from deplda.models.external import CountsAndArrays, LabelledEmbeddings, counts_in
from deplda.models.folds import folds_among, of_known_words, others_teach
from deplda.models.hybrid_scorer import (
    HybridScorer,
    Names,
    Shortlister,
    best_first,
    is_taught,
    lengths_of,
)
from deplda.models.hybrid_shards import LearnsShards
from deplda.models.knows_names import KnowsNames
from deplda.models.learning_on import LearnsOn
from deplda.models.lesson import are_texts, taken
from deplda.models.linear import reduced
from deplda.models.linear.svm import idf_of, tfidf
from deplda.models.mixture import UNTAUGHT, Bools, Mixture
from deplda.models.name_evidence import MOST_NAMED, NameIndex, WordDocuments
from deplda.models.parameters import checked
from deplda.models.quality import NOTHING_MEASURED
from deplda.models.topic_model import Auto
from deplda.training.estimates import LabelWords, TopicLabels

_STEPS = 7
"""Of `fit`, as they are shown: three with documents held out, four with all."""
_UNTAUGHT_COST = 1.0
_TRUST_IN_NEW = 0.3
"""Share of C for more documents of a label that has a weight already: they are missed by more than
they would be, had they been learned from with the others (chosen on training documents)."""


@dataclass(kw_only=True, eq=False, repr=False)
class HybridLDA(LearnsOn, LearnsShards, KnowsNames, Explainer):
    """The hybrid: a shortlist of labels, linear SVMs and a topic model, combined by a mixture.

    For each document some labels are candidates: those with similar training documents, and among
    them those that the topic model finds likely. A label's SVM learns from its own documents and
    from those that have the label in their shortlist, that is, from what it is confused with. The
    log-odds of a candidate are a sum of signals: the margin of its SVM, its share in the topic
    model, its likeness to the label's documents and the label's frequency (`signals.py`). Their
    weights, C and the number of candidates are learned from held-out documents. The cost of the
    SVMs is documents × candidates, however many labels there are.

    Parameters
    ----------
    C : float or "auto"
        Cost of a training document on the wrong side of a margin; "auto" chooses from .1, .3, 1
        and 3 by the quality of the mixture.
    candidates : int, "auto" or "all"
        Number of labels scored per document; others rank below them. "auto" is 100 or 200, by the
        share of true labels among them, or all labels if that is cheap and better.
    n_topics, n_topic_chains, n_topic_sweeps, train_eta, beta_words, word_counts, background
        As in `DependencyLDA`.
    n_held_out : int
        Number of held-out documents, in folds of at most a fifth of all.
    cutoff : "validated", "at-least-one", "expected-f1", "macro-f1", "proportional", int or float
        Which labels `predict` suggests: those that reach the threshold with the best micro-F1 on
        held-out documents, or the likeliest where none does ("at-least-one"); the number with the
        highest expected F1; those that reach the threshold of their label; as many as the median
        training document has; a fixed number; or all that reach a probability.
    random_state : int, RandomState or None
        The seed. The same seed and the same training documents in the same order give the same
        bits, for any `n_jobs`; a prediction does not depend on the documents beside it.
    n_jobs : int, optional
        Threads or processes; all cores by default.
    engine : "threads", "processes", a Dask Client or the address of its scheduler
        Where models are trained and documents scored; the same bits everywhere.
    device : {"cpu", "auto"}
        The hybrid runs on the CPU; "cuda" is an error.
    verbose : bool
        Show progress: on standard error, or in the output of a notebook's cell.

    Attributes
    ----------
    classes_ : array of the labels, in the order of columns.
    topic_model_ : the fitted DependencyLDA.
    weights_ : sparse matrix of the SVMs, labels × words.
    mixture_ : the form of the mixture and its weights.
    measures_ : dict of the results of each form of mixture on held-out documents, by cross-
        fitting; empty if nothing could be held out.
    C_, n_candidates_ : as chosen.
    calibration_ : Calibration of the log-odds, or None.
    label_sets_ : sparse indicator of the labels of all training documents.
    document_weights_ : weights of these documents; None if all are one.
    n_features_in_, feature_names_in_ : number and names of the words.
    counter_ : the WordCounter given to `fit`, or made by it from texts; None for counts.
    fields_ : default Fields to read files with, or None; can be set.
    external_ : names of the external arrays (`Documents`) that every new document needs.
    seed_ : int, the seed used.

    Examples
    --------
    >>> import deplda
    >>> train = deplda.datasets.newsroom(200).corpus
    >>> model = deplda.HybridLDA(n_topic_sweeps=20, random_state=0).fit(train)
    >>> labels, probabilities = model.suggest(train[[0]])[0]
    >>> "VIDEO GAMES" in labels
    True
    >>> reason = model.explain(train[[0]], k=1).reasons[0]
    >>> list(reason.parts)
    ['base', 'margin', 'share', 'likeness', 'frequency', 'calibration']
    """

    C: float | Auto = "auto"
    candidates: int | Literal["auto", "all"] = "auto"
    n_topics: int | Auto = "auto"
    n_topic_chains: int = 3
    n_topic_sweeps: int = 100
    train_eta: float | Auto = "auto"
    beta_words: float | Auto = "auto"
    word_counts: WordCounts | Auto = "auto"
    background: float = 0.2
    n_held_out: int = 3000
    cutoff: Any = "validated"

    # Learning ------------------------------------------------------------------------------------

    @steps(_STEPS)
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        counter: WordCounter | None = None,
        words: Any = None,
        classes: Any = None,
        vocabulary: Vocabulary | None = None,
        embeddings: Any = None,
    ) -> Self:
        """Learn from labelled documents.

        Parameters
        ----------
        X : texts; (documents, words) counts, sparse, dense or a data frame; or a Corpus
            Or `Documents`: one of these with embeddings, and scores of other programs, which add
            candidates and signals. Scores of training documents must come from programs that have
            not learned from these documents. If held-out documents are labelled clearly better
            with the arrays, the model uses all of them (`external_`) and needs them with every new
            document.
        y : labels: an indicator matrix, sparse or dense; a list of label lists; or one class for
            each document. Not needed with a Corpus.
        sample_weight : one number for each document, optional
            How many documents each counts as, in the topic model, the centroids, the frequencies of
            words and labels, and the SVMs' C; 0 leaves it out. Documents held out count once each,
            and so do all to embeddings.
        groups : one value for each document, optional
            Documents of a group are near-duplicates, of one source for instance: they are held out
            together, or else a copy that was learned from would make the hold-out too easy.
        counter, words, classes
            As in `DependencyLDA.fit`. A counter that is to learn words of texts counts for the
            names of the vocabulary, too.
        vocabulary : Vocabulary, optional
            The concepts that labels are addresses of. Their names in texts are evidence, and those
            that no document has may be suggested too: they follow the others in `classes_`. Without
            it labels that are words are names themselves. Names are looked for as the counter was
            told to (`WordCounter(names=...)`), or else by their words alone.
        embeddings : (documents, dimensions) array, optional
            Those of `Documents`, as metadata that scikit-learn routes. Pass the embeddings of new
            documents in the same way: ``predict(X, embeddings=...)``.
        """
        checked(self.get_params(deep=False))
        documents = Documents.of(X, embeddings)
        external.check_arrays(documents)
        if vocabulary is not None and are_texts(documents.X):
            counter = _with_names(counter, vocabulary)
        lesson = self._begin_fit(
            documents.X, y, counter, words=words, classes=classes, sample_weight=sample_weight
        )
        counts, labels, rows = lesson.counts, lesson.labels, lesson.rows
        documents, groups = taken(documents, rows), taken(groups, rows)
        check_counts(counts)
        self._forget_choices(labels)
        labels = self._with_concepts(labels, vocabulary)
        learned = self._words_in(counts)
        self.n_tokens_ = round(float(learned.sum()))
        index = self._index_names(WordDocuments.of(counts))
        arrays = external.arrays_of(documents)
        rows_to_learn = self._with_arrays(documents, counts, arrays)
        every_one = np.ones(counts.shape[0], bool)
        folds = [
            fold
            for fold in folds_among(every_one, self.n_held_out, groups, self.seed_)
            if others_teach((np.diff(learned.indptr) > 0) & (np.diff(labels.indptr) > 0), fold)
        ]

        def without(fold: Numbers, n_candidates: int) -> holdout.Fold:
            return self._without(fold, rows_to_learn, labels, n_candidates, index)

        lessons = self._choose(labels, folds, without, index, external.signals_of(arrays))
        if self._external and rows_to_learn.directions is not None:
            self._embedded = LabelledEmbeddings.of(rows_to_learn.directions, self._learned(labels))
        # Of several folds each document was held out once: none of the lessons has most of them.
        is_part = len(folds) == 1 and bool(lessons)
        self._learn(learned, labels, folds[0] if is_part else None, lessons if is_part else [])
        return self

    def _choose(
        self,
        labels: Indicator,
        folds: Sequence[Numbers],
        without: Callable[[Numbers, int], holdout.Fold],
        index: NameIndex | None,
        signals: Sequence[str] = (),
    ) -> list[holdout.Lesson]:
        """Set C, the number of candidates and the mixture by documents held out.

        `without` gives a fold with what all other documents taught, and so many candidates.
        `signals` are the names of external signals. Returns what was learned without each fold.
        """
        execution = self._execution()
        usual = min(self._asked_candidates() or holdout.MANY, self._n_learned)
        with self._stage(_holding_out(folds)):
            known = [without(fold, usual) for fold in folds]
        if not any(fold.truth.nnz for fold in known):
            if self.n_held_out:
                warn(
                    f"of {sum(map(len, folds)):,} documents held out none has a label that others "
                    "have too; signals are mixed by fixed weights, there are no probabilities, and "
                    "predict gives as many labels as the median training document has",
                    NothingHeldOutWarning,
                )
            self.C_ = _UNTAUGHT_COST if self.C == "auto" else float(self.C)
            self.n_candidates_ = usual
            self.mixture_: Mixture = UNTAUGHT
            self.measures_: dict[str, dict[str, float]] = {}
            skip_steps(2)
            return []
        numbers = [usual] if self._asked_candidates() else holdout.numbers_to_try(known[0])
        costs = holdout.COSTS if self.C == "auto" else (float(self.C),)
        with self._stage("choosing settings on documents held out"):
            chosen = holdout.choose(known, costs, numbers, execution, signals)
        self.C_, self.n_candidates_ = chosen.cost, chosen.n_candidates
        self.mixture_, self.measures_ = chosen.judged.mixture, chosen.judged.measures
        self._external = chosen.external
        if index is not None and chosen.name_weights is not None:
            self._names = Names(index, chosen.name_weights, is_taught(labels))
        with self._stage("calibrating probabilities"):
            self._calibrate_chosen(chosen, labels)
        return chosen.lessons

    def _calibrate_chosen(self, chosen: holdout.Chosen, labels: Indicator) -> None:
        """Set the calibration of the log-odds, and the quality on held-out documents."""
        n_trained, n = np.bincount(labels.indices, minlength=labels.shape[1]), labels.shape[0]
        self.held_out_, self.label_quality_ = chosen.quality(n_trained)
        one_class = self._targets.kind == "classes"
        calibration = chosen.calibration(n_trained, n, one_class=one_class)
        if calibration is None:
            return
        n_labels = len(n_trained)
        like = np.arange(n_labels)
        like[n_trained == 0] = n_labels  # zero-shot labels are calibrated as one label
        calibration = calibration.for_labels(like, np.zeros(n_labels, bool))
        if not one_class and chosen.is_better_calibrated(n_trained, n):
            self._last_stage, calibration = calibration, calibration.of_log_odds()
        self.calibration_ = calibration

    def _asked_candidates(self) -> int | None:
        """Return the number of candidates that was asked for, None where it is to be chosen."""
        if self.candidates == "auto":
            return None
        return checks.MOST_WHOLE if self.candidates == "all" else int(self.candidates)

    def _without(
        self,
        fold: Numbers,
        documents: CountsAndArrays,
        labels: Indicator,
        n_candidates: int,
        index: NameIndex | None,
    ) -> holdout.Fold:
        """Return a fold with what all other documents taught."""
        counts = documents.counts
        rest = np.setdiff1d(np.arange(counts.shape[0]), fold)
        words, weights = self._words_in(counts), taken(self.document_weights_, rest)
        others, held = (words[rest], self._learned(labels[rest])), (words[fold], labels[fold])
        topics = self._topics_of(*others, weights)
        shortlister = self._shortlister(*others, topics, n_candidates, weights)
        mentions, known = None, of_known_words(held[0], others[0])
        if index is not None:
            teachers = WordDocuments.of(counts[rest])
            mentions = index.with_idf(teachers).find(counts[fold], lengths_of(known))
        embedded = None
        if documents.directions is not None:
            embedded = LabelledEmbeddings.of(documents.directions[rest], others[1])
        scores = documents[fold].all_scores(embedded)
        taught = holdout.InMemory(tfidf(shortlister.idf, others[0]), others[1], weights)
        return holdout.fold_of(
            shortlister, taught, (known, held[1]), mentions, scores, self._execution()
        )

    def _learn(
        self, counts: Counts, sets: Indicator, fold: Numbers | None, lessons: list[holdout.Lesson]
    ) -> None:
        """Learn from all documents what was chosen.

        The SVMs start from what was learned without the fold, if there is one.
        """
        labels, weights = self._learned(sets), self.document_weights_
        topics, idf = self._topics_of(counts, labels, weights), idf_of(counts, weights=weights)
        near, problem = self._problem(tfidf(idf, counts), labels)
        if fold is not None:
            lesson, rest = lessons.pop(), np.setdiff1d(np.arange(counts.shape[0]), fold)
            problem = reduced.started(problem, lesson.problem, lesson.alpha, rest)
            del lesson  # which takes as much memory as the problem
        (solved,) = reduced.learn(
            problem, (self.C_,), np.arange(labels.shape[1]), self._execution()
        )
        weights_kept = reduced.as_saved(solved.weights, self.C_)
        self._set_learned(idf, near, weights_kept, topics, sets)

    def _problem(self, features: Sparse, labels: Indicator) -> tuple[Centroids, reduced.Problem]:
        """Return the labels' mean documents, and what their SVMs are to learn."""
        weights, execution = self.document_weights_, self._execution()
        near, beside = centroids(features, labels, weights), companions(labels, weights)
        with self._stage("ranking candidates"):
            lists = training_lists(
                features, labels, near.nearby, beside, self.n_candidates_, execution
            )
        return near, reduced.problem_of(features, labels, lists, weights=weights)

    def _learn_on(self, X: Any, y: Any) -> None:
        """Learn from more documents; where this fails, the model is of no use.

        Words known before keep their idf, so that their weights keep their meaning. The SVM of each
        label that a new document has, or is confused with, learns from the new documents and stays
        near to what it was.
        """
        n_before, before_labels = self.label_sets_.shape[0], self.classes_
        documents = Documents.of(X)
        labels, targets = self._read_labels(documents.X, y)
        self._add_words(documents.X)
        counts = self._words_in(self._counts_of(documents))
        self._learned_from = self._learned_from.with_more(counts, labels)
        arrays = [] if self._embedded is None else [external.EMBEDDINGS]
        directions = self._with_arrays(documents, counts, arrays).directions
        topics = copy(self.topic_model_)
        self._name_words_of(topics)
        single = None if self._topic_words is None else self._single_words
        words = counts if single is None else only_columns(counts, single)
        topics._learn_on(words, (labels, by_place(targets, self.classes_)))
        self.n_tokens_ += round(float(counts.sum()))
        self._n_learned = len(topics.classes_)
        self.metrics_ = None  # they were of the model as it was
        self.classes_ = extended(topics.classes_, before_labels)
        self._targets = Targets(self.classes_, self._targets.kind)
        sets, n_labels = topics.label_sets_, self._n_learned
        labels, self.document_weights_ = sets[n_before:], topics.document_weights_
        of_all = self.document_weights_
        n_documents = sets.shape[0] if of_all is None else float(of_all.sum())
        idf = np.append(self.idf_, idf_of(counts[:, len(self.idf_) :], n_documents))
        features = tfidf(idf, counts)
        near = self._centroids.with_more(features, labels)
        before, execution = grown(self.weights_, (n_labels, len(idf))), self._execution()
        lists = training_lists(
            features, labels, near.nearby, companions(sets, of_all), self.n_candidates_, execution
        )
        problem = reduced.problem_of(features, labels, lists, before)
        is_known = np.diff(before.indptr) > 0
        known, new = (
            reduced.learn(problem, (cost,), np.flatnonzero(which), execution)[0].weights
            for cost, which in ((_TRUST_IN_NEW * self.C_, is_known), (self.C_, ~is_known))
        )
        weights = csr_array(known + new)
        if self.n_candidates_ == len(self._log_frequencies):  # all are candidates, and stay so
            self.n_candidates_ = n_labels
        if self._embedded is not None and directions is not None:
            self._embedded = self._embedded.with_more(directions, sets)
        whole: Indicator = grown(sets, (sets.shape[0], len(self.classes_)))
        self._renumber_labels(before_labels, whole)
        self._set_learned(idf, near, reduced.as_saved(weights, self.C_), topics, whole)

    def _renumber_labels(self, before: Any, sets: Indicator) -> None:
        """Have probabilities and names for the labels as they are numbered now.

        New labels are told as the rarest label that was calibrated.
        """
        numbers = Targets(before, "sparse").numbers(self.classes_)
        is_new, rarest = numbers < 0, int(np.argmin(self._log_frequencies))
        like = np.where(is_new, rarest, numbers)
        self._last_stage, self.calibration_ = (
            None if stage is None else stage.for_labels(like, is_new)
            for stage in (self._last_stage, self.calibration_)
        )
        if self._names is not None:
            place = np.argsort(numbers, kind="stable")[is_new.sum() :].astype(np.int32)
            finder = self._names.finder
            finder = finder._replace(labels=place[finder.labels]).keyed(self.n_features_in_)
            self._names = self._names._replace(finder=finder, is_taught=is_taught(sets))
        self.held_out_, self.label_quality_ = NOTHING_MEASURED

    def _topics_of(
        self, counts: Counts, labels: Indicator, weights: Floats | None
    ) -> DependencyLDA:
        """Return the topic model of these documents."""
        words = counts if self._single_words is None else only_columns(counts, self._single_words)
        targets = self._learned_targets()
        return self._topic_model().fit(words, (labels, targets), sample_weight=weights)

    @property
    def _single_words(self) -> Bools | None:
        """Which words the topic model is trained on; None if all.

        A sequence of words would count its words again. Without sequences, average precision is as
        good on three of four sets and .002 lower on one, in half the memory.
        """
        is_sequence = None if self.counter_ is None else self.counter_.is_sequence_
        return None if is_sequence is None else ~is_sequence

    def _topic_model(self) -> DependencyLDA:
        """Return the topic model, which has learned nothing yet."""
        return DependencyLDA(
            n_topics=self.n_topics, n_topic_chains=self.n_topic_chains,
            n_topic_sweeps=self.n_topic_sweeps, train_eta=self.train_eta,
            beta_words=self.beta_words, word_counts=self.word_counts, background=self.background,
            n_held_out=0, random_state=self.seed_, n_jobs=self.n_jobs, engine=self.engine,
            verbose=self.verbose,
        )  # fmt: skip

    def _learned_targets(self) -> Targets:
        """Return the labels that are learned."""
        return Targets(self.classes_[: self._n_learned], self._targets.kind)

    def _shortlister(
        self, counts: Counts, labels: Indicator, topics: DependencyLDA, n_candidates: int,
        weights: Floats | None,
    ) -> Shortlister:  # fmt: skip
        """Return what finds candidates of others, by these documents."""
        idf = idf_of(counts, weights=weights)
        near = centroids(tfidf(idf, counts), labels, weights).nearby
        return self._shortlister_by(idf, near, topics, labels, n_candidates, weights)

    def _shortlister_by(
        self, idf: Floats, near: Index, topics: DependencyLDA, labels: Indicator,
        n_candidates: int, weights: Floats | None,
    ) -> Shortlister:  # fmt: skip
        often, n_candidates = _log_frequencies(labels, weights), min(n_candidates, labels.shape[1])
        return Shortlister(idf, near, _backend(topics), often, n_candidates, self._single_words)

    def _set_learned(
        self, idf: Floats, near: Centroids, weights: Counts, topics: DependencyLDA,
        labels: Indicator,
    ) -> None:  # fmt: skip
        self.idf_, self._centroids, self.weights_ = idf, near, weights
        self.topic_model_, self.label_sets_ = topics, labels
        self._name_words_of(topics)
        self._never_learned = frozenset(self.classes_[self._n_learned :].tolist())
        self._log_frequencies = _log_frequencies(self._learned(labels), self.document_weights_)
        self._topic_words = self._single_words
        if self._topic_words is not None:
            has_weights = np.diff(topics.label_words_.weights.indptr) > 0
            if has_weights[~self._topic_words].any():  # of a model by version 1.0.0
                self._topic_words = None

    def _name_words_of(self, topics: DependencyLDA) -> None:
        """Tell the topic model, which is given counts alone, the words that it learns from."""
        topics.counter_ = None if self.counter_ is None else self.counter_.without_names()
        topics.n_features_in_ = self.n_features_in_ - len(self._names_at)
        if topics.counter_ is not None:
            topics.feature_names_in_ = np.array(topics.counter_.vocabulary_, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            topics.feature_names_in_ = self.feature_names_in_

    @property
    def surface_words_(self) -> tuple[str, ...]:
        """The words that are learned from, as people read them."""
        return self.topic_model_.surface_words_

    @property
    def label_words_(self) -> LabelWords:  # type: ignore[override]
        """φ of the topic model."""
        return self.topic_model_.label_words_

    @property
    def topic_labels_(self) -> tuple[TopicLabels, ...]:  # type: ignore[override]
        """φ′ of each set of topics of the topic model."""
        return self.topic_model_.topic_labels_

    @property
    def settings_(self) -> dict[str, Any]:
        """What was chosen: C, the number of candidates, and the topic model's settings."""
        return {"C": self.C_, "candidates": self.n_candidates_} | self.topic_model_.settings_

    # External arrays -----------------------------------------------------------------------------

    @property
    def external_(self) -> tuple[str, ...]:
        """The external arrays that every new document needs: programs, then embeddings."""
        programs = [s.name for s in self._external if s.name not in external.OF_EMBEDDINGS]
        return (*programs, *([] if self._embedded is None else [external.EMBEDDINGS]))

    def _with_arrays(
        self, documents: Documents, counts: Counts, arrays: Sequence[str]
    ) -> CountsAndArrays:
        n_learned, n_labels = self._n_learned, len(self.classes_)
        rows = external.with_arrays(documents, counts, arrays, n_learned, n_labels)
        if self._embedded is not None and rows.directions is not None:
            self._embedded.check_dimensions(rows.directions)
        return rows

    def _read_labels(self, X: Any, y: Any) -> tuple[Indicator, Targets]:
        return super()._read_labels(Documents.of(X).X, y)

    def _read_counts(self, X: Any, *, reset: bool) -> Any:
        """Return X as counts over the words of the model, with the arrays that it requires."""
        counts = super()._read_counts(Documents.of(X).X, reset=reset)
        if reset or not self._external:
            return counts
        return self._with_arrays(Documents.of(X), counts, self.external_)

    def _counts_of(self, X: Any) -> Counts:
        return super()._read_counts(Documents.of(X).X, reset=False)

    def _has_evidence(self, counts: Any) -> Bools:
        has_words = super()._has_evidence(counts_in(counts))
        return (
            counts.have_evidence | has_words if isinstance(counts, CountsAndArrays) else has_words
        )

    def _n_tokens_in(self, counts: Any) -> Numbers:
        return super()._n_tokens_in(counts_in(counts))

    # Predicting ----------------------------------------------------------------------------------

    def _where(self) -> Where:
        if self.device != "cpu":
            from deplda.kernels.cuda.device import choose

            choose(self.device, "HybridLDA runs on the CPU")
        return super()._where() | {"device": "cpu"}

    def _scorer(self, counts: Counts, execution: Execution) -> tuple[HybridScorer, Execution]:
        shortlister = Shortlister(
            self.idf_, self._centroids.nearby, _backend(self.topic_model_), self._log_frequencies,
            self.n_candidates_, self._topic_words,
        )  # fmt: skip
        scorer = HybridScorer(
            shortlister, self.weights_, self.mixture_, self._last_stage, self._names,
            self._names_at, len(self.classes_) - self._n_learned, self._external, self._embedded,
        )  # fmt: skip
        return scorer, execution

    def _rank_counts(self, counts: Counts, k: int) -> Iterator[tuple[Numbers, Floats]]:
        if k > self.n_candidates_:
            return super()._rank_counts(counts, k)
        scorer, execution = self._scorer(counts, self._execution())
        work = partial(_best_candidates, scorer, k)
        return execution.map_rows(work, counts, scorer.batch_size, "scoring")

    def _cut(self, counts: Counts, cutoff: Cutoff) -> Iterator[tuple[Numbers, Floats, Bools]]:
        # Its own default is to be of use where too few documents were there to hold any out.
        is_rough = cutoff == "validated" and not self.has_probabilities
        return super()._cut(counts, "proportional" if is_rough else cutoff)

    def _most_ranked(self) -> int:
        return min(super()._most_ranked(), self.n_candidates_)

    def _likeliest(
        self, counts: Counts, k: int, execution: Execution | None = None
    ) -> Iterator[tuple[Numbers, Floats, Floats]]:
        calibration = self._calibration()
        if calibration.temperature:  # of a softmax over all
            return super()._likeliest(counts, k, execution)
        scorer, execution = self._scorer(counts, execution or self._execution())
        work = partial(_likeliest_candidates, scorer, calibration, k)
        return execution.map_rows(work, counts, scorer.batch_size, "scoring")

    def decision_function(self, X: Any, *, embeddings: Any = None) -> Floats:
        """Return the score of each label, documents × labels; `embeddings` as in `fit`."""
        return super().decision_function(Documents.of(X, embeddings))

    def predict(self, X: Any, *, embeddings: Any = None) -> Any:
        """Return the labels of each document, in the form of y; `embeddings` as in `fit`."""
        return super().predict(Documents.of(X, embeddings))

    def predict_proba(self, X: Any, *, embeddings: Any = None) -> Floats:
        """Return the probability of each label, documents × labels; `embeddings` as in `fit`."""
        return super().predict_proba(Documents.of(X, embeddings))

    def rank(self, X: Any, k: int = 10, *, embeddings: Any = None) -> Ranking:
        """Return the k best labels of each document and their scores; `embeddings` as in `fit`."""
        return super().rank(Documents.of(X, embeddings), k)

    def suggest(
        self,
        X: Any,
        k: int | None = None,
        cutoff: Cutoff | None = None,
        *,
        embeddings: Any = None,
    ) -> list[Suggestion]:
        """Return the labels of each document, k at most, the likeliest first.

        `cutoff` is the parameter by default; `embeddings` are as in `fit`.
        """
        return super().suggest(Documents.of(X, embeddings), k, cutoff)

    def score(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, embeddings: Any = None
    ) -> float:
        """Return the quality of the ranking, as other models do; `embeddings` are as in `fit`."""
        return super().score(Documents.of(X, embeddings), y, sample_weight)

    # Explaining ----------------------------------------------------------------------------------

    def explain(self, document: Any, k: int = 5, *, n_words: int = 8) -> Explanation:
        """Return why the k likeliest labels of one document are suggested; candidates at most.

        The parts of a label are those of its log-odds, by signal, and add up to them. `evidence`
        are the words that give most to them, `companions` the labels it goes with and what they
        give.
        """
        check_is_fitted(self)
        checks.at_least_one(k=k)
        most = self.n_candidates_ + (0 if self._names is None else MOST_NAMED)
        return super().explain(document, min(k, most), n_words=n_words)

    def _explain(
        self, document: Any, counts: Counts, numbers: Numbers, chances: Floats | None, n_words: int
    ) -> Explanation:
        rows, counts = counts, counts_in(counts)
        words, labels = self._words_in(counts), numbers[0].tolist()
        document = Documents.of(document).X
        learned = numbers[:, numbers[0] < self._n_learned]
        if isinstance(document, Corpus):  # what is counted for the sake of names is no token
            is_word = [not word.endswith(MARK) for word in document.vocabulary]
            document = document.take_words(np.flatnonzero(is_word))
        scorer, _ = self._scorer(counts, self._here())
        in_topics = scorer.shortlister.for_topics(words)
        found = self.topic_model_._explain(document, in_topics, learned, None, n_words)
        if self._topic_words is not None:
            found = hybrid_reasons.with_other_words(
                found, words, self._topic_words, self.topic_model_.surface_words_
            )
        found = hybrid_reasons.with_never_learned(
            found, labels, self._n_learned, self.classes_.tolist()
        )
        of_names = int(self._n_tokens_in(counts)[0]) - found.n_tokens
        found = structs.replace(
            found, n_tokens=found.n_tokens + of_names, n_unknown=found.n_unknown - of_names
        )
        told = None if chances is None else chances[0].tolist()
        found = hybrid_reasons.explain(
            found, scorer, rows, labels, told, self.surface_words_, n_words, self._name_of
        )
        if isinstance(document, str) and self.counter_ is not None:
            return found.located(document, self.counter_)
        return found

    # Keeping -------------------------------------------------------------------------------------

    def _to_store(self, metrics: dict[str, Any] | None) -> tuple[Card, Arrays]:
        return hybrid_codec.to_store(self, metrics)

    @classmethod
    def _from_store(cls, stored: Stored) -> Self:
        model: Self = hybrid_codec.from_store(stored, cls)
        return model


def _with_names(counter: WordCounter | None, vocabulary: Vocabulary) -> WordCounter:
    """Return a counter that is to learn words, told to count for the names of concepts as well."""
    if counter is None:
        return WordCounter(names=vocabulary)
    if hasattr(counter, "vocabulary_") or counter.names is not None:
        return counter
    return type(counter)(**counter.get_params() | {"names": vocabulary})


def _holding_out(folds: Sequence[Numbers]) -> str:
    parts = f" in {len(folds)} parts" if len(folds) > 1 else ""
    return f"holding out {wording.counted(sum(map(len, folds)), 'document')}{parts}"


def _backend(topics: DependencyLDA) -> Cpu:
    return Cpu(topics._tables, topics._inference(), topics.seed_)


def _log_frequencies(labels: Indicator, weights: Floats | None) -> Floats:
    """Return ln f, f the share of documents that have a label; one that none has counts as one."""
    n_documents = label_frequencies(labels, weights)
    n = labels.shape[0] if weights is None else float(weights.sum())
    return np.log(np.where(n_documents == 0, 1, n_documents) / n)


def _best_candidates(
    scorer: HybridScorer, k: int, counts: Counts, stop: Stop
) -> tuple[Numbers, Floats]:
    labels, log_odds = scorer.candidates(counts)
    numbers, (scores,) = best_first(labels, log_odds, k, log_odds)
    return numbers, scores


def _likeliest_candidates(
    scorer: HybridScorer, calibration: Calibration, k: int, counts: Counts, stop: Stop
) -> tuple[Numbers, Floats, Floats]:
    labels, log_odds = scorer.candidates(counts)
    chances = np.where(labels < 0, 0.0, calibration.at(log_odds, labels))
    keys = np.where(labels < 0, -1.0, chances)
    numbers, (scores, told) = best_first(labels, keys, k, log_odds, chances)
    return numbers, scores, told
