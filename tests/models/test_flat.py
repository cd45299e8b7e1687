"""Flat-LDA: the words alone decide."""

import pytest
from scipy.sparse import csr_array

from deplda import FlatLDA, PriorLDA
from tests.models.worlds import news


@pytest.mark.filterwarnings("ignore::deplda.NoKnownWordsWarning")
def test_before_any_word_every_label_is_as_likely_as_any_other() -> None:
    model = FlatLDA().fit(news())
    found = model.decision_function(csr_array((1, news().n_words)))
    assert found == pytest.approx(1 / news().n_labels)


def test_it_has_no_topics_and_no_parameters_of_a_prior() -> None:
    assert FlatLDA().fit(news()).topics() == []
    more = PriorLDA().get_params().keys() - FlatLDA().get_params().keys()
    assert more == {"eta", "beta_labels", "background", "n_label_tokens"}
