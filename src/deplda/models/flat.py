"""Flat-LDA (paper §3.1): α′ is the same for every label of every document."""

from __future__ import annotations

from deplda.data.corpus import Corpus
from deplda.models.topic_model import Kept, TopicModel
from deplda.training.estimates import TopicLabels


class FlatLDA(TopicModel):
    """Flat-LDA: before the words are seen, all labels are equally likely.

    Parameters are those of `DependencyLDA` without those of topics and label frequencies.

    Examples
    --------
    >>> import deplda
    >>> train = deplda.datasets.newsroom(200).corpus
    >>> model = deplda.FlatLDA(random_state=0).fit(train)
    >>> model.predict(train[:2]).shape == (2, train.n_labels)
    True
    """

    _model = "flat"

    def _fit_topics(self, corpus: Corpus, kept: Kept) -> tuple[TopicLabels, ...]:
        return ()
