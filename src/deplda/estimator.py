"""What the three models share as scikit-learn classifiers: reading X and y, fit, rank, predict."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import label_ranking_average_precision_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from deplda import explain, saving, settings, store
from deplda import inference as inferring
from deplda.chains import Schedule
from deplda.corpus import Corpus
from deplda.errors import FractionalCountsWarning, InputError, ReadError
from deplda.estimates import LabelWords, TopicLabels
from deplda.explain import Explanation, Topic, Weighted, Word, reasons
from deplda.files import StrPath
from deplda.inference import Inference
from deplda.tables import Tables
from deplda.targets import Indicator, Targets, read_targets, renamed
from deplda.text import WordCounter
from deplda.training import (
    expect_label_words,
    train_label_words,
    update_label_words,
)

Floats = npt.NDArray[np.float64]
Auto = Literal["auto"]


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
        if library == "pandas":
            import pandas as pd

            return pd.DataFrame(columns)
        if library == "polars":
            import polars as pl

            return pl.DataFrame({**columns, "label": columns["label"].tolist()})
        raise InputError(f"library is {library!r}; it must be 'pandas' or 'polars'")


class _Prepared:
    """φ and φ′ as inference wants them, laid out when they are first used and never pickled."""

    def __init__(self, label_words: LabelWords, topic_labels: tuple[TopicLabels, ...]) -> None:
        self.label_words, self.topic_labels = label_words, topic_labels

    @cached_property
    def tables(self) -> Tables:
        return Tables(self.label_words, self.topic_labels)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "tables"}


class TopicModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What the three models share: everything but the prior over labels."""

    _model: ClassVar[settings.Model]

    @classmethod
    def paper(cls, data: settings.PaperData, **others: Any) -> Self:
        """Return a model with the paper's exact settings for one of its data sets.

        `data` is "eurlex", "yahoo", "rcv1" or "nyt". Any parameter can be given beside it.
        """
        if data not in settings.PAPER_NAMES:
            known = ", ".join(repr(name) for name in settings.PAPER_NAMES)
            raise InputError(f"the paper has no data set {data!r}; it must be one of {known}")
        return cls(**(settings.paper_settings(data, cls._model) | others))

    # Learning -------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, counter: WordCounter | None = None) -> Self:  # noqa: N803
        """Learn φ and φ′ from labelled documents.

        Parameters
        ----------
        X : (documents, words) counts, sparse or dense, or a Corpus
        y : labels: an indicator matrix, sparse or dense; a list of label lists; or one class for
            each document. Not needed with a Corpus.
        counter : WordCounter, optional
            What made the counts out of texts. It is kept and saved with the model, which then takes
            texts for X in all other methods.
        """
        labels, self._targets = self._read_labels(X, y)
        counts = self._read_counts(X, reset=True)
        self._check_parameters()
        if counts.shape[0] != labels.shape[0]:
            raise InputError(
                f"X has {counts.shape[0]:,} documents but y has {labels.shape[0]:,}; "
                "both need one row for each document"
            )
        if self._targets.kind == "classes" and labels.shape[1] < 2:
            raise InputError(
                f"y holds 1 class only, {self._targets.classes[0]!r}; it needs 2 to tell apart"
            )
        self.counter_: WordCounter | None = counter
        self.metrics_: dict[str, Any] | None = None
        self.seed_ = self._seed()
        corpus = Corpus(counts, labels, self._vocabulary())
        self.n_tokens_ = corpus.n_tokens
        self._resolve(corpus)
        self._learn(self._fit_words(corpus), labels, corpus)
        return self

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:  # noqa: N803
        """Learn from more labelled documents, which may carry labels not seen before.

        φ of the new documents is expected with all that is known counted in; φ′ is learned anew
        from the label sets of all documents. The first call is `fit`, or, with `classes` given,
        `fit` with these labels. Hyperparameters stay those of the first call.
        """
        if not hasattr(self, "seed_"):
            labels, targets = self._read_labels(X, y)
            if classes is not None:
                labels, targets = renamed(labels, targets, np.asarray(classes))
                y = (labels, targets)
            return self.fit(X, y)
        labels, targets = self._read_labels(X, y)
        counts = self._read_counts(X, reset=False)
        known = self._targets.classes
        new = targets.classes[self._targets.numbers(targets.classes) < 0]
        self._targets = Targets(np.concatenate([known, new]), self._targets.kind)
        labels, _ = renamed(labels, targets, self._targets.classes)
        older = csr_array(
            (self.label_sets_.data, self.label_sets_.indices, self.label_sets_.indptr),
            shape=(self.label_sets_.shape[0], labels.shape[1]),
        )
        corpus = Corpus(counts, labels, self._vocabulary())
        self.n_tokens_ += corpus.n_tokens
        words = update_label_words(
            self.label_words_,
            corpus,
            eta=self.train_eta,
            beta=self.beta_words,
            progress=self._progress(),
        )
        sets = csr_array(vstack([older, labels]))
        self._learn(words, sets, Corpus(csr_array((sets.shape[0], 0)), sets))
        return self

    def _fit_words(self, corpus: Corpus) -> LabelWords:
        if self.fit_method == "deterministic":
            trained = expect_label_words(
                corpus, eta=self.train_eta, beta=self.beta_words, progress=self._progress()
            )
        else:
            trained = train_label_words(
                corpus, eta=self.train_eta, beta=self.beta_words, n_chains=self.n_chains,
                schedule=Schedule(self.n_sweeps), seed=self.seed_, n_jobs=self.n_jobs,
                progress=self._progress(),
            )  # fmt: skip
        self.diagnostics_ = {"label_words": trained.diagnostics}
        return trained.label_words

    def _learn(self, label_words: LabelWords, label_sets: Indicator, corpus: Corpus) -> None:
        """Learn φ′ and set the learned attributes."""
        self._set_learned(label_words, label_sets, self._fit_topics(corpus))

    def _set_learned(
        self, label_words: LabelWords, label_sets: Indicator, topic_labels: tuple[TopicLabels, ...]
    ) -> None:
        self.classes_ = self._targets.classes
        self.label_words_, self.label_sets_ = label_words, label_sets
        self.topic_labels_ = topic_labels
        self._prepared = _Prepared(label_words, topic_labels)

    def _fit_topics(self, corpus: Corpus) -> tuple[TopicLabels, ...]:
        raise NotImplementedError

    # Predicting -----------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """Return how strongly each label is suggested, documents × labels.

        With two classes, one for each document, the second's score less the first's.
        """
        matrix = self._score_matrix(X)
        if self._targets.kind == "classes" and matrix.shape[1] == 2:
            return matrix[:, 1] - matrix[:, 0]
        return matrix

    def rank(self, X: Any, k: int = 10) -> Ranking:  # noqa: N803
        """Return the k best labels of each document and their scores."""
        batches = list(self.rank_batches(X, k))
        if not batches:
            return Ranking(self.classes_[np.zeros((0, k), dtype=np.int64)], np.zeros((0, k)))
        return Ranking(*(np.concatenate(part) for part in zip(*batches, strict=True)))

    def rank_batches(self, X: Any, k: int = 10) -> Iterator[Ranking]:  # noqa: N803
        """Yield `rank` of some documents after the other, in constant memory."""
        check_is_fitted(self)
        documents = self._documents(X)
        for found in inferring.rank(
            documents, self._prepared.tables, self._inference(), k, seed=self.seed_,
            n_jobs=self.n_jobs, progress=self._progress(),
        ):  # fmt: skip
            yield Ranking(self.classes_[found.labels], found.scores)

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Return the labels of each document: those above the cut-off, in the manner of y.

        An indicator (sparse where y was sparse or label lists), or the best class of each document
        where y was one class for each.
        """
        check_is_fitted(self)
        if self._targets.kind == "classes":
            return self.classes_[self._score_matrix(X).argmax(axis=1)]
        tables, asked = self._prepared.tables, self._inference()
        documents, n_labels = self._documents(X), len(self.classes_)
        threshold = self.cutoff if isinstance(self.cutoff, float) else None
        k = n_labels if threshold is not None else min(self._labels_per_document(), n_labels)
        rows = []
        for found in inferring.rank(
            documents, tables, asked, k, seed=self.seed_, n_jobs=self.n_jobs,
            progress=self._progress(),
        ):  # fmt: skip
            kept = np.ones(found.labels.shape, bool) if threshold is None else (
                found.scores >= threshold
            )  # fmt: skip
            starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
            data = np.ones(int(starts[-1]), bool)
            shape = (len(kept), n_labels)
            rows.append(csr_array((data, found.labels[kept], starts), shape=shape))
        found_labels = csr_array(vstack(rows)) if rows else csr_array((0, n_labels), dtype=bool)
        found_labels.sort_indices()
        return self._targets.give_back(found_labels)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:  # noqa: N803
        """Return mean average precision over documents, or accuracy with one class for each."""
        if self._targets.kind == "classes":
            return float(super().score(X, y, sample_weight))
        truth, _ = renamed(*self._read_labels(X, y), self.classes_)
        return float(
            label_ranking_average_precision_score(
                truth.toarray(), self._score_matrix(X), sample_weight=sample_weight
            )
        )

    def _score_matrix(self, X: Any) -> Floats:  # noqa: N803
        check_is_fitted(self)
        return inferring.score_matrix(
            self._documents(X), self._prepared.tables, self._inference(), seed=self.seed_,
            n_jobs=self.n_jobs, progress=self._progress(),
        )  # fmt: skip

    def _labels_per_document(self) -> int:
        """Return how many labels a document is given: as asked, or as training documents have."""
        if self.cutoff == "proportional":
            return max(1, round(float(np.median(np.diff(self.label_sets_.indptr)))))
        return int(self.cutoff)

    def _inference(self) -> Inference:
        weights = self.settings_
        return Inference(
            weights.get("eta", 0.0), weights["alpha"], weights.get("gamma", 1.0),
            method=self.inference, n_chains=self.n_test_chains,
            schedule=Schedule(self.burn_in, self.n_samples, self.lag),
            estimate=self.theta_estimate, combine=self.combine,
            n_label_tokens=getattr(self, "n_label_tokens", 1),
        )  # fmt: skip

    # Explaining ----------------------------------------------------------------------------------

    def explain(self, document: Any, k: int = 5, *, n_words: int = 8) -> Explanation:
        """Return why the k best labels of one document are suggested.

        `document` is a row of counts, a Corpus of one document, or a text (see `fit`).
        """
        check_is_fitted(self)
        text = document if isinstance(document, str) else None
        x = [document] if text is not None else document
        documents = self._documents(x)
        if len(documents) != 1:
            raise InputError(f"{len(documents):,} documents were given; explain one at a time")
        tables, asked = self._prepared.tables, self._inference()
        inferred = next(inferring.infer(documents, tables, asked, seed=self.seed_, n_jobs=1))
        numbers = inferring.best(inferring.scores(inferred, self.combine), k).labels
        tokens = next(
            inferring.attribute(documents, tables, asked, numbers, seed=self.seed_, n_jobs=1)
        )
        entries = documents.counts
        words = [self._words()[w] for w in entries.indices]
        return Explanation(
            reasons(
                numbers[0], inferred, tokens, words, self.topic_labels_, self.classes_,
                self.combine, n_words=n_words,
            ),
            tuple(map(Word, words, entries.data.tolist(), map(tuple, tokens.tolist()))),
            documents.n_tokens,
            self._n_tokens_given(x) - documents.n_tokens,
            text,
            () if text is None or self.counter_ is None else tuple(self.counter_.spans(text)),
        )  # fmt: skip

    def top_words(self, label: Any, n: int = 20) -> list[Weighted]:
        """Return the likeliest words of a label with their probabilities, φ."""
        check_is_fitted(self)
        return explain.top_words(self.label_words_, self._number(label), self._words(), n)

    def topics(self, n: int = 10) -> list[Topic]:
        """Return every topic with its n likeliest labels, φ′; none in Flat-LDA."""
        check_is_fitted(self)
        return explain.topics_of(self.topic_labels_, self.classes_, n)

    def similar_labels(
        self, label: Any, n: int = 10, *, by: Literal["words", "topics"] = "words"
    ) -> list[Weighted]:
        """Return the labels that share a label's words, or those it goes with (``by="topics"``)."""
        check_is_fitted(self)
        number = self._number(label)
        if by == "words":
            return explain.similar_by_words(self.label_words_, number, self.classes_, n)
        if by == "topics":
            return explain.similar_by_topics(self.topic_labels_, number, self.classes_, n)
        raise InputError(f"by is {by!r}; it must be 'words' or 'topics'")

    def _number(self, label: Any) -> int:
        number = int(self._targets.numbers(np.array([label], dtype=object))[0])
        if number < 0:
            raise InputError(f"the model does not know the label {label!r}; see classes_")
        return number

    def _words(self) -> list[str]:
        return self._vocabulary() or [f"word{w}" for w in range(self.n_features_in_)]

    def _n_tokens_given(self, X: Any) -> int:  # noqa: N803
        if isinstance(X, Corpus):
            return X.n_tokens
        if _are_texts(X) and self.counter_ is not None:
            analyze = self.counter_.analyzer()
            return sum(len(analyze(text)) for text in X)
        return int(self._read_counts(X, reset=False).sum())

    # Keeping -------------------------------------------------------------------------------------

    def save(self, path: StrPath, *, metrics: dict[str, Any] | None = None) -> None:
        """Write the model to a folder of its own, atomically; `metrics` go to its card.

        A model already saved there is replaced; any other file or folder is left alone.
        """
        check_is_fitted(self)
        store.save(path, *saving.to_store(self, self.metrics_ if metrics is None else metrics))

    @classmethod
    def load(cls, path: StrPath) -> Self:
        """Return a saved model of this class; no code from the folder is ever run."""
        card, arrays = store.load(path)
        if card.model != cls.__name__:
            raise ReadError(path, None, f"this is a saved {card.model}, not a {cls.__name__}")
        return saving.from_store(path, card, arrays, cls)

    # What comes in --------------------------------------------------------------------------------

    def _read_labels(self, X: Any, y: Any) -> tuple[Indicator, Targets]:  # noqa: N803
        if isinstance(y, tuple) and len(y) == 2 and isinstance(y[1], Targets):
            return y  # already read
        if y is not None:
            labels, targets = read_targets(y)
            if not targets.named and labels.shape[1] == len(getattr(self, "classes_", ())):
                targets = Targets(self.classes_, targets.kind)
            return labels, targets
        if isinstance(X, Corpus):
            return X.labels, Targets(np.array(X.label_names, dtype=object), "sparse")
        raise InputError(
            f"{type(self).__name__} requires y to be passed, but the target y is None; "
            "give the labels of the documents"
        )

    def _read_counts(self, X: Any, *, reset: bool) -> csr_array[Any, tuple[int, int]]:  # noqa: N803
        """Return X as whole counts over the words of the model."""
        if isinstance(X, Corpus):
            return self._counts_of_corpus(X, reset=reset)
        if not reset and _are_texts(X):
            if self.counter_ is None:
                raise InputError(
                    "X holds texts, but this model was fitted on counts; "
                    "pass fit(..., counter=...) to let it count words itself"
                )
            X = self.counter_.transform(X)  # noqa: N806
        x = validate_data(self, X, accept_sparse="csr", reset=reset, ensure_non_negative=True)
        x = csr_array(x)
        if x.dtype.kind == "f" and (x.data != np.rint(x.data)).any():
            warnings.warn(
                "counts are rounded to whole numbers; pass how often each word occurs, "
                "not weights such as tf-idf",
                FractionalCountsWarning,
                stacklevel=3,
            )
            x.data = np.rint(x.data)
        return x

    def _counts_of_corpus(self, corpus: Corpus, *, reset: bool) -> Any:
        names = np.array(corpus.vocabulary, dtype=object)
        if reset:
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
        empty = csr_array((0, len(self.feature_names_in_)))
        own = Corpus(empty, csr_array((0, corpus.n_labels)), self.feature_names_in_.tolist(),
                     corpus.label_names)  # fmt: skip
        return corpus.align(own).counts

    def _documents(self, X: Any) -> Corpus:  # noqa: N803
        """Return X as the corpus that inference takes; its labels play no part."""
        counts = self._read_counts(X, reset=False)
        return Corpus(counts, csr_array((counts.shape[0], 0), dtype=bool))

    def _vocabulary(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    # Parameters -----------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        for name, choices in (
            ("fit_method", ("sampled", "deterministic")),
            ("engine", ("threads",)),
        ):
            if getattr(self, name) not in choices:
                known = ", ".join(repr(choice) for choice in choices)
                raise InputError(f"{name} is {getattr(self, name)!r}; it must be one of {known}")
        cutoff = self.cutoff
        if cutoff == "proportional" or (isinstance(cutoff, float) and np.isfinite(cutoff)):
            return
        if not isinstance(cutoff, int | np.integer) or isinstance(cutoff, bool) or cutoff < 1:
            raise InputError(
                f"cutoff is {cutoff!r}; it must be 'proportional', a number of labels from 1, "
                "or a threshold (a float)"
            )

    def _resolve(self, corpus: Corpus) -> None:
        """Set settings_: every hyperparameter as it is used, by the paper's rule where "auto"."""
        automatic = settings.auto_settings(corpus, self._model)
        self.settings_ = {
            name: automatic[name] if getattr(self, name) == "auto" else getattr(self, name)
            for name in automatic
        }
        self._inference()  # says what is wrong with the test-time settings before the long work

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _progress(self) -> bool:
        return bool(self.verbose)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.poor_score = True  # on points in a plane: they are no word counts
        return tags


def _are_texts(X: Any) -> bool:  # noqa: N803
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(x, str) for x in X)
