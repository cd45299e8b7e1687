"""What a word counts, the background, and the choice of the score: beyond the paper's settings."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import (
    Corpus,
    DependencyLDA,
    FlatLDA,
    InputError,
    PriorLDA,
    datasets,
    expect_label_words,
    load,
    update_label_words,
)
from deplda.data.weighting import weighed, whole
from deplda.inference.layout import Tables
from deplda.models.parameters import auto_settings, paper_settings
from deplda.training.estimates import LabelWords, TopicLabels


@cache
def news() -> Corpus:
    return datasets.newsroom(300).corpus


def quick(**others: Any) -> DependencyLDA:
    return DependencyLDA(**{"n_topic_chains": 2, "n_topic_sweeps": 20} | others)


def test_a_word_counts_one_and_the_logarithm() -> None:
    counts = np.array([1, 2, 5, 1000], dtype=np.int32)
    np.testing.assert_allclose(weighed(counts, "log"), 1 + np.log(counts), rtol=1e-6)
    assert weighed(counts, "raw") is counts
    assert whole(weighed(counts, "log")).tolist() == [1, 2, 3, 8]
    parts = np.array([0.2, 0.9, 1.5], dtype=np.float32)
    np.testing.assert_allclose(weighed(parts, "log"), [0.2, 0.9, 1 + np.log(1.5)], rtol=1e-6)


def test_documents_without_repeated_words_are_the_same_for_either_count() -> None:
    once = Corpus(np.minimum(news().counts.toarray(), 1), news().labels)
    raw, log = (expect_label_words(once, word_counts=how).label_words for how in ("raw", "log"))
    np.testing.assert_allclose(raw.dense(), log.dense(), atol=1e-9)


def test_a_label_alone_learns_the_logarithms_of_its_counts() -> None:
    """With one label a document there is nothing to share out: φ is in closed form."""
    counts = np.array([[4, 1, 0], [0, 7, 2]])
    found = expect_label_words(
        Corpus(counts, np.eye(2, dtype=int)), beta=0.1, word_counts="log"
    ).label_words.dense()
    tokens = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0).T
    np.testing.assert_allclose(found, (tokens + 0.1) / (tokens.sum(axis=0) + 0.3), rtol=1e-5)


def test_more_documents_are_counted_as_the_first_were() -> None:
    first, second = Corpus([[3, 1]], [[1]]), Corpus([[5, 2]], [[1]])
    both = Corpus([[3, 1], [5, 2]], [[1], [1]])
    known = expect_label_words(first, word_counts="log").label_words
    updated = update_label_words(known, second, word_counts="log")
    together = expect_label_words(both, word_counts="log").label_words
    np.testing.assert_allclose(updated.dense(), together.dense(), rtol=1e-4)


def test_a_label_alone_learns_its_fractions() -> None:
    counts = np.array([[0.25, 1.5, 0], [0, 0.125, 0.125]])
    found = expect_label_words(Corpus(counts, np.eye(2, dtype=int)), beta=0.01).label_words.dense()
    np.testing.assert_allclose(found, (counts.T + 0.01) / (counts.sum(axis=1) + 0.03), rtol=1e-5)


def test_expectations_depend_on_fractions_as_on_counts() -> None:
    """Everything a hundred times as much, the priors too, is the same model."""
    large = news()
    small = Corpus(large.counts / 128, large.labels)
    of_large, of_small = (
        expect_label_words(corpus, eta=50 * by, beta=0.02 * by).label_words.dense()
        for corpus, by in ((large, 1), (small, 1 / 128))
    )
    likely = of_large > 0.001
    np.testing.assert_allclose(of_small[likely], of_large[likely], rtol=0.05)


@pytest.mark.parametrize("inference", ["deterministic", "sampled"])
@pytest.mark.parametrize("fit_method", ["deterministic", "sampled"])
def test_logarithms_are_learned_and_inferred_both_ways(fit_method: str, inference: str) -> None:
    few: Any = {"n_chains": 2, "n_sweeps": 20, "burn_in": 5, "n_samples": 2}
    model = quick(word_counts="log", fit_method=fit_method, inference=inference, **few)
    assert model.fit(news()).score(news()) > 0.9


def test_many_labels_have_raw_counts_and_more_weight_on_the_prior() -> None:
    few, many = (
        auto_settings(Corpus(csr_array((1, 5)), csr_array((1, n))), "dependency")
        for n in (100, 3000)
    )
    assert (few["word_counts"], few["train_eta"], few["beta_words"]) == ("log", 200.0, 0.01)
    assert (many["word_counts"], many["train_eta"], many["beta_words"]) == ("raw", 1000.0, 0.003)


@pytest.mark.parametrize("data", ["eurlex", "yahoo", "rcv1", "nyt"])
def test_the_paper_has_none_of_this(data: Any) -> None:
    found = paper_settings(data, "dependency")
    for name, value in {
        "word_counts": "raw", "background": 0.0, "train_eta": 50.0, "beta_words": 0.01,
        "combine": "blend",
    }.items():  # fmt: skip
        assert found[name] == value
    assert FlatLDA.paper(data).word_counts == "raw"


# The background -----------------------------------------------------------------------------------


def test_the_background_takes_the_words_that_tell_nothing() -> None:
    rng = np.random.default_rng(0)
    labels = np.eye(4, dtype=bool)[rng.integers(0, 4, 200)]
    counts = np.concatenate(
        [rng.poisson(2.0, (200, 10)), rng.poisson(3.0 * np.repeat(labels, 3, axis=1))], axis=1
    )
    model = quick(background=0.3).fit(counts, labels)
    shared = model.label_words_.dense()[:, -1]
    assert model.label_words_.shape[1] == 5
    assert shared[:10].sum() > 0.9
    found = model.explain(counts[:1], k=1)
    assert found.n_background > 0.5 * 10
    assert found.to_dict()["n_background"] == found.n_background
    assert found.reasons[0].words[0].name in {f"word{w}" for w in range(10, 22)}


def test_the_background_is_never_ranked() -> None:
    model = quick(background=0.3).fit(news())
    assert model.decision_function(news()).shape == news().labels.shape
    assert model.rank(news()[:3], 1000).labels.shape[1] == news().n_labels
    assert len(model.similar_labels(news().label_names[0], 1000)) < news().n_labels
    scores = model.decision_function(news()[:5])
    np.testing.assert_allclose(scores.sum(axis=1), 2)  # prior and counts, without the background


def test_the_prior_of_the_other_labels_is_as_without_a_background() -> None:
    rng = np.random.default_rng(0)
    topics = TopicLabels(csr_array(rng.dirichlet(np.ones(6), 3).T * 0.94), np.full(3, 0.01))
    phi = LabelWords(csr_array((4, 7)), np.full(7, 0.25))
    theta = rng.dirichlet(np.ones(3), 2)
    plain = Tables(LabelWords(csr_array((4, 6)), np.full(6, 0.25)), [topics])
    shared = Tables(phi, [topics], background=0.3)
    expected = plain.mean_prior(theta, 70.0, 0.5)
    found = shared.mean_prior(theta, 70.0 / 0.7, 0.5)
    np.testing.assert_allclose(found[:, :6], expected)
    np.testing.assert_allclose(found[:, 6], 0.5 + 70.0 * 0.3 / 0.7)


def test_a_model_with_a_background_is_saved_and_loaded(tmp_path: Path) -> None:
    model = PriorLDA(background=0.25).fit(news())
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(news()), model.decision_function(news()))


def test_what_a_background_cannot_do_is_said() -> None:
    model = quick(background=0.3).fit(news())
    with pytest.raises(InputError, match=r"background is 0\.3; a model with one cannot learn more"):
        model.partial_fit(news())
    with pytest.raises(InputError, match="only fit_method='deterministic' knows one"):
        quick(background=0.3, fit_method="sampled").fit(news())


# The score ----------------------------------------------------------------------------------------


def test_the_score_is_chosen_on_documents_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    model = quick(combine="auto").fit(news())
    chosen = model.settings_["combine"]
    assert chosen in ("blend", "counts", "posterior")
    given = quick(combine=chosen).fit(news())
    np.testing.assert_array_equal(model.decision_function(news()), given.decision_function(news()))
    seen = []

    def quality(truth: Any, scores: Any) -> float:
        seen.append(len(scores))
        return float(len(seen) == 2)

    monkeypatch.setattr("deplda.models.topic_model.label_ranking_average_precision_score", quality)
    assert quick(combine="auto").fit(news()).settings_["combine"] == "counts"
    assert seen == [30, 30, 30]


def test_with_too_few_documents_to_hold_out_the_score_is_the_papers() -> None:
    assert quick(combine="auto").fit(news()[:8]).settings_["combine"] == "blend"


def test_the_chosen_score_is_kept(tmp_path: Path) -> None:
    model = quick(combine="auto").fit(news())
    model.save(tmp_path / "model")
    again: Any = load(tmp_path / "model")
    assert again.settings_ == model.settings_
    np.testing.assert_array_equal(again.decision_function(news()), model.decision_function(news()))
