"""HybridLDA: a tf-idf SVM and Dependency-LDA together."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from msgspec import structs
from scipy.special import softmax

from deplda.data.targets import Indicator
from deplda.data.text import WordCounter
from deplda.data.weighting import WordCounts
from deplda.engine.execution import HERE, Execution
from deplda.errors import InputError, NothingHeldOutWarning
from deplda.models import hybrid_codec
from deplda.models.base import Counts, Floats, Numbers
from deplda.models.card import Arrays, Card, Stored
from deplda.models.cutting import Cutoff
from deplda.models.dependency import DependencyLDA
from deplda.models.explainer import Explainer
from deplda.models.explanation import Explanation
from deplda.models.folds import folds_of
from deplda.models.linear.svm import LinearScorer, TfidfSVM
from deplda.models.mixture import HeldOutScores, Mixture, Probabilities, probabilities_of, tune
from deplda.models.parameters import checked
from deplda.models.reasons import WordMargin
from deplda.models.topic_model import Auto, TopicScorer
from deplda.training.estimates import LabelWords, TopicLabels

_LEAST_ADDED = 0.005  # less is shown as 0.00


class HybridScorer(NamedTuple):
    """The scorers of both models, and how their scores are mixed."""

    svm: LinearScorer
    topics: TopicScorer
    mixture: Mixture
    log_frequencies: Floats

    @property
    def batch_size(self) -> int:
        """How many documents are scored at a time."""
        return min(self.svm.batch_size, self.topics.batch_size)

    def scores(self, counts: Counts) -> Floats:
        """Return the scores of the documents, documents × labels."""
        return self.mixture.scores(*self._signals(counts))

    def parts(self, counts: Counts) -> dict[str, Floats]:
        """Return what each model gives to the scores, which are the sum of these parts."""
        return self.mixture.parts(*self._signals(counts))

    def _signals(self, counts: Counts) -> tuple[Floats, Floats, Floats]:
        shares = as_shares(self.topics.scores(counts))
        return self.svm.scores(counts), shares, self.log_frequencies


class _Isotonic(NamedTuple):
    """One rising line from scores to probabilities for all labels."""

    line: Probabilities
    score_threshold: float
    temperature: float
    n_labels: int

    @property
    def threshold(self) -> float:
        return float(self.line.at(np.array(self.score_threshold)))

    @property
    def label_thresholds(self) -> Floats:
        return np.full(self.n_labels, self.threshold)

    def of_documents(self, scores: Floats) -> Floats:
        if self.temperature:
            return np.asarray(softmax(self.temperature * scores, axis=1))
        return self.line.at(scores)


@dataclass(kw_only=True, eq=False, repr=False)
class HybridLDA(Explainer):
    """A tf-idf SVM for the labels at the top, Dependency-LDA for the order below them.

    Both are fitted on all documents. Some documents are also held out from each, so that how to mix
    their scores is learned from documents that neither has seen (`mixture.py`); no better mixture
    found, the hybrid is the better of the two.

    Parameters
    ----------
    C : float or "auto"
        Of `TfidfSVM`.
    n_topics, n_topic_chains, n_topic_sweeps, train_eta, beta_words, word_counts, background
        Of `DependencyLDA`.
    n_held_out : int
        Documents held out, in folds of a fifth of the documents at most.
    cutoff : "validated", "expected-f1", "macro-f1", "proportional", int or float
        As in `DependencyLDA`.
    random_state : int, RandomState or None
        The seed. The same seed and the same training documents in the same order give the same
        bits, for any `n_jobs`; a prediction does not depend on the documents beside it.
    n_jobs : int, optional
        Threads or processes; all cores by default.
    engine : "threads", "processes", a Dask Client or the address of its scheduler
        Where both models learn and score; the same bits everywhere.
    verbose : bool
        Show progress on standard error.

    Attributes
    ----------
    classes_ : array of the labels, in the order of columns.
    svm_, topic_model_ : the fitted TfidfSVM and DependencyLDA.
    mixture_ : Mixture, the weights.
    qualities_ : dict of what was tuned for on the documents held out: "hybrid", "svm", "topics";
        empty where nothing could be held out.
    label_sets_ : sparse indicator of the labels of all documents learned from.
    n_features_in_, feature_names_in_ : number and names of the words.
    counter_ : the WordCounter given to `fit`, or None.
    seed_ : int, the seed used.
    """

    C: float | Auto = "auto"
    n_topics: int | Auto = "auto"
    n_topic_chains: int = 10
    n_topic_sweeps: int = 100
    train_eta: float | Auto = "auto"
    beta_words: float | Auto = "auto"
    word_counts: WordCounts | Auto = "auto"
    background: float = 0.2
    n_held_out: int = 2000
    cutoff: Cutoff = "validated"

    # Learning ------------------------------------------------------------------------------------

    def fit(
        self, X: Any, y: Any = None, *, groups: Any = None, counter: WordCounter | None = None
    ) -> Self:
        """Learn both models from labelled documents, and how to mix them.

        Parameters
        ----------
        X : (documents, words) counts, sparse or dense, or a Corpus
        y : labels: an indicator matrix, sparse or dense; a list of label lists; or one class for
            each document. Not needed with a Corpus.
        groups : one value for each document, optional
            Documents of a group are near-duplicates, of one source for instance: they are held out
            together, or else a copy that was learned from would make the hold-out too easy.
        counter : WordCounter, optional
            What made the counts out of texts. It is kept and saved with the model, which then takes
            texts for X in all other methods.
        """
        checked(self.get_params(deep=False))
        counts, labels = self._begin_fit(X, y, counter)
        folds = folds_of(counts.shape[0], self.n_held_out, groups, self.seed_)
        svm, topics = self._parents()
        targets = (labels, self._targets)
        margins = svm.fit_and_hold_out(counts, targets, folds)
        shares = np.zeros(labels.shape)
        for fold in folds:
            shares[fold] = self._shares_without(fold, counts, labels)
        topics.fit(counts, targets)
        self._set_learned(svm, topics, labels)
        rows = np.concatenate([*folds, np.zeros(0, np.int64)])
        self._tune(margins[rows], shares[rows], _crossed(labels, folds))
        return self

    def _parents(self) -> tuple[TfidfSVM, DependencyLDA]:
        how: Any = {
            "random_state": self.seed_, "n_jobs": self.n_jobs, "engine": self.engine,
            "verbose": self.verbose, "n_held_out": 0,
        }  # fmt: skip
        return TfidfSVM(C=self.C, **how), DependencyLDA(
            n_topics=self.n_topics, n_topic_chains=self.n_topic_chains,
            n_topic_sweeps=self.n_topic_sweeps, train_eta=self.train_eta,
            beta_words=self.beta_words, word_counts=self.word_counts, background=self.background,
            **how,
        )  # fmt: skip

    def _shares_without(self, fold: Numbers, counts: Counts, labels: Indicator) -> Floats:
        """Return P of a fold's documents by a topic model that has learned from all others."""
        rest = np.setdiff1d(np.arange(counts.shape[0]), fold)
        model = self._parents()[1]
        try:
            model.fit(counts[rest], (labels[rest], self._targets))
        except InputError as error:
            raise InputError(
                f"the topic model cannot learn from the {len(rest):,} documents that are not held "
                f"out: {error}"
            ) from error
        return as_shares(model._score_counts(counts[fold]))

    def _set_learned(self, svm: TfidfSVM, topic_model: DependencyLDA, labels: Indicator) -> None:
        self.svm_, self.topic_model_, self.label_sets_ = svm, topic_model, labels
        for parent in (svm, topic_model):  # which were given counts alone
            parent.counter_ = self.counter_
            if hasattr(self, "feature_names_in_"):
                parent.feature_names_in_ = self.feature_names_in_
        n_documents = np.bincount(labels.indices, minlength=labels.shape[1])
        self._log_frequencies = np.log(np.maximum(n_documents, 1) / labels.shape[0])

    def _tune(self, margins: Floats, shares: Floats, truth: Any) -> None:
        """Set the mixture and its probabilities by documents held out."""
        if not truth.any():
            warnings.warn(
                f"of {len(truth):,} documents held out none has a label that others have too; "
                "margins and shares are mixed by fixed weights, and probabilities are rough",
                NothingHeldOutWarning,
                stacklevel=3,
            )
            self.mixture_, self.qualities_ = Mixture(), dict[str, float]()
            line = np.linspace(-10, 10, 41)
            self._probabilities = Probabilities(line, 1 / (1 + np.exp(-line)))
            return
        held_out = HeldOutScores(margins, shares, truth, self._log_frequencies)
        self.mixture_, self.qualities_ = tune(held_out)
        scores = self.mixture_.scores(margins, shares, self._log_frequencies)
        self._probabilities = probabilities_of(scores, truth)

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
        """What was chosen: C, the topic model's settings, and the weights of the mixture."""
        weights = {name: getattr(self.mixture_, name) for name in self.mixture_.__struct_fields__}
        return {"C": self.svm_.C_} | self.topic_model_.settings_ | weights

    # Predicting ----------------------------------------------------------------------------------

    @property
    def has_probabilities(self) -> bool:
        """Whether scores become probabilities, which they always do."""
        return True

    def _calibration(self) -> Any:
        return _Isotonic(
            self._probabilities, self.mixture_.threshold,
            self.mixture_.temperature if self._targets.kind == "classes" else 0.0,
            len(self.classes_),
        )  # fmt: skip

    def _scorer(self, counts: Counts, execution: Execution) -> tuple[HybridScorer, Execution]:
        svm, _ = self.svm_._scorer(counts, execution)
        topics, _ = self.topic_model_._scorer(counts, execution)
        return HybridScorer(svm, topics, self.mixture_, self._log_frequencies), execution

    # Explaining ----------------------------------------------------------------------------------

    def _explain(
        self, document: Any, counts: Counts, numbers: Numbers, n_words: int
    ) -> Explanation:
        """Return the topic model's reasons with the SVM's, and what each gives to the score."""
        found = self.topic_model_._explain(document, counts, numbers, n_words)
        scorer, _ = self._scorer(counts, HERE)
        parts, features = scorer.parts(counts), scorer.svm.features(counts)
        both = []
        for reason, c in zip(found.reasons, numbers[0].tolist(), strict=True):
            own = {name: float(values[0, c]) for name, values in parts.items()}
            words = self._svm_words(features, c, n_words)
            both.append(
                structs.replace(reason, score=sum(own.values()), parts=own, svm_words=words)
            )
        return structs.replace(found, reasons=tuple(both))

    def _svm_words(self, features: Counts, c: int, n: int) -> tuple[WordMargin, ...]:
        """Return the words that add most to a label's margin, and what they add."""
        weights = self.svm_.weights_[features.indices][:, [c]].toarray().ravel()
        added = weights * features.data
        return tuple(
            WordMargin(self.words_[features.indices[i]], float(added[i]))
            for i in np.argsort(-added, kind="stable")[:n]
            if added[i] >= _LEAST_ADDED
        )

    # Keeping -------------------------------------------------------------------------------------

    def _to_store(self, metrics: dict[str, Any] | None) -> tuple[Card, Arrays]:
        return hybrid_codec.to_store(self, metrics)

    @classmethod
    def _from_store(cls, stored: Stored) -> Self:
        model: Self = hybrid_codec.from_store(stored, cls)
        return model


def _crossed(labels: Indicator, folds: Sequence[Numbers]) -> Any:
    """Return the labels of documents held out, documents × labels.

    A label that no other document has cannot be learned without it: such a pair counts as no label.
    """
    n_documents = np.bincount(labels.indices, minlength=labels.shape[1])
    parts = [np.zeros((0, labels.shape[1]), bool)]
    for fold in folds:
        own = labels[fold].toarray().astype(bool)
        parts.append(own & (n_documents > own.sum(axis=0)))
    return np.concatenate(parts)


def as_shares(scores: Floats) -> Floats:
    """Return P = ½ normalise(α′) + ½ normalise(N) of the topic model's scores."""
    return scores / 2
