"""Documents of a weight are so many documents; one of weight 0 is none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import (
    Corpus,
    DependencyLDA,
    Documents,
    FlatLDA,
    HybridLDA,
    InputError,
    NothingHeldOutWarning,
    PriorLDA,
    TfidfSVM,
    TunedSVM,
    VanillaSVM,
    load,
)
from deplda.models.lesson import taken, weighted
from deplda.models.linear import reduced
from deplda.models.registry import MODELS, model_class
from tests.models.worlds import TEXTS, TOPICS, pairs, same_learned

WEIGHTS = np.random.default_rng(3).integers(0, 4, 120)


def documents() -> tuple[Any, Any, Any, Any]:
    """Return counts and labels, and the same with documents as often as their weights say."""
    corpus = pairs(120, seed=1)
    x, y = csr_array(corpus.counts), csr_array(corpus.labels)
    rows = np.repeat(np.arange(120), WEIGHTS)
    return x, y, x[rows], y[rows]


def both(model: Callable[[], Any]) -> tuple[Any, Any]:
    """Return the model of weights, and that of copies."""
    x, y, many_x, many_y = documents()
    return model().fit(x, y, sample_weight=WEIGHTS), model().fit(many_x, many_y)


TOPIC_MODELS: dict[str, Callable[[], Any]] = {
    "flat": lambda: FlatLDA(n_held_out=0),
    "flat, drawn": lambda: FlatLDA(n_held_out=0, fit_method="sampled", n_chains=2, n_sweeps=10),
    "flat, raw": lambda: FlatLDA(n_held_out=0, word_counts="raw"),
    "prior, background": lambda: PriorLDA(n_held_out=0, background=0.2),
    "dependency": lambda: DependencyLDA(n_held_out=0, n_topic_chains=2, n_topic_sweeps=20),
}


@pytest.mark.parametrize("name", TOPIC_MODELS)
def test_a_whole_weight_is_so_many_copies_to_the_bit_in_a_topic_model(name: str) -> None:
    weights, copies = both(TOPIC_MODELS[name])
    assert weights.settings_ == copies.settings_
    assert same_learned(weights, copies)


@pytest.mark.parametrize("model", [VanillaSVM, TfidfSVM])
def test_a_whole_weight_is_so_many_copies_to_an_svm(model: Any) -> None:
    weights, copies = both(lambda: model(n_held_out=0, tol=1e-6, C=1.0))
    x = documents()[0]
    np.testing.assert_allclose(weights.decision_function(x), copies.decision_function(x), atol=3e-6)


def test_a_whole_weight_is_so_many_copies_to_svms_of_their_positive_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Which documents are held out to choose them depends on how many there are.
    monkeypatch.setattr(
        "deplda.models.linear.one_vs_rest.OneVsRest.tune", lambda *_: np.full(12, 5.0)
    )
    weights, copies = both(lambda: TunedSVM(n_held_out=0, tol=1e-6))
    x = documents()[0]
    np.testing.assert_allclose(weights.decision_function(x), copies.decision_function(x), atol=3e-6)


def test_a_whole_weight_is_so_many_copies_to_a_hybrid(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its SVMs stop early, and leave small weights out.
    for name, value in (("_TOLERANCE", 1e-7), ("_MOST_SWEEPS", 5000), ("_LEAST", 0.0)):
        monkeypatch.setattr(reduced, name, value)
    weights, copies = both(
        lambda: HybridLDA(
            n_held_out=0, C=1.0, candidates="all", n_topic_chains=2, n_topic_sweeps=20
        )
    )
    assert same_learned(weights.topic_model_, copies.topic_model_)
    np.testing.assert_array_equal(weights.idf_, copies.idf_)
    np.testing.assert_array_equal(weights._log_frequencies, copies._log_frequencies)
    for left, right in (
        (weights._centroids.nearby.matrix, copies._centroids.nearby.matrix),
        (weights.weights_, copies.weights_),
    ):
        np.testing.assert_allclose(left.toarray(), right.toarray(), atol=1e-6)


def test_shortlists_weigh_companions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduced, "_TOLERANCE", 1e-7)
    weights, copies = both(
        lambda: HybridLDA(n_held_out=0, C=1.0, candidates=4, n_topic_chains=1, n_topic_sweeps=5)
    )
    x = documents()[0]
    np.testing.assert_array_equal(weights.rank(x, 4).labels, copies.rank(x, 4).labels)


def test_a_fraction_counts_as_that_part_of_a_document() -> None:
    x, y = [[3, 1, 0], [0, 2, 2]], [["a"], ["b"]]
    how: Any = {"n_held_out": 0, "word_counts": "raw", "beta_words": 0.5}
    found = FlatLDA(**how).fit(x, y, sample_weight=[0.25, 2.5]).label_words_.dense()
    tokens = np.array([[0.75, 0.25, 0.0], [0.0, 5.0, 5.0]])
    wanted = (tokens + 0.5) / (tokens.sum(axis=1, keepdims=True) + 1.5)
    np.testing.assert_allclose(found.T, wanted, rtol=1e-6)
    prior = PriorLDA(**how, beta_labels=1.0).fit(x, y, sample_weight=[0.25, 2.5])
    np.testing.assert_allclose(prior.topic_labels_[0].dense()[:, 0], [1.25 / 4.75, 3.5 / 4.75])


def test_a_heavier_document_pulls_what_words_mean_to_its_label() -> None:
    x, y = [[5, 5], [5, 5], [5, 0], [0, 5]], [["a", "b"], ["a", "b"], ["a"], ["b"]]

    def share(weight: float) -> float:
        model = FlatLDA(n_held_out=0).fit(x, y, sample_weight=[1, 1, weight, 1])
        return float(model.label_words_.dense()[0, 0])

    shares = [share(weight) for weight in (0.2, 0.7, 1.0, 1.4, 3.0)]
    assert shares == sorted(shares)
    assert len(set(shares)) == 5


@pytest.mark.parametrize("kind", MODELS)
def test_weights_of_one_are_no_weights_and_of_zero_no_documents(kind: str) -> None:
    corpus = pairs(60, seed=2)
    few: Any = {"n_topic_chains": 1, "n_topic_sweeps": 5} if kind in TOPICS_OF else {}
    model = model_class(kind)
    plain, ones = (
        model(**few).fit(corpus, sample_weight=weights) for weights in (None, np.ones(60))
    )
    assert ones.document_weights_ is None
    np.testing.assert_array_equal(plain.predict_proba(corpus), ones.predict_proba(corpus))
    rows = np.arange(60) % 3 > 0
    some = model(**few).fit(corpus[rows])
    without = model(**few).fit(corpus, sample_weight=rows.astype(int))
    np.testing.assert_array_equal(some.predict_proba(corpus), without.predict_proba(corpus))


TOPICS_OF = {"DependencyLDA", "HybridLDA"}


def test_labels_and_words_of_documents_left_out_are_not_learned() -> None:
    model = FlatLDA().fit(TEXTS, TOPICS, sample_weight=[0, 1, 0, 2])
    assert model.classes_.tolist() == ["health"]
    assert "pitcher" not in model.words_


def test_what_else_is_known_of_documents_is_left_out_with_them() -> None:
    corpus, rng = pairs(100, seed=4), np.random.default_rng(0)
    vectors = corpus.labels @ rng.normal(size=(12, 8)) + 0.1 * rng.normal(size=(100, 8))
    groups = np.arange(100) // 2
    rows = np.flatnonzero(np.arange(100) % 4)
    how: Any = {"n_topic_chains": 1, "n_topic_sweeps": 5, "C": 1.0}
    given = Documents(corpus, embeddings=vectors)
    weighted = HybridLDA(**how).fit(
        given, groups=groups, sample_weight=np.isin(np.arange(100), rows)
    )
    some = Documents(corpus[rows], embeddings=vectors[rows])
    alone = HybridLDA(**how).fit(some, groups=groups[rows])
    assert weighted.external_ == ("embeddings",)
    np.testing.assert_array_equal(weighted.predict_proba(given), alone.predict_proba(given))


def test_documents_held_out_count_once_each() -> None:
    corpus = pairs(200, seed=5)
    twice = FlatLDA().fit(corpus, sample_weight=np.full(200, 2.0))
    assert twice.held_out_["documents"] <= 40  # a fifth of 200, and not of 400


@pytest.mark.parametrize("kind", ["PriorLDA", "DependencyLDA", "HybridLDA"])
@pytest.mark.filterwarnings("ignore::deplda.NothingHeldOutWarning")
def test_weights_are_kept_and_saved_for_what_is_learned_later(kind: str, tmp_path: Path) -> None:
    corpus, weights = pairs(120, seed=6), np.linspace(0.5, 2.5, 80)
    few: Any = {} if kind == "PriorLDA" else {"n_topic_chains": 1, "n_topic_sweeps": 5}
    model = model_class(kind)(n_held_out=0, **few).fit(corpus[:80], sample_weight=weights)
    model.save(tmp_path / "model")
    loaded: Any = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.document_weights_, weights)
    for each in (model, loaded):
        each.partial_fit(corpus[80:])
        np.testing.assert_array_equal(each.document_weights_, [*weights, *np.ones(40)])
    scores = model.decision_function(corpus), loaded.decision_function(corpus)
    np.testing.assert_allclose(*scores, atol=1e-5)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2, 3], r"sample_weight has the shape \(3,\); it needs one number for each of 4"),
        (2.0, r"has the shape \(\)"),
        ([[1], [1], [1], [1]], r"has the shape \(4, 1\)"),
        ([1, 1, -0.5, 1], "sample_weight of document 2 is -0.5; .* from 0 .left out. to 1,000"),
        ([1, np.nan, 1, 1], "of document 1 is nan"),
        ([1, np.inf, 1, 1], "of document 1 is inf"),
        ([1, 1, 1, 1e9], "of document 3 is 1e"),
        (["a", "b", "c", "d"], "sample_weight holds what is no number"),
        ([1, 1, 1, 10**400], "sample_weight holds what is no number"),
        ([0, 0, 0, 0], "sample_weight is zero for all of 4 documents"),
    ],
)
def test_weights_that_cannot_be_are_named(kind: str, weights: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model_class(kind)().fit(TEXTS, TOPICS, sample_weight=weights)


def test_weights_so_small_that_chains_would_draw_nothing_are_named() -> None:
    with pytest.raises(InputError, match=r"sums to 0.0004 for 4 documents, .* multiply them"):
        DependencyLDA(n_held_out=0).fit(TEXTS, TOPICS, sample_weight=np.full(4, 1e-4))


def test_wrong_numbers_of_labels_are_named_with_weights_too() -> None:
    with pytest.raises(InputError, match="X has 4 documents but y has 3"):
        FlatLDA().fit(TEXTS, TOPICS[:3], sample_weight=[1, 2, 0, 1])


def test_groups_that_are_too_few_are_named_with_weights_too() -> None:
    with pytest.raises(InputError, match="there are 2 values, none of document 3; give one for"):
        HybridLDA().fit(TEXTS, TOPICS, sample_weight=[1, 0, 1, 1], groups=[1, 2])


def test_rows_are_taken_of_whatever_has_them() -> None:
    rows = np.array([0, 2])
    assert taken(None, rows) is None
    assert taken(TEXTS, None) is TEXTS
    assert taken(TEXTS, rows) == [TEXTS[0], TEXTS[2]]
    assert taken(csr_array(np.eye(4)).tocoo(), rows).toarray().tolist() == np.eye(4)[rows].tolist()
    corpus = Corpus(np.eye(4), np.eye(4), ids="abcd")
    assert taken(corpus, rows).ids == ("a", "c")
    assert [TEXTS[0], TEXTS[2]] == taken(Documents(TEXTS), rows).X
    x, y, weights, kept = weighted(TEXTS, TOPICS, [2, 0, 1, 0])
    assert (x, y) == ([TEXTS[0], TEXTS[2]], [TOPICS[0], TOPICS[2]])
    assert weights is not None
    assert kept is not None
    assert (weights.tolist(), kept.tolist()) == ([2, 1], [0, 2])


def test_a_hybrid_with_weights_mixes_and_calibrates() -> None:
    corpus = pairs(200, seed=8)
    model = HybridLDA(n_topic_chains=1, n_topic_sweeps=5).fit(
        corpus, sample_weight=np.linspace(0.2, 3.0, 200)
    )
    assert model.has_probabilities
    assert model.score(corpus) > 0.6
    with pytest.warns(NothingHeldOutWarning):
        HybridLDA().fit(TEXTS, TOPICS, sample_weight=[1, 0, 1, 0])
