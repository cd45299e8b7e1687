"""φ by chains and by expectations: counts, what is true recovered, the same bits."""

from typing import Any

import numpy as np
import pytest

from deplda import (
    Corpus,
    InputError,
    Schedule,
    expect_label_words,
    train_label_words,
    train_topic_labels,
    update_label_words,
)
from tests import naive
from tests.drawn_news import DrawnNews, drawn_news
from tests.training.worlds import same, small


@pytest.fixture(scope="module")
def news() -> DrawnNews:
    return drawn_news(1_200, seed=4)


# The estimates ------------------------------------------------------------------------------------


def test_columns_of_phi_sum_to_one() -> None:
    for trained in (train_label_words(small(), n_chains=2), expect_label_words(small())):
        phi = trained.label_words.dense()
        assert phi.shape == trained.label_words.shape == (12, 6)
        assert phi.sum(axis=0) == pytest.approx(1, abs=1e-6)
        assert (phi > 0).all()


def test_with_one_label_a_document_phi_is_a_count() -> None:
    corpus = Corpus([[2, 1, 0], [0, 3, 1]], [[1, 0], [0, 1]])
    expected = (np.array([[2, 0], [1, 3], [0, 1]]) + 0.5) / (np.array([3, 4]) + 3 * 0.5)
    for trained in (
        train_label_words(corpus, beta=0.5, schedule=Schedule(2)),
        expect_label_words(corpus, beta=0.5),
    ):
        assert trained.label_words.dense() == pytest.approx(expected, abs=1e-7)


def test_pairs_with_next_to_no_tokens_are_left_out(news: DrawnNews) -> None:
    label_words = expect_label_words(news.corpus, beta=0.02).label_words
    # A/b is the expected count over β.
    tokens = 0.02 * label_words.weights.data / label_words.base[label_words.weights.indices]
    assert tokens.min() > 0.009
    assert label_words.weights.nnz < 0.9 * (news.corpus.counts.T @ news.corpus.labels).nnz
    assert label_words.dense().sum(axis=0) == pytest.approx(1, abs=1e-5)


def test_documents_without_words_or_labels_train_nothing() -> None:
    corpus = small()
    wordless = np.vstack([corpus.counts.toarray(), np.zeros((1, 12), int), np.full((1, 12), 3)])
    unlabelled = np.vstack([corpus.labels.toarray(), np.ones((1, 6), bool), np.zeros((1, 6), bool)])
    padded = Corpus(wordless, unlabelled)
    plain = expect_label_words(corpus).label_words.dense()
    assert expect_label_words(padded).label_words.dense() == pytest.approx(plain)
    assert np.isfinite(train_label_words(padded).label_words.dense()).all()


def test_a_label_of_no_document_knows_every_word_alike() -> None:
    corpus = Corpus([[1, 2]], [[1, 0]])
    phi = train_label_words(corpus, schedule=Schedule(1)).label_words.dense()
    assert phi[:, 1].tolist() == [0.5, 0.5]


def test_one_label_and_a_label_on_every_document_are_legal() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3, (10, 5))
    for labels in (np.ones((10, 1)), np.column_stack([np.ones(10), rng.random((10, 2)) < 0.5])):
        corpus = Corpus(counts, labels)
        assert np.isfinite(train_label_words(corpus).label_words.dense()).all()
        assert np.isfinite(expect_label_words(corpus).label_words.dense()).all()
        for found in train_topic_labels(corpus, 2, schedule=Schedule(5)).topic_labels:
            assert np.isfinite(found.dense()).all()


def test_the_expectation_stops_on_its_tolerance() -> None:
    corpus = small()
    assert expect_label_words(corpus, tolerance=0.9).n_sweeps < 4
    assert expect_label_words(corpus, tolerance=1e-9, max_sweeps=7).n_sweeps == 7
    fine = expect_label_words(corpus, tolerance=1e-6, max_sweeps=5_000)
    finer = expect_label_words(corpus, tolerance=1e-7, max_sweeps=5_000)
    assert fine.n_sweeps < 5_000
    assert fine.label_words.dense() == pytest.approx(finer.label_words.dense(), abs=1e-3)


def test_same_seed_same_bits_for_any_number_of_workers() -> None:
    schedule = Schedule(5, n_samples=2, lag=2)
    runs = [
        train_label_words(small(), n_chains=5, schedule=schedule, seed=1, n_jobs=n).label_words
        for n in (1, 2, 5)
    ]
    assert same(runs[0], runs[1])
    assert same(runs[0], runs[2])
    other = train_label_words(small(), n_chains=5, schedule=schedule, seed=2).label_words
    assert not same(runs[0], other)


# What a word counts -------------------------------------------------------------------------------


def test_documents_without_repeated_words_are_the_same_for_either_count() -> None:
    once = Corpus(np.minimum(small().counts.toarray(), 1), small().labels)
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


def test_a_label_alone_learns_its_fractions() -> None:
    counts = np.array([[0.25, 1.5, 0], [0, 0.125, 0.125]])
    found = expect_label_words(Corpus(counts, np.eye(2, dtype=int)), beta=0.01).label_words.dense()
    np.testing.assert_allclose(found, (counts.T + 0.01) / (counts.sum(axis=1) + 0.03), rtol=1e-5)


def test_expectations_depend_on_fractions_as_on_counts(news: DrawnNews) -> None:
    """Everything a hundred times as much, the priors too, is the same model."""
    large = news.corpus[:300]
    tiny = Corpus(large.counts / 128, large.labels)
    five: Any = {"max_sweeps": 5, "tolerance": 1e-9}  # no rounding decides when to stop
    of_large, of_small = (
        expect_label_words(corpus, eta=50 * by, beta=0.02 * by, **five).label_words.dense()
        for corpus, by in ((large, 1), (tiny, 1 / 128))
    )
    likely = of_large > 0.001
    np.testing.assert_allclose(of_small[likely], of_large[likely], rtol=0.02)


# More documents -----------------------------------------------------------------------------------


def test_with_one_label_a_document_counts_simply_add() -> None:
    rng = np.random.default_rng(3)
    counts = rng.poisson(1.0, (60, 12))
    labels = np.eye(5, dtype=int)[rng.integers(0, 5, 60)]
    first, second = Corpus(counts[:30], labels[:30]), Corpus(counts[30:], labels[30:])
    updated = update_label_words(expect_label_words(first).label_words, second)
    whole = expect_label_words(Corpus(counts, labels)).label_words
    assert updated.dense() == pytest.approx(whole.dense(), rel=1e-4)


def test_updated_words_are_those_of_a_slow_twin() -> None:
    rng = np.random.default_rng(4)
    counts, labels = rng.poisson(0.8, (40, 9)), rng.random((40, 4)) < 0.4
    labels[:, 3] &= np.arange(40) >= 20  # a label that is new in the second part
    first = Corpus(counts[:20], labels[:20, :3])
    second = Corpus(counts[20:], labels[20:])
    before = expect_label_words(first).label_words
    known = np.zeros((4, 9))
    known[:3] = (before.weights.toarray() * (0.01 / before.base)).T
    documents = [
        (np.repeat(np.arange(9), row).tolist(), np.flatnonzero(labels[d]).tolist())
        for d, row in enumerate(second.counts.toarray(), start=20)
    ]
    slow = np.array(naive.expected_words(documents, 50.0, 0.01, 9, 4, 3, known.tolist()))
    after = update_label_words(before, second, max_sweeps=3, tolerance=1e-12)
    # What is below a hundredth of a token is left out.
    expected = (slow + 0.01) / (slow.sum(axis=1, keepdims=True) + 9 * 0.01)
    assert after.dense() == pytest.approx(expected.T, rel=1e-3, abs=2e-4)


def test_more_documents_are_counted_as_the_first_were() -> None:
    first, second = Corpus([[3, 1]], [[1]]), Corpus([[5, 2]], [[1]])
    both = Corpus([[3, 1], [5, 2]], [[1], [1]])
    known = expect_label_words(first, word_counts="log").label_words
    updated = update_label_words(known, second, word_counts="log")
    together = expect_label_words(both, word_counts="log").label_words
    np.testing.assert_allclose(updated.dense(), together.dense(), rtol=1e-4)


def test_new_words_have_places_after_those_of_phi() -> None:
    rng = np.random.default_rng(6)
    counts, labels = rng.poisson(1.0, (60, 12)), np.eye(5, dtype=int)[rng.integers(0, 5, 60)]
    counts[:30, 8:] = 0
    first, second = Corpus(counts[:30, :8], labels[:30]), Corpus(counts[30:], labels[30:])
    before = expect_label_words(first).label_words
    updated = update_label_words(before, second)
    whole = expect_label_words(Corpus(counts, labels)).label_words
    assert updated.dense() == pytest.approx(whole.dense(), rel=1e-4)
    with pytest.raises(InputError, match="φ has 12 words and 5 labels but the corpus 8 and 5"):
        update_label_words(updated, first)


def test_documents_that_teach_nothing_leave_new_words_to_smoothing() -> None:
    before = expect_label_words(Corpus([[3, 1]], [[1]])).label_words
    after = update_label_words(before, Corpus([[0, 0, 0]], [[1]])).dense()
    assert after.sum() == pytest.approx(1)
    assert after[:, 0] == pytest.approx(np.array([3.01, 1.01, 0.01]) / 4.03)


def test_new_labels_stand_before_the_background() -> None:
    first = Corpus([[4, 0, 3], [0, 4, 3]], [[1, 0, 1], [0, 1, 1]])
    before = expect_label_words(first, background=0.5).label_words
    nothing = Corpus([[0, 0, 0]], [[0, 0, 1, 1]])
    kept = update_label_words(before, nothing, background=0.5).dense()
    assert kept[:, [0, 1, 3]] == pytest.approx(before.dense(), rel=1e-6)
    assert kept[:, 2] == pytest.approx(1 / 3)
    second = Corpus([[0, 0, 4, 5]], [[0, 0, 1, 1]])
    after = update_label_words(before, second, background=0.5).dense()
    assert after.sum(axis=0) == pytest.approx(1)
    assert after[2].argmax() == 3  # the word of all documents
    assert after[3].argmax() == 2  # the new label's own


def test_the_background_has_its_share_of_more_documents() -> None:
    labels, beta = [[1, 1]], 0.01
    before = expect_label_words(Corpus([[1, 1]], labels), background=0.5).label_words
    more = Corpus([[40, 40]], labels)
    small, large = (
        beta / update_label_words(before, more, background=share).base[1] for share in (0.1, 0.9)
    )  # its tokens, and next to nothing
    assert small < 0.4 * 82
    assert large > 0.6 * 82


# Recovering what is true --------------------------------------------------------------------------


def test_phi_is_recovered_from_news_that_was_drawn_from_it(news: DrawnNews) -> None:
    frequency = news.corpus.label_counts
    sampled = train_label_words(news.corpus, n_chains=4, schedule=Schedule(60)).label_words.dense()
    expected = expect_label_words(news.corpus).label_words.dense()
    for phi in (sampled, expected):
        distance = 0.5 * np.abs(phi - news.label_words).sum(axis=0)
        assert np.median(distance[frequency >= 50]) < 0.12
        assert np.median(distance[(frequency > 0) & (frequency < 10)]) < 0.55
    assert np.corrcoef(sampled.ravel(), expected.ravel())[0, 1] > 0.93


def test_a_label_of_one_document_learns_its_own_words(news: DrawnNews) -> None:
    corpus = news.corpus
    label = corpus.label_names.index("VIDEO GAMES")
    own = {corpus.vocabulary[w] for w in np.argsort(-news.label_words[:, label])[:40]}
    for trained in (train_label_words(corpus, n_chains=4), expect_label_words(corpus)):
        phi = trained.label_words.dense()[:, label]
        top = [corpus.vocabulary[w] for w in np.argsort(-phi)[:10]]
        assert len(own & set(top)) >= 8
        assert not {"antitrust", "lawsuit", "plaintiff", "monopoly", "court"} & set(top)


# Bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eta": 0.0}, r"eta is 0.0; it must be a number above 0"),
        ({"eta": float("nan")}, "eta is nan"),
        ({"beta": float("inf")}, "beta is inf"),
        ({"beta": -1}, "beta is -1"),
        ({"n_chains": 0}, "n_chains is 0"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"watch": [(99, 0)]}, "cannot watch word 99 of label 0"),
    ],
)
def test_bad_parameters_of_words_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        train_label_words(small(), **options)


def test_the_tolerance_and_sweeps_of_the_expectation_are_checked() -> None:
    with pytest.raises(InputError, match="tolerance is -1"):
        expect_label_words(small(), tolerance=-1)
    with pytest.raises(InputError, match="max_sweeps is 0"):
        expect_label_words(small(), max_sweeps=0)
