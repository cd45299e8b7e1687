"""What every estimator shares: reading X and y, ranking, predicting at a cut-off, saving."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from deplda.data import checks
from deplda.data.corpus import (
    Corpus,
    canonical,
    check_distinct,
    sparse_rows,
    without_columns,
    word_names,
)
from deplda.data.documented import Documented
from deplda.data.external import Documents
from deplda.data.fields import Fields
from deplda.data.files import StrPath
from deplda.data.names import MARK
from deplda.data.readers import kept_words
from deplda.data.targets import Indicator, Targets, among, by_place, read_targets, renamed
from deplda.data.text import WordCounter
from deplda.data.vocabulary import Vocabulary
from deplda.data.wording import counted
from deplda.engine.execution import Device, Engine, Execution, Where
from deplda.engine.pool import Stop
from deplda.engine.progress import stage
from deplda.errors import InputError, NoKnownWordsWarning, ReadError, warn
from deplda.evaluation import evaluate
from deplda.evaluation.estimate import Ratio
from deplda.inference.batches import check_cells
from deplda.inference.scores import best
from deplda.models import card as store
from deplda.models import cutting
from deplda.models.calibration import Calibration, all_pairs, calibrate
from deplda.models.card import Arrays, Card, Stored
from deplda.models.cutting import Cutoff
from deplda.models.examples import Examples
from deplda.models.folds import folds_of
from deplda.models.learned_from import LearnedFrom
from deplda.models.lesson import (
    Lesson,
    are_texts,
    check_lengths,
    check_no_texts,
    counted_texts,
    is_read,
    warn_of_weights,
    weighted,
)
from deplda.models.quality import LabelQuality, held_out_quality

Counts = csr_array[Any, tuple[int, int]]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

_EVALUATED_CELLS, _EVALUATED_RANKS = 100_000_000, 200
_MOST_HELD_OUT_PAIRS = 1 << 24
_HOW_TO_CALIBRATE = (
    "fit it with n_held_out above 0, or calibrate(X, y) it with labelled documents that it has not "
    "learned from"
)


class Suggestion(NamedTuple):
    """The labels that a document is given, the likeliest first."""

    labels: npt.NDArray[Any]
    probabilities: Floats


class Ranking(NamedTuple):
    """The best labels of each document, the best first; documents × k."""

    labels: npt.NDArray[Any]
    scores: Floats

    def to_frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
        """Return a data frame: document, rank (from 1), label, score."""
        n, k = self.labels.shape
        columns = {
            "document": np.repeat(np.arange(n), k),
            "rank": np.tile(np.arange(1, k + 1), n),
            "label": self.labels.ravel(),
            "score": self.scores.ravel(),
        }
        checks.choice("library", library, ("pandas", "polars"))
        if library == "pandas":
            import pandas as pd

            return pd.DataFrame(columns)
        import polars as pl

        return pl.DataFrame({**columns, "label": columns["label"].tolist()})


class Scorer(Protocol):
    """A fitted model as a worker holds it: counts of some documents → scores of all labels."""

    @property
    def batch_size(self) -> int:
        """How many documents are scored at a time."""

    def scores(self, counts: Counts) -> Floats:
        """Return the scores of the documents, documents × labels."""


@dataclass(kw_only=True, eq=False, repr=False)
class LabelClassifier(Documented, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A multi-label classifier that ranks; what it learns and how it scores are its subclasses'.

    The `fit` of a subclass calls `_begin_fit` and sets `label_sets_`, the labels of the documents
    it learned from, and, where it has scored documents held out, `calibration_`, `held_out_`, what
    it reached on them, and `label_quality_`, the same by label. `fields_` is how files of documents
    are read where nothing else is said; None is `Fields()`. `vocabulary_` has the concepts that
    labels are addresses of, and `label_language_` is the language of their names, by default that
    of the texts. They may be set, and are saved.
    """

    cutoff: Any = "proportional"
    n_held_out: int = 2000
    random_state: Any = 0
    n_jobs: int | None = None
    engine: Engine = "threads"
    device: Device = "cpu"
    verbose: bool = False

    # What a subclass does ------------------------------------------------------------------------

    @abstractmethod
    def _scorer(self, counts: Counts, execution: Execution) -> tuple[Scorer, Execution]:
        """Return what scores these documents, and where it does."""

    @abstractmethod
    def _to_store(self, metrics: dict[str, Any] | None) -> tuple[Card, Arrays]:
        """Return the fitted model as it is saved."""

    @classmethod
    @abstractmethod
    def _from_store(cls, stored: Stored) -> Self:
        """Return the model that was saved."""

    # Predicting ----------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """Return how strongly each label is suggested, documents × labels.

        With two classes, one for each document, the second's score less the first's.
        """
        check_is_fitted(self)
        matrix = self._score_counts(self._read_documents(X))
        if self._targets.kind == "classes" and matrix.shape[1] == 2:
            return matrix[:, 1] - matrix[:, 0]
        return matrix

    def rank(self, X: Any, k: int = 10) -> Ranking:
        """Return the k best labels (all if there are fewer) of each document and their scores."""
        check_is_fitted(self)
        checks.at_least_one(k=k)
        return self._ranking(self._read_documents(X), k)

    def _ranking(self, counts: Counts, k: int) -> Ranking:
        k = min(int(k), len(self.classes_))
        none = np.zeros((0, k), np.int64), np.zeros((0, k))
        found = [none, *self._rank_counts(counts, k)]
        numbers, scores = (np.concatenate(part) for part in zip(*found, strict=True))
        return Ranking(self.classes_[numbers], scores)

    def rank_batches(self, X: Any, k: int = 10) -> Iterator[Ranking]:
        """Yield `rank` of some documents after the other, in constant memory."""
        check_is_fitted(self)
        checks.at_least_one(k=k)
        for numbers, scores in self._rank_counts(self._read_documents(X), int(k)):
            yield Ranking(self.classes_[numbers], scores)

    def rank_matrix(self, X: Any, k: int) -> csr_array[Any, tuple[int, int]]:
        """Return the scores of the k best labels of each document, a sparse matrix.

        `evaluate` takes it: all other labels tie below. For problems with many labels.
        """
        check_is_fitted(self)
        checks.at_least_one(k=k)
        return self._rank_matrix(self._read_documents(X), int(k))

    def _rank_matrix(self, counts: Counts, k: int) -> csr_array[Any, tuple[int, int]]:
        n_labels = len(self.classes_)
        rows = [csr_array((0, n_labels))]
        for numbers, scores in self._rank_counts(counts, k):
            starts = np.arange(len(numbers) + 1) * numbers.shape[1]
            shape = len(numbers), n_labels
            rows.append(csr_array((scores.ravel(), numbers.ravel(), starts), shape=shape))
        return csr_array(vstack(rows))

    def scores_to_evaluate(self, X: Any) -> Any:
        """Return what `evaluate` takes: all scores, or the best where those would be too many."""
        counts = self._read_counts(X, reset=False)
        if counts.shape[0] * len(self.classes_) > _EVALUATED_CELLS:
            return self._rank_matrix(counts, self._most_ranked())
        return self._score_counts(counts)

    def _most_ranked(self) -> int:
        """Return how many labels of a document are ranked where all would be too many."""
        return _EVALUATED_RANKS

    def _score_counts(self, counts: Counts) -> Floats:
        """Return the scores of all labels, documents × labels."""
        n_labels = len(self.classes_)
        check_cells(counts.shape[0], n_labels)
        scorer, execution = self._scorer(counts, self._execution())
        work = partial(_scores, scorer)
        found = execution.map_rows(work, counts, scorer.batch_size, "scoring")
        return np.concatenate([np.zeros((0, n_labels)), *found])

    def _rank_counts(self, counts: Counts, k: int) -> Iterator[tuple[Numbers, Floats]]:
        """Yield the numbers and scores of the k best labels, some documents after the other."""
        scorer, execution = self._scorer(counts, self._execution())
        work = partial(_best_labels, scorer, k)
        return execution.map_rows(work, counts, scorer.batch_size, "scoring")

    def _where(self) -> Where:
        """Return where work runs, as the parameters say."""
        return {
            "engine": self.engine, "n_jobs": self.n_jobs, "device": self.device,
            "progress": bool(self.verbose),
        }  # fmt: skip

    def _execution(self) -> Execution:
        return Execution(**self._where())

    def _here(self) -> Execution:
        """Return threads of this process, and the device: for one document at a time."""
        return Execution(device=self._where()["device"])

    def _stage(self, what: str) -> AbstractContextManager[None]:
        """Say what is being done, to those who asked for it."""
        return stage(what, bool(self.verbose))

    def predict_proba(self, X: Any) -> Floats:
        """Return how likely each label is, documents × labels.

        Calibrated by documents held out: of the pairs that are told .3, about three in ten are
        true. Where y was one class for each document, rows sum to 1.
        """
        check_is_fitted(self)
        counts, calibration = self._read_documents(X), self._calibration()
        return calibration.of_documents(self._score_counts(counts))

    def suggest(
        self, X: Any, k: int | None = None, cutoff: Cutoff | None = None
    ) -> list[Suggestion]:
        """Return the labels that each document is given, the likeliest first, equals in order.

        `cutoff` is as the parameter, which it is by default; k labels at most. A document gets none
        if no label is likely enough, or if it has no vocabulary words.
        """
        check_is_fitted(self)
        if k is not None:
            checks.at_least_one(k=k)
        chosen = self.cutoff if cutoff is None else cutoff
        cutting.check_cutoff(chosen)
        counts, _ = self._read_documents(X), self._calibration()
        return self._suggestions(counts, k, chosen)

    def _suggestions(self, counts: Counts, k: int | None, cutoff: Cutoff) -> list[Suggestion]:
        return [
            Suggestion(self.classes_[own[kept][:k]], values[kept][:k])
            for numbers, chances, given in self._cut(counts, cutoff)
            for own, values, kept in zip(numbers, chances, given, strict=True)
        ]

    def predict(self, X: Any) -> Any:
        """Return the labels of each document: those that the cut-off gives, in the manner of y.

        An indicator (sparse where y was sparse or label lists), or the best class of each document
        where y was one class for each. A model without probabilities gives the best by score. A
        document without vocabulary words gets no labels.
        """
        check_is_fitted(self)
        return self._predict(self._read_documents(X))

    def _predict(self, counts: Counts) -> Any:
        cutting.check_cutoff(self.cutoff)
        if self._targets.kind == "classes":
            best = [numbers[:, 0] for numbers, _ in self._rank_counts(counts, 1)]
            return self.classes_[np.concatenate([np.zeros(0, np.int64), *best])]
        return self._targets.give_back(self._given(counts, self.cutoff))

    def predict_scored(self, X: Any, scores: Any) -> Any:
        """Return what `predict` does, of documents whose `scores_to_evaluate` are known.

        They are not scored again where the best by score are given.
        """
        counts = self._read_counts(X, reset=False)
        dense = isinstance(scores, np.ndarray) and self._targets.kind != "classes"
        if not dense or self.has_probabilities or cutting.needs_probabilities(self.cutoff):
            return self._predict(counts)
        numbers = best(scores, cutting.most_labels(self.cutoff, self.label_sets_)).labels
        kept = np.broadcast_to(self._has_evidence(counts)[:, None], numbers.shape)
        return self._targets.give_back(sparse_rows(numbers, kept, kept, len(self.classes_)))

    def _given(self, counts: Counts, cutoff: Cutoff) -> Indicator:
        """Return the labels that documents are given, documents × labels."""
        n_labels = len(self.classes_)
        rows = [csr_array((0, n_labels), dtype=bool)]
        for numbers, _, kept in self._cut(counts, cutoff):
            rows.append(sparse_rows(numbers, kept, kept, n_labels))
        return csr_array(vstack(rows))

    def _cut(
        self, counts: Counts, cutoff: Cutoff
    ) -> Iterator[tuple[Numbers, Floats, npt.NDArray[np.bool_]]]:
        """Yield labels, the best first, their values, and which of them documents are given.

        Values are probabilities, or scores in a model that has none.
        """
        has_evidence = iter(self._has_evidence(counts))
        k = cutting.most_labels(cutoff, self.label_sets_)
        if self.has_probabilities:
            calibration = self._calibration()
            for numbers, _, chances in self._likeliest(counts, k):
                given = cutting.given(cutoff, numbers, chances, calibration) & (numbers >= 0)
                yield numbers, chances, given & _next_rows(has_evidence, len(numbers))
            return
        if cutting.needs_probabilities(cutoff):
            raise InputError(
                f"cutoff is {cutoff!r}, but this model has no probabilities; {_HOW_TO_CALIBRATE}, "
                "or use cutoff='proportional' or a number of labels"
            )
        for numbers, scores in self._rank_counts(counts, k):
            rows = _next_rows(has_evidence, len(numbers))
            yield numbers, scores, np.broadcast_to(rows, scores.shape)

    def _likeliest(
        self, counts: Counts, k: int, execution: Execution | None = None
    ) -> Iterator[tuple[Numbers, Floats, Floats]]:
        """Yield numbers, scores and probabilities of the k likeliest labels, the likeliest first.

        Some documents after the other. A model that does not score all labels overrides this; there
        may then be fewer than k, and −1 where a document has no more.
        """
        scorer, execution = self._scorer(counts, execution or self._execution())
        work = partial(_likeliest_labels, scorer, self._calibration(), k)
        return execution.map_rows(work, counts, scorer.batch_size, "scoring")

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return mean average precision over documents, or accuracy with one class for each.

        Whatever the form of y, documents without a label that the model knows are left out of the
        mean; a label that it does not know counts as missed in the others. Where all labels are
        known, the mean is that of `evaluate`. An error is raised if no document is left.
        """
        check_is_fitted(self)
        if self._targets.kind == "classes":
            return float(super().score(X, y, sample_weight))
        labels, targets = self._read_labels(X, y)
        truth = renamed(labels, by_place(targets, self.classes_), self.classes_)
        ranked = "train" if self.n_learned_labels_ == len(self.classes_) else "all"
        metrics = evaluate(
            self.scores_to_evaluate(X), truth, self.label_sets_, labels=ranked, ks=()
        )
        weights = _check_sample_weight(sample_weight, labels)
        precision = metrics.document.ranking["average_precision"]
        share_known = metrics.document.positives / np.maximum(np.diff(labels.indptr), 1)
        return Ratio(
            weights * share_known * precision.numerator, weights * precision.denominator
        ).value

    # Keeping -------------------------------------------------------------------------------------

    def save(self, path: StrPath, *, metrics: dict[str, Any] | None = None) -> None:
        """Write the model to a folder of its own, atomically; `metrics` go to its card.

        A model already saved there is replaced; any other file or folder is left alone.
        """
        check_is_fitted(self)
        store.save(path, *self._to_store(self.metrics_ if metrics is None else metrics))

    @classmethod
    def load(cls, path: StrPath, *, trusted: bool = False) -> Self:
        """Return a saved model of this class, as `deplda.load` does."""
        stored = store.load(path, trusted=trusted)
        if (model := stored.card.model) != cls.__name__:
            raise ReadError(path, None, f"this is a saved {model}, not a {cls.__name__}")
        return cls._from_store(stored)

    # What comes in -------------------------------------------------------------------------------

    def _begin_fit(
        self,
        X: Any,
        y: Any,
        counter: WordCounter | None,
        *,
        words: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
    ) -> Lesson:
        """Return the documents to learn from; set what is known before learning."""
        if self.__sklearn_is_fitted__():
            del self.label_sets_  # if this fit fails, nothing of an older one is used
        cutting.check_cutoff(self.cutoff)
        _check_device(self._where()["device"])
        self.seed_ = self._seed()
        X, y, weights, rows = weighted(X, y, sample_weight)
        labels, self._targets = self._read_labels(X, y)
        if classes is not None:
            labels, self._targets = among(labels, self._targets, classes)
        if are_texts(X):
            check_lengths(len(X), labels.shape[0])
            counter, X = counted_texts(X, labels, counter)
        counts = self._read_counts(X, reset=True)
        check_lengths(counts.shape[0], labels.shape[0])
        if not is_read(y) and not self._takes_weights:
            warn_of_weights(counts, type(self).__name__)
        if not labels.nnz:
            raise InputError(
                f"none of {counted(counts.shape[0], 'document')} has a label; "
                "there is nothing to learn from"
            )
        if self._targets.kind == "classes" and labels.shape[1] < 2:
            raise InputError(
                f"y holds 1 class only, {self._targets.classes[0]!r}; it needs 2 to tell apart"
            )
        if words is not None:
            self._name_words(words() if callable(words) else words)
        if counter is not None:
            self._check_counter(counter)
        self._check_names(counter)
        self.counter_: WordCounter | None = counter
        self.fields_: Fields | None = None
        self.vocabulary_: Vocabulary | None = None
        self.label_language_: str | None = None
        self.metrics_: dict[str, Any] | None = None
        self.calibration_: Calibration | None = None
        self.held_out_: dict[str, float] = {}
        self.examples_: Examples | None = None
        self.label_quality_: LabelQuality | None = None
        self.classes_ = self._targets.classes
        self.n_tokens_ = round(float(counts.sum()))
        self.document_weights_: Floats | None = weights
        self._remember(counts, labels, LearnedFrom())
        return Lesson(counts, labels, weights, rows)

    def _remember(self, counts: Counts, labels: Indicator, before: LearnedFrom) -> None:
        """Keep what tells whether a document was learned from."""
        self._learned_from = before.with_more(self._words_in(counts), labels)

    def learned_from(self, X: Any) -> npt.NDArray[np.bool_]:
        """Return which documents have the same words as one that the model has learned from.

        A model of shards, or saved by an earlier version, does not know, and says of none that it
        has; nor is it told of a document without known words.
        """
        check_is_fitted(self)
        return self._learned_from.among(self._words_in(self._counts_of(X)))

    def keep_examples(self, X: Any, titles: Sequence[str]) -> Self:
        """Keep a title and the weightiest words of each document, to show similar ones.

        X are the documents that the model was fitted on, in their order. The titles are saved with
        the model, 160 characters of each: whoever has it can read them.
        """
        check_is_fitted(self)
        counts = self._words_in(self._counts_of(X))
        n_learned = self.label_sets_.shape[0]
        if not counts.shape[0] == len(titles) == n_learned:
            raise InputError(
                f"there are {counts.shape[0]:,} documents and {len(titles):,} titles, but the "
                f"model was fitted on {n_learned:,} documents; give all of those, in their order"
            )
        self.examples_ = Examples.of(counts, titles)
        return self

    def _counts_of(self, X: Any) -> Counts:
        """Return X as counts, without external arrays."""
        return self._read_counts(X, reset=False)

    def _words_in(self, counts: Counts) -> Counts:
        """Return the counts of the words that are learned from, without those for names alone."""
        found: Counts = without_columns(
            counts, range(0) if self.counter_ is None else self.counter_.names_at_
        )
        return found

    def _read_labels(self, X: Any, y: Any) -> tuple[Indicator, Targets]:
        if is_read(y):
            labels, targets = y
            return labels, targets
        if y is not None:
            return read_targets(y)
        if isinstance(X, Corpus):
            return X.labels, Targets(np.array(X.label_names, dtype=object), "sparse")
        raise InputError(
            f"{type(self).__name__} requires y to be passed, but the target y is None; "
            "give the labels of the documents"
        )

    def _read_counts(self, X: Any, *, reset: bool) -> Counts:
        """Return X as counts over the words of the model."""
        if isinstance(X, Corpus):
            return self._counts_of_corpus(X, reset=reset)
        if isinstance(X, Documents):
            raise InputError(
                f"X has embeddings or scores, which {type(self).__name__} does not use; pass its X "
                "alone, or use HybridLDA"
            )
        if isinstance(X, str):
            raise InputError("X is one text; put it in a list")
        if are_texts(X, if_empty=not reset):
            X = self._count_words(X)
        check_no_texts(X)
        how: Any = {
            "accept_sparse": "csr", "ensure_min_samples": int(reset),
            "ensure_non_negative": 0 not in getattr(X, "shape", ()),  # scikit-learn takes the least
        }  # fmt: skip
        if reset or hasattr(X, "columns"):
            x = validate_data(self, X, reset=reset, **how)
        else:  # scikit-learn would warn that the columns have no names; rows of a Corpus have none
            x = check_array(X, input_name="X", estimator=self, **how)
            if x.shape[1] != self.n_features_in_:
                raise InputError(
                    f"X has {x.shape[1]:,} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_:,} features as input; count the same words as in fit"
                )
        return canonical(x)

    def _read_documents(self, X: Any) -> Counts:
        """Return the counts of documents to predict; warn of those without vocabulary words."""
        counts = self._read_counts(X, reset=False)
        empty = np.flatnonzero(~self._has_evidence(counts))
        if len(empty):
            rows = ", ".join(map(str, empty[:5])) + (", …" if len(empty) > 5 else "")
            warn(
                f"{len(empty):,} of {counts.shape[0]:,} documents have no vocabulary words (row "
                f"{rows}): suggest gives them no labels, and their scores and probabilities are "
                "those of any document",
                NoKnownWordsWarning,
            )
        return counts

    def _count_words(self, texts: Any) -> Any:
        if self.counter_ is None:
            if not len(texts):
                return csr_array((0, self.n_features_in_))
            raise InputError(
                "X holds texts, but this model was fitted on counts; "
                "fit it with texts, or pass fit(..., counter=...), to let it count words itself"
            )
        return self.counter_.count(texts)

    def _name_words(self, words: Any) -> None:
        """Give the columns of X their names."""
        names = tuple(map(str, words))
        has_others = hasattr(self, "feature_names_in_") and names != self.words_
        if has_others or len(names) != self.n_features_in_:
            raise InputError(
                f"words has {len(names):,} names, which are not those of the "
                f"{self.n_features_in_:,} columns of X; give one for each column without a name, "
                "in their order (get_feature_names_out() of what counted them)"
            )
        check_distinct(names, "words")
        self.feature_names_in_ = np.array(names, dtype=object)

    _takes_weights = False
    """Whether X may be tf-idf, or any other weights of words, as well as counts."""

    def _check_counter(self, counter: WordCounter) -> None:
        """Raise if the counter's words are not the model's, which are called by them."""
        check_is_fitted(counter, "vocabulary_")
        words, has_names = tuple(counter.vocabulary_), hasattr(self, "feature_names_in_")
        if (has_names and words != self.words_) or len(words) != self.n_features_in_:
            raise InputError(
                f"the counter's {len(words):,} words are not the {self.n_features_in_:,} of X; "
                "pass the counter that made X"
            )
        self.feature_names_in_ = np.array(words, dtype=object)

    _looks_for_names = False
    """Whether the model knows what is counted for the sake of names."""

    def _check_names(self, counter: WordCounter | None) -> None:
        """Raise if there are columns that are no words, which this model would take for words."""
        if counter is not None and self._looks_for_names:
            return
        words = self.words_ if hasattr(self, "feature_names_in_") else ()
        if any(word.endswith(MARK) for word in words):
            other = "fit it with counter=" if self._looks_for_names else "count without names="
            raise InputError(
                f"X has columns that are counted for names, which are no words; {other}, or use "
                "HybridLDA with vocabulary= and counter="
            )

    def _counts_of_corpus(self, corpus: Corpus, *, reset: bool) -> Any:
        names = np.array(corpus.vocabulary, dtype=object)
        if reset:
            if not corpus.n_words:
                raise InputError(
                    "no document has both words and labels; there is nothing to learn from"
                )
            self.n_features_in_, self.feature_names_in_ = corpus.n_words, names
            return corpus.counts
        if not hasattr(self, "feature_names_in_"):
            if corpus.n_words != self.n_features_in_:
                raise InputError(
                    f"the corpus has {corpus.n_words:,} words but {type(self).__name__} was fitted "
                    f"on {self.n_features_in_:,} columns without names; pass the same words"
                )
            return corpus.counts
        if np.array_equal(names, self.feature_names_in_):
            return corpus.counts
        return corpus.align(self.words_).counts

    def _add_words(self, X: Any) -> None:
        """Give new words of texts, or of a corpus with names, places after the model's own."""
        counter = self.counter_
        if counter is not None and are_texts(X):
            self.counter_ = counter.extended(X)
            words = self.counter_.vocabulary_
        elif isinstance(X, Corpus) and hasattr(self, "feature_names_in_"):
            known = X if counter is None else kept_words(X, counter.min_count_)[0]
            words = (*self.words_, *known.new_words(self.words_))
            if counter is not None:
                self.counter_ = counter.with_words(words, counter.min_count_)
        else:
            return
        self.n_features_in_, self.feature_names_in_ = len(words), np.array(words, dtype=object)

    @property
    def words_(self) -> tuple[str, ...]:
        """The words, in the order of columns; word0, word1, … where they have no names."""
        names = getattr(self, "feature_names_in_", None)
        return tuple(word_names(self.n_features_in_) if names is None else map(str, names))

    @property
    def n_learned_words_(self) -> int:
        """How many words were learned from; others are counted for the sake of names."""
        return int(self.n_features_in_) - (
            0 if self.counter_ is None else len(self.counter_.names_at_)
        )

    @property
    def n_learned_labels_(self) -> int:
        """How many labels were learned, the first of `classes_`; others are known by name alone."""
        return len(self.classes_)

    @property
    def external_(self) -> tuple[str, ...]:
        """The external arrays (`Documents`) that every new document needs."""
        return ()

    @property
    def n_known_by_name_(self) -> int:
        """How many labels that were never learned can be suggested by their names."""
        return 0

    @property
    def is_known_(self) -> npt.NDArray[np.bool_]:
        """Which labels can be suggested: those of training documents, or known by name."""
        return np.bincount(self.label_sets_.indices, minlength=len(self.classes_)) > 0

    def _has_evidence(self, counts: Counts) -> npt.NDArray[np.bool_]:
        """Return which documents have anything in them that the model suggests labels by."""
        return np.asarray(counts.sum(axis=1)).ravel() > 0

    def _n_tokens_in(self, counts: Counts) -> Numbers:
        """Return how many tokens of known words each document has."""
        words = counts
        if self.counter_ is not None:
            words = without_columns(counts, self.counter_.marks_at_)
        return np.rint(np.asarray(words.sum(axis=1), np.float64).ravel()).astype(np.int64)

    @property
    def surface_words_(self) -> tuple[str, ...]:
        """The words as people read them: of each its commonest form in the training texts."""
        return self.words_ if self.counter_ is None else self.counter_.surface_words_

    @property
    def label_languages_(self) -> tuple[str, ...]:
        """The languages that the vocabulary has label names in, the most frequent first."""
        return () if self.vocabulary_ is None else tuple(filter(None, self.vocabulary_.languages))

    @property
    def name_language_(self) -> str | None:
        """The language of displayed label names; None without a vocabulary, "" if not stated.

        It is `label_language_`, or else the language of the texts, if the vocabulary has it.
        """
        if self.vocabulary_ is None:
            return None
        text_language = None if self.counter_ is None else self.counter_.language_code_
        return self.vocabulary_.name_language(self.label_language_ or text_language)

    @property
    def shown_labels_(self) -> tuple[str, ...]:
        """The labels as people read them, in the order of `classes_`: concepts by name.

        Where two have the same name, the address stands behind it.
        """
        names = [str(self.told_label(label)["label"]) for label in self.classes_.tolist()]
        if self.vocabulary_ is None:
            return tuple(names)
        times = Counter(names)
        return tuple(
            name if times[name] == 1 or name == str(label) else f"{name} <{label}>"
            for name, label in zip(names, self.classes_.tolist(), strict=True)
        )

    def told_label(self, label: Any) -> dict[str, Any]:
        """Return a label as it is told: by name, with address and notation, or as it is."""
        if self.vocabulary_ is None or label not in self.vocabulary_:
            return {"label": label}
        concept = self.vocabulary_[label]
        told: dict[str, Any] = {"label": concept.name(self.name_language_), "uri": concept.uri}
        return told | ({} if concept.notation is None else {"notation": concept.notation})

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return checks.seed("random_state", self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    # Calibrating ---------------------------------------------------------------------------------

    @property
    def has_probabilities(self) -> bool:
        """Whether documents were held out, or labelled ones given, to calibrate scores by."""
        return self.calibration_ is not None

    def calibrate(self, X: Any, y: Any = None) -> Self:
        """Learn probabilities from labelled documents that the model has not learned from.

        For models that were fitted without holding documents out, from shards or by an earlier
        version. X and y are as in `fit`; labels that the model does not know are left out.
        """
        check_is_fitted(self)
        labels, targets = self._read_labels(X, y)
        counts = self._read_counts(X, reset=False)
        check_lengths(counts.shape[0], labels.shape[0])
        truth = renamed(labels, by_place(targets, self.classes_), self.classes_)
        n_trained = np.bincount(self.label_sets_.indices, minlength=len(self.classes_))
        most = _MOST_HELD_OUT_PAIRS // len(self.classes_) + 1
        found = calibrate(
            all_pairs(
                self._score_counts(counts[:most]), truth[:most].toarray().astype(bool),
                n_trained > 0,
            ),
            n_trained, self.label_sets_.shape[0], is_part=False,
            one_class=self._targets.kind == "classes",
        )  # fmt: skip
        if found is None:
            raise InputError(
                f"of {counts.shape[0]:,} documents none has a label that the model knows, or all "
                "have all; give documents with known labels"
            )
        self.calibration_ = found
        return self

    def _calibration(self) -> Calibration:
        """Return what makes probabilities of scores."""
        if self.calibration_ is None:
            raise InputError(f"this model has no probabilities; {_HOW_TO_CALIBRATE}")
        return self.calibration_

    def _fold_held_out(self, labels: Indicator) -> Numbers:
        """Return the documents to hold out; none where there are too few, or none is to be."""
        most = _MOST_HELD_OUT_PAIRS // labels.shape[1] + 1
        folds = folds_of(labels.shape[0], min(self.n_held_out, most), None, self.seed_)[:1]
        fold = folds[0] if folds else np.zeros(0, np.int64)
        return fold if _without(labels, fold).any() else fold[:0]

    def _calibrated(self, fold: Numbers, scores: Floats, labels: Indicator) -> Calibration | None:
        """Return the calibration by the scores of a fold that the scoring model has not seen."""
        truth, known = labels[fold].toarray().astype(bool), _without(labels, fold) > 0
        pairs = all_pairs(scores, truth, known)
        n_trained = np.bincount(labels.indices, minlength=labels.shape[1])
        self.held_out_, self.label_quality_ = held_out_quality(scores, truth & known, n_trained)
        one_class = self._targets.kind == "classes"
        return calibrate(pairs, n_trained, labels.shape[0], one_class=one_class)

    # What scikit-learn asks -----------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "label_sets_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.poor_score = True  # on points in a plane: they are not word counts
        return tags


def _check_device(device: str) -> None:
    """Raise if a GPU is asked for and there is none, before anything is read."""
    if device == "cuda":
        from deplda.kernels.cuda.device import choose

        choose("cuda")


def _next_rows(flags: Iterator[np.bool_], n: int) -> npt.NDArray[np.bool_]:
    """Return the flags of the next n documents as a column."""
    return np.fromiter(flags, bool, n)[:, None]


def _scores(scorer: Scorer, counts: Counts, stop: Stop) -> Floats:
    return scorer.scores(counts)


def _without(labels: Indicator, fold: Numbers) -> Numbers:
    """Return how many documents of each label are not in a fold."""
    every, own = (np.bincount(x.indices, minlength=x.shape[1]) for x in (labels, labels[fold]))
    return np.asarray(every - own)


def _likeliest_labels(
    scorer: Scorer, calibration: Calibration, k: int, counts: Counts, stop: Stop
) -> tuple[Numbers, Floats, Floats]:
    scores = scorer.scores(counts)
    numbers, chances = best(calibration.of_documents(scores), k)
    return numbers, np.take_along_axis(scores, numbers, axis=1), chances


def _best_labels(scorer: Scorer, k: int, counts: Counts, stop: Stop) -> tuple[Numbers, Floats]:
    return best(scorer.scores(counts), k)
