"""What the three models share: learning φ and φ′, inference, explanations."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array, vstack
from sklearn.base import clone
from sklearn.metrics import label_ranking_average_precision_score

from deplda.data import checks, wording
from deplda.data.corpus import Corpus, grown, repeated
from deplda.data.fields import Fields
from deplda.data.files import StrPath
from deplda.data.targets import Indicator, Targets, by_place, extended, renamed
from deplda.data.text import WordCounter
from deplda.data.weighting import WordCounts, whole_copies
from deplda.engine.execution import Execution
from deplda.errors import FractionalCountsWarning, InputError, warn
from deplda.inference.batches import Backend, infer, settle
from deplda.inference.layout import Tables
from deplda.inference.scores import scores
from deplda.inference.settings import COMBINES, Combine, Estimate, Inference, Method
from deplda.models import codec, parameters, reasons
from deplda.models.base import Counts, Floats, Numbers
from deplda.models.card import Arrays, Card, Stored
from deplda.models.explainer import Explainer
from deplda.models.explanation import Explanation
from deplda.models.folds import of_known_words
from deplda.models.learning_on import LearnsOn
from deplda.models.lesson import Lesson, check_lengths, is_read
from deplda.models.reasons import Word
from deplda.training import passes, shards
from deplda.training.chains import Schedule
from deplda.training.diagnostics import Diagnostics, Traces
from deplda.training.estimates import LabelWords, TopicLabels
from deplda.training.label_words import (
    expect_label_words,
    train_label_words,
    update_label_words,
    whole_tokens,
    with_background,
)
from deplda.training.shard_layouts import lay_out_shards

Auto = Literal["auto"]
Kept = dict[str, Any]
"""Where chains are kept, as the functions that run them take it."""

_MOST_HELD_OUT = 1000
_NO_ROWS = np.zeros(0, np.int64)


class TopicScorer(NamedTuple):
    """Inference of some documents, combined into scores, where labels are inferred."""

    backend: Backend

    @property
    def batch_size(self) -> int:
        """How many documents are scored at a time."""
        return self.backend.batch_size

    def scores(self, counts: Counts) -> Floats:
        """Return the scores of the documents, documents × labels."""
        return self.backend.scores(_documents(counts).counts)


@dataclass(kw_only=True, eq=False, repr=False)
class TopicModel(LearnsOn, Explainer):
    """What the three models share: everything but the prior over labels."""

    _model: ClassVar[parameters.Model]

    n_chains: int = 8
    n_sweeps: int = 100
    n_test_chains: int = 4
    burn_in: int = 50
    n_samples: int = 15
    lag: int = 5
    alpha: float | Auto = "auto"
    beta_words: float | Auto = "auto"
    train_eta: float | Auto = "auto"
    word_counts: WordCounts | Auto = "auto"
    fit_method: Literal["sampled", "deterministic"] = "deterministic"
    inference: Method = "deterministic"
    theta_estimate: Estimate = "counts"
    combine: Combine | Auto = "blend"

    @classmethod
    def paper(cls, data: parameters.PaperData, **others: Any) -> Self:
        """Return a model with the paper's exact settings for one of its data sets.

        `data` is "eurlex", "yahoo", "rcv1" or "nyt". Other parameters override the paper's; with
        deterministic methods, the paper's numbers of chains and samples are left out.
        """
        checks.choice("data", data, parameters.PAPER_NAMES)
        return cls(**parameters.with_overrides(parameters.paper_settings(data, cls._model), others))

    # Learning ------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        counter: WordCounter | None = None,
        words: Any = None,
        classes: Any = None,
        checkpoint: StrPath | None = None,
        resume: bool = False,
    ) -> Self:
        """Learn φ and φ′ from labelled documents.

        Parameters
        ----------
        X : texts; (documents, words) counts, sparse, dense or a data frame; or a Corpus
        y : labels: an indicator matrix, sparse or dense; a list of label lists; or one class for
            each document. Not needed with a Corpus.
        sample_weight : one number for each document, optional
            How many documents each counts as, in φ, φ′ and the frequencies of labels; 0 leaves it
            out. Chains draw whole documents: of a fraction they have one more or none, by the seed.
            Documents held out count once each.
        counter : WordCounter, optional
            What counts the words of texts, or has made the counts of them. It is kept and saved
            with the model, which then takes texts for X in all other methods. For texts it is
            ``WordCounter()`` by default; it learns its words if it knows none.
        words : one name for each column of X, optional
            Or a function that returns them once X is made: ``vectorizer.get_feature_names_out``.
        classes : one label for each column of y, optional
            Such as the ``classes_`` of a MultiLabelBinarizer; of label lists, all that there are.
        checkpoint : path, optional
            A folder in which chains are kept as they run. With `resume` they go on from what is
            there, to the same bits; without it a folder that holds chains is refused.
        """
        asked = self._checked()  # says what is wrong with the parameters before anything is done
        if checkpoint is not None and asked.fit_method != "sampled" and self._model != "dependency":
            raise InputError(
                f"there is nothing to keep at {os.fspath(checkpoint)}: {type(self).__name__} runs "
                "no chains unless fit_method='sampled'; leave the checkpoint out"
            )
        if not is_read(y):  # else a model fits a part of itself
            self._warn_of_ignored(asked)
        lesson = self._begin_fit(
            X, y, counter, words=words, classes=classes, sample_weight=sample_weight
        )
        labels = lesson.labels
        corpus = Corpus(lesson.counts, labels, self.words_)
        self._resolve(corpus)
        if self.combine == "auto":
            with self._stage("choosing how labels are scored"):
                self.settings_["combine"] = self._best_combine(lesson)
        words = self._fit_words(corpus, _kept(checkpoint, "label-words", resume))
        topics = self._fit_topics(corpus, _kept(checkpoint, "topic-labels", resume))
        self._set_learned(words, labels, topics)
        if len(fold := self._fold_held_out(labels)):
            with self._stage(f"holding out {wording.counted(len(fold), 'document')}"):
                scores = self._scores_held_out(fold, lesson)
            with self._stage("calibrating probabilities"):
                self.calibration_ = self._calibrated(fold, scores, labels)
        return self

    def _scores_held_out(self, fold: Numbers, lesson: Lesson) -> Floats:
        """Return scores of a fold by a model with the same settings that has not seen it."""
        counts = lesson.counts
        rest = lesson.only(np.setdiff1d(np.arange(counts.shape[0]), fold))
        same = {**self.settings_, "random_state": self.seed_, "n_held_out": 0}
        model = type(self)(**self.get_params(deep=False) | same)
        model.fit(rest.counts, (rest.labels, self._targets), sample_weight=rest.weights)
        return model._score_counts(of_known_words(counts[fold], rest.counts))

    def fit_shards(
        self,
        source: StrPath,
        folder: StrPath,
        *,
        fields: Fields | None = None,
        counter: WordCounter | None = None,
    ) -> Self:
        """Learn as `fit` does from a folder of labelled files, however large they are together.

        A worker has one file in memory at a time, and this process the counts of labels and words.

        Parameters
        ----------
        source : path
            A folder of JSONL, CSV, TSV, svmlight or Parquet files, plain or gzip.
        folder : path
            Where shards are kept as kernels read them, each with its state; on a cluster, under
            this path on all machines. A run that was cut off goes on from what is there. It may be
            deleted afterwards.
        fields : Fields, optional
            Which fields hold the id, the text and the labels.
        counter : WordCounter, optional
            How texts become words.
        """
        self._warn_of_ignored(self._checked())
        self._check_shards()
        fields = shards.settled_fields(source, fields)
        counter, fields = shards.settled_words(source, fields, counter)
        ready = shards.prepare(source, folder, self._execution(), fields=fields, counter=counter)
        labels = shards.read_labels(folder, ready)
        self._begin_fit(shards.without_words(ready, labels), None, shards.fitted(counter, ready))
        self.fields_ = fields
        self._learn_shards(Path(folder), ready, labels)
        return self

    def _begin_shards(self, ready: shards.Ready, labels: Indicator, targets: Targets) -> None:
        """Set what is known of prepared shards before learning, their words by number alone."""
        self._begin_fit(csr_array((labels.shape[0], len(ready.words))), (labels, targets), None)

    def _learn_shards(
        self, folder: Path, ready: shards.Ready, every: shards.Labels,
        left_out: Numbers = _NO_ROWS,
    ) -> None:  # fmt: skip
        """Learn from prepared shards, without some of their documents."""
        asked, execution = self._checked(), self._execution()
        rest = np.delete(np.arange(every.matrix.shape[0]), left_out)
        labels: Indicator = every.matrix[rest] if len(left_out) else every.matrix
        corpus = Corpus(csr_array((len(rest), len(ready.words))), labels, ready.words)
        self.n_tokens_ = int(every.tokens[rest].sum())
        self._resolve(corpus, self.n_tokens_)
        weighting, background = self.settings_["word_counts"], self._background()
        laid = lay_out_shards(
            folder, ready, "expected" if asked.fit_method == "deterministic" else "sampled",
            weighting, background=background > 0, execution=execution,
        )  # fmt: skip
        how: Any = {
            "eta": self.settings_["train_eta"], "beta": self.settings_["beta_words"],
            "execution": execution,
        }  # fmt: skip
        if asked.fit_method == "deterministic":
            words = passes.expect_shards(laid, background=background, left_out=left_out, **how)
        else:
            words = passes.train_shards(
                laid, n_chains=asked.n_chains, n_sweeps=asked.n_sweeps, seed=self.seed_, **how
            )
        self.traces_: dict[str, Traces | None] = {"label_words": None}
        self._set_learned(
            words, labels, self._fit_topics(corpus, self._kept_topics(folder, corpus))
        )

    def _learn_on(self, X: Any, y: Any) -> None:
        """Learn from more documents; where this fails, the model is of no use.

        φ of the new documents is expected with all that is known counted in; φ′ is learned anew
        from the label sets of all documents. Probabilities are those of `fit`: a model that has
        learned on has none until it is calibrated.
        """
        self._checked()
        labels, targets = self._read_labels(X, y)
        targets = by_place(targets, self.classes_)
        self._add_words(X)
        counts = self._read_counts(X, reset=False)
        check_lengths(counts.shape[0], labels.shape[0])
        known = extended(self.classes_, targets.classes)
        corpus = Corpus(counts, renamed(labels, targets, known), self.words_)
        self._remember(counts, labels, self._learned_from)
        older = grown(self.label_sets_, (self.label_sets_.shape[0], len(known)))
        sets = csr_array(vstack([older, corpus.labels]))
        if self.document_weights_ is not None:
            self.document_weights_ = np.append(self.document_weights_, np.ones(len(corpus)))
        self._targets = Targets(known, self._targets.kind)
        self.n_tokens_ += corpus.n_tokens
        # They were of the model as it was.
        self.metrics_ = self.calibration_ = self.label_quality_ = None
        self.held_out_ = {}
        self.traces_ = dict(self.traces_)  # the model as it was keeps its own
        words = self._update_words(corpus)
        self._set_learned(
            words, sets, self._fit_topics(Corpus(csr_array((sets.shape[0], 0)), sets), {})
        )

    def _update_words(self, corpus: Corpus) -> LabelWords:
        background = self._background()
        return update_label_words(
            self.label_words_, with_background(corpus) if background else corpus,
            eta=self.settings_["train_eta"], beta=self.settings_["beta_words"],
            word_counts=self.settings_["word_counts"], background=background, **self._where(),
        )  # fmt: skip

    def _fit_words(self, corpus: Corpus, kept: Kept) -> LabelWords:
        asked, background = self._checked(), self._background()
        how: Any = {"eta": self.settings_["train_eta"], "beta": self.settings_["beta_words"]}
        if asked.fit_method == "deterministic":
            trained = expect_label_words(
                with_background(corpus) if background else corpus, **how,
                word_counts=self.settings_["word_counts"], background=background,
                weights=self.document_weights_, **self._where(),
            )  # fmt: skip
        else:
            _warn_of_fractions(corpus, "fit_method")
            tokens = whole_tokens(self._drawn(corpus), self.settings_["word_counts"])
            trained = train_label_words(
                tokens, **how, n_chains=asked.n_chains,
                schedule=Schedule(asked.n_sweeps), seed=self.seed_, **self._where(), **kept,
            )  # fmt: skip
        self.traces_ = {"label_words": trained.traces}
        return trained.label_words

    def _drawn(self, corpus: Corpus) -> Corpus:
        """Return the documents that chains draw from: whole ones, as often as each counts."""
        if self.document_weights_ is None:
            return corpus
        found = repeated(corpus, whole_copies(self.document_weights_, self.seed_))
        if not found.labels.nnz:
            raise InputError(
                f"sample_weight sums to {self.document_weights_.sum():g} for {len(corpus):,} "
                "documents, of which chains would draw none with a label; a weight says how many "
                "documents one counts as: multiply them"
            )
        return found

    def _set_learned(
        self, label_words: LabelWords, label_sets: Indicator, topic_labels: tuple[TopicLabels, ...]
    ) -> None:
        self.classes_ = self._targets.classes
        self.label_words_, self.label_sets_ = label_words, label_sets
        self.topic_labels_ = topic_labels
        self._tables = Tables(label_words, topic_labels, self._background())

    def _fit_topics(self, corpus: Corpus, kept: Kept) -> tuple[TopicLabels, ...]:
        raise NotImplementedError

    # Predicting ----------------------------------------------------------------------------------

    def _scorer(self, counts: Counts, execution: Execution) -> tuple[TopicScorer, Execution]:
        documents, inference = _documents(counts), self._inference()
        if self.inference != "deterministic":
            _warn_of_fractions(documents, "inference")
        backend, execution = settle(documents, self._tables, inference, self.seed_, execution)
        return TopicScorer(backend), execution

    def _inference(self) -> Inference:
        weights, asked = self.settings_, self._checked()
        return Inference(
            weights.get("eta", 0.0) / (1 - self._background()), weights["alpha"],
            weights.get("gamma", 1.0),
            method=asked.inference, n_chains=asked.n_test_chains,
            schedule=Schedule(asked.burn_in, asked.n_samples, asked.lag),
            estimate=asked.theta_estimate, combine=self._combine(),
            n_label_tokens=getattr(asked, "n_label_tokens", 1),
            word_counts=weights["word_counts"],
        )  # fmt: skip

    def _to_store(self, metrics: dict[str, Any] | None) -> tuple[Card, Arrays]:
        return codec.to_store(self, metrics)

    @classmethod
    def _from_store(cls, stored: Stored) -> Self:
        return codec.from_store(stored, cls)

    def _explain(
        self, document: Any, counts: Counts, numbers: Numbers, chances: Floats | None, n_words: int
    ) -> Explanation:
        documents, n_labels = _documents(counts), len(self.classes_)
        backend, _ = settle(documents, self._tables, self._inference(), self.seed_, self._here())
        inferred = backend.infer(documents.counts, numbers)
        ranked, tokens = inferred.only(n_labels), inferred.words
        entries, names = documents.counts, self.surface_words_
        words = [names[w] for w in entries.indices]
        of_words = [*map(tuple, tokens.tolist())]
        text = document if isinstance(document, str) else None
        return Explanation(
            reasons.reasons(
                numbers[0], ranked, tokens, words, self.topic_labels_, self.classes_,
                self._combine(), n_words=n_words,
            ),
            tuple(map(Word, words, entries.data.tolist(), of_words, of_words)),
            documents.n_tokens,
            self._n_tokens_given(document, documents.n_tokens) - documents.n_tokens,
            text,
            () if text is None or self.counter_ is None else tuple(self.counter_.spans(text)),
            float(inferred.counts[0, n_labels:].sum()),
        )  # fmt: skip

    def _n_tokens_given(self, document: Any, n_known: int) -> int:
        if isinstance(document, Corpus):
            return document.n_tokens
        if isinstance(document, str) and self.counter_ is not None:
            return sum(self.counter_.analyzer().counts(document).values())
        return n_known

    def diagnostics(self) -> dict[str, Diagnostics]:
        """Return the convergence of the chains of `label_words` and `topic_labels`.

        Only chains that `fit` has run are included: none of expectations or of a loaded model.
        Needs the extra [diagnostics].
        """
        sampled = {part: traces for part, traces in self.traces_.items() if traces is not None}
        return {part: traces.diagnostics() for part, traces in sampled.items()}

    # Parameters ----------------------------------------------------------------------------------

    def _checked(self) -> Self:
        """Return the parameters, checked, as plain values."""
        return type(self)(**parameters.checked(self.get_params(deep=False)))

    def _warn_of_ignored(self, checked: Self) -> None:
        defaults = type(self)().get_params(deep=False)
        parameters.warn_of_ignored(checked.get_params(deep=False), defaults)

    def _resolve(self, corpus: Corpus, n_tokens: int | None = None) -> None:
        """Set settings_: every hyperparameter as it is used, by the paper's rule where "auto"."""
        weights = self.document_weights_
        automatic = parameters.auto_settings(corpus, self._model, n_tokens, weights)
        asked = vars(self._checked())
        self.settings_ = {
            name: value if asked[name] == "auto" else asked[name]
            for name, value in automatic.items()
        }
        self.settings_["combine"] = "blend" if asked["combine"] == "auto" else asked["combine"]
        if "background" in asked:
            self.settings_["background"] = asked["background"]
        if self._background() and asked["fit_method"] != "deterministic":
            raise InputError(
                f"background is {self._background()} with fit_method={asked['fit_method']!r}; "
                "only fit_method='deterministic' knows one"
            )
        self._inference()  # says what is wrong with the test-time settings before the long work

    def _combine(self) -> Combine:
        chosen: Combine = self.settings_["combine"] if self.combine == "auto" else self.combine
        return chosen

    def _check_shards(self) -> None:
        """Raise at what is not known for shards."""
        if self.combine == "auto":
            raise InputError(
                "combine is 'auto'; shards are learned from with a fixed one: choose one of "
                f"{', '.join(map(repr, COMBINES))}"
            )

    def _kept_topics(self, folder: Path, corpus: Corpus) -> Kept:
        """Return where chains over the labels of shards are kept: each run in its own folder."""
        if self.device != "cpu":  # a GPU keeps none
            return {}
        asked = self._checked().get_params(deep=False)
        own = [asked.get(name) for name in ("n_topic_chains", "n_topic_sweeps", "train_gamma")]
        told = repr((corpus.fingerprint(), sorted(self.settings_.items()), self.seed_, own))
        name = blake2b(told.encode(), digest_size=6).hexdigest()
        return {"checkpoint": folder / f"topic-labels-{name}", "resume": True}

    def _background(self) -> float:
        return float(self.settings_.get("background", 0.0))

    def _best_combine(self, lesson: Lesson) -> Combine:
        """Return the score with the best average precision on a tenth of the documents, held out.

        With fewer than ten documents nothing can be held out, and the paper's score is taken.
        """
        order = np.random.default_rng(self.seed_).permutation(lesson.counts.shape[0])
        held, rest = map(lesson.only, np.split(order, [min(len(order) // 10, _MOST_HELD_OUT)]))
        truth = held.labels.toarray()
        if not truth.any() or not rest.labels.nnz:
            return "blend"
        first = clone(self).set_params(combine="blend")
        first.fit(rest.counts, (rest.labels, self._targets), sample_weight=rest.weights)
        asked = (_documents(held.counts), first._tables, first._inference())
        inferred = list(infer(*asked, seed=self.seed_, **self._where()))

        def quality(combine: Combine) -> float:
            parts = [scores(some, combine, truth.shape[1]) for some in inferred]
            return float(label_ranking_average_precision_score(truth, np.concatenate(parts)))

        return max(COMBINES, key=quality)


def _kept(checkpoint: StrPath | None, name: str, resume: bool) -> Kept:
    return {
        "checkpoint": None if checkpoint is None else Path(checkpoint) / name,
        "resume": resume,
    }


def _documents(counts: Counts) -> Corpus:
    """Return documents without labels, to be inferred."""
    return Corpus(counts, csr_array((counts.shape[0], 0), dtype=bool))


def _warn_of_fractions(corpus: Corpus, parameter: str) -> None:
    if corpus.counts.dtype.kind == "f":
        warn(
            "counts are rounded, since whole tokens are drawn; pass how often each word occurs, or "
            f"use {parameter}='deterministic', which takes fractions as they are",
            FractionalCountsWarning,
        )
