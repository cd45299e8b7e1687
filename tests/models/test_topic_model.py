"""What the three models share: learning at once, bit by bit and from shards, and inference."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, vstack

from deplda import (
    Corpus,
    DependencyLDA,
    FlatLDA,
    FractionalCountsWarning,
    InputError,
    PriorLDA,
    WordCounter,
    concat,
    load,
)
from tests.drawn_news import drawn_news
from tests.models.worlds import MODELS, TEXTS, TOPICS, Model, counted, news, quick, same_learned
from tests.training.worlds import in_shards, same


@pytest.fixture(scope="module")
def halves() -> tuple[Corpus, Corpus, Corpus]:
    corpus = drawn_news(1200).corpus
    return corpus[:500], corpus[500:1000], corpus[1000:]


# Learning -----------------------------------------------------------------------------------------


def test_a_label_without_documents_is_legal(model: Model) -> None:
    _, x = counted()
    y = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 0]])
    fitted = quick(model).fit(x, y)
    ranking = fitted.rank(x, 3)
    assert ranking.labels.shape == (4, 3)
    assert np.isfinite(ranking.scores).all()
    assert fitted.label_words_.dense()[:, 2] == pytest.approx(1 / x.shape[1])


@pytest.mark.filterwarnings("ignore::deplda.NoKnownWordsWarning")
def test_documents_without_words_or_without_labels_are_legal(model: Model) -> None:
    _, x = counted()
    x = csr_array(np.vstack([x.toarray(), np.zeros((2, x.shape[1]), dtype=int)]))
    fitted = quick(model).fit(x, [*TOPICS, ["sports"], []])
    scores = fitted.decision_function(x)
    assert np.isfinite(scores).all()
    assert np.array_equal(scores[4], scores[5])  # both have their prior alone
    assert fitted.rank(csr_array((1, x.shape[1]))).labels.shape == (1, 2)


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


def test_sampled_training_learns_the_same_words_about(halves: tuple[Corpus, ...]) -> None:
    train, _, test = halves
    sampled = FlatLDA(fit_method="sampled", n_chains=2, n_sweeps=20).fit(train)
    expected = FlatLDA().fit(train)
    assert sampled.score(test) == pytest.approx(expected.score(test), abs=0.03)
    assert sampled.diagnostics().keys() == {"label_words"}
    assert expected.traces_ == {"label_words": None}
    assert expected.diagnostics() == {}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::deplda.errors.IgnoredParameterWarning")
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


@pytest.mark.filterwarnings("ignore::deplda.errors.IgnoredParameterWarning")
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


# Fractions of words -------------------------------------------------------------------------------


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


@pytest.mark.filterwarnings("ignore::deplda.NoKnownWordsWarning")
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


@pytest.mark.filterwarnings("ignore::deplda.errors.IgnoredParameterWarning")
@pytest.mark.parametrize("inference", ["deterministic", "sampled"])
@pytest.mark.parametrize("fit_method", ["deterministic", "sampled"])
def test_logarithms_are_learned_and_inferred_both_ways(fit_method: str, inference: str) -> None:
    few: Any = {"n_chains": 2, "n_sweeps": 20, "burn_in": 5, "n_samples": 2}
    model = quick(
        DependencyLDA, word_counts="log", fit_method=fit_method, inference=inference, **few
    )
    assert model.fit(news()).score(news()) > 0.9


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
    with pytest.raises(InputError, match="classes has 3 labels but y has 2 columns"):
        FlatLDA().partial_fit(x, np.ones((4, 2)), classes=["a", "b", "c"])


MORE = ["umpires called strikes and strikes", "hospital hospital", "the senate"]
MORE_TOPICS = [["strike"], ["health"], ["politics"]]
WITH_AND_WITHOUT_BACKGROUND: list[tuple[Model, dict[str, Any]]] = [
    *((model, {}) for model in MODELS),
    *((model, {"background": 0.2}) for model in (PriorLDA, DependencyLDA)),
]


def test_new_documents_labels_and_words_are_learned(model: Model) -> None:
    counter, x = counted()
    fitted: Any = quick(model).fit(x, TOPICS, counter=counter)
    settings, n_tokens = dict(fitted.settings_), fitted.n_tokens_
    fitted.partial_fit(MORE, MORE_TOPICS)
    assert fitted.classes_.tolist() == ["health", "sports", "politics", "strike"]
    assert fitted.words_ == (*counter.vocabulary_, "called", "senate", "umpires")
    assert tuple(fitted.feature_names_in_) == fitted.counter_.vocabulary_ == fitted.words_
    assert fitted.n_features_in_ == fitted.label_words_.shape[0] == x.shape[1] + 3
    assert (fitted.n_tokens_, fitted.settings_) == (n_tokens + 7, settings)
    assert fitted.label_sets_.shape == (7, 4)
    assert fitted.rank(["umpires"], 1).labels[0, 0] == "strike"
    assert fitted.rank(["senate"], 1).labels[0, 0] == "politics"
    for learned in (fitted.label_words_, *fitted.topic_labels_):
        assert learned.dense().sum(axis=0) == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(InputError, match="count the same words as in fit"):
        fitted.rank(x)  # the words that it had before


def test_what_was_reached_is_forgotten_when_more_is_learned(model: Model) -> None:
    fitted: Any = quick(model).fit(news()[:200])
    assert fitted.held_out_
    assert fitted.label_quality_ is not None
    fitted.partial_fit(news()[200:])
    assert (fitted.held_out_, fitted.label_quality_) == ({}, None)


@pytest.mark.parametrize(("model", "options"), WITH_AND_WITHOUT_BACKGROUND)
def test_a_loaded_model_learns_on_to_the_same_bits(
    model: Model, options: Any, tmp_path: Path
) -> None:
    counter, x = counted()
    fitted: Any = quick(model, n_jobs=2, **options).fit(x, TOPICS, counter=counter)
    fitted.save(tmp_path / "model")
    again: Any = quick(model, n_jobs=1, **options).fit(x, TOPICS, counter=counter)
    others: list[Any] = [again, load(tmp_path / "model"), pickle.loads(pickle.dumps(fitted))]  # noqa: S301
    fitted.partial_fit(MORE, MORE_TOPICS)
    scores = fitted.decision_function(TEXTS)
    fitted.save(tmp_path / "more")
    for other in others:
        other.partial_fit(MORE, MORE_TOPICS)
    for other in (*others, load(tmp_path / "more")):
        assert same_learned(other, fitted)
        assert (other.words_, other.n_tokens_) == (fitted.words_, fitted.n_tokens_)
        assert np.array_equal(other.decision_function(TEXTS), scores)


def test_new_words_of_a_corpus_have_places_in_its_order(model: Model) -> None:
    first = Corpus([[2, 1], [0, 3]], [[1, 0], [0, 1]], ["old", "older"], ["a", "b"])
    more = Corpus(
        [[1, 5, 0, 1, 2], [0, 0, 0, 4, 0]], [[1], [1]],
        ["young", "newer", "never", "old", "new"], ["c"],
    )  # fmt: skip
    fitted = quick(model).fit(first).partial_fit(more)
    assert fitted.words_ == ("old", "older", "young", "newer", "new")
    assert fitted.label_words_.dense()[3].argmax() == 2  # "newer" is of c
    assert fitted.counter_ is None
    reference = quick(model).fit(first).partial_fit(more.align(fitted.words_))
    assert same_learned(fitted, reference)


def test_a_new_word_of_a_corpus_needs_the_tokens_that_the_counter_asks_for() -> None:
    counter = WordCounter(language=None, min_count=2)
    fitted = FlatLDA().fit(counter.fit_transform(TEXTS), TOPICS, counter=counter)
    fitted.partial_fit(Corpus([[2, 1]], [[1]], ["umpire", "senate"], ["sports"]))
    assert fitted.words_ == (*counter.vocabulary_, "umpire")
    assert fitted.counter_ is not None
    assert fitted.counter_.transform(["umpire senate"]).sum() == 1


@pytest.mark.filterwarnings("ignore::deplda.NoKnownWordsWarning")
def test_all_other_methods_know_the_words_of_the_model_alone(model: Model) -> None:
    fitted = quick(model).fit(news())
    words = fitted.words_
    fitted.rank(Corpus([[9]], [[1]], ["neverseen"], ["new"]), 1)
    assert fitted.words_ == words


def test_words_without_names_stay_as_many_as_they_are() -> None:
    _, x = counted()
    unnamed = FlatLDA().fit(x, TOPICS)
    wider = Corpus(np.ones((1, x.shape[1] + 1)), [[1]], label_names=["sports"])
    with pytest.raises(InputError, match="columns without names"):
        unnamed.partial_fit(wider)
    frame = pd.DataFrame(x.toarray()).add_prefix("w")
    named = FlatLDA().fit(frame, TOPICS)
    with pytest.raises(ValueError, match="feature names"):
        named.partial_fit(frame.assign(new=1), TOPICS)


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


@pytest.mark.parametrize("step", ["update_label_words", "Tables"])
def test_a_partial_fit_that_breaks_off_changes_nothing(
    model: Model, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter, x = counted()
    fitted: Any = quick(model).fit(x, TOPICS, counter=counter)
    before, traces = dict(vars(fitted)), dict(fitted.traces_)

    def breaks(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(f"deplda.models.topic_model.{step}", breaks)
    with pytest.raises(MemoryError):
        fitted.partial_fit(MORE, MORE_TOPICS)
    assert vars(fitted).keys() == before.keys()
    assert all(vars(fitted)[name] is value for name, value in before.items())
    assert fitted.traces_ == traces
    assert fitted.counter_.vocabulary_ == counter.vocabulary_


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


@pytest.mark.parametrize(("model", "options"), WITH_AND_WITHOUT_BACKGROUND)
def test_learning_in_two_halves_is_about_as_good_as_in_one(
    model: Model, options: Any, halves: tuple[Corpus, ...]
) -> None:
    first, second, test = halves
    half = quick(model, **options).fit(first.keep_words(1))
    whole = quick(model, **options).fit(concat([first.keep_words(1), second]))
    half.partial_fit(second)
    assert half.n_features_in_ > first.keep_words(1).n_words
    assert half.score(test) == pytest.approx(whole.score(test), abs=0.01)


# Shards -------------------------------------------------------------------------------------------


def test_what_shards_cannot_be_learned_with_is_named(tmp_path: Path) -> None:
    source = in_shards(news(), tmp_path / "in", 1)
    with pytest.raises(InputError, match="combine is 'auto'; shards are learned from"):
        PriorLDA(combine="auto").fit_shards(source, tmp_path / "scratch")


def test_a_model_of_many_shards_is_saved_and_loaded_like_any_other(tmp_path: Path) -> None:
    source = in_shards(news(), tmp_path / "in", 3)
    model = DependencyLDA(n_topics=6, n_topic_chains=2, n_topic_sweeps=10)
    model.fit_shards(source, tmp_path / "scratch").save(tmp_path / "model")
    again: Any = load(tmp_path / "model")
    assert same(again.label_words_, model.label_words_)
    assert again.score(news()) == model.score(news()) > 0.8
    ordinary = DependencyLDA(n_topics=6, n_topic_chains=2, n_topic_sweeps=10).fit(news())
    assert abs(model.score(news()) - ordinary.score(news())) < 0.01
    known = ordinary.label_sets_[:, [list(news().label_names).index(n) for n in again.classes_]]
    assert (again.label_sets_ != known).nnz == 0


# The background -----------------------------------------------------------------------------------


def test_the_background_takes_the_words_that_tell_nothing() -> None:
    rng = np.random.default_rng(0)
    labels = np.eye(4, dtype=bool)[rng.integers(0, 4, 200)]
    counts = np.concatenate(
        [rng.poisson(2.0, (200, 10)), rng.poisson(3.0 * np.repeat(labels, 3, axis=1))], axis=1
    )
    model = quick(DependencyLDA, background=0.3).fit(counts, labels)
    shared = model.label_words_.dense()[:, -1]
    assert model.label_words_.shape[1] == 5
    assert shared[:10].sum() > 0.9
    found = model.explain(counts[:1], k=1)
    assert found.n_background > 0.5 * 10
    assert found.to_dict()["n_background"] == found.n_background
    assert found.reasons[0].words[0].name in {f"word{w}" for w in range(10, 22)}


def test_the_background_is_never_ranked() -> None:
    model = quick(DependencyLDA, background=0.3).fit(news())
    assert model.decision_function(news()).shape == news().labels.shape
    assert model.rank(news()[:3], 1000).labels.shape[1] == news().n_labels
    assert len(model.similar_labels(news().label_names[0], 1000)) < news().n_labels
    scores = model.decision_function(news()[:5])
    np.testing.assert_allclose(scores.sum(axis=1), 2)  # prior and counts, without the background


def test_a_model_with_a_background_is_saved_and_loaded(tmp_path: Path) -> None:
    model = PriorLDA(background=0.25).fit(news())
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(news()), model.decision_function(news()))


def test_a_background_has_its_place_after_new_labels() -> None:
    common = ["shared"] * 3
    texts = [" ".join([*common, *words]) for words in (["ball"] * 3, ["nurse"] * 3, ["vote"] * 3)]
    counter = WordCounter(language=None)
    x = counter.fit_transform(texts[:2] * 10)
    model: Any = quick(DependencyLDA, background=0.5)
    model.fit(x, [["sports"], ["health"]] * 10, counter=counter)
    model.partial_fit(texts[2:] * 10, [["politics"]] * 10)
    phi = dict(zip(model.words_, model.label_words_.dense(), strict=True))
    assert model.label_words_.shape == (4, 4)
    assert [phi[word].argmax() for word in ("nurse", "ball", "vote", "shared")] == [0, 1, 2, 3]
    assert model.rank(["a vote"], 1).labels[0, 0] == "politics"
    assert model.explain(texts[2], k=1).n_background > 1


def test_a_background_needs_expectations() -> None:
    with pytest.raises(InputError, match="only fit_method='deterministic' knows one"):
        quick(DependencyLDA, background=0.3, fit_method="sampled").fit(news())


# The score ----------------------------------------------------------------------------------------


def test_the_score_is_chosen_on_documents_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    model = quick(DependencyLDA, combine="auto").fit(news())
    chosen = model.settings_["combine"]
    assert chosen in ("blend", "counts", "posterior")
    given = quick(DependencyLDA, combine=chosen).fit(news())
    np.testing.assert_array_equal(model.decision_function(news()), given.decision_function(news()))
    seen = []

    def quality(truth: Any, scores: Any) -> float:
        seen.append(len(scores))
        return float(len(seen) == 2)

    monkeypatch.setattr("deplda.models.topic_model.label_ranking_average_precision_score", quality)
    assert quick(DependencyLDA, combine="auto").fit(news()).settings_["combine"] == "counts"
    assert seen == [30, 30, 30]


def test_with_too_few_documents_to_hold_out_the_score_is_the_papers() -> None:
    assert quick(DependencyLDA, combine="auto").fit(news()[:8]).settings_["combine"] == "blend"


def test_the_chosen_score_is_kept(tmp_path: Path) -> None:
    model = quick(DependencyLDA, combine="auto").fit(news())
    model.save(tmp_path / "model")
    again: Any = load(tmp_path / "model")
    assert again.settings_ == model.settings_
    np.testing.assert_array_equal(again.decision_function(news()), model.decision_function(news()))
