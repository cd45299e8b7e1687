"""Prior-LDA (paper §3.2): α′ follows the labels' frequencies, one φ′ for the whole corpus."""

from __future__ import annotations

from dataclasses import dataclass

from deplda.data.corpus import Corpus
from deplda.models.topic_model import Auto, Kept, TopicModel
from deplda.training.estimates import TopicLabels
from deplda.training.topic_labels import prior_topic_labels


@dataclass(kw_only=True, eq=False, repr=False)
class LabelPrior(TopicModel):
    """What models with a prior over labels have beside those without."""

    eta: float | Auto = "auto"
    beta_labels: float | Auto = "auto"
    background: float = 0.0
    n_label_tokens: int = 1000


class PriorLDA(LabelPrior):
    """Prior-LDA: before the words are seen, frequent labels are likelier.

    Parameters are those of `DependencyLDA` without those of topics.

    Examples
    --------
    >>> import deplda
    >>> train = deplda.datasets.newsroom(200).corpus
    >>> model = deplda.PriorLDA(random_state=0).fit(train)
    >>> model.decision_function(train[:2]).shape == (2, train.n_labels)
    True
    """

    _model = "prior"

    def _fit_topics(self, corpus: Corpus, kept: Kept) -> tuple[TopicLabels, ...]:
        beta, weights = self.settings_["beta_labels"], self.document_weights_
        return (prior_topic_labels(corpus, beta=beta, weights=weights),)
