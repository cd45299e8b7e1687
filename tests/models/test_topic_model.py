"""The estimators as scikit-learn users use them: every form of X and y, and every wrong one."""

import pickle
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix, vstack
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from deplda import (
    Corpus,
    DependencyLDA,
    FlatLDA,
    FractionalCountsWarning,
    InputError,
    PriorLDA,
    WordCounter,
    datasets,
    expect_label_words,
    load,
    update_label_words,
)
from deplda.models.parameters import auto_settings
from deplda.models.topic_model import TopicModel
from tests import naive

MODELS = [FlatLDA, PriorLDA, DependencyLDA]
Model = type[TopicModel]


def quick(model: Model, **others: Any) -> TopicModel:
    few: Any = {"n_topic_chains": 2, "n_topic_sweeps": 20} if model is DependencyLDA else {}
    return model(**few, **others)


@parametrize_with_checks([quick(model) for model in MODELS])
def test_scikit_learn_is_satisfied(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@cache
def news() -> Corpus:
    return datasets.newsroom(300).corpus


@pytest.fixture(scope="module")
def halves() -> tuple[Corpus, Corpus, Corpus]:
    corpus = datasets.newsroom(1200).corpus
    return corpus[:500], corpus[500:1000], corpus[1000:]


@pytest.fixture(params=MODELS, ids=lambda model: model.__name__)
def model(request: pytest.FixtureRequest) -> Model:
    chosen: Model = request.param
    return chosen


def label_lists(corpus: Corpus) -> list[list[str]]:
    names, labels = corpus.label_names, corpus.labels
    return [
        [names[c] for c in labels.indices[labels.indptr[d] : labels.indptr[d + 1]]]
        for d in range(len(corpus))
    ]


def same_learned(left: Any, right: Any) -> bool:
    pairs = [(left.label_words_, right.label_words_)]
    pairs += zip(left.topic_labels_, right.topic_labels_, strict=True)
    return all(
        (a.weights != b.weights).nnz == 0 and np.array_equal(a.base, b.base) for a, b in pairs
    )


# Forms of X ---------------------------------------------------------------------------------------


FORMS: dict[str, Callable[[Corpus], Any]] = {
    "csr": lambda corpus: corpus.counts,
    "csr matrix": lambda corpus: csr_matrix(corpus.counts),
    "csc": lambda corpus: csc_matrix(corpus.counts),
    "coo": lambda corpus: coo_array(corpus.counts),
    "64 bits": lambda corpus: corpus.counts.astype(np.int64),
    "floats": lambda corpus: corpus.counts.astype(np.float32),
    "dense": lambda corpus: corpus.counts.toarray(),
    "frame": lambda corpus: pd.DataFrame(corpus.counts.toarray(), columns=corpus.vocabulary),
    "corpus": lambda corpus: corpus,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_counts_teaches_the_same(form: str) -> None:
    x, y = FORMS[form](news()), news().labels
    reference, other = (quick(DependencyLDA).fit(X, y) for X in (news().counts, x))
    assert same_learned(reference, other)
    assert np.array_equal(reference.decision_function(news().counts), other.decision_function(x))
    assert other.n_features_in_ == news().n_words
    if form in ("corpus", "frame"):
        assert tuple(other.feature_names_in_) == news().vocabulary
    else:
        assert not hasattr(other, "feature_names_in_")


def test_a_corpus_of_other_words_is_read_by_their_names(model: Model) -> None:
    corpus = news()
    fitted = quick(model).fit(corpus)
    order = np.random.default_rng(0).permutation(corpus.n_words)
    counts = np.zeros((len(corpus), corpus.n_words + 1), dtype=int)
    counts[:, 1:] = corpus.counts.toarray()[:, order]
    counts[:, 0] = 7
    words = ["neverseen", *(corpus.vocabulary[w] for w in order)]
    other = Corpus(counts, corpus.labels, words, corpus.label_names)
    ranking = fitted.rank(other, 5)
    # Words in another order are added up in another order.
    assert ranking.scores == pytest.approx(fitted.rank(corpus, 5).scores, rel=1e-5)
    assert fitted.score(other) == pytest.approx(fitted.score(corpus), abs=1e-6)


def test_a_corpus_is_read_by_place_where_the_model_knows_no_names() -> None:
    corpus = news()
    fitted = FlatLDA().fit(corpus.counts, corpus.labels)
    assert np.array_equal(fitted.rank(corpus).labels, fitted.rank(corpus.counts).labels)
    with pytest.raises(InputError, match="was fitted on 2,685 columns without names"):
        fitted.rank(Corpus([[1, 2]], [[1]]))


TEXTS = [
    "The pitcher threw strikes in the ninth inning",
    "A doctor treats patients in the hospital",
    "The league suspended the pitcher over a doctor's steroids",
    "Hospital patients wait for the doctor",
]
TOPICS = [["sports"], ["health"], ["sports", "health"], ["health"]]


def counted() -> tuple[WordCounter, Any]:
    counter = WordCounter()
    return counter, counter.fit_transform(TEXTS)


def test_texts_are_counted_by_the_models_own_counter(model: Model, tmp_path: Path) -> None:
    counter, x = counted()
    fitted = quick(model).fit(x, TOPICS, counter=counter)
    assert tuple(fitted.feature_names_in_) == counter.vocabulary_
    fitted.save(tmp_path / "model")
    forms: list[Any] = [TEXTS, tuple(TEXTS), np.array(TEXTS), np.array(TEXTS, dtype=object)]
    for each in (fitted, load(tmp_path / "model")):
        for texts in [*forms, pd.Series(TEXTS)]:
            assert np.array_equal(each.decision_function(texts), fitted.decision_function(x))
    assert fitted.rank(["the pitcher"], 1).labels[0, 0] == "sports"
    fitted.partial_fit(["goalkeepers and pitchers", "the doctor"], [["sports"], ["health"]])
    assert fitted.rank(["doctor"], 1).labels[0, 0] == "health"


def test_texts_need_the_counter_that_made_the_counts() -> None:
    counter, x = counted()
    with pytest.raises(InputError, match="X holds texts; count their words first"):
        FlatLDA().fit(TEXTS, TOPICS)
    with pytest.raises(InputError, match="fitted on counts; pass fit"):
        FlatLDA().fit(x, TOPICS).rank(TEXTS)
    with pytest.raises(InputError, match="X is one text; put it in a list"):
        FlatLDA().fit(x, TOPICS, counter=counter).rank(TEXTS[0])
    with pytest.raises(NotFittedError):
        FlatLDA().fit(x, TOPICS, counter=WordCounter())
    with pytest.raises(InputError, match="the counter's 1 words are not the"):
        FlatLDA().fit(x, TOPICS, counter=WordCounter().fit(["some words"]))
    frame = pd.DataFrame(x.toarray(), columns=list(reversed(counter.vocabulary_)))
    with pytest.raises(InputError, match="pass the counter that made X"):
        FlatLDA().fit(frame, TOPICS, counter=counter)


# Forms of y ---------------------------------------------------------------------------------------


def test_every_form_of_labels_teaches_the_same(model: Model) -> None:
    corpus = news()[:60]
    corpus = Corpus(
        corpus.counts,
        corpus.labels[:, np.argsort(corpus.label_names)],
        corpus.vocabulary,
        sorted(corpus.label_names),
    )
    corpus = corpus[corpus.labels_per_document > 0]
    met = np.flatnonzero(corpus.label_counts)
    corpus = Corpus(
        corpus.counts, corpus.labels[:, met], None, [corpus.label_names[c] for c in met]
    )
    dense, lists, names = corpus.labels.toarray(), label_lists(corpus), corpus.label_names
    ragged = np.empty(len(lists), dtype=object)
    ragged[:] = lists
    unnamed = {
        "bools": dense,
        "numbers": dense.astype(int),
        "floats": dense.astype(float),
        "csr": corpus.labels,
        "csr matrix": csr_matrix(corpus.labels.astype(np.int8)),
        "list of rows": dense.astype(int).tolist(),
    }
    named = {
        "lists": lists,
        "tuples": [tuple(row) for row in lists],
        "sets": [set(row) for row in lists],
        "arrays": [np.array(row) for row in lists],
        "array of lists": ragged,
        "column of lists": pd.Series(lists),
        "data frame": pd.DataFrame(dense, columns=names),
        "corpus": None,
    }
    reference = quick(model).fit(corpus.counts, dense)
    for form, y in (unnamed | named).items():
        x = corpus if y is None else corpus.counts
        fitted = quick(model).fit(x, y)
        assert same_learned(reference, fitted), form
        assert fitted.classes_.tolist() == list(names if form in named else range(len(names))), form
        assert fitted.score(x, y) == reference.score(corpus.counts, dense), form
        predicted = fitted.predict(x)
        is_dense = form in ("bools", "numbers", "floats", "list of rows", "data frame")
        assert isinstance(predicted, np.ndarray if is_dense else csr_array), form
        assert predicted.dtype.kind == "i"
        found = predicted if isinstance(predicted, np.ndarray) else predicted.toarray()
        assert np.array_equal(found, reference.predict(corpus.counts)), form


CLASSES = {
    "strings": ["yes", "no", "maybe", "no"],
    "array of strings": np.array(["yes", "no", "maybe", "no"]),
    "objects": np.array(["yes", "no", "maybe", "no"], dtype=object),
    "numbers": [7, 3, 5, 3],
    "bools": np.array([True, False, True, False]),
    "categories": pd.Series(["yes", "no", "maybe", "no"]),
}


@pytest.mark.parametrize("form", CLASSES)
def test_one_class_a_document_comes_back_as_one_class(model: Model, form: str) -> None:
    _, x = counted()
    y = CLASSES[form]
    fitted = quick(model).fit(x, y)
    predicted = fitted.predict(x)
    assert predicted.shape == (4,)
    assert set(predicted.tolist()) <= set(np.asarray(y).tolist())
    assert 0.0 <= fitted.score(x, y) <= 1.0
    n_classes = len(fitted.classes_)
    scores = fitted.decision_function(x)
    assert scores.shape == ((4,) if n_classes == 2 else (4, n_classes))
    if n_classes == 2:
        assert np.array_equal(fitted.classes_[(scores > 0).astype(int)], predicted)


def test_a_label_without_documents_is_legal(model: Model) -> None:
    _, x = counted()
    y = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 0]])
    fitted = quick(model).fit(x, y)
    ranking = fitted.rank(x, 3)
    assert ranking.labels.shape == (4, 3)
    assert np.isfinite(ranking.scores).all()
    assert fitted.label_words_.dense()[:, 2] == pytest.approx(1 / x.shape[1])


def test_documents_without_words_or_without_labels_are_legal(model: Model) -> None:
    _, x = counted()
    x = csr_array(np.vstack([x.toarray(), np.zeros((2, x.shape[1]), dtype=int)]))
    fitted = quick(model).fit(x, [*TOPICS, ["sports"], []])
    scores = fitted.decision_function(x)
    assert np.isfinite(scores).all()
    assert np.array_equal(scores[4], scores[5])  # both have their prior alone
    assert fitted.rank(csr_array((1, x.shape[1]))).labels.shape == (1, 2)


# Wrong input --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted() -> TopicModel:
    _, x = counted()
    return FlatLDA().fit(x, TOPICS)


def wrong_x() -> dict[str, tuple[Any, str]]:
    n = len(counted()[0].vocabulary_)
    ones = np.ones((4, n))

    def with_one(value: Any) -> Any:
        x = ones.astype(object) if isinstance(value, str) else ones.copy()
        x[1, 2] = value
        return x

    return {
        "fewer features": (ones[:, 1:], f"X has {n - 1} features"),
        "more features": (np.ones((4, n + 1)), f"expecting {n} features"),
        "fewer, sparse": (csr_array(ones[:, 1:]), f"X has {n - 1} features.*expecting {n}"),
        "negative": (with_one(-1.0), "[Nn]egative"),
        "negative, sparse": (csr_array(with_one(-1.0)), "[Nn]egative"),
        "NaN": (with_one(np.nan), "NaN"),
        "NaN, sparse": (csr_array(with_one(np.nan)), "NaN"),
        "infinity": (with_one(np.inf), "infinity"),
        "too large": (with_one(1e12), "counts must be numbers from 0 to 2,147,483,647"),
        "a string": (with_one("three"), "could not convert string to float"),
        "one dimension": (ones[0], "2D array"),
        "complex": (ones.astype(complex), "Complex data not supported"),
        "no documents": (np.zeros((0, n)), "minimum of 1 is required"),
    }


@pytest.mark.parametrize("what", wrong_x())
def test_wrong_counts_are_named(fitted: TopicModel, what: str) -> None:
    x, message = wrong_x()[what]
    for method in (fitted.rank, fitted.predict, fitted.decision_function):
        with pytest.raises(ValueError, match=message):
            method(x)
    if "features" not in message:
        with pytest.raises(ValueError, match=message):
            FlatLDA().fit(x, TOPICS[: x.shape[0]])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (TOPICS[:3], "X has 4 documents but y has 3"),
        (np.eye(5, 3), "X has 4 documents but y has 5"),
        ([[], [], [], []], "none of the 4 documents has a label"),
        (np.zeros((4, 3)), "none of the 4 documents has a label"),
        (["a", "a", "a", "a"], "y holds 1 class only, .*'a'.*needs 2"),
        (np.full((4, 2), 2), "a label matrix must hold 0 and 1 only"),
        (np.full((4, 2), np.nan), "a label matrix must hold 0 and 1 only"),
        (csr_array(np.full((4, 2), 3)), "a label matrix must hold 0 and 1 only"),
        (np.array([["a", "b"]] * 4), "a label matrix must hold 0 and 1 only.*lists of labels"),
        ([["a"], [1], ["b"], []], "strings only, or numbers only"),
        ([["a"], "b", ["c"], []], "y is neither a matrix, nor label lists throughout"),
        ([0.5, 0.1, 0.2, 0.9], "Unknown label type: continuous"),
        ([0.0, np.inf, 1.0, 2.0], "y contains infinity"),
        ([0.0, np.nan, 1.0, 2.0], "y contains NaN"),
        (None, "requires y to be passed"),
        (np.zeros((4, 2, 2)), "dim 3"),
    ],
)
def test_wrong_labels_are_named(y: Any, message: str) -> None:
    _, x = counted()
    with pytest.raises(ValueError, match=message):
        FlatLDA().fit(x, y)


BAD: dict[str, list[Any]] = {
    "n_topics": [0, -1, 1.5, "many", True, None],
    "n_chains": [0, "auto", 2.0, 10**9],
    "n_sweeps": [0, 0.5],
    "n_topic_chains": [0],
    "n_topic_sweeps": [-3],
    "n_test_chains": [0, 1.0],
    "burn_in": [0, "x"],
    "n_samples": [0],
    "lag": [0],
    "eta": [-1.0, np.nan, np.inf, "high", None, 1e300],
    "alpha": [-0.5, np.nan, True],
    "gamma": [0, -1, np.inf],
    "beta_words": [0.0, "much"],
    "word_counts": ["sqrt", None, 1],
    "background": [1.0, -0.1, "auto", True],
    "beta_labels": [0.0, -1],
    "train_eta": [0.0],
    "train_gamma": [0.0],
    "fit_method": ["gibbs", None, 1],
    "inference": ["exact", ["sampled"]],
    "n_label_tokens": [0],
    "theta_estimate": ["modes"],
    "combine": ["sum"],
    "cutoff": [0, -1, "all", np.nan, True, None],
    "random_state": [-1, "seed"],
    "n_jobs": [0, -2, 1.5, "all"],
    "engine": ["gpu"],
    "device": ["gpu", None],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in BAD.items() for v in values])
def test_a_bad_parameter_is_called_by_its_name(name: str, value: Any) -> None:
    _, x = counted()
    with pytest.raises(ValueError, match=rf"{name} is .*(must|a seed)|cannot be used to seed"):
        DependencyLDA(**{name: value}).fit(x, TOPICS)
    if name not in ("random_state", "cutoff"):
        later = quick(DependencyLDA).fit(x, TOPICS).set_params(**{name: value})
        with pytest.raises(InputError, match=f"{name} is "):
            later.rank(x)


def test_every_parameter_but_verbose_is_checked() -> None:
    assert BAD.keys() == DependencyLDA().get_params().keys() - {"verbose"}


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    _, x = counted()
    numbers: dict[str, Any] = {
        "n_topics": np.int64(2),
        "n_topic_chains": np.int32(1),
        "n_topic_sweeps": np.int16(5),
        "eta": np.float32(3),
        "alpha": np.int64(2),
        "cutoff": np.int64(1),
        "random_state": np.uint8(1),
        "n_jobs": np.int64(1),
    }
    fitted = DependencyLDA(**numbers)
    fitted.fit(x, TOPICS).save(tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").rank(x).scores, fitted.rank(x).scores)
    assert fitted.predict(x).sum() == 4


def test_nothing_works_before_fit(model: Model, tmp_path: Path) -> None:
    _, x = counted()
    unfitted: Any = quick(model)
    calls: list[Callable[[], Any]] = [
        lambda: unfitted.rank(x),
        lambda: next(unfitted.rank_batches(x)),
        lambda: unfitted.predict(x),
        lambda: unfitted.decision_function(x),
        lambda: unfitted.score(x, TOPICS),
        lambda: unfitted.explain(x[0]),
        lambda: unfitted.top_words("a"),
        lambda: unfitted.topics(),
        lambda: unfitted.similar_labels("a"),
        lambda: unfitted.save(tmp_path / "model"),
    ]
    for call in calls:
        with pytest.raises(NotFittedError):
            call()


def test_after_a_failed_fit_nothing_of_an_older_one_is_used(model: Model) -> None:
    _, x = counted()
    twice = quick(model).fit(x, TOPICS)
    with pytest.raises(InputError):
        twice.fit(x, TOPICS[:2])
    with pytest.raises(NotFittedError):
        twice.rank(x)
    assert same_learned(twice.partial_fit(x, TOPICS), quick(model).fit(x, TOPICS))


def test_a_second_fit_forgets_the_labels_of_the_first(fitted: TopicModel) -> None:
    _, x = counted()
    again = clone(fitted).fit(x, TOPICS).fit(x, np.array([[1, 0], [0, 1], [1, 1], [0, 1]]))
    assert again.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("k", [0, -1, 1.5, "all", True, None])
def test_how_many_labels_is_a_whole_number(fitted: TopicModel, k: Any) -> None:
    _, x = counted()
    for call in (
        lambda: fitted.rank(x, k),
        lambda: fitted.explain(x[[0]], k),
        lambda: fitted.top_words("sports", k),
        lambda: fitted.topics(k),
        lambda: fitted.similar_labels("sports", k),
    ):
        with pytest.raises(InputError, match=r"(k|n) is .*; it must be a whole number from 1"):
            call()


def test_an_unknown_label_is_named(fitted: TopicModel) -> None:
    for call in (fitted.top_words, fitted.similar_labels):
        with pytest.raises(
            InputError, match="does not know the label 'sprots'; did you mean 'sports'"
        ):
            call("sprots")
    with pytest.raises(InputError, match="by is 'looks'"):
        fitted.similar_labels("sports", by="looks")  # type: ignore[arg-type]


def test_an_unknown_label_is_answered_by_near_ones_whatever_the_case(fitted: TopicModel) -> None:
    with pytest.raises(InputError, match="label 'SPORTS'; did you mean 'sports'"):
        fitted.top_words("SPORTS")
    with pytest.raises(InputError, match=r"label 'xyzzy'; its \d+ labels are classes_"):
        fitted.top_words("xyzzy")


def test_a_fit_that_was_interrupted_goes_on_from_its_checkpoint(
    halves: tuple[Corpus, ...], tmp_path: Path
) -> None:
    train, folder = halves[0], tmp_path / "run"
    asked: Any = {"fit_method": "sampled", "n_chains": 2, "n_sweeps": 3}
    whole = quick(DependencyLDA, **asked).fit(train)
    quick(DependencyLDA, **asked).fit(train, checkpoint=folder)
    assert {path.name for path in folder.iterdir()} == {"label-words", "topic-labels"}
    (folder / "label-words" / "chain-0001.npz").unlink()
    with pytest.raises(InputError, match="holds a checkpoint already"):
        quick(DependencyLDA, **asked).fit(train, checkpoint=folder)
    resumed = quick(DependencyLDA, **asked).fit(train, checkpoint=folder, resume=True)
    assert same_learned(resumed, whole)
    other = quick(DependencyLDA, **asked, random_state=1)
    with pytest.raises(InputError, match="is a checkpoint of another run: its seed is 0"):
        other.fit(train, checkpoint=folder, resume=True)


def test_a_model_without_chains_has_nothing_to_keep(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="PriorLDA runs no chains unless fit_method='sampled'"):
        PriorLDA().fit(news(), checkpoint=tmp_path)


def test_expectations_take_fractions_as_they_are_and_chains_round_them_with_a_warning(
    model: Model,
) -> None:
    _, x = counted()
    exact = quick(model, word_counts="raw").fit(x * 1.2, TOPICS)
    assert not same_learned(exact, quick(model, word_counts="raw").fit(x, TOPICS))
    assert exact.label_words_.dense().sum(axis=0) == pytest.approx(1)
    chains = {"fit_method": "sampled", "n_chains": 1, "n_sweeps": 3, "inference": "sampled"}
    drawn = quick(model, **chains)
    with pytest.warns(FractionalCountsWarning, match="or use fit_method='deterministic'"):
        drawn.fit(x * 1.2, TOPICS)
    assert same_learned(drawn, quick(model, **chains).fit(x, TOPICS))
    with pytest.warns(FractionalCountsWarning, match="or use inference='deterministic'"):
        scores = drawn.decision_function(x * 1.2)
    assert (scores == drawn.decision_function(x)).all()


def test_words_that_count_less_than_half_are_no_tokens_but_some_evidence() -> None:
    _, x = counted()
    model = FlatLDA(word_counts="raw").fit(x, TOPICS)
    nothing = model.decision_function(x * 0)
    assert not (model.decision_function(x * 0.4) == nothing).all()
    model.set_params(inference="sampled")
    with pytest.warns(FractionalCountsWarning):
        assert (model.decision_function(x * 0.4) == model.decision_function(x * 0)).all()


def test_a_document_beside_one_of_fractions_has_the_bits_it_has_alone(model: Model) -> None:
    corpus = news()
    fitted = quick(model).fit(corpus[:200])
    x = csr_array(corpus[200:].counts)
    both = csr_array(vstack([x, x[[0]] * 0.37]))
    assert (fitted.decision_function(both)[:-1] == fitted.decision_function(x)).all()


def test_an_explanation_shares_out_fractions_of_words() -> None:
    _, x = counted()
    model = FlatLDA(word_counts="raw").fit(x, TOPICS)
    (whole, part) = (model.explain(x[[0]] * by, k=len(model.classes_)) for by in (1, 0.25))
    assert [word.times for word in part.words] == [word.times / 4 for word in whole.words]
    for word in part.words:
        assert sum(word.tokens) == pytest.approx(word.times, rel=1e-4)


def test_fifty_thousand_labels_are_no_trouble() -> None:
    rng = np.random.default_rng(0)
    x = csr_array(rng.poisson(0.2, (300, 100)))
    y = csr_array((np.ones(900, bool), rng.integers(0, 50_000, 900), np.arange(0, 901, 3)),
                  shape=(300, 50_000))  # fmt: skip
    y.sum_duplicates()
    fitted = quick(DependencyLDA, n_topics=10).fit(x, y)
    assert fitted.rank(x[:20], 3).labels.shape == (20, 3)
    assert fitted.predict(x[:20]).shape == (20, 50_000)


# Ranking and cutting off --------------------------------------------------------------------------


def test_cutoffs_give_so_many_labels_or_those_above_a_threshold(model: Model) -> None:
    corpus = news()
    fitted: Any = quick(model).fit(corpus)
    scores = fitted.decision_function(corpus)
    typical = max(1, round(float(np.median(corpus.labels_per_document))))
    assert (fitted.predict(corpus).sum(axis=1) == typical).all()
    assert (fitted.set_params(cutoff=2).predict(corpus).sum(axis=1) == 2).all()
    beyond = fitted.set_params(cutoff=1000).predict(corpus)
    assert beyond.toarray().all()
    found = fitted.set_params(cutoff=0.1).predict(corpus).toarray()
    assert np.array_equal(found, scores >= 0.1)
    assert fitted.set_params(cutoff=99.0).predict(corpus).nnz == 0
    with pytest.raises(InputError, match="cutoff is 0; it must be 'proportional'"):
        fitted.set_params(cutoff=0).predict(corpus)


def test_a_ranking_is_the_sorted_scores(model: Model) -> None:
    corpus = news()
    fitted = quick(model).fit(corpus)
    scores, ranking = fitted.decision_function(corpus), fitted.rank(corpus, 7)
    assert np.array_equal(ranking.scores, -np.sort(-scores, axis=1)[:, :7])
    numbers = np.searchsorted(fitted.classes_, ranking.labels, sorter=np.argsort(fitted.classes_))
    chosen = np.argsort(fitted.classes_)[numbers]
    assert np.array_equal(np.take_along_axis(scores, chosen, axis=1), ranking.scores)
    assert fitted.rank(corpus, 1000).labels.shape == (len(corpus), corpus.n_labels)
    assert fitted.rank(corpus[:0], 1000).labels.shape == (0, corpus.n_labels)
    batches = list(fitted.rank_batches(corpus, 7))
    assert np.array_equal(np.concatenate([batch.labels for batch in batches]), ranking.labels)


@pytest.mark.parametrize("y", [TOPICS, [7, 3, 5, 3], ["a", "b", "a", "b"]])
def test_a_ranking_becomes_a_data_frame(y: Any) -> None:
    _, x = counted()
    ranking = FlatLDA().fit(x, y).rank(x, 2)
    pandas, polars = ranking.to_frame(), ranking.to_frame("polars")
    assert isinstance(pandas, pd.DataFrame)
    assert isinstance(polars, pl.DataFrame)
    assert list(pandas.columns) == polars.columns == ["document", "rank", "label", "score"]
    assert pandas["label"].tolist() == polars["label"].to_list() == ranking.labels.ravel().tolist()
    assert pandas["rank"].tolist() == [1, 2] * 4
    assert polars["document"].to_list() == [0, 0, 1, 1, 2, 2, 3, 3]
    with pytest.raises(InputError, match="library is 'numpy'"):
        ranking.to_frame("numpy")  # type: ignore[arg-type]


@pytest.mark.parametrize("inference", ["deterministic", "sampled", "proper"])
def test_the_same_bits_come_out_however_it_is_run(
    model: Model, inference: str, tmp_path: Path
) -> None:
    corpus, rows = news()[:60], np.random.default_rng(1).permutation(60)
    few = {"n_test_chains": 1, "burn_in": 3, "n_samples": 2}
    more = {} if model is FlatLDA else {"n_label_tokens": 20}
    fitted: Any = quick(model, inference=inference, n_jobs=2, **few, **more).fit(corpus)
    scores = fitted.decision_function(corpus)
    assert np.isfinite(scores).all()
    fitted.save(tmp_path / "model")
    again = quick(model, inference=inference, n_jobs=1, **few, **more).fit(corpus)
    pickled = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    for other in (again, load(tmp_path / "model"), pickled):
        assert same_learned(fitted, other)
        assert np.array_equal(other.decision_function(corpus), scores)
    assert np.array_equal(fitted.decision_function(corpus[rows]), scores[rows])
    one_by_one = [fitted.decision_function(corpus[[d]])[0] for d in range(5)]
    assert np.array_equal(one_by_one, scores[:5])


def test_another_seed_gives_other_topics() -> None:
    fits = [quick(DependencyLDA, random_state=seed).fit(news()) for seed in (0, 0, 1)]
    assert same_learned(fits[0], fits[1])
    assert not same_learned(fits[0], fits[2])
    drawn = quick(DependencyLDA, random_state=np.random.RandomState(0)).fit(news())
    assert 0 <= drawn.seed_ < 2**31


def test_sampled_training_learns_the_same_words_about(halves: tuple[Corpus, ...]) -> None:
    train, _, test = halves
    sampled = FlatLDA(fit_method="sampled", n_chains=2, n_sweeps=20).fit(train)
    expected = FlatLDA().fit(train)
    assert sampled.score(test) == pytest.approx(expected.score(test), abs=0.03)
    assert sampled.diagnostics_["label_words"] is not None
    assert expected.diagnostics_["label_words"] is None


@pytest.mark.parametrize("inference", ["sampled", "proper"])
def test_sampled_inference_ranks_about_as_expectations_do(inference: str) -> None:
    corpus = news()
    for model in MODELS:
        few = {"n_test_chains": 1, "burn_in": 20, "n_samples": 5, "lag": 2}
        more = {} if model is FlatLDA else {"n_label_tokens": 100}
        sampled = quick(model, inference=inference, **few, **more).fit(corpus)
        expected = quick(model).fit(corpus)
        part = corpus[:60]
        assert sampled.score(part) == pytest.approx(expected.score(part), abs=0.05)


# scikit-learn's machinery -------------------------------------------------------------------------


def test_it_works_in_a_pipeline_from_texts_to_labels(model: Model) -> None:
    pipeline = make_pipeline(CountVectorizer(), quick(model)).fit(TEXTS, TOPICS)
    assert pipeline.predict(["the pitcher"]).toarray().tolist() == [[0, 1]]
    assert pipeline.score(TEXTS, TOPICS) == 1.0
    assert pipeline[-1].rank(pipeline[:-1].transform(["patients"]), 1).labels[0, 0] == "health"


def test_grid_search_tunes_it() -> None:
    corpus = news()
    search = GridSearchCV(
        quick(DependencyLDA), {"n_topics": np.array([2, 8]), "eta": [1.0, 100.0]}, cv=2
    ).fit(corpus.counts, corpus.labels.toarray().astype(int))
    assert search.best_score_ > 0.8
    assert search.predict(corpus.counts).shape == corpus.labels.shape


def test_cross_validation_scores_every_form_of_labels(model: Model) -> None:
    corpus = news()
    forms: list[Any] = [
        corpus.labels.toarray().astype(int),
        label_lists(corpus),
        np.array([row[0] if row else "none" for row in label_lists(corpus)]),
    ]
    for y in forms:
        scores = cross_val_score(quick(model), corpus.counts, y, cv=KFold(2))
        assert (scores > 0.3).all()


# Learning bit by bit ------------------------------------------------------------------------------


def test_the_first_partial_fit_is_fit(model: Model) -> None:
    corpus = news()
    assert same_learned(quick(model).partial_fit(corpus), quick(model).fit(corpus))


def test_classes_name_labels_that_come_later(model: Model) -> None:
    _, x = counted()
    names = ["sports", "health", "politics"]
    forms: list[Any] = [
        TOPICS,
        np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 0]]),
        csr_array(np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 0]])),
        pd.DataFrame({"health": [0, 1, 1, 1], "sports": [1, 0, 1, 0]}),
    ]
    for y in forms:
        known = quick(model).partial_fit(x, y, classes=names)
        assert known.classes_.tolist() == names
        assert known.label_sets_.toarray().tolist() == [
            [True, False, False],
            [False, True, False],
            [True, True, False],
            [False, True, False],
        ]
        known.partial_fit(x[:1], [["politics"]])
        assert known.classes_.tolist() == names


def test_classes_must_hold_the_labels_of_y() -> None:
    _, x = counted()
    with pytest.raises(InputError, match="y holds the label 'health', which is not among classes"):
        FlatLDA().partial_fit(x, TOPICS, classes=["sports", "politics"])
    with pytest.raises(InputError, match="classes must be a list of distinct labels"):
        FlatLDA().partial_fit(x, TOPICS, classes=["sports", "health", "health"])
    with pytest.raises(InputError, match="y has 2 columns without names but there are 3 labels"):
        FlatLDA().partial_fit(x, np.ones((4, 2)), classes=["a", "b", "c"])


def test_new_documents_and_new_labels_are_learned(model: Model, tmp_path: Path) -> None:
    counter, x = counted()
    fitted: Any = quick(model).fit(x, TOPICS, counter=counter)
    fitted.save(tmp_path / "model")
    for more in (fitted, load(tmp_path / "model")):
        more.partial_fit(["strikes and innings", "hospital hospital"], [["strike"], ["health"]])
        assert more.classes_.tolist() == ["health", "sports", "strike"]
        assert more.label_sets_.shape == (6, 3)
        assert more.rank(["strikes"], 1).labels[0, 0] in ("sports", "strike")
        assert more.label_words_.dense().sum(axis=0) == pytest.approx(1.0, abs=1e-6)
        for topics in more.topic_labels_:
            assert topics.dense().sum(axis=0) == pytest.approx(1.0)
    assert np.array_equal(more.decision_function(x), fitted.decision_function(x))


def test_columns_without_names_are_known_by_place() -> None:
    _, x = counted()
    y = np.array([[1, 0], [0, 1], [1, 1], [0, 1]])
    named = FlatLDA().fit(x, TOPICS).partial_fit(x, y)
    assert named.classes_.tolist() == ["health", "sports"]
    with pytest.raises(InputError, match="y has 3 columns without names but there are 2 labels"):
        named.partial_fit(x, np.ones((4, 3)))
    with pytest.raises(InputError, match="y has 3 columns without names but there are 2 labels"):
        named.score(x, np.ones((4, 3)))
    numbered = FlatLDA().fit(x, y).partial_fit(x, np.eye(4, 3))
    assert numbered.classes_.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="new label 'late' but labels so far are such as"):
        numbered.partial_fit(x, [["late"], [], [], []])


def test_a_failed_partial_fit_changes_nothing(model: Model) -> None:
    _, x = counted()
    fitted: Any = quick(model).fit(x, TOPICS)
    before, state = fitted.decision_function(x), fitted.n_tokens_
    for wrong, y in ((x, [["new"]]), (x[:, 1:], [["new"]] * 4), (x, [[3]] * 4)):
        with pytest.raises(ValueError, match=r"documents but|features|labels so far"):
            fitted.partial_fit(wrong, y)
        assert fitted.classes_.tolist() == ["health", "sports"]
        assert fitted.n_tokens_ == state
        assert np.array_equal(fitted.decision_function(x), before)


def test_counts_are_had_from_words_by_the_smoothing_they_were_learned_with() -> None:
    _, x = counted()
    usual, changed = (FlatLDA().fit(x, TOPICS) for _ in range(2))
    usual.partial_fit(x, TOPICS)
    changed.set_params(beta_words=5.0).partial_fit(x, TOPICS)
    assert same_learned(usual, changed)


def test_documents_without_labels_add_nothing_to_the_words(model: Model) -> None:
    _, x = counted()
    fitted = quick(model).fit(x, TOPICS)
    before = fitted.label_words_.dense()
    fitted.partial_fit(x[:2], [[], []])
    assert fitted.label_words_.dense() == pytest.approx(before, rel=1e-6)


def test_learning_in_two_halves_is_about_as_good_as_in_one(
    model: Model, halves: tuple[Corpus, ...]
) -> None:
    first, second, test = halves
    whole = quick(model).fit(Corpus(
        np.vstack([first.counts.toarray(), second.counts.toarray()]),
        np.vstack([first.labels.toarray(), second.labels.toarray()]),
        first.vocabulary, first.label_names,
    ))  # fmt: skip
    half = quick(model).fit(first)
    assert half.partial_fit(second).score(test) == pytest.approx(whole.score(test), abs=0.01)


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


# Settings -----------------------------------------------------------------------------------------


def shaped(n_labels: int, length: int, n_documents: int = 50) -> Corpus:
    labels = csr_array(
        (np.ones(n_documents, bool), np.arange(n_documents) % n_labels, np.arange(n_documents + 1)),
        shape=(n_documents, n_labels),
    )
    return Corpus(np.full((n_documents, 1), length), labels)


@pytest.mark.parametrize(
    ("shape", "model", "expected"),
    [
        ((3993, 400), "dependency", {"eta": 150.0, "alpha": 30.0, "gamma": 10.0, "n_topics": 200}),
        ((3993, 400), "prior", {"eta": 150.0, "alpha": 30.0}),
        ((3993, 400), "flat", {"alpha": 180.0}),
        ((20, 190), "dependency", {"eta": 100.0, "alpha": 1.0, "gamma": 1.0, "n_topics": 20}),
        ((20, 190), "prior", {"eta": 70.0, "alpha": 30.0}),
        ((20, 190), "flat", {"alpha": 100.0}),
        ((101, 120), "dependency", {"eta": 100.0, "alpha": 1.0, "gamma": 10.0, "n_topics": 101}),
        ((101, 120), "prior", {"eta": 100.0, "alpha": 1.0}),
        ((101, 120), "flat", {"alpha": 101.0}),
        ((1, 1), "dependency", {"eta": 100.0, "n_topics": 1}),
        ((100_000, 5_000), "dependency", {"eta": 150.0, "n_topics": 200}),
    ],
)
def test_auto_takes_the_weights_of_the_papers_nearest_data(
    shape: tuple[int, int], model: Any, expected: dict[str, float]
) -> None:
    found = auto_settings(shaped(*shape), model)
    assert {name: found[name] for name in expected} == expected
    if model != "flat":  # smoothing adds a tenth to the label tokens, or next to nothing
        n_topics = found.get("n_topics", 1)
        assert found["beta_labels"] == max(0.1 * 50 / (n_topics * shape[0]), 1e-3)


def test_settings_say_what_auto_became(model: Model) -> None:
    fitted: Any = quick(model).fit(news())
    automatic = auto_settings(news(), model._model) | {"combine": "blend"}
    if model is not FlatLDA:
        automatic["background"] = 0.0
    assert fitted.settings_ == automatic
    assert fitted.get_params()["alpha"] == "auto"
    given = quick(model, alpha=7).fit(news())
    assert given.settings_ == automatic | {"alpha": 7.0}


# Table 6 of the paper: Σα, η, Σγ, β_C, T.
@pytest.mark.parametrize(
    ("data", "flat", "prior", "dependency"),
    [
        ("eurlex", 180, (30, 150, 1), (30, 150, 10, 0.01, 200)),
        ("nyt", 180, (30, 150, 1), (30, 150, 10, 0.01, 200)),
        ("yahoo", 100, (30, 70, 10), (1, 100, 1, 1, 20)),
        ("rcv1", 101, (1, 100, 100), (1, 100, 10, 1, 100)),
    ],
)
def test_the_papers_settings_are_the_papers(
    data: Any, flat: float, prior: tuple[float, ...], dependency: tuple[float, ...]
) -> None:
    def values(model: Any, *names: str) -> tuple[Any, ...]:
        return tuple(getattr(model, name) for name in names)

    assert FlatLDA.paper(data).alpha == flat
    assert values(PriorLDA.paper(data), "alpha", "eta", "beta_labels") == prior
    model = DependencyLDA.paper(data)
    names = ("alpha", "eta", "gamma", "beta_labels", "n_topics")
    assert values(model, *names) == dependency
    protocol = ("n_chains", "n_sweeps", "n_topic_chains", "n_topic_sweeps")
    assert values(model, *protocol) == (48, 100, 10, 500)
    assert values(model, "burn_in", "n_samples", "lag", "n_test_chains") == (50, 15, 5, 6)
    assert values(model, "fit_method", "inference") == ("sampled", "sampled")


def test_the_papers_settings_can_be_changed_and_used() -> None:
    with pytest.raises(InputError, match=re.escape("no data set 'reuters'; it must be one of")):
        DependencyLDA.paper("reuters")  # type: ignore[arg-type]
    few = {"n_chains": 1, "n_sweeps": 3, "n_topic_chains": 1, "n_topic_sweeps": 3}
    model = DependencyLDA.paper("yahoo", **few, n_test_chains=1, burn_in=2, n_samples=1)
    assert model.fit(news()[:30]).rank(news()[:5]).labels.shape == (5, 10)
