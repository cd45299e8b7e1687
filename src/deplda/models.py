"""FlatLDA, PriorLDA, DependencyLDA: three priors over labels, one model of words."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

from deplda import store
from deplda.chains import Schedule
from deplda.classifier import LabelClassifier
from deplda.corpus import Corpus
from deplda.engine import Engine
from deplda.errors import ReadError
from deplda.estimates import TopicLabels
from deplda.estimator import Auto, Kept, TopicModel
from deplda.files import StrPath
from deplda.inference import Combine, Device, Estimate, Method
from deplda.training import prior_topic_labels, train_topic_labels
from deplda.word_counts import WordCounts


class FlatLDA(TopicModel):
    """Flat-LDA: every label is as likely as any other before the words are seen.

    Parameters are those of `DependencyLDA` that do not speak of topics or label frequencies.
    """

    _model = "flat"

    def __init__(
        self,
        *,
        n_chains: int = 8,
        n_sweeps: int = 100,
        n_test_chains: int = 4,
        burn_in: int = 50,
        n_samples: int = 15,
        lag: int = 5,
        alpha: float | Auto = "auto",
        beta_words: float | Auto = "auto",
        train_eta: float | Auto = "auto",
        word_counts: WordCounts | Auto = "auto",
        fit_method: Literal["sampled", "deterministic"] = "deterministic",
        inference: Method = "deterministic",
        theta_estimate: Estimate = "counts",
        combine: Combine | Auto = "blend",
        cutoff: Literal["proportional"] | int | float = "proportional",
        random_state: Any = 0,
        n_jobs: int | None = None,
        engine: Engine = "threads",
        device: Device = "cpu",
        verbose: bool = False,
    ) -> None:
        self.n_chains = n_chains
        self.n_sweeps = n_sweeps
        self.n_test_chains = n_test_chains
        self.burn_in = burn_in
        self.n_samples = n_samples
        self.lag = lag
        self.alpha = alpha
        self.beta_words = beta_words
        self.train_eta = train_eta
        self.word_counts = word_counts
        self.fit_method = fit_method
        self.inference = inference
        self.theta_estimate = theta_estimate
        self.combine = combine
        self.cutoff = cutoff
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.engine = engine
        self.device = device
        self.verbose = verbose

    def _fit_topics(self, corpus: Corpus, kept: Kept) -> tuple[TopicLabels, ...]:
        return ()


class PriorLDA(TopicModel):
    """Prior-LDA: a label is likely before the words are seen if training documents often have it.

    Parameters are those of `DependencyLDA` that do not speak of topics.
    """

    _model = "prior"

    def __init__(
        self,
        *,
        n_chains: int = 8,
        n_sweeps: int = 100,
        n_test_chains: int = 4,
        burn_in: int = 50,
        n_samples: int = 15,
        lag: int = 5,
        eta: float | Auto = "auto",
        alpha: float | Auto = "auto",
        beta_words: float | Auto = "auto",
        beta_labels: float | Auto = "auto",
        train_eta: float | Auto = "auto",
        word_counts: WordCounts | Auto = "auto",
        background: float = 0.0,
        fit_method: Literal["sampled", "deterministic"] = "deterministic",
        inference: Method = "deterministic",
        n_label_tokens: int = 1000,
        theta_estimate: Estimate = "counts",
        combine: Combine | Auto = "blend",
        cutoff: Literal["proportional"] | int | float = "proportional",
        random_state: Any = 0,
        n_jobs: int | None = None,
        engine: Engine = "threads",
        device: Device = "cpu",
        verbose: bool = False,
    ) -> None:
        self.n_chains = n_chains
        self.n_sweeps = n_sweeps
        self.n_test_chains = n_test_chains
        self.burn_in = burn_in
        self.n_samples = n_samples
        self.lag = lag
        self.eta = eta
        self.alpha = alpha
        self.beta_words = beta_words
        self.beta_labels = beta_labels
        self.train_eta = train_eta
        self.word_counts = word_counts
        self.background = background
        self.fit_method = fit_method
        self.inference = inference
        self.n_label_tokens = n_label_tokens
        self.theta_estimate = theta_estimate
        self.combine = combine
        self.cutoff = cutoff
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.engine = engine
        self.device = device
        self.verbose = verbose

    def _fit_topics(self, corpus: Corpus, kept: Kept) -> tuple[TopicLabels, ...]:
        return (prior_topic_labels(corpus, beta=self.settings_["beta_labels"]),)


class DependencyLDA(TopicModel):
    """Dependency-LDA: labels are likely together if they go together in training documents.

    Parameters
    ----------
    n_topics : int or "auto"
        T, topics over labels. "auto", here and below, follows the paper's rule from the training
        documents; `settings_` says what came out.
    n_chains, n_sweeps : int
        Chains of φ and sweeps of each, for ``fit_method="sampled"``.
    n_topic_chains, n_topic_sweeps : int
        Sets of topics φ′, and sweeps of each set's chain.
    n_test_chains, burn_in, n_samples, lag : int
        At test time: chains on each set of topics, cycles before the first sample of a chain, its
        samples, and cycles between them; for ``inference="sampled"`` and ``"proper"``.
    eta, alpha, gamma : float or "auto"
        Weights of a document's prior at test time: η of the topics' share, Σα of the flat share,
        Σγ of the prior over topics.
    beta_words, beta_labels : float or "auto"
        Smoothing of a label's words and of a topic's labels.
    train_eta, train_gamma : float or "auto", float
        Weight of a document's prior over its own labels, and of each topic, in training.
    word_counts : {"auto", "log", "raw"}
        What a word that occurs n times in a document counts: 1 + ln n, or n. Sampling draws whole
        tokens, the nearest number.
    background : float
        Share of `train_eta` for a label that all documents have, which takes the words that tell
        nothing; it is never ranked. 0 for none. For ``fit_method="deterministic"``.
    fit_method : {"deterministic", "sampled"}
        φ by expectations (seconds), or by averaged Gibbs chains (the paper's; minutes).
    inference : {"deterministic", "sampled", "proper"}
        Labels of new documents by expectations, by the paper's fast Gibbs sampling, or by Gibbs
        sampling of the whole model with `n_label_tokens` label tokens a document.
    theta_estimate : {"counts", "conditionals"}
        What a sample counts: drawn labels, or each token's whole conditional.
    combine : {"blend", "counts", "posterior", "auto"}
        The score: normalised prior + normalised counts, as in the paper; the words' counts alone;
        the posterior mean of both; or the one with the best average precision on a tenth of the
        training documents (1,000 at most), held out from a first fit.
    cutoff : "proportional", int or float
        Labels that `predict` gives: as many as the median training document has, so many, or all
        whose score reaches a threshold.
    random_state : int, RandomState or None
        The seed. The same seed gives the same bits, for any `n_jobs` and any order of documents.
    n_jobs : int, optional
        Threads or processes; all cores by default. A cluster has the workers that it has.
    engine : "threads", "processes", a Dask Client or the address of its scheduler
        Where chains run and documents are predicted; the same bits everywhere.
    device : {"cpu", "cuda", "auto"}
        With "cuda", labels are inferred on a CUDA card (all but ``inference="proper"``), and so are
        the chains of φ with ``fit_method="sampled"``; "auto" takes a card if there is one that can
        do it. φ by expectations, φ′ and explanations are always made on the CPU. Needs the extra
        [gpu].
    verbose : bool
        Show progress on standard error.

    Attributes
    ----------
    classes_ : array of the labels, in the order of columns.
    label_words_ : LabelWords, φ as a sparse matrix A and one number b a label.
    topic_labels_ : tuple of TopicLabels, φ′ of each set.
    label_sets_ : sparse indicator of the labels of all documents learned from.
    settings_ : dict of the hyperparameters as used.
    diagnostics_ : dict of Diagnostics of the chains (None for expectations).
    n_features_in_, feature_names_in_ : number and names of the words.
    counter_ : the WordCounter given to `fit`, or None.
    seed_ : int, the seed used.
    """

    _model = "dependency"

    def __init__(
        self,
        *,
        n_topics: int | Auto = "auto",
        n_chains: int = 8,
        n_sweeps: int = 100,
        n_topic_chains: int = 10,
        n_topic_sweeps: int = 100,
        n_test_chains: int = 1,
        burn_in: int = 50,
        n_samples: int = 15,
        lag: int = 5,
        eta: float | Auto = "auto",
        alpha: float | Auto = "auto",
        gamma: float | Auto = "auto",
        beta_words: float | Auto = "auto",
        beta_labels: float | Auto = "auto",
        train_eta: float | Auto = "auto",
        train_gamma: float = 0.01,
        word_counts: WordCounts | Auto = "auto",
        background: float = 0.0,
        fit_method: Literal["sampled", "deterministic"] = "deterministic",
        inference: Method = "deterministic",
        n_label_tokens: int = 1000,
        theta_estimate: Estimate = "counts",
        combine: Combine | Auto = "blend",
        cutoff: Literal["proportional"] | int | float = "proportional",
        random_state: Any = 0,
        n_jobs: int | None = None,
        engine: Engine = "threads",
        device: Device = "cpu",
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.n_chains = n_chains
        self.n_sweeps = n_sweeps
        self.n_topic_chains = n_topic_chains
        self.n_topic_sweeps = n_topic_sweeps
        self.n_test_chains = n_test_chains
        self.burn_in = burn_in
        self.n_samples = n_samples
        self.lag = lag
        self.eta = eta
        self.alpha = alpha
        self.gamma = gamma
        self.beta_words = beta_words
        self.beta_labels = beta_labels
        self.train_eta = train_eta
        self.train_gamma = train_gamma
        self.word_counts = word_counts
        self.background = background
        self.fit_method = fit_method
        self.inference = inference
        self.n_label_tokens = n_label_tokens
        self.theta_estimate = theta_estimate
        self.combine = combine
        self.cutoff = cutoff
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.engine = engine
        self.device = device
        self.verbose = verbose

    def _fit_topics(self, corpus: Corpus, kept: Kept) -> tuple[TopicLabels, ...]:
        asked = self._asked()
        trained = train_topic_labels(
            corpus, self.settings_["n_topics"], gamma=asked.train_gamma,
            beta=self.settings_["beta_labels"], n_chains=asked.n_topic_chains,
            schedule=Schedule(asked.n_topic_sweeps), seed=self.seed_, n_jobs=asked.n_jobs,
            engine=asked.engine, progress=self._progress(), **kept,
        )  # fmt: skip
        self.diagnostics_["topic_labels"] = trained.diagnostics
        return trained.topic_labels


# Where each class lives. A module is imported when a model of its class is loaded.
_HOMES = {
    "FlatLDA": __name__,
    "PriorLDA": __name__,
    "DependencyLDA": __name__,
    "VanillaSVM": "deplda.baselines",
    "TunedSVM": "deplda.baselines",
    "TfidfSVM": "deplda.baselines",
    "HybridLDA": "deplda.hybrid",
}


def load(path: StrPath) -> LabelClassifier:
    """Return a saved model, of whatever class it is; no code from the folder is ever run."""
    card, arrays = store.load(path)
    if card.model not in _HOMES:
        known = ", ".join(_HOMES)
        raise ReadError(path, None, f"it is a {card.model!r}; this library knows {known}")
    model: type[LabelClassifier] = getattr(import_module(_HOMES[card.model]), card.model)
    return model._from_store(path, card, arrays)
