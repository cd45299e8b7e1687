"""Dependency-LDA (paper §3.3): α′ follows the document's topics, and these its labels."""

from __future__ import annotations

from dataclasses import dataclass

from deplda.data.corpus import Corpus
from deplda.models.prior import LabelPrior
from deplda.models.topic_model import Auto, Kept
from deplda.training.chains import Schedule
from deplda.training.estimates import TopicLabels
from deplda.training.topic_labels import train_topic_labels


@dataclass(kw_only=True, eq=False, repr=False)
class DependencyLDA(LabelPrior):
    """Dependency-LDA: labels that occur together in training make each other likelier.

    Parameters
    ----------
    n_topics : int or "auto"
        T, topics over labels. "auto", here and below, follows the paper's rule, given the
        training documents; `settings_` has the result.
    n_chains, n_sweeps : int
        Chains of φ and sweeps of each, for ``fit_method="sampled"``. A parameter that is set but
        has no effect with `fit_method` and `inference` raises an IgnoredParameterWarning in `fit`.
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
        How much a word that occurs n times in a document counts: 1 + ln n, or n. Sampling rounds
        to whole tokens.
    background : float
        Share of `train_eta` for an extra label of all documents, which absorbs uninformative words
        and is never ranked. 0 for none. For ``fit_method="deterministic"``.
    fit_method : {"deterministic", "sampled"}
        φ by expectations (seconds), or by averaged Gibbs chains (the paper's; minutes).
    inference : {"deterministic", "sampled", "proper"}
        Labels of new documents by expectations, by the paper's fast Gibbs sampling, or by Gibbs
        sampling of the whole model with `n_label_tokens` label tokens per document.
    theta_estimate : {"counts", "conditionals"}
        What a sample counts: the drawn labels, or each token's conditional distribution; for
        ``inference="sampled"`` and ``"proper"``.
    combine : {"blend", "counts", "posterior", "auto"}
        The score: normalised prior + normalised counts, as in the paper; the words' counts alone;
        the posterior mean of both; or the one with the best average precision on a tenth of the
        training documents (1,000 at most), held out from a first fit.
    cutoff : "validated", "at-least-one", "expected-f1", "macro-f1", "proportional", int or float
        Which labels `predict` and `suggest` return: those that reach the threshold with the best
        micro-F1 on held-out documents, or the likeliest where none does ("at-least-one"); the
        number with the highest expected F1; label by label those that reach the threshold with the
        best macro-F1; as many as the median training document has (the paper's rule); a fixed
        number; or all that reach a probability, above 0 and below 1.
    n_held_out : int
        Number of documents held out to learn probabilities: at most a fifth of all, and at most as
        many as make about 16 million pairs with labels. 0 for none.
    random_state : int, RandomState or None
        The seed. The same seed and the same training documents in the same order give the same
        bits, for any `n_jobs`; a prediction does not depend on the documents beside it.
    n_jobs : int, optional
        Threads or processes; all cores by default. On a cluster, all its workers are used.
    engine : "threads", "processes", a Dask Client or the address of its scheduler
        Where chains run and documents are predicted; the same bits everywhere.
    device : {"cpu", "cuda", "auto"}
        With "cuda", φ and φ′ are trained, and labels inferred and explained, on a CUDA GPU; "auto"
        uses a GPU if there is one that can do it. Training on folders of shards uses the CPU, and
        there are no checkpoints on a GPU. Needs the extra [gpu].
    verbose : bool
        Show progress: on standard error, or in the output of a notebook's cell.

    Attributes
    ----------
    classes_ : array of the labels, in the order of columns.
    label_words_ : LabelWords, φ as a sparse matrix A and one number b per label.
    topic_labels_ : tuple of TopicLabels, φ′ of each set.
    calibration_ : Calibration, which turns scores into probabilities; None if no document was
        held out.
    label_sets_ : sparse indicator of the labels of all training documents.
    document_weights_ : weights of these documents; None if all are one.
    settings_ : dict of the hyperparameters as used.
    traces_ : dict of Traces of the chains (None for expectations); `diagnostics` judges them.
    n_features_in_, feature_names_in_ : number and names of the words.
    counter_ : the WordCounter given to `fit`, or made by it from texts; None for counts.
    fields_ : default Fields to read files with, or None; can be set.
    seed_ : int, the seed used.

    Examples
    --------
    >>> import deplda
    >>> train = deplda.datasets.newsroom(200).corpus
    >>> model = deplda.DependencyLDA(n_topics=10, n_topic_chains=1, random_state=0).fit(train)
    >>> model.rank(train[:2], k=3).labels.shape
    (2, 3)
    >>> [word.name for word in model.top_words("VIDEO GAMES", 2)]
    ['gaming', 'designer']
    """

    _model = "dependency"

    n_topics: int | Auto = "auto"
    n_topic_chains: int = 10
    n_topic_sweeps: int = 100
    n_test_chains: int = 1
    gamma: float | Auto = "auto"
    train_gamma: float = 0.01

    def _fit_topics(self, corpus: Corpus, kept: Kept) -> tuple[TopicLabels, ...]:
        asked = self._checked()
        trained = train_topic_labels(
            self._drawn(corpus), self.settings_["n_topics"], gamma=asked.train_gamma,
            beta=self.settings_["beta_labels"], n_chains=asked.n_topic_chains,
            schedule=Schedule(asked.n_topic_sweeps), seed=self.seed_, **self._where(), **kept,
        )  # fmt: skip
        self.traces_["topic_labels"] = trained.traces
        return trained.topic_labels
