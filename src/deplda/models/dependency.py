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
    cutoff : "validated", "expected-f1", "macro-f1", "proportional", int or float
        Labels that `predict` and `suggest` give: those that are as likely as is best for micro-F1,
        or label by label for macro-F1, on documents held out; as many as have the highest expected
        F1; as many as the median training document has (the paper's); so many; or all with this
        probability, above 0 and below 1. One at least, but for a probability.
    n_held_out : int
        Documents held out to learn probabilities from: a fifth of all at most, and so many that
        they have about 16 million pairs with labels. 0 for none.
    random_state : int, RandomState or None
        The seed. The same seed and the same training documents in the same order give the same
        bits, for any `n_jobs`; a prediction does not depend on the documents beside it.
    n_jobs : int, optional
        Threads or processes; all cores by default. A cluster has the workers that it has.
    engine : "threads", "processes", a Dask Client or the address of its scheduler
        Where chains run and documents are predicted; the same bits everywhere.
    device : {"cpu", "cuda", "auto"}
        With "cuda", φ and φ′ are learned, and labels inferred and explained, on a CUDA GPU; "auto"
        takes a GPU if there is one that can do it. Folders of shards are learned from on the CPU,
        and a GPU keeps no checkpoints. Needs the extra [gpu].
    verbose : bool
        Show progress: on standard error, or in the output of a notebook's cell.

    Attributes
    ----------
    classes_ : array of the labels, in the order of columns.
    label_words_ : LabelWords, φ as a sparse matrix A and one number b a label.
    topic_labels_ : tuple of TopicLabels, φ′ of each set.
    calibration_ : Calibration, by which scores become probabilities; None where no document was
        held out.
    label_sets_ : sparse indicator of the labels of all documents learned from.
    document_weights_ : how many documents each of these counts as; None where each is one.
    settings_ : dict of the hyperparameters as used.
    diagnostics_ : dict of Diagnostics of the chains (None for expectations).
    n_features_in_, feature_names_in_ : number and names of the words.
    counter_ : the WordCounter given to `fit`, or made by it of texts; None for counts alone.
    fields_ : Fields that files are read by where nothing else is said, or None; may be set.
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
        self.diagnostics_["topic_labels"] = trained.diagnostics
        return trained.topic_labels
