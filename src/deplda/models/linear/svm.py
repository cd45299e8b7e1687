"""VanillaSVM, TunedSVM, TfidfSVM: what topic models are to be compared with."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, Self

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from deplda.data import checks
from deplda.data.text import WordCounter
from deplda.data.weighting import logged
from deplda.engine.execution import Execution
from deplda.errors import InputError, ReadError
from deplda.inference.cpu import batch_size
from deplda.kernels.linear import score_labels
from deplda.models import codec
from deplda.models.base import Counts, Floats, LabelClassifier, Scorer
from deplda.models.card import Arrays, Card, Stored
from deplda.models.lesson import Lesson
from deplda.models.linear.one_vs_rest import HeldOut, OneVsRest, Weights
from deplda.models.linear.tuning import COSTS, Weighted, weighted_costs
from deplda.models.parameters import checked

_WEIGHTS, _INTERCEPTS = "weights", "intercepts"


class LinearScorer(NamedTuple):
    """The weights of all labels, and how counts become features."""

    weights: Counts
    intercepts: Floats
    features: Callable[[Counts], Counts]

    @property
    def batch_size(self) -> int:
        """How many documents are scored at a time."""
        return batch_size(len(self.intercepts))

    def scores(self, counts: Counts) -> Floats:
        """Return the scores of the documents, documents × labels."""
        if not counts.shape[0]:
            return np.zeros((0, len(self.intercepts)))
        rows, weights = self.features(counts), self.weights
        scores = np.tile(self.intercepts, (rows.shape[0], 1))
        score_labels(
            rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data,
            weights.indptr.astype(np.int64), weights.indices, weights.data, scores,
        )  # fmt: skip
        return scores


@dataclass(kw_only=True, eq=False, repr=False)
class LinearSVMs(LabelClassifier):
    """What the three share: one linear SVM per label, on features that the words' counts give."""

    tol: float = 1e-3

    _vectors: ClassVar[dict[str, Literal["words", "labels"]]] = {}
    """Learned attributes, a number for each word or label, that are saved beside the weights."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        counter: WordCounter | None = None,
        words: Any = None,
        classes: Any = None,
    ) -> Self:
        """Learn one SVM for each label from labelled documents.

        Parameters
        ----------
        X : texts; (documents, words) counts, sparse, dense or a data frame; or a Corpus
        y : labels: an indicator matrix, sparse or dense; a list of label lists; or one class for
            each document. Not needed with a Corpus.
        sample_weight : one number for each document, optional
            How many documents each counts as: C of a document is multiplied by it, and the idf of
            words counts it so often. 0 leaves it out.
        counter, words, classes
            As in `DependencyLDA.fit`.
        """
        lesson = self._begin_fit(
            X, y, counter, words=words, classes=classes, sample_weight=sample_weight
        )
        labels = lesson.labels
        if not len(fold := self._fold_held_out(labels)):
            self._fit(lesson, None)
            return self
        held_out = HeldOut([fold], labels.shape[1])
        self._fit(lesson, held_out)
        scores = held_out.scores[0].astype(np.float64)
        with self._stage("calibrating probabilities"):
            self.calibration_ = self._calibrated(fold, scores, labels)
        return self

    def _fit(self, lesson: Lesson, held_out: HeldOut | None) -> None:
        self._check_parameters()
        self._learn_features(lesson)
        task = OneVsRest(
            self._features()(lesson.counts), lesson.labels, self.tol, self.seed_,
            self._execution(), lesson.weights,
        )  # fmt: skip
        self.weights_, self.intercepts_ = self._learn(task, held_out)
        self.label_sets_ = lesson.labels

    @abstractmethod
    def _features(self) -> Callable[[Counts], Counts]:
        """Return what makes of counts what the SVMs see of documents."""

    @abstractmethod
    def _learn(self, task: OneVsRest, held_out: HeldOut | None) -> Weights:
        """Choose what is to be chosen, and return the weights."""

    def _learn_features(self, lesson: Lesson) -> None:
        """Set what `_features` needs to know of training documents."""

    def _check_parameters(self) -> None:
        checked(self.get_params(deep=False))

    def _scorer(self, counts: Counts, execution: Execution) -> tuple[Scorer, Execution]:
        learned = self.weights_, self.intercepts_, self._features()
        if execution.device != "cpu":  # for which nothing of CUDA is imported
            from deplda.models.linear.scorer_cuda import gpu_scorer

            if (scorer := gpu_scorer(self, *learned, execution)) is not None:
                return scorer, replace(execution, n_jobs=1)
        return LinearScorer(*learned), execution

    # Keeping -------------------------------------------------------------------------------------

    def _to_store(self, metrics: dict[str, Any] | None) -> tuple[Card, Arrays]:
        arrays = codec.sparse_arrays(_WEIGHTS, self.weights_)
        arrays |= {_INTERCEPTS: self.intercepts_}
        arrays |= {name: getattr(self, name) for name in self._vectors}
        learned = {"C": float(self.C_)}
        return codec.card_of(self, learned, metrics), arrays | codec.common_arrays(self)

    @classmethod
    def _from_store(cls, stored: Stored) -> Self:
        model: Self = codec.restore(stored, cls)
        path, card, arrays, _ = stored
        read, n_labels = codec.Reader(path, arrays), len(card.labels)
        try:
            model._check_parameters()
            model.C_ = msgspec.convert(card.learned, _Learned).C
        except (InputError, msgspec.ValidationError) as error:
            raise ReadError(path, None, f"its parameters cannot be used: {error}") from error
        model.weights_ = read.weights(_WEIGHTS, card.n_words, n_labels)
        model.intercepts_ = read.vector(_INTERCEPTS, n_labels)
        for name, of in cls._vectors.items():
            setattr(model, name, read.vector(name, n_labels if of == "labels" else card.n_words))
        return model


class _Learned(msgspec.Struct):
    C: float


@dataclass(kw_only=True, eq=False, repr=False)
class VanillaSVM(LinearSVMs):
    """The paper's Vanilla-SVM: one-vs-rest, squared hinge loss, C = 1, on shares of words.

    A document's features are its word counts divided by their sum, and a constant 1. The solution
    is LIBLINEAR's (and `sklearn.svm.LinearSVC`'s), found with shared documents on all cores.

    Parameters
    ----------
    C : float
        Cost of a training document on the wrong side of the margin.
    tol : float
        Solved when the gradient is no longer than it; decision values are then within 3 times as
        much of the solution's, and mostly within a tenth of it.
    cutoff : "validated", "at-least-one", "expected-f1", "macro-f1", "proportional", int or float
        Which labels `predict` and `suggest` return: those that reach the threshold with the best
        micro-F1 on held-out documents, or the likeliest where none does ("at-least-one"); the
        number with the highest expected F1; label by label those that reach the threshold with the
        best macro-F1; as many as the median training document has (the paper's rule); a fixed
        number; or all that reach a probability, above 0 and below 1.
    n_held_out : int
        Documents held out to learn probabilities from: a fifth of all at most, and so many that
        they have about 16 million pairs with labels. They are scored on the way to the solution,
        which then starts elsewhere: with 0, for none, weights differ within `tol`.
    random_state : int, RandomState or None
        The seed of what is held out (`TunedSVM`, `TfidfSVM`); nothing else is random. The same seed
        gives the same bits, for any `n_jobs`.
    n_jobs : int, optional
        Threads or processes; all cores by default.
    engine : "threads", "processes", a Dask Client or the address of its scheduler
        Where labels are learned and documents scored; the same bits everywhere.
    device : {"cpu", "cuda", "auto"}
        Learn and score on a CUDA GPU, or on one if there is one with memory enough ("auto"). It
        works for this process: the engine must be "threads". Weights are solved to the same `tol`
        as on the CPU, with other roundings; the same bits whatever the memory.
    verbose : bool
        Show progress: on standard error, or in the output of a notebook's cell.

    Attributes
    ----------
    classes_ : array of the labels, in the order of columns.
    weights_ : sparse matrix, words × labels. Weights up to tol / 10 are left out: as features sum
        to one, no decision value changes by more.
    intercepts_ : array, one for each label. A label that no training document has scores −2
        everywhere, and one that all have 2.
    C_ : float, as used.
    document_weights_ : how many documents each learned from counts as; None where each is one.
    calibration_ : Calibration, which turns scores into probabilities; None if no document was
        held out.

    Examples
    --------
    >>> import deplda
    >>> train = deplda.datasets.newsroom(100).corpus
    >>> model = deplda.VanillaSVM(n_held_out=0).fit(train)
    >>> model.rank(train[:2], k=3).labels.shape
    (2, 3)
    """

    C: float = 1.0

    _takes_weights = True  # of which it takes the shares, as of counts

    def _check_parameters(self) -> None:
        checks.positive(C=self.C)
        super()._check_parameters()

    def _features(self) -> Callable[[Counts], Counts]:
        return shares

    def _learn(self, task: OneVsRest, held_out: HeldOut | None) -> Weights:
        self.C_ = self.C
        return task.learn(self.C, self.tol / 10, held_out=held_out)


@dataclass(kw_only=True, eq=False, repr=False)
class TunedSVM(VanillaSVM):
    """The paper's Tuned-SVM: a Vanilla-SVM whose positive documents weigh more, label by label.

    The weight, one of 1, 2, 5, 10, 25, 50, 100, 250, 500, 1000 and negatives / positives, is the
    most accurate on a hold-out of a tenth of the documents with the label and a tenth of those
    without (rounded, one at least); the only document with a label is in both sets. Of equally
    accurate weights the closest to 1 is taken, and the SVM learned again from all documents.

    Other parameters and attributes are those of `VanillaSVM`.

    Parameters
    ----------
    weights : "positive" or "both"
        What a label's weight multiplies: C of the documents that have the label, as the paper says;
        or C of all documents, a C for each label, which is nearer to its results on Yahoo!.

    Attributes
    ----------
    positive_weights_ : array, the weight chosen for each label, whichever documents it is of.

    Examples
    --------
    >>> import deplda
    >>> train = deplda.datasets.newsroom(60).corpus
    >>> model = deplda.TunedSVM(n_held_out=0).fit(train)
    >>> model.decision_function(train[:2]).shape == (2, train.n_labels)
    True
    """

    weights: Weighted = "positive"

    _vectors: ClassVar = {"positive_weights_": "labels"}

    def _learn(self, task: OneVsRest, held_out: HeldOut | None) -> Weights:
        self.C_ = self.C
        self.positive_weights_ = task.tune(self.C, self.weights)
        costs = weighted_costs(self.C, self.positive_weights_, self.weights)
        return task.learn(self.C, self.tol / 10, costs, held_out)


@dataclass(kw_only=True, eq=False, repr=False)
class TfidfSVM(LinearSVMs):
    """One-vs-rest linear SVMs on tf-idf features, with C chosen by validation.

    A word's feature is (1 + ln count) · (1 + ln((1 + documents)/(1 + documents with the word))),
    and a document's features have length one. A word that counts less than 1 counts just that.

    Parameters are those of `VanillaSVM`, but ``C="auto"`` chooses from .3, 1 and 3 by average
    precision on the documents held out for probabilities, or, where none are, on a tenth of the
    training documents (2,000 at most); where there are many labels, by at most 2,048 of them, of
    all frequencies. Attributes are those of `VanillaSVM`, with all weights kept, and ``idf_``, one
    for each word.

    Examples
    --------
    >>> import deplda
    >>> train = deplda.datasets.newsroom(100).corpus
    >>> model = deplda.TfidfSVM(n_held_out=0).fit(train)
    >>> model.score(train) > 0.9
    True
    """

    C: float | Literal["auto"] = "auto"

    _vectors: ClassVar = {"idf_": "words"}

    def _learn_features(self, lesson: Lesson) -> None:
        self.idf_ = idf_of(lesson.counts, weights=lesson.weights)

    def _features(self) -> Callable[[Counts], Counts]:
        return partial(tfidf, self.idf_)

    def _learn(self, task: OneVsRest, held_out: HeldOut | None) -> Weights:
        folds = () if held_out is None else held_out.folds
        self.C_ = task.choose_cost(COSTS, folds) if self.C == "auto" else self.C
        return task.learn(self.C_, 0.0, held_out=held_out)


def shares(counts: Counts) -> Counts:
    """Return counts divided by the document's tokens."""
    return csr_array(normalize(counts, norm="l1"))


def idf_of(
    counts: Counts, n_documents: float | None = None, weights: Floats | None = None
) -> Floats:
    """Return 1 + ln((1 + documents)/(1 + documents with the word)) of each word.

    `n_documents` says how many there are in all, if the others have none of these words; `weights`
    how many each of them counts as.
    """
    if n_documents is None:
        n_documents = counts.shape[0] if weights is None else float(weights.sum())
    n = n_documents
    has_word = counts.data > 0
    n_each = None if weights is None else np.repeat(weights, np.diff(counts.indptr))[has_word]
    n_with = np.bincount(counts.indices[has_word], n_each, minlength=counts.shape[1])
    return idf_by(n, n_with)


def idf_by(n: float, n_with: npt.NDArray[Any]) -> Floats:
    """Return 1 + ln((1 + documents)/(1 + documents with the word)) of each word."""
    return np.asarray(1 + np.log((1 + n) / (1 + n_with)))


def tfidf(idf: Floats, counts: Counts) -> Counts:
    """Return (1 + ln count) · idf, documents of length one."""
    counts = counts.astype(np.float64)
    counts.eliminate_zeros()
    counts.data = logged(counts.data) * idf[counts.indices]
    if not counts.shape[0]:  # which `normalize` refuses
        return counts
    return csr_array(normalize(counts, norm="l2", copy=False))
