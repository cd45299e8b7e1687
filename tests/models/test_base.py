"""The estimators as scikit-learn users use them: every form of X and y, and every wrong one."""

from collections.abc import Callable
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from deplda import (
    Corpus,
    DependencyLDA,
    FlatLDA,
    InputError,
    ReadError,
    WordCounter,
    datasets,
    load,
)
from deplda.data.vocabulary import Concept, Vocabulary
from deplda.evaluation import evaluate, reliability
from deplda.models import registry
from deplda.models.registry import MODELS as ALL_MODELS
from deplda.models.registry import model_class
from deplda.models.topic_model import TopicModel
from tests.drawn_news import drawn_news
from tests.models.worlds import (
    EXPECTED_FAILED_CHECKS,
    MODELS,
    TEXTS,
    TOPICS,
    Model,
    counted,
    label_lists,
    news,
    quick,
    same_learned,
)
from tests.web.serving import bilingual_model


@pytest.mark.filterwarnings("ignore::deplda.NoKnownWordsWarning")
@parametrize_with_checks(
    [quick(model) for model in MODELS],
    expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS,
)
def test_scikit_learn_is_satisfied(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


# What is handed in stays as it is -----------------------------------------------------------------
def disorderly(n_columns: int, *, seed: int, writable: bool) -> Any:
    """Return documents whose columns are in no order, and whose first column stands twice."""
    random = np.random.default_rng(seed)
    columns = np.array([random.permutation(n_columns)[:4] for _ in range(40)])
    columns[:, 3] = columns[:, 0]
    arrays = np.ones(160, np.int64), columns.ravel().astype(np.int32), np.arange(0, 161, 4)
    matrix = csr_matrix(arrays, shape=(40, n_columns))
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = writable
    return matrix


def arrays_of(matrix: Any) -> list[tuple[bytes, str]]:
    return [(a.tobytes(), a.dtype.str) for a in (matrix.data, matrix.indices, matrix.indptr)]


@pytest.mark.parametrize("writable", [True, False])
@pytest.mark.parametrize("kind", ALL_MODELS)
def test_the_matrices_handed_in_are_never_changed(kind: str, writable: bool) -> None:
    x = disorderly(20, seed=1, writable=writable)
    y = disorderly(5, seed=2, writable=writable)
    before = arrays_of(x), arrays_of(y)
    model: Any = quick(model_class(kind))
    model.fit(x, y)
    model.predict(x)
    model.score(x, y)
    model.rank(x)
    evaluate(model.decision_function(x), y, y)
    evaluate(x[:, :5], y, y)
    if hasattr(model, "partial_fit"):
        model.partial_fit(x, y)
    assert (arrays_of(x), arrays_of(y)) == before


def test_a_column_that_stands_twice_is_added_up() -> None:
    x, y = disorderly(20, seed=1, writable=False), disorderly(5, seed=2, writable=False)
    tidy = x.copy()
    tidy.sum_duplicates()
    reference, other = (quick(FlatLDA).fit(each, y) for each in (tidy, x))
    assert same_learned(reference, other)


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
    with pytest.raises(InputError, match=r"was fitted on [\d,]+ columns without names"):
        fitted.rank(Corpus([[1, 2]], [[1]]))


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
    with pytest.raises(InputError, match="fitted on counts; fit it with texts, or pass fit"):
        FlatLDA().fit(x, TOPICS).rank(TEXTS)
    with pytest.raises(InputError, match="X is one text; put it in a list"):
        FlatLDA().fit(x, TOPICS, counter=counter).rank(TEXTS[0])
    with pytest.raises(NotFittedError):
        FlatLDA().fit(x, TOPICS, counter=WordCounter())  # of which X was not made
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
        is_dense = form in ("bools", "numbers", "floats", "data frame")
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


# Wrong input --------------------------------------------------------------------------------------


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
        ([[], [], [], []], "none of 4 documents has a label"),
        (np.zeros((4, 3)), "none of 4 documents has a label"),
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


def test_a_model_of_another_class_is_named(folder: Path) -> None:
    with pytest.raises(ReadError, match="this is a saved DependencyLDA, not a FlatLDA"):
        FlatLDA.load(folder)


# Ranking and cutting off --------------------------------------------------------------------------


@cache
def calibrated() -> TopicModel:
    return quick(DependencyLDA).fit(news())


def test_cutoffs_give_so_many_labels_or_those_above_a_probability(model: Model) -> None:
    corpus = news()
    fitted: Any = quick(model).fit(corpus)
    chances = fitted.predict_proba(corpus)
    typical = max(1, round(float(np.median(corpus.labels_per_document))))
    assert (fitted.predict(corpus).sum(axis=1) == typical).all()
    assert (fitted.set_params(cutoff=2).predict(corpus).sum(axis=1) == 2).all()
    beyond = fitted.set_params(cutoff=1000).predict(corpus)
    assert beyond.toarray().all()
    found = fitted.set_params(cutoff=0.3).predict(corpus).toarray()
    assert np.array_equal(found, chances >= 0.3)
    with pytest.raises(InputError, match="cutoff is 0; it must be one of 'validated'"):
        fitted.set_params(cutoff=0).predict(corpus)
    with pytest.raises(InputError, match=r"cutoff is 99.0; .* no longer a score: choose"):
        fitted.set_params(cutoff=99.0).predict(corpus)


@pytest.mark.parametrize("kind", ALL_MODELS)
def test_every_model_tells_probabilities_that_are_about_right(kind: str) -> None:
    corpus = datasets.newsroom(900).corpus
    train, test = corpus[:600], corpus[600:]
    model: Any = quick(model_class(kind)).fit(train)
    for told, seen, n in reliability(model.predict_proba(test), test.labels, bins=5):
        # Three standard errors, and what the drift from 4/5 of the documents to all may do.
        assert abs(told - seen) < 3 * np.sqrt(told * (1 - told) / n) + 0.07


@pytest.mark.parametrize("cutoff", ["validated", "expected-f1", "macro-f1", "proportional", 2, 0.4])
def test_suggestions_are_what_is_predicted_the_likeliest_first(cutoff: Any) -> None:
    corpus, model = news(), calibrated()
    found = model.suggest(corpus, cutoff=cutoff)
    predicted = copy(model).set_params(cutoff=cutoff).predict(corpus).toarray()
    chances = model.predict_proba(corpus)
    place = {label: number for number, label in enumerate(model.classes_)}
    assert len(found) == len(corpus)
    for (labels, values), row, own in zip(found, predicted, chances, strict=True):
        numbers = [place[label] for label in labels]
        assert sorted(numbers) == np.flatnonzero(row).tolist()
        assert values.tolist() == own[numbers].tolist() == sorted(values, reverse=True)
    assert cutoff == 0.4 or min(len(one.labels) for one in found) >= 1
    first = model.suggest(corpus, k=1, cutoff=cutoff)
    assert [one.labels.tolist() for one in first] == [one.labels[:1].tolist() for one in found]


def test_each_cut_off_is_the_best_for_what_it_is_for() -> None:
    corpus = drawn_news(1500).corpus
    train, test = corpus[:1000], corpus[1000:]
    model: Any = quick(DependencyLDA).fit(train)
    truth = test.labels.toarray()
    micro, macro = {}, {}
    for cutoff in ("validated", "macro-f1", "proportional"):
        found = model.set_params(cutoff=cutoff).predict(test).toarray()
        micro[cutoff] = f1_score(truth, found, average="micro", zero_division=0)
        macro[cutoff] = f1_score(truth, found, average="macro", zero_division=0)
    assert micro["validated"] > micro["proportional"] + 0.02
    assert macro["macro-f1"] > macro["proportional"] + 0.02
    assert macro["macro-f1"] >= macro["validated"] - 0.01


def test_a_model_without_probabilities_says_how_to_get_them() -> None:
    corpus = news()
    model = quick(FlatLDA, n_held_out=0).fit(corpus)
    assert model.calibration_ is None
    assert not model.has_probabilities
    with pytest.raises(InputError, match=r"no probabilities; fit .* or calibrate\(X, y\)"):
        model.predict_proba(corpus)
    with pytest.raises(InputError, match="no probabilities"):
        model.suggest(corpus)
    with pytest.raises(InputError, match=r"cutoff is 'validated', but .* cutoff='proportional'"):
        model.set_params(cutoff="validated").predict(corpus)
    best = model.set_params(cutoff=1).predict(corpus).toarray().argmax(axis=1)
    assert np.array_equal(best, model.decision_function(corpus).argmax(axis=1))


def test_labelled_documents_calibrate_a_model_later() -> None:
    train, more, test = news()[:200], news()[200:], drawn_news(400).corpus[300:]
    model = quick(DependencyLDA, n_held_out=0).fit(train)
    told = model.calibrate(more).predict_proba(test)
    assert told.sum() == pytest.approx(test.labels.nnz, rel=0.25)
    assert model.set_params(cutoff="validated").predict(test).sum(axis=1).min() >= 1
    with pytest.raises(InputError, match="of 2 documents none has a label that the model knows"):
        model.calibrate(more.counts[:2], [["neverseen"], []])


def test_learning_more_makes_probabilities_untrue_and_forgets_them() -> None:
    model = quick(FlatLDA).fit(news()[:200])
    assert model.has_probabilities
    assert not model.partial_fit(news()[200:]).has_probabilities


def test_what_is_held_out_changes_nothing_that_a_topic_model_learns() -> None:
    with_it, without = (quick(DependencyLDA, n_held_out=n).fit(news()) for n in (2000, 0))
    assert same_learned(with_it, without)


def test_the_same_seed_gives_the_same_calibration_for_any_number_of_threads() -> None:
    one, two = (quick(DependencyLDA, n_jobs=n).fit(news()).calibration_ for n in (1, 2))
    assert one is not None
    assert two is not None
    for left, right in zip(one, two, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.filterwarnings("ignore::deplda.NoKnownWordsWarning")
@pytest.mark.parametrize("kind", ALL_MODELS)
def test_classes_have_probabilities_that_sum_to_one(kind: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    x = rng.poisson(1 + 3 * np.eye(3)[y])
    model: Any = quick(model_class(kind)).fit(x, y)
    chances = model.predict_proba(x)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert (model.classes_[chances.argmax(axis=1)] == model.predict(x)).all()
    assert chances[np.arange(120), y].mean() > 0.4  # a third by chance


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


def test_a_seed_that_could_not_be_loaded_is_refused_before_training() -> None:
    for name in registry.MODELS:
        with pytest.raises(InputError, match="random_state is 18446744073709551616; a seed is"):
            registry.model_class(name)(random_state=2**64).fit([[1, 0], [0, 1]], ["a", "b"])


def test_texts_in_a_data_frame_are_told_to_be_passed_as_one_column() -> None:
    frame = pd.DataFrame({"key": [1, 2], "body": ["the court", "the game"]})
    with pytest.raises(InputError, match=r"texts in the column 'body'; .*alone, X\['body'\]"):
        FlatLDA().fit(frame[["body"]], [["LAW"], ["SPORT"]])
    with pytest.raises(InputError, match=r"texts in the column 'body'"):
        FlatLDA().fit(frame, [["LAW"], ["SPORT"]])
    with pytest.raises(InputError, match=r"table of texts, of the shape \(2, 1\); .*X\[:, 0\]"):
        FlatLDA().fit(frame[["body"]].to_numpy(), [["LAW"], ["SPORT"]])


def test_labels_have_names_in_the_language_of_the_texts(tmp_path: Path) -> None:
    model = bilingual_model()
    model.save(tmp_path / "model")
    for each in (model, load(tmp_path / "model")):
        assert each.label_language_ is None
        assert (each.name_language_, each.label_languages_) == ("fi", ("en", "fi"))
        assert each.shown_labels_ == ("Companies", "laki", "urheilu")
        (reason,) = each.explain(["judge and jury in court"], 1).reasons
        assert reason.label == "laki"
    model.label_language_ = "en"
    assert model.shown_labels_ == ("Companies", "Law", "Sport")


def test_names_are_in_another_language_where_the_vocabulary_lacks_that_of_the_texts() -> None:
    model = bilingual_model()
    model.vocabulary_ = Vocabulary([Concept(uri="LAW", names={"sv": "lag", "en": "Law"})])
    assert (model.name_language_, model.told_label("LAW")["label"]) == ("en", "Law")
    model.vocabulary_ = Vocabulary([Concept(uri="LAW", names={"": "?", "en": "Law"})])
    assert (model.name_language_, model.told_label("LAW")["label"]) == ("", "?")
    model.vocabulary_ = Vocabulary([Concept(uri="LAW")])
    assert (model.name_language_, model.label_languages_) == (None, ())
