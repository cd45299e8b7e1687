"""What the three models share: learning φ and φ′, inference, explanations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.sparse import csr_array, vstack
from sklearn.utils.validation import check_is_fitted

from deplda import explain, saving, settings
from deplda import inference as inferring
from deplda.chains import Schedule
from deplda.classifier import Counts, Floats, LabelClassifier, Numbers, are_texts
from deplda.corpus import Corpus
from deplda.errors import InputError
from deplda.estimates import LabelWords, TopicLabels
from deplda.explain import Explanation, Topic, Weighted, Word, reasons
from deplda.files import StrPath
from deplda.inference import Inference
from deplda.store import Arrays, Card
from deplda.tables import Tables
from deplda.targets import Indicator, Targets, renamed
from deplda.text import WordCounter
from deplda.training import expect_label_words, train_label_words, update_label_words

Auto = Literal["auto"]


class _Prepared:
    """φ and φ′ as inference wants them, laid out when they are first used and never pickled."""

    def __init__(self, label_words: LabelWords, topic_labels: tuple[TopicLabels, ...]) -> None:
        self.label_words, self.topic_labels = label_words, topic_labels

    @cached_property
    def tables(self) -> Tables:
        return Tables(self.label_words, self.topic_labels)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "tables"}


class TopicModel(LabelClassifier):
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

    # Learning ------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, counter: WordCounter | None = None) -> Self:
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
        counts, labels = self._begin_fit(X, y, counter)
        self._check_parameters()
        corpus = Corpus(counts, labels, self._vocabulary())
        self._resolve(corpus)
        self._learn(self._fit_words(corpus), labels, corpus)
        return self

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
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

    # Predicting ----------------------------------------------------------------------------------

    def _score_counts(self, counts: Counts) -> Floats:
        return inferring.score_matrix(
            _unlabelled(counts), self._prepared.tables, self._inference(), seed=self.seed_,
            n_jobs=self.n_jobs, progress=self._progress(),
        )  # fmt: skip

    def _rank_counts(self, counts: Counts, k: int) -> Iterator[tuple[Numbers, Floats]]:
        yield from inferring.rank(
            _unlabelled(counts), self._prepared.tables, self._inference(), k, seed=self.seed_,
            n_jobs=self.n_jobs, progress=self._progress(),
        )  # fmt: skip

    def _inference(self) -> Inference:
        weights = self.settings_
        return Inference(
            weights.get("eta", 0.0), weights["alpha"], weights.get("gamma", 1.0),
            method=self.inference, n_chains=self.n_test_chains,
            schedule=Schedule(self.burn_in, self.n_samples, self.lag),
            estimate=self.theta_estimate, combine=self.combine,
            n_label_tokens=getattr(self, "n_label_tokens", 1),
        )  # fmt: skip

    def _to_store(self, metrics: dict[str, Any] | None) -> tuple[Card, Arrays]:
        return saving.to_store(self, metrics)

    @classmethod
    def _from_store(cls, path: StrPath, card: Card, arrays: Arrays) -> Self:
        return saving.from_store(path, card, arrays, cls)

    # Explaining ----------------------------------------------------------------------------------

    def explain(self, document: Any, k: int = 5, *, n_words: int = 8) -> Explanation:
        """Return why the k best labels of one document are suggested.

        `document` is a row of counts, a Corpus of one document, or a text (see `fit`).
        """
        check_is_fitted(self)
        text = document if isinstance(document, str) else None
        x = [document] if text is not None else document
        documents = _unlabelled(self._read_counts(x, reset=False))
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

    def _n_tokens_given(self, X: Any) -> int:
        if isinstance(X, Corpus):
            return X.n_tokens
        if are_texts(X) and self.counter_ is not None:
            analyze = self.counter_.analyzer()
            return sum(len(analyze(text)) for text in X)
        return int(self._read_counts(X, reset=False).sum())

    # Parameters ----------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        for name, choices in (
            ("fit_method", ("sampled", "deterministic")),
            ("engine", ("threads",)),
        ):
            if getattr(self, name) not in choices:
                known = ", ".join(repr(choice) for choice in choices)
                raise InputError(f"{name} is {getattr(self, name)!r}; it must be one of {known}")

    def _resolve(self, corpus: Corpus) -> None:
        """Set settings_: every hyperparameter as it is used, by the paper's rule where "auto"."""
        automatic = settings.auto_settings(corpus, self._model)
        self.settings_ = {
            name: automatic[name] if getattr(self, name) == "auto" else getattr(self, name)
            for name in automatic
        }
        self._inference()  # says what is wrong with the test-time settings before the long work


def _unlabelled(counts: Counts) -> Corpus:
    """Return the documents as the corpus that inference takes; labels play no part."""
    return Corpus(counts, csr_array((counts.shape[0], 0), dtype=bool))
