"""Reasons: shares of words, priors and topics that add up."""

import json
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import DependencyLDA, FlatLDA, PriorLDA
from deplda.data.datasets.newsroom_lexicon import ITS_COMPANIONS, ONE_DOCUMENT_LABEL
from deplda.models.reasons import percent_of_documents
from deplda.models.topic_model import TopicModel
from tests.models.worlds import TOPICS, counted, newsroom, trained


@pytest.fixture
def model(model: Any) -> TopicModel:
    """Give every model, trained on the newsroom."""
    return trained(model)


@pytest.mark.parametrize("inference", ["deterministic", "sampled", "proper"])
def test_the_labels_share_out_every_token(model: TopicModel, inference: str) -> None:
    few: dict[str, Any] = {"inference": inference, "burn_in": 3, "n_samples": 2}
    before = model.get_params()
    model.set_params(**few)
    found = model.explain(newsroom().corpus[[3]], k=1000)
    model.set_params(**before)
    assert len(found.reasons) == newsroom().corpus.n_labels
    assert found.n_tokens == sum(word.times for word in found.words)
    for word in found.words:
        counted = 1 + np.log(word.times)
        counted = counted if inference == "deterministic" else np.rint(counted)
        assert sum(word.tokens) == pytest.approx(counted, rel=1e-3)
    for number, reason in enumerate(found.reasons):
        assert sum(word.tokens[number] for word in found.words) == pytest.approx(
            reason.tokens, abs=1e-3
        )


@pytest.mark.filterwarnings("ignore::deplda.NoKnownWordsWarning")
@pytest.mark.parametrize("combine", ["blend", "counts", "posterior"])
def test_words_and_prior_make_up_the_score(model: TopicModel, combine: str) -> None:
    before = model.get_params()
    model.set_params(combine=combine)
    for document in (newsroom().corpus[[5]], csr_array((1, newsroom().corpus.n_words))):
        found, scores = model.explain(document, k=7), model.decision_function(document)[0]
        (likeliest,) = model.suggest(document, cutoff=7)
        assert [reason.label for reason in found.reasons] == likeliest.labels.tolist()
        assert [reason.probability for reason in found.reasons] == likeliest.probabilities.tolist()
        for reason in found.reasons:
            score = scores[model._number(reason.label)]
            assert reason.score == pytest.approx(score, rel=1e-9)
            assert sum(reason.parts.values()) == pytest.approx(reason.score)
            assert min(reason.parts.values()) >= 0
            assert reason.parts["prior"] == 0 or combine != "counts"
        assert "Suggested labels" in found.to_html()
    model.set_params(**before)


def test_topics_share_the_prior_and_companions_the_topics() -> None:
    dependent = trained(DependencyLDA)
    found = dependent.explain(newsroom().corpus[[0]])
    by_label = {reason.label: reason for reason in found.reasons}
    assert set(list(by_label)[:3]) == {ONE_DOCUMENT_LABEL, *ITS_COMPANIONS}
    for label in ITS_COMPANIONS:
        reason = by_label[label]
        (other,) = set(ITS_COMPANIONS) - {label}
        assert reason.companions[0].name == other
        assert all(0 < companion.weight <= 1 for companion in reason.companions)
        assert 0 < sum(topic.weight for topic in reason.topics) <= 1 + 1e-9
        strongest = reason.topics[0]
        assert {label, other} <= set(strongest.labels)
        (topic,) = [
            topic
            for topic in dependent.topics(5)
            if (topic.set, topic.number) == (strongest.set, strongest.number)
        ]
        assert tuple(name for name, _ in topic.labels) == strongest.labels


def test_flat_lda_has_no_topics_and_prior_lda_no_companions() -> None:
    assert trained(FlatLDA).topics() == []
    for reason in trained(FlatLDA).explain(newsroom().corpus[[0]]).reasons:
        assert (reason.topics, reason.companions) == ((), ())
    for reason in trained(PriorLDA).explain(newsroom().corpus[[0]]).reasons:
        assert len(reason.topics) == 1
        assert reason.companions == ()


def test_extreme_weights_are_explained_too() -> None:
    corpus = newsroom().corpus
    for options in ({"eta": 0.0}, {"alpha": 0.0}, {"gamma": 1e-9}, {"n_topics": 1}):
        few: dict[str, Any] = {"n_topic_chains": 1, "n_topic_sweeps": 3}
        model = DependencyLDA(**(few | options)).fit(corpus[:50])
        for document in (corpus[[60]], csr_array((1, corpus.n_words))):
            found = model.explain(document)
            json.dumps(found.to_dict(), allow_nan=False)
            found.to_html()


def test_an_explanation_shares_out_fractions_of_words() -> None:
    _, x = counted()
    model = FlatLDA(word_counts="raw").fit(x, TOPICS)
    (whole, part) = (model.explain(x[[0]] * by, k=len(model.classes_)) for by in (1, 0.25))
    assert [word.times for word in part.words] == [word.times / 4 for word in whole.words]
    for word in part.words:
        assert sum(word.tokens) == pytest.approx(word.times, rel=1e-4)


@pytest.mark.parametrize(("share", "percentage"), [(0, "0 %"), (0.001, "< 1 %"), (0.08, "8 %")])
def test_a_share_of_documents_is_zero_only_if_there_are_none(share: float, percentage: str) -> None:
    assert percent_of_documents(share) == percentage
