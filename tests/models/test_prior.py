"""Prior-LDA: labels are likely by their frequency before the words are seen."""

import pytest
from scipy.sparse import csr_array

from deplda import PriorLDA
from tests.models.worlds import news


@pytest.mark.filterwarnings("ignore::deplda.NoKnownWordsWarning")
def test_before_any_word_a_label_is_as_likely_as_it_was_frequent() -> None:
    model = PriorLDA(eta=70.0, alpha=30.0, beta_labels=2.0).fit(news())
    n_documents, n_labels = news().label_counts, news().n_labels
    share = (n_documents + 2.0) / (n_documents.sum() + 2.0 * n_labels)
    found = model.decision_function(csr_array((1, news().n_words)))[0]
    assert found == pytest.approx((70 * share + 30 / n_labels) / 100)


def test_its_one_topic_holds_the_labels_by_frequency() -> None:
    (topic,) = PriorLDA().fit(news()).topics(3)
    most = sorted(news().label_counts, reverse=True)[:3]
    counts = dict(zip(news().label_names, news().label_counts, strict=True))
    assert [counts[label.name] for label in topic.labels] == most
    assert topic.weight == 1
