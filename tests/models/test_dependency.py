"""Dependency-LDA, and the paper's two stories: rare labels, and words of several meanings."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.svm import LinearSVC

from deplda import Corpus, DependencyLDA, FlatLDA, PriorLDA
from deplda.data.datasets.newsroom_lexicon import ITS_COMPANIONS, ONE_DOCUMENT_LABEL
from deplda.models.topic_model import TopicModel
from tests.drawn_news import own_words
from tests.models.worlds import MODELS, news, newsroom, quick, same_learned, trained


def test_another_seed_gives_other_topics() -> None:
    fits = [quick(DependencyLDA, random_state=seed).fit(news()) for seed in (0, 0, 1)]
    assert same_learned(fits[0], fits[1])
    assert not same_learned(fits[0], fits[2])
    drawn = quick(DependencyLDA, random_state=np.random.RandomState(0)).fit(news())
    assert 0 <= drawn.seed_ < 2**31


def test_fifty_thousand_labels_are_no_trouble() -> None:
    rng = np.random.default_rng(0)
    x = csr_array(rng.poisson(0.2, (300, 100)))
    y = csr_array((np.ones(900, bool), rng.integers(0, 50_000, 900), np.arange(0, 901, 3)),
                  shape=(300, 50_000))  # fmt: skip
    y.sum_duplicates()
    fitted = quick(DependencyLDA, n_topics=10).fit(x, y)
    assert fitted.rank(x[:20], 3).labels.shape == (20, 3)
    assert fitted.predict(x[:20]).shape == (20, 50_000)


# The paper's stories ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MODELS)
def test_a_label_of_one_document_learns_its_own_words(kind: Any) -> None:
    """Its document has two frequent labels beside it, to which their words are left."""
    top = [word.name for word in trained(kind).top_words(ONE_DOCUMENT_LABEL, 10)]
    assert set(top) <= set(own_words()[ONE_DOCUMENT_LABEL])


def test_a_linear_svm_takes_its_companions_words_for_its_own() -> None:
    corpus = newsroom().corpus
    is_it = corpus.labels[:, [corpus.label_names.index(ONE_DOCUMENT_LABEL)]].toarray().ravel()
    weights = LinearSVC(random_state=0).fit(corpus.counts, is_it).coef_[0]
    top = [corpus.vocabulary[w] for w in np.argsort(-weights)[:10]]
    theirs = {word for label in ITS_COMPANIONS for word in own_words()[label]}
    assert len(theirs.intersection(top)) >= 3


# The word is one of all three labels. Labels of the same group go with them.
AMBIGUOUS = "steroids"
GOES_WITH = {
    "BASEBALL": ["FOOTBALL", "ATHLETICS AND SPORTS", "SUSPENSIONS, DISMISSALS AND RESIGNATIONS"],
    "MEDICINE AND HEALTH": ["DOCTORS", "HOSPITALS", "CANCER"],
    "BLACK MARKETS": ["SMUGGLING", "POLICE", "CRIME AND CRIMINALS"],
}


def shares(model: TopicModel, companions: list[str]) -> dict[str, float]:
    """Return how much of the word each of the three gets, among words of the companions alone."""
    corpus, words = newsroom().corpus, own_words()
    of_the_three = {word for label in GOES_WITH for word in words[label]}
    counts = np.zeros((1, corpus.n_words), dtype=int)
    for label in companions:
        telling = [word for word in words[label] if word not in of_the_three]
        counts[0, [corpus.vocabulary.index(word) for word in telling[:6]]] = 2
    counts[0, corpus.vocabulary.index(AMBIGUOUS)] = 3
    found = model.explain(counts, k=corpus.n_labels)
    (word,) = [word for word in found.words if word.word == AMBIGUOUS]
    by_label = dict(zip([reason.label for reason in found.reasons], word.tokens, strict=True))
    return {label: by_label[label] for label in GOES_WITH}


def test_an_ambiguous_word_goes_to_the_label_that_its_companions_suggest() -> None:
    for label, other in (
        ("BASEBALL", "MEDICINE AND HEALTH"),
        ("MEDICINE AND HEALTH", "BASEBALL"),
    ):
        found = shares(trained(DependencyLDA), GOES_WITH[label])
        assert found[label] > 0.5 * (1 + np.log(3))  # which is what 3 tokens count
        assert found[label] > 5 * found[other]


@pytest.mark.parametrize("unaware", [FlatLDA, PriorLDA])
def test_models_without_topics_do_not_heed_the_companions(unaware: Any) -> None:
    odds = []
    for companions in GOES_WITH.values():
        found = shares(trained(unaware), companions)
        odds.append(found["BASEBALL"] / found["MEDICINE AND HEALTH"])
    assert max(odds) < 1.2 * min(odds)


def test_a_rare_meaning_is_learned_when_documents_come_that_have_it() -> None:
    """BLACK MARKETS has two of the thousand documents: too few to be a meaning of the word."""
    corpus, phi = newsroom().corpus, newsroom().label_words
    model = deepcopy(trained(DependencyLDA))
    before = shares(model, GOES_WITH["BLACK MARKETS"])
    assert before["BLACK MARKETS"] < 0.1
    rng = np.random.default_rng(0)
    counts, labels = [], np.zeros((90, corpus.n_labels), dtype=int)
    for d in range(90):
        companion = GOES_WITH["BLACK MARKETS"][d % 3]
        labels[d, [corpus.label_names.index(label) for label in ("BLACK MARKETS", companion)]] = 1
        counts.append(rng.multinomial(130, phi[:, labels[d] > 0].mean(axis=1)))
    model.partial_fit(Corpus(counts, labels, corpus.vocabulary, corpus.label_names))
    after = shares(model, GOES_WITH["BLACK MARKETS"])
    assert max(after, key=lambda label: after[label]) == "BLACK MARKETS"
    assert max(GOES_WITH, key=shares(model, GOES_WITH["BASEBALL"]).__getitem__) == "BASEBALL"
