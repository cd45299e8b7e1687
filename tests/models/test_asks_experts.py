"""The hybrid with experts and vectors: better where they know more, itself without them."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.frozen import FrozenEstimator

from deplda import Corpus, FlatLDA, HybridLDA, InputError, datasets, load, predict_shards
from deplda.data.evidence import Documents
from deplda.data.readers.expert_files import Suggestions, suggestions
from deplda.evaluation import rank_metrics
from tests.models.hybrids import assert_refused, quick


@cache
def parts() -> tuple[Corpus, Corpus]:
    corpus = datasets.newsroom(360).corpus
    return corpus[:240], corpus[240:]


@cache
def knowing() -> Suggestions:
    """An expert that mostly knows, of every document."""
    rng = np.random.default_rng(0)
    rows: dict[str, list[tuple[str, float]]] = {}
    for corpus in parts():
        for d, id in enumerate(corpus.ids):
            true = corpus.labels[[d]].indices
            others = np.setdiff1d(rng.choice(corpus.n_labels, 6, replace=False), true)
            own = {corpus.label_names[c]: rng.beta(6, 2) for c in true if rng.random() < 0.9}
            own |= {corpus.label_names[c]: rng.beta(2, 6) for c in others}
            rows[id] = [*own.items()]
    return suggestions(rows)


@cache
def vectors() -> tuple[Any, Any]:
    train, test = parts()
    svd = TruncatedSVD(24, random_state=0).fit(train.counts)
    return svd.transform(train.counts), svd.transform(test.counts)


@cache
def fitted() -> HybridLDA:
    return quick(C=1.0, experts={"wise": knowing()}).fit(parts()[0], embeddings=vectors()[0])


def new() -> Documents:
    return Documents(parts()[1], embeddings=vectors()[1], experts={"wise": knowing()})


def precision(scores: Any) -> float:
    found = rank_metrics(scores, parts()[1].labels)["average_precision"]
    return float(np.nanmean(found))


def test_an_expert_that_knows_more_makes_predictions_better() -> None:
    model = fitted()
    assert model.experts_ == ("wise", "vectors", "neighbours")
    with_experts = precision(model.decision_function(new()))
    alone = precision(model.by_words_alone().decision_function(parts()[1]))
    assert with_experts > alone + 0.005
    assert with_experts > precision(knowing().of(parts()[1].ids, model.classes_.tolist())[0]) + 0.02


def test_by_words_alone_is_the_model_that_was_fitted_without_experts() -> None:
    plain = quick(C=1.0).fit(parts()[0])
    alone = fitted().by_words_alone()
    np.testing.assert_array_equal(alone.predict_proba(parts()[1]), plain.predict_proba(parts()[1]))
    assert alone.experts_ == ()
    assert plain.by_words_alone() is plain


def test_an_expert_that_says_nothing_of_use_is_left_out() -> None:
    rng = np.random.default_rng(1)
    train = parts()[0]
    noise = suggestions(
        {id: [(train.label_names[c], float(rng.random())) for c in rng.choice(90, 5, False)]
         for id in train.ids}
    )  # fmt: skip
    model = quick(C=1.0, experts={"noise": noise}).fit(train)
    assert model.experts_ == ()
    model.rank(parts()[1][:2])  # which it can be asked without it


def test_a_model_of_the_library_is_an_expert_and_is_fitted_without_what_is_held_out() -> None:
    train, test = parts()
    model = quick(C=1.0, experts=[FlatLDA()]).fit(train)
    if model.experts_:
        assert model.rank(test[:3]).labels.shape == (3, 10)
    frozen = FrozenEstimator(FlatLDA().fit(train.counts, train.labels))
    again = quick(C=1.0, experts={"flat": frozen}).fit(train.counts, _lists(train))
    assert set(again.measures_) >= {"crossed"}


def _lists(corpus: Corpus) -> list[list[str]]:
    return [[corpus.label_names[c] for c in corpus.labels[[d]].indices] for d in range(len(corpus))]


def test_a_file_of_few_documents_has_these_held_out() -> None:
    train = parts()[0]
    few: dict[str, list[tuple[str, float]]] = {}
    own, _ = knowing().of(train.ids[:40], train.label_names)
    for d, id in enumerate(train.ids[:40]):
        row = own[[d]]
        few[id] = [(train.label_names[c], v) for c, v in zip(row.indices, row.data, strict=True)]
    model = quick(C=1.0, experts={"wise": suggestions(few)}).fit(train)
    assert model.held_out_["documents"] <= 40
    assert model.experts_ == ("wise",)


def test_documents_learned_from_are_known_without_what_experts_say() -> None:
    again = _loaded(fitted())
    assert again.learned_from(parts()[0]).all()
    assert not again.learned_from(new()).any()


def test_what_experts_say_of_new_documents_has_to_be_given() -> None:
    model = fitted()
    again = _loaded(model)
    with pytest.raises(InputError, match=r"fitted with the expert 'wise'.*by_words_alone"):
        again.rank(parts()[1])
    with pytest.raises(InputError, match=r"fitted with embeddings.*--embeddings"):
        again.rank(Documents(parts()[1], experts={"wise": knowing()}))
    with pytest.raises(InputError, match="2 dimensions, but the model's have 24"):
        again.rank(
            Documents(parts()[1], embeddings=vectors()[1][:, :2], experts={"wise": knowing()})
        )


@cache
def _folder() -> Path:
    import tempfile

    return Path(tempfile.mkdtemp()) / "model"


def _loaded(model: HybridLDA) -> Any:
    if not _folder().exists():
        model.save(_folder())
    return load(_folder())


def test_a_saved_model_says_the_same_and_holds_no_expert() -> None:
    again = _loaded(fitted())
    np.testing.assert_array_equal(again.predict_proba(new()), fitted().predict_proba(new()))
    np.testing.assert_array_equal(
        again.by_words_alone().predict_proba(parts()[1]),
        fitted().by_words_alone().predict_proba(parts()[1]),
    )
    for one, other in ((again, fitted()), (again.by_words_alone(), fitted().by_words_alone())):
        assert one.held_out_ == other.held_out_
        np.testing.assert_array_equal(one.label_quality_, other.label_quality_)
    assert again.experts is None
    assert b"wise" in (_folder() / "card.json").read_bytes()


def test_same_bits_for_any_batch_engine_and_number_of_workers() -> None:
    model = fitted()
    expected = model.rank(new(), 20)
    for how in ({"n_jobs": 1}, {"n_jobs": 3}, {"engine": "processes", "n_jobs": 2}):
        again = _loaded(model).set_params(**how).rank(new(), 20)
        np.testing.assert_array_equal(again.scores, expected.scores)
        np.testing.assert_array_equal(again.labels, expected.labels)
    one = Documents(parts()[1][[7]], embeddings=vectors()[1][[7]], experts={"wise": knowing()})
    np.testing.assert_array_equal(model.rank(one, 20).scores[0], expected.scores[7])


def test_the_parts_of_a_reason_add_up_and_name_the_experts() -> None:
    one = Documents(parts()[1][[3]], embeddings=vectors()[1][[3]], experts={"wise": knowing()})
    found = fitted().explain(one, 5)
    assert any("wise" in reason.parts for reason in found.reasons)
    for reason in found.reasons:
        assert abs(sum(reason.parts.values()) - reason.score) < 1e-9
        assert not any(name.endswith(" given") for name in reason.parts)


def test_learning_on_takes_the_vectors_of_new_documents() -> None:
    train, test = parts()
    model = _loaded(fitted())
    more = Documents(test[:30], embeddings=vectors()[1][:30])
    with pytest.raises(InputError, match="fitted with embeddings"):
        model.partial_fit(test[:30])
    model.partial_fit(more)
    assert model.label_sets_.shape[0] == len(train) + 30
    assert model._vectors.directions.shape == (len(train) + 30, 24)
    found = model.rank(
        Documents(test[30:], embeddings=vectors()[1][30:], experts={"wise": knowing()})
    )
    assert np.isfinite(found.scores).all()
    assert np.isfinite(model.by_words_alone().rank(test[30:]).scores).all()


def _expert(**changed: Any) -> Any:
    return lambda card, arrays: card.learned["experts"][0].update(changed)


DAMAGE = {
    "a signal's name": (_expert(name="margin"), "cannot be called 'margin'"),
    "a name twice": (_expert(name="vectors"), "twice"),
    "a centre beyond all": (_expert(centre=1e9), "centre of 'wise'"),
    "no words alone": (
        lambda card, arrays: card.learned.pop("without_experts"), "do not fit the rest",
    ),
    "no vectors": (lambda card, arrays: arrays.pop("vectors"), "'vectors' is missing"),
    "a vector too short": (
        lambda card, arrays: arrays.update(vectors=arrays["vectors"][:-1]), "no vectors of",
    ),
    "no terms": (
        lambda card, arrays: card.learned["mixture"].update(terms=[], weights=[1.0]),
        "not one weight for each term",
    ),
    "another expert's terms": (_expert(name="other"), "other signals than"),
}  # fmt: skip


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_model_is_refused(tmp_path: Path, what: str) -> None:
    assert_refused(fitted(), DAMAGE[what], tmp_path)


def test_other_models_do_not_weigh_what_documents_come_with() -> None:
    with pytest.raises(InputError, match="which FlatLDA does not weigh"):
        FlatLDA().fit(parts()[0]).rank(new())


def test_shards_are_predicted_by_words_alone(tmp_path: Path) -> None:
    _loaded(fitted())
    test = parts()[1]
    (tmp_path / "shards").mkdir()
    from deplda import write_jsonl

    write_jsonl(test[:5], tmp_path / "shards" / "a.jsonl")
    manifest = predict_shards(_folder(), tmp_path / "shards", tmp_path / "out")
    assert manifest.documents == 5
    assert not manifest.failed
