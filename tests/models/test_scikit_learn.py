"""scikit-learn's ways: texts, pipelines, searches, routing, containers, diagrams."""

import pickle
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer

from deplda import (
    Concept,
    DependencyLDA,
    Documents,
    FlatLDA,
    HybridLDA,
    InputError,
    NoKnownWordsWarning,
    NotCountsWarning,
    NothingHeldOutWarning,
    PriorLDA,
    TfidfSVM,
    TunedSVM,
    VanillaSVM,
    Vocabulary,
    WordCounter,
    evaluate,
    label_array,
    load,
    read_corpus,
)
from deplda.errors import IgnoredParameterWarning
from deplda.models.registry import MODELS, model_class

TEXTS = [
    "the court heard the lawsuit",
    "judge and jury in court",
    "the team won the game",
    "a game lost in the league",
    "the team sued the league in court",
] * 6
LABELS = [["LAW"], ["LAW"], ["SPORT"], ["SPORT"], ["LAW", "SPORT"]] * 6


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def quick(model: Any, **others: Any) -> Any:
    few = {"n_topic_chains": 1, "n_topic_sweeps": 5} if model in (DependencyLDA, HybridLDA) else {}
    return model(**few, **others)


# Texts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MODELS)
def test_i_fit_a_model_on_my_texts_and_save_it(kind: str, tmp_path: Path) -> None:
    model = quick(model_class(kind)).fit(TEXTS, LABELS)
    counter = WordCounter()
    by_hand = quick(model_class(kind)).fit(counter.fit_transform(TEXTS), LABELS, counter=counter)
    assert model.words_ == counter.vocabulary_
    asked = ["the jury of the court", "who won the league"]
    np.testing.assert_array_equal(model.predict_proba(asked), by_hand.predict_proba(asked))
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert [one.labels[0] for one in loaded.suggest(asked, k=1)] == ["LAW", "SPORT"]
    if hasattr(loaded, "partial_fit"):
        loaded.partial_fit(["tenors and sopranos sang an opera"], [["MUSIC"]])
        assert loaded.rank(["the opera"], 1).labels.tolist() == [["MUSIC"]]


@pytest.mark.parametrize("form", [tuple, np.array, pd.Series, pl.Series])
def test_texts_come_in_any_form(form: Any) -> None:
    model = FlatLDA().fit(form(TEXTS), LABELS)
    assert model.rank(form(["the jury"]), 1).labels.tolist() == [["LAW"]]
    assert model.explain("the jury in court").reasons[0].label == "LAW"


def test_a_text_that_is_missing_is_named() -> None:
    for texts in ([*TEXTS[:29], None], pd.Series([*TEXTS[:29], None])):
        with pytest.raises(InputError, match=r"the text of document 29 is (None|nan); give ''"):
            FlatLDA().fit(texts, LABELS)
    with pytest.raises(InputError, match="the text of document 0 is None; give ''"):
        FlatLDA().fit(TEXTS, LABELS).predict([None])


def test_a_first_partial_fit_takes_texts() -> None:
    model = FlatLDA().partial_fit(TEXTS, LABELS, classes=["LAW", "MUSIC", "SPORT"])
    assert model.classes_.tolist() == ["LAW", "MUSIC", "SPORT"]
    assert model.rank(["the jury"], 1).labels.tolist() == [["LAW"]]


def test_words_are_those_that_a_file_of_the_texts_would_have(tmp_path: Path) -> None:
    texts = [f"alpha{n % 7} beta{n % 3} common words here" for n in range(60)]
    pd.DataFrame({"text": texts, "labels": "a"}).to_csv(tmp_path / "texts.csv", index=False)
    for counter in (None, WordCounter(min_count=15)):
        by_hand = WordCounter() if counter is None else counter
        corpus = read_corpus(tmp_path / "texts.csv", counter=by_hand)
        model = FlatLDA().fit(texts, [["a"], ["b"]] * 30, counter=counter)
        assert sorted(model.words_) == sorted(corpus.vocabulary)


def test_a_counter_of_mine_counts_my_texts() -> None:
    counter = WordCounter(stop_words=None, ngrams=2)
    model = FlatLDA().fit(TEXTS, LABELS, counter=counter)
    assert "the" in model.words_
    assert not hasattr(counter, "vocabulary_")  # mine stays as it was
    known = WordCounter(vocabulary=["court", "game"]).fit([])
    assert FlatLDA().fit(TEXTS, LABELS, counter=known).words_ == ("court", "game")


def test_a_vocabulary_is_looked_for_in_texts() -> None:
    concepts = [
        Concept(uri="u:law", names={"en": "lawsuit"}),
        Concept(uri="u:sport", names={"en": "game"}),
        Concept(uri="u:league", names={"en": "premier league"}),
    ]
    vocabulary = Vocabulary(concepts)
    labels = [["u:law"], ["u:law"], ["u:sport"], ["u:sport"], ["u:law", "u:sport"]] * 6
    by_hand = WordCounter(names=vocabulary).fit(TEXTS)
    for counter in (None, WordCounter()):
        model = quick(HybridLDA).fit(TEXTS, labels, counter=counter, vocabulary=vocabulary)
        assert model.words_ == by_hand.vocabulary_
        assert "u:league" in model.classes_
    with_vectors = Documents(TEXTS, embeddings=np.random.default_rng(0).normal(size=(30, 4)))
    assert quick(HybridLDA).fit(with_vectors, labels).counter_ is not None


# Names of words and labels ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", MODELS)
def test_in_a_pipeline_after_count_vectorizer_words_have_names(kind: str) -> None:
    vectorizer = CountVectorizer()
    pipeline = make_pipeline(vectorizer, quick(model_class(kind)))
    step = pipeline.steps[-1][0]
    pipeline.fit(TEXTS, LABELS, **{f"{step}__words": vectorizer.get_feature_names_out})
    assert pipeline[-1].words_ == tuple(vectorizer.get_feature_names_out())
    assert pipeline.predict(["the jury"]).toarray().tolist() == [[1, 0]]


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_in_a_pipeline_after_word_counter_words_have_names(container: str) -> None:
    pipeline = make_pipeline(WordCounter().set_output(transform=container), quick(HybridLDA))
    pipeline.fit(TEXTS, LABELS)
    assert "court" in {word for word, _ in pipeline[-1].top_words("LAW", 3)}
    assert pipeline.predict(["the jury"]).toarray().tolist() == [[1, 0]]
    assert clone(pipeline).fit(TEXTS, LABELS)[-1].words_ == pipeline[-1].words_


def test_counts_come_in_the_container_that_is_set() -> None:
    counter = WordCounter().fit(TEXTS)
    counts = counter.transform(TEXTS)
    with sklearn.config_context(transform_output="pandas"):
        frame = counter.transform(TEXTS)
        model = FlatLDA().fit(TEXTS, LABELS)  # which counts in its own way
    assert list(frame.columns) == list(counter.get_feature_names_out()) == list(model.words_)
    assert all(isinstance(kind, pd.SparseDtype) for kind in frame.dtypes)
    assert (frame.sparse.to_coo() != counts).nnz == 0
    dense = counter.set_output(transform="polars").transform(TEXTS)
    assert isinstance(dense, pl.DataFrame)
    assert np.array_equal(dense.to_numpy(), counts.toarray())


def test_names_of_words_that_do_not_fit_are_an_error() -> None:
    counts = CountVectorizer().fit_transform(TEXTS)
    with pytest.raises(
        InputError, match="words has 2 names, which are not those of the 14 columns"
    ):
        FlatLDA().fit(counts, LABELS, words=["a", "b"])
    with pytest.raises(InputError, match="words holds 'a' twice"):
        FlatLDA().fit(counts, LABELS, words=["a"] * 14)
    frame = pd.DataFrame([[1, 2], [2, 1]], columns=["a", "b"])
    with pytest.raises(InputError, match="words has 2 names, which are not those of"):
        FlatLDA().fit(frame, ["x", "y"], words=["b", "a"])


@pytest.mark.parametrize("kind", MODELS)
def test_after_multi_label_binarizer_labels_have_their_names(kind: str) -> None:
    binarizer = MultiLabelBinarizer()
    y = binarizer.fit_transform(LABELS)
    pipeline = make_pipeline(CountVectorizer(), quick(model_class(kind)))
    step = pipeline.steps[-1][0]
    pipeline.fit(TEXTS, y, **{f"{step}__classes": binarizer.classes_})
    model = pipeline[-1]
    assert model.classes_.tolist() == ["LAW", "SPORT"]
    assert binarizer.inverse_transform(pipeline.predict(["the jury"])) == [("LAW",)]
    with pytest.raises(InputError, match="classes has 3 labels but y has 2 columns; give one for"):
        model.fit(np.ones((30, 3)), y, classes=["a", "b", "c"])


def test_classes_of_label_lists_are_all_that_there_are() -> None:
    model = FlatLDA().fit(TEXTS, LABELS, classes=["SPORT", "LAW", "MUSIC"])
    assert model.classes_.tolist() == ["SPORT", "LAW", "MUSIC"]
    with pytest.raises(InputError, match="y holds the label 'SPORT', which is not among classes"):
        FlatLDA().fit(TEXTS, LABELS, classes=["LAW"])
    with pytest.raises(InputError, match="classes must be a list of distinct labels"):
        FlatLDA().fit(TEXTS, LABELS, classes=["LAW", "LAW"])


# Cross-validation and searches ------------------------------------------------------------------


@pytest.mark.parametrize("kind", MODELS)
def test_cross_validation_splits_label_lists(kind: str) -> None:
    scores = cross_val_score(quick(model_class(kind)), TEXTS, label_array(LABELS), cv=3)
    assert (scores > 0.8).all()


def test_a_search_takes_label_lists_and_texts() -> None:
    search = GridSearchCV(PriorLDA(n_held_out=0), {"background": [0.0, 0.2]}, cv=2)
    search.fit(TEXTS, label_array(LABELS))
    assert search.best_score_ > 0.8
    assert search.best_estimator_.rank(["the jury"], 1).labels.tolist() == [["LAW"]]


def test_a_search_looks_into_a_pipeline_of_texts() -> None:
    search = GridSearchCV(
        make_pipeline(WordCounter(), FlatLDA(n_held_out=0)),
        {"wordcounter__min_count": [1, 2]},
        cv=2,
    ).fit(TEXTS, label_array(LABELS))
    assert search.predict(["the jury"]).toarray().tolist() == [[1, 0]]


def test_label_lists_stay_what_they_were() -> None:
    array = label_array([["b", "a"], [], ("c",)])
    assert array.shape == (3,)
    assert [*map(set, array)] == [{"a", "b"}, set(), {"c"}]
    with pytest.raises(InputError, match="the labels of document 1 are 'b'; give a list of them"):
        label_array([["a"], "b"])


def test_label_sets_can_be_split_copied_and_compared_but_not_ordered() -> None:
    array = label_array(LABELS)
    copied = pickle.loads(pickle.dumps(array))  # noqa: S301
    assert (copied == array).all()
    assert hash(array[0]) == hash(frozenset(["LAW"]))
    _, test = train_test_split(array, test_size=6, random_state=0)
    assert set(test) <= set(array)
    with pytest.raises(TypeError, match=r"label sets have no order.*pass an indicator matrix"):
        sorted(array)


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_predictions_of_classes_are_refused_for_label_sets(method: str) -> None:
    with pytest.raises(TypeError) as caught:
        cross_val_predict(FlatLDA(), TEXTS, label_array(LABELS), cv=2, method=method)
    assert "pass an indicator matrix" in str(caught.value.__context__)


@pytest.mark.usefixtures("routing")
def test_weights_classes_and_groups_are_routed_through_cross_validation() -> None:
    binarizer = MultiLabelBinarizer()
    y = binarizer.fit_transform(LABELS)
    weights, groups = np.resize([0.5, 2.0], 30), np.arange(30) // 2
    model = quick(HybridLDA).set_fit_request(sample_weight=True, classes=True, groups=True)
    found = cross_validate(
        model.set_score_request(sample_weight=True), TEXTS, y, cv=GroupKFold(3),
        params={"sample_weight": weights, "classes": binarizer.classes_, "groups": groups},
        return_estimator=True,
    )  # fmt: skip
    for each in found["estimator"]:
        assert each.classes_.tolist() == ["LAW", "SPORT"]
        assert sorted(set(each.document_weights_)) == [0.5, 2.0]


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_through_a_pipeline() -> None:
    model = FlatLDA(n_held_out=0).set_fit_request(sample_weight=True)
    weights = np.resize([0.0, 3.0], 30)
    pipeline = make_pipeline(CountVectorizer(), model).fit(TEXTS, LABELS, sample_weight=weights)
    assert pipeline[-1].document_weights_.tolist() == [3.0] * 15


@pytest.mark.usefixtures("routing")
def test_columns_of_all_folds_agree_where_classes_are_given() -> None:
    model = FlatLDA(n_held_out=0).set_fit_request(classes=True)
    params = {"classes": ["LAW", "MUSIC", "SPORT"]}
    found = cross_val_predict(model, TEXTS, label_array(LABELS), cv=3, params=params)
    assert found.shape == (30, 3)
    assert found[[1]].toarray().tolist() == [[1, 0, 0]]


def test_a_score_weighs_documents() -> None:
    model = FlatLDA(n_held_out=0).fit(TEXTS, LABELS)
    x, y = ["the jury", "the jury"], [["LAW"], ["SPORT"]]
    assert model.score(x, y, sample_weight=[1, 0]) == 1.0
    assert model.score(x, y, sample_weight=[1, 3]) == pytest.approx((1 + 3 / 2) / 4)


# The score --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MODELS)
def test_unknown_labels_count_as_missed_in_a_score_for_every_form_of_labels(kind: str) -> None:
    """Of four test documents, one has only a new label, one has it as well, one has none."""
    model = quick(model_class(kind)).fit(TEXTS, LABELS)
    texts = ["the jury", "who won the league", "a lawsuit in the league", "the judge"]
    labels = [["NEW"], ["LAW", "NEW"], ["LAW", "SPORT"], []]
    names = ["LAW", "NEW", "SPORT"]
    dense = MultiLabelBinarizer(classes=names).fit_transform(labels)
    truth = dense[:, [0, 2]]
    by_document = evaluate(model.decision_function(texts), truth, model.label_sets_).document
    precisions = by_document.ranking["average_precision"].numerator
    expected = (precisions[1] / 2 + precisions[2]) / 2  # one of the two labels is missed
    assert 0 < expected < 1
    forms = [labels, label_array(labels), pd.DataFrame(dense, columns=names)]
    assert [model.score(texts, y) for y in forms] == [pytest.approx(expected)] * 3
    indicator = np.eye(3, dtype=int)[[0, 1] * 15]  # no training document has the third label
    numbered = quick(model_class(kind)).fit(TEXTS, indicator)
    of_numbers = [np.flatnonzero(row) for row in dense]
    assert numbered.score(texts, dense) == numbered.score(texts, csr_array(dense))
    assert numbered.score(texts, dense) == numbered.score(texts, of_numbers)
    known = labels[2:3] * 2
    assert (
        model.score(texts[:2], known)
        == evaluate(
            model.decision_function(texts[:2]), [[1, 1], [1, 1]], model.label_sets_
        ).document["average_precision"]
    )
    with pytest.raises(InputError, match="nothing to evaluate"):
        model.score(texts, [["NEW"]] * 4)


def test_a_score_does_not_make_its_labels_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    indicator = csr_array(np.eye(2, dtype=int)[[0, 1] * 15])
    model = FlatLDA(n_held_out=0).fit(TEXTS, indicator)

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the labels are made dense")

    monkeypatch.setattr(csr_array, "toarray", refuse)
    monkeypatch.setattr(csr_array, "todense", refuse)
    assert 0 < model.score(TEXTS, indicator) <= 1


def test_weights_of_documents_without_known_labels_count_for_nothing() -> None:
    model = FlatLDA(n_held_out=0).fit(TEXTS, LABELS)
    texts, y = ["the jury", "the jury", "the jury"], [["LAW"], ["SPORT"], ["NEW"]]
    assert model.score(texts, y, sample_weight=[1, 3, 9]) == pytest.approx((1 + 3 / 2) / 4)


def test_cross_validation_scores_label_lists_as_it_does_their_indicator() -> None:
    lists = [*LABELS[:20], *([f"rare{number}", "LAW"] for number in range(5)), *LABELS[:5]]
    indicator = MultiLabelBinarizer().fit_transform(lists)
    scores = [
        cross_val_score(PriorLDA(n_held_out=0), TEXTS, y, cv=KFold(5, shuffle=True, random_state=0))
        for y in (lists, label_array(lists), indicator)
    ]
    for other in scores[1:]:
        np.testing.assert_array_equal(other, scores[0])


# Parameters without effect ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "parameters", "names"),
    [
        (FlatLDA, {"n_sweeps": 1, "n_chains": 2}, ["n_chains=2", "n_sweeps=1"]),
        (FlatLDA, {"n_sweeps": 9, "inference": "sampled"}, ["n_sweeps=9"]),
        (FlatLDA, {"burn_in": 9, "fit_method": "sampled", "n_sweeps": 2}, ["burn_in=9"]),
        (
            DependencyLDA,
            {"n_test_chains": 2, "burn_in": 1, "n_samples": 1, "lag": 1,
             "theta_estimate": "conditionals", "n_label_tokens": 5},
            ["n_test_chains=2", "burn_in=1", "n_samples=1", "lag=1",
             "theta_estimate='conditionals'", "n_label_tokens=5"],
        ),
        (PriorLDA, {"n_label_tokens": 5, "inference": "sampled"}, ["n_label_tokens=5"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_parameters_without_effect_are_named_in_one_warning_at_the_callers_line(
    kind: Any, parameters: dict[str, Any], names: list[str], method: str
) -> None:
    with pytest.warns(IgnoredParameterWarning) as caught:
        getattr(quick(kind, combine="auto", **parameters), method)(TEXTS, LABELS)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert re.findall(r"(\w+=\S+) \(needs", str(caught[0].message)) == names


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (FlatLDA, {"n_chains": 2, "n_sweeps": 3, "fit_method": "sampled"}),
        (PriorLDA, {"n_chains": 8, "n_sweeps": 100, "burn_in": 50, "n_label_tokens": 1000}),
        (PriorLDA, {"n_label_tokens": 5, "theta_estimate": "conditionals", "inference": "proper"}),
        (DependencyLDA, {"burn_in": 2, "n_samples": 1, "lag": 1, "inference": "sampled"}),
    ],
)
def test_parameters_with_an_effect_or_with_their_defaults_are_not_warned_of(
    kind: Any, parameters: dict[str, Any]
) -> None:
    quick(kind, **parameters).fit(TEXTS, LABELS)


def test_the_papers_settings_leave_out_what_has_no_effect() -> None:
    methods: Any = {"fit_method": "deterministic", "inference": "deterministic"}
    model = DependencyLDA.paper("yahoo", **methods, n_topic_chains=1, n_topic_sweeps=2)
    assert (model.n_chains, model.n_test_chains, model.eta) == (8, 1, 100.0)
    model.fit(TEXTS, LABELS)
    with pytest.warns(IgnoredParameterWarning, match=r"effect: n_chains=3 \(needs fit_method="):
        FlatLDA.paper("yahoo", **methods, n_chains=3).fit(TEXTS, LABELS)


def test_a_search_over_a_parameter_without_effect_is_warned_of() -> None:
    search = GridSearchCV(FlatLDA(), {"n_sweeps": [100, 1000]}, cv=2)
    with pytest.warns(IgnoredParameterWarning, match="effect: n_sweeps=1000 "):
        search.fit(TEXTS, label_array(LABELS))


# tf-idf -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [FlatLDA, DependencyLDA, TfidfSVM, HybridLDA])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_tf_idf_is_warned_of_and_what_to_pass_is_said(model: Any, norm: Any) -> None:
    weights = TfidfVectorizer(norm=norm).fit_transform(TEXTS)
    with pytest.warns(NotCountsWarning, match=r"looks like tf-idf.*\(CountVectorizer instead of"):
        quick(model).fit(weights, LABELS)


def test_counts_and_other_weights_of_words_are_not_warned_of() -> None:
    counts = CountVectorizer().fit_transform(TEXTS)
    logged = TfidfTransformer(use_idf=False, norm=None, sublinear_tf=True).fit_transform(counts)
    for x in (counts, counts.astype(float), 0.5 * counts, logged):
        FlatLDA(n_held_out=0).fit(x, LABELS)
    for suited in (VanillaSVM, TunedSVM):
        suited(n_held_out=0).fit(TfidfVectorizer().fit_transform(TEXTS), LABELS)


# Diagrams ---------------------------------------------------------------------------------------


def test_a_diagram_links_to_the_documentation_where_it_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pipeline = make_pipeline(WordCounter(), HybridLDA())
    monkeypatch.delenv("DEPLDA_DOCUMENTATION", raising=False)
    assert "deplda.HybridLDA.html" not in pipeline._repr_html_()
    monkeypatch.setenv("DEPLDA_DOCUMENTATION", "https://docs.local/deplda/")
    drawn = pipeline._repr_html_()
    for name in ("HybridLDA", "WordCounter"):
        assert f'href="https://docs.local/deplda/reference/generated/deplda.{name}.html' in drawn


# Vectors ----------------------------------------------------------------------------------------


@cache
def told_by_vectors() -> tuple[list[str], Any, Any]:
    """Texts of random words, vectors, and labels that only the vectors tell."""
    rng = np.random.default_rng(0)
    words = np.array(["court", "game", "jury", "league", "team"])
    texts = [" ".join(rng.choice(words, 4)) for _ in range(120)]
    labels = rng.integers(0, 2, (120, 3))
    return texts, 3 * labels + rng.normal(size=labels.shape), labels


def test_documents_with_vectors_can_be_cross_validated_and_searched() -> None:
    texts, vectors, labels = told_by_vectors()
    documents, model = Documents(texts, embeddings=vectors), quick(HybridLDA, C=1.0)
    with_vectors, without = (
        cross_val_score(model, x, labels, cv=2).mean() for x in (documents, texts)
    )
    assert with_vectors > without + 0.1
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=2).fit(documents, labels)
    assert search.best_estimator_.external_ == ("embeddings",)
    assert search.predict(documents[:3]).shape == (3, 3)


def test_labels_of_documents_with_vectors_are_cross_predicted() -> None:
    texts, vectors, labels = told_by_vectors()
    documents, model = Documents(texts, embeddings=vectors), quick(HybridLDA, C=1.0)
    predicted = cross_val_predict(model, documents, labels, cv=2, method="predict_proba")
    assert predicted[labels == 1].mean() > predicted[labels == 0].mean() + 0.3


@pytest.mark.usefixtures("routing")
def test_vectors_are_routed_by_scikit_learn() -> None:
    texts, vectors, labels = told_by_vectors()
    model = quick(HybridLDA, C=1.0).set_fit_request(embeddings=True)
    model.set_score_request(embeddings=True)
    scores = cross_val_score(model, texts, labels, cv=2, params={"embeddings": vectors})
    together = cross_val_score(model, Documents(texts, embeddings=vectors), labels, cv=2)
    assert scores.tolist() == together.tolist()


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("method", ["decision_function", "predict", "predict_proba", "score"])
def test_vectors_are_routed_through_a_pipeline(method: str) -> None:
    texts, vectors, labels = told_by_vectors()
    model = quick(HybridLDA, C=1.0).set_fit_request(embeddings=True)
    getattr(model, f"set_{method}_request")(embeddings=True)
    pipeline = make_pipeline(CountVectorizer(), model).fit(texts, labels, embeddings=vectors)
    truth = (labels,) if method == "score" else ()
    counts = pipeline[0].transform(texts)
    direct = getattr(pipeline[-1], method)(counts, *truth, embeddings=vectors)
    routed = getattr(pipeline, method)(texts, *truth, embeddings=vectors)
    np.testing.assert_array_equal(routed, direct)


@pytest.mark.parametrize(
    "method", ["decision_function", "predict", "predict_proba", "rank", "suggest", "score"]
)
def test_every_prediction_takes_vectors(method: str) -> None:
    texts, vectors, labels = told_by_vectors()
    truth = (labels,) if method == "score" else ()
    call = getattr(hybrid_of_vectors(), method)
    as_documents = call(Documents(texts, embeddings=vectors), *truth)
    assert str(call(texts, *truth, embeddings=vectors)) == str(as_documents)
    with pytest.raises(InputError, match=r"trained with embeddings .*embeddings=\.\.\."):
        call(texts, *truth)


@cache
def hybrid_of_vectors() -> Any:
    texts, vectors, labels = told_by_vectors()
    return quick(HybridLDA, C=1.0).fit(texts, labels, embeddings=vectors)


# Batches ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("y", [LABELS, [labels[0] for labels in LABELS]])
def test_no_documents_get_no_answers(kind: str, y: Any) -> None:
    model = quick(model_class(kind)).fit(TEXTS, y)
    empty = pd.Series([], dtype=str)
    batches: list[Any] = [[], (), np.array([]), empty, pl.Series(empty), TEXTS[:0]]
    for none in batches:
        assert model.suggest(none) == []
        assert model.predict(none).shape[0] == 0
        assert model.predict_proba(none).shape == (0, 2)
        assert model.rank(none).labels.shape == (0, 2)
        assert len(model.decision_function(none)) == 0


@pytest.mark.parametrize("kind", [FlatLDA, HybridLDA])
def test_no_documents_of_counts_get_no_answers(kind: Any) -> None:
    counts = CountVectorizer().fit_transform(TEXTS)
    frame = pd.DataFrame(counts.toarray())
    frame.columns = [f"word{place}" for place in frame.columns]
    model = quick(kind).fit(frame, LABELS)
    dense = counts[:0].toarray()
    batches: list[Any] = [[], counts[:0], dense, frame[:0], pl.DataFrame(frame)[:0]]
    for none in batches:
        assert model.suggest(none) == []
        assert model.predict(none).shape == model.predict_proba(none).shape == (0, 2)


def test_no_documents_to_learn_from_are_refused_by_a_message_about_texts() -> None:
    batches: list[Any] = [[], np.array([]), pd.Series([], dtype=str)]
    for nothing in batches:
        with pytest.raises(InputError, match="list of str, or counts; it is empty; pass at least"):
            FlatLDA().fit(nothing, [])
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        FlatLDA().fit(np.zeros((0, 3)), [])
    with pytest.raises(InputError, match="0 documents"):
        FlatLDA().fit(TEXTS, LABELS).score([], [])


def test_texts_in_other_containers_are_refused_with_the_conversion() -> None:
    model = FlatLDA().fit(TEXTS, LABELS)
    for texts, conversion in (
        ((text for text in TEXTS), r"got a generator; pass list\(X\)"),
        ([b"the jury"], r"got a list of bytes; pass \[text.decode\(\) for text in X\]"),
        (
            pd.Series([b"the jury"]),
            r"got a Series of bytes; pass \[text.decode\(\) for text in X\]",
        ),
        (b"the jury", r"got bytes; pass \[X.decode\(\)\]"),
        (None, "got None"),
        (pa.array(["the jury"]), r"got a StringArray; pass X.to_pylist\(\)"),
        (pa.chunked_array([["the jury"]]), r"got a ChunkedArray; pass X.to_pylist\(\)"),
    ):
        message = "X must be a list of str, or counts; " + conversion
        with pytest.raises(InputError, match=message):
            model.predict(texts)
        with pytest.raises(InputError, match=message):
            FlatLDA().fit(texts, LABELS)


# Warnings ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_step", [False, True])
@pytest.mark.parametrize("kind", [FlatLDA, HybridLDA])
def test_a_warning_points_at_my_line(kind: Any, as_step: bool) -> None:
    tfidf = TfidfVectorizer().fit_transform(TEXTS)
    model = quick(kind, n_held_out=30)
    model = make_pipeline(model) if as_step else model
    with pytest.warns(NotCountsWarning) as caught:
        model.fit(tfidf, LABELS)
    assert {each.filename for each in caught} == {__file__}


def test_a_warning_of_a_part_of_the_library_points_at_my_line() -> None:
    with pytest.warns(NothingHeldOutWarning) as caught:
        quick(HybridLDA).fit(TEXTS[:2], [["LAW"], ["SPORT"]])
    assert [each.filename for each in caught] == [__file__]


def test_a_warning_reaches_code_without_a_module_name() -> None:
    code = compile("model.rank(['zzz'], 1)", "<mine>", "exec")
    with pytest.warns(NoKnownWordsWarning) as caught:
        exec(code, {"model": FlatLDA().fit(TEXTS, LABELS)})  # noqa: S102
    assert [each.filename for each in caught] == ["<mine>"]
