"""External arrays: signals of scores and embeddings, and the hybrid that requires them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, lil_array
from scipy.special import logit

from deplda import Documents, FlatLDA, HybridLDA, InputError, datasets, load, predict_shards
from deplda.errors import IgnoredParameterWarning
from deplda.evaluation import rank_metrics
from deplda.models.external import (
    CountsAndArrays,
    ExternalSignal,
    LabelledEmbeddings,
    check_arrays,
    counts_in,
    directions,
    more_candidates,
    scores_at,
    with_arrays,
)
from tests.models.hybrids import assert_refused, quick
from tests.models.test_saved_before import same_bits

SAVED = Path(__file__).parent / "fixtures" / "external"

# Signals of scores --------------------------------------------------------------------------------


def rows(*scores: dict[int, float], n: int = 9) -> Any:
    matrix = lil_array((len(scores), n))
    for row, by_label in enumerate(scores):
        for label, score in by_label.items():
            matrix[row, label] = score
    return matrix.tocsr()


def test_scores_of_candidates_are_looked_up() -> None:
    scores = rows({1: 0.5, 4: 0.1}, {}, {8: -2.0})
    labels = np.array([[4, 1, 0], [4, -1, 8], [8, -1, -1]], np.int32)
    nan = np.nan
    expected = [[0.1, 0.5, nan], [nan, nan, nan], [-2.0, nan, nan]]
    np.testing.assert_array_equal(scores_at(scores, labels), expected)


def test_labels_with_the_best_ranks_in_any_array_become_candidates() -> None:
    one, two = rows({1: 0.9, 2: 0.8, 3: 0.7}, {5: 0.1}), rows({3: 9.0, 4: 8.0}, {5: 1.0, 6: 2.0})
    labels = np.array([[2, 7], [6, -1]], np.int32)
    np.testing.assert_array_equal(more_candidates([one, two], labels, 3), [[1, 3, 4], [5, -1, -1]])
    np.testing.assert_array_equal(more_candidates([one, two], labels, 1), [[1], [5]])


@pytest.mark.parametrize("seed", range(5))
def test_more_candidates_are_those_of_a_plain_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = [
        rows(*({int(c): float(rng.random()) for c in rng.permutation(9)[: rng.integers(6)]}
               for _ in range(6)))
        for _ in range(2)
    ]  # fmt: skip
    labels = np.array([rng.permutation(9)[:3] for _ in range(6)], np.int32)
    labels[rng.random(labels.shape) < 0.3] = -1
    added = more_candidates(arrays, labels, 4)
    for d in range(6):
        best: dict[int, int] = {}
        for scores in arrays:
            row = scores[[d]]
            for rank, place in enumerate(np.lexsort((row.indices, -row.data))):
                c = int(row.indices[place])
                best[c] = min(rank, best.get(c, 99))
        new = [c for c in sorted(best, key=lambda c: (best[c], c)) if c not in labels[d]]
        assert added[d].tolist() == (new + [-1] * 4)[:4]


def test_probabilities_are_read_as_log_odds_and_other_scores_as_they_are() -> None:
    chances, margins = np.array([[0.5, 0.9, np.nan]]), np.array([[-3.0, 5.0, np.nan]])
    signal = ExternalSignal.of("a", chances)
    assert signal.is_chance
    values = signal.values(np.array([[1.0, 0.0, 0.9, np.nan]]))
    np.testing.assert_array_equal(values["a given"], [[1, 1, 1, 0]])
    mean = (logit(0.5) + logit(0.9)) / 2
    expected = [logit(1 - 1e-4) - mean, logit(1e-4) - mean, logit(0.9) - mean, 0]
    np.testing.assert_allclose(values["a"], [expected])
    other = ExternalSignal.of("b", margins)
    assert not other.is_chance
    np.testing.assert_allclose(other.values(margins)["b"], [[-4, 4, 0]])


# Arrays of documents ------------------------------------------------------------------------------


def test_counts_are_sliced_with_their_arrays() -> None:
    counts = csr_array(np.eye(3))
    vectors = np.arange(6, dtype=np.int16).reshape(3, 2)
    whole = CountsAndArrays(counts, (rows({1: 1.0}, {}, {2: 2.0}),), vectors)
    part = whole[1:]
    assert whole.shape == (3, 3)
    assert part.shape[0] == part.scores[0].shape[0] == 2
    assert part.directions is not None
    assert part.directions.tolist() == [[2, 3], [4, 5]]
    assert counts_in(part) is part.counts
    assert counts_in(counts) is counts


COUNTS = csr_array(np.eye(2))


@pytest.mark.parametrize("form", [np.array, csr_array, lambda x: csr_array(x).tocoo()])
def test_scores_are_dense_or_sparse_and_of_the_labels_learned_or_of_all(form: Any) -> None:
    scores = form([[0.0, 0.3, 0.9], [0.2, 0.0, 0.0]])
    for n_learned, n_labels in ((3, 5), (2, 3)):
        found = with_arrays(
            Documents(COUNTS, scores={"a": scores}), COUNTS, ["a"], n_learned, n_labels
        )
        expected = np.array([[0.0, 0.3, 0.9], [0.2, 0.0, 0.0]])[:, :n_learned]
        np.testing.assert_array_equal(found.scores[0].toarray(), expected)
        assert found.scores[0].nnz == np.count_nonzero(expected)


def test_the_best_hundred_scores_of_a_document_are_used() -> None:
    scores = np.random.default_rng(0).permutation(300).reshape(2, 150) + 1.0
    documents = Documents(COUNTS, scores={"a": scores})
    found = with_arrays(documents, COUNTS, ["a"], 150, 150).scores[0].toarray()
    least = np.sort(scores, axis=1)[:, [50]]
    np.testing.assert_array_equal(found, np.where(scores >= least, scores, 0))


@pytest.mark.parametrize(
    ("scores", "problem"),
    [
        (np.zeros(2), "float64 of shape .* they must be numbers"),
        (np.array([["a"], ["b"]]), "must be numbers"),
        (np.zeros((3, 4)), "2 documents × 4 labels"),
        (np.zeros((2, 3)), "2 documents × 4 labels"),
        (np.full((2, 4), np.nan), "must be from -100000 to 100000, and no NaN"),
        (np.full((2, 4), 1e6), "must be from -100000 to 100000"),
    ],
)
def test_wrong_scores_are_refused(scores: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        with_arrays(Documents(COUNTS, scores={"a": scores}), COUNTS, ["a"], 4, 6)


@pytest.mark.parametrize(
    ("scores", "problem"),
    [
        ([COUNTS], "must be a dict of matrices by program; got list"),
        ({"margin": COUNTS}, "cannot be named 'margin', which is a signal"),
        ({"vectors": COUNTS}, "cannot be named 'vectors'"),
        ({"embeddings": COUNTS}, "cannot be named 'embeddings'"),
        ({"a given": COUNTS}, "cannot be named 'a given'"),
        ({"": COUNTS}, "1 to 64 printable letters"),
        ({"a\nb": COUNTS}, "1 to 64 printable letters"),
        ({str(n): COUNTS for n in range(17)}, "17 programs; 16 at most"),
    ],
)
def test_wrong_names_of_scores_are_refused(scores: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        check_arrays(Documents(COUNTS, scores=scores))


# Embeddings ---------------------------------------------------------------------------------------


def some(n: int, d: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, d))


def labels_of(n: int, n_labels: int, seed: int = 1) -> Any:
    return csr_array(np.random.default_rng(seed).random((n, n_labels)) < 0.3)


def unit(vectors: Any) -> Any:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_cosines_are_those_of_the_embeddings_to_four_places() -> None:
    own, labels, new = some(40, 16), labels_of(40, 6), some(5, 16, seed=2)
    known = LabelledEmbeddings.of(directions(own, 40), labels)
    near, _ = known.scores(directions(new, 5))
    centroids = unit(labels.toarray().T @ unit(own))
    np.testing.assert_allclose(near.toarray(), np.maximum(unit(new) @ centroids.T, 0), atol=2e-4)


def test_votes_are_those_of_the_nearest_documents() -> None:
    own, labels, new = some(50, 8), labels_of(50, 6), some(4, 8, seed=2)
    _, votes = LabelledEmbeddings.of(directions(own, 50), labels).scores(directions(new, 4))
    for row, cosines in enumerate(unit(new) @ unit(own).T):
        nearest = np.argsort(-cosines)[:30]
        weights = np.maximum(cosines[nearest], 0) ** 8
        expected = weights @ labels.toarray()[nearest] / weights.sum()
        np.testing.assert_allclose(votes.toarray()[row], expected, atol=1e-3)


def test_a_document_has_the_same_bits_alone_and_among_others() -> None:
    known = LabelledEmbeddings.of(directions(some(9000, 33), 9000), labels_of(9000, 40))
    new = directions(some(300, 33, seed=2), 300)
    together = known.scores(new)
    for row in (0, 17, 299):
        for one, all in zip(known.scores(new[[row]]), together, strict=True):
            np.testing.assert_array_equal(one.toarray(), all[[row]].toarray())


def test_the_length_of_an_embedding_does_not_matter_and_zeros_are_like_nothing() -> None:
    own = some(20, 5)
    huge = own * np.logspace(-200, 200, 20)[:, None]
    np.testing.assert_array_equal(directions(own, 20), directions(huge, 20))
    known = LabelledEmbeddings.of(directions(own, 20), labels_of(20, 3))
    near, votes = known.scores(directions(np.zeros((1, 5)), 1))
    assert near.nnz == votes.nnz == 0


def test_more_documents_are_as_if_they_had_been_there_from_the_beginning() -> None:
    own, labels = directions(some(30, 7), 30), labels_of(30, 4)
    grown = LabelledEmbeddings.of(own[:20], labels[:20]).with_more(own[20:], labels)
    np.testing.assert_array_equal(grown.centroids, LabelledEmbeddings.of(own, labels).centroids)
    np.testing.assert_array_equal(grown.directions, own)


@pytest.mark.parametrize(
    ("embeddings", "problem"),
    [
        (np.zeros(3), "float64 of shape .* they must be numbers"),
        (np.zeros((2, 3)), "3 documents × 1 to 16,384"),
        (np.zeros((3, 0)), "3 documents × 1 to 16,384"),
        (np.array([["a"], ["b"], ["c"]]), "must be numbers"),
        (np.array([[1.0], [np.nan], [1.0]]), "embedding 1 has a number that is not finite"),
    ],
)
def test_wrong_embeddings_are_refused(embeddings: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        directions(embeddings, 3)


# The hybrid ---------------------------------------------------------------------------------------


@cache
def parts() -> tuple[Documents, Documents]:
    """Training and new documents, with scores of a program that is mostly right, and embeddings."""
    corpus, rng = datasets.newsroom(360).corpus, np.random.default_rng(0)
    scores = lil_array(corpus.labels.shape)
    for d in range(len(corpus)):
        true = corpus.labels[[d]].indices
        others = np.setdiff1d(rng.choice(corpus.n_labels, 6, replace=False), true)
        for c in true[rng.random(len(true)) < 0.9]:
            scores[d, c] = rng.beta(6, 2)
        for c in others:
            scores[d, c] = rng.beta(2, 6)
    vectors = corpus.labels.astype(float) @ rng.normal(size=(corpus.n_labels, 24))
    vectors += rng.normal(size=vectors.shape)
    documents = Documents(corpus, embeddings=vectors, scores={"wise": scores.tocsr()})
    return documents[:240], documents[240:]


@cache
def fitted() -> HybridLDA:
    return quick(C=1.0).fit(parts()[0])


@cache
def plain() -> HybridLDA:
    return quick(C=1.0).fit(parts()[0].X)


def precision(model: HybridLDA, documents: Any) -> float:
    scores, truth = model.decision_function(documents), parts()[1].X.labels
    return float(np.nanmean(rank_metrics(scores, truth)["average_precision"]))


def test_useful_arrays_make_predictions_better() -> None:
    assert fitted().external_ == ("wise", "embeddings")
    assert precision(fitted(), parts()[1]) > precision(plain(), parts()[1].X) + 0.05


def test_arrays_that_are_not_useful_are_not_required() -> None:
    train, new = parts()
    rng, noise = np.random.default_rng(0), [np.zeros(p.X.labels.shape) for p in parts()]
    for scores in noise:
        for row in scores:
            row[rng.choice(90, 5, replace=False)] = rng.random(5)
    model = quick(C=1.0).fit(Documents(train.X, scores={"noise": noise[0]}))
    assert model.external_ == ()
    expected = plain().decision_function(new.X)
    np.testing.assert_array_equal(model.decision_function(new.X), expected)
    with_noise = Documents(new.X, scores={"noise": noise[1]})
    np.testing.assert_array_equal(model.decision_function(with_noise), expected)


def test_arrays_of_training_documents_are_forgotten_by_the_next_fit() -> None:
    train, new = parts()
    model = quick(C=1.0, candidates=20).fit(train)
    assert model.external_
    model.fit(Documents(train.X, embeddings=train.embeddings[:, :3]))
    assert model.fit(train.X).external_ == ()
    model.rank(new.X)


@pytest.mark.parametrize(
    "method", ["decision_function", "predict", "predict_proba", "rank", "suggest", "score"]
)
def test_arrays_used_in_training_are_required_of_new_documents(method: str) -> None:
    new = parts()[1]
    call = getattr(fitted(), method)
    assert call(new) is not None
    for lacking, missing in (
        (new.X, r"Documents\(X, embeddings=\.\.\., scores={'wise': \.\.\.}\); predict"),
        (
            Documents(new.X, scores=new.scores),
            r"pass Documents\(X, embeddings=\.\.\.\); .* take --embeddings FILE",
        ),
        (
            Documents(new.X, embeddings=new.embeddings, scores={"other": new.X.labels}),
            r"pass Documents\(X, scores={'wise': \.\.\.}\); .* take --scores wise=FILE",
        ),
    ):
        with pytest.raises(
            InputError,
            match=rf"trained with embeddings and scores of 'wise' and requires.*{missing}",
        ):
            call(lacking)


def test_embeddings_of_other_dimensions_are_refused() -> None:
    new = parts()[1]
    with pytest.raises(InputError, match="2 dimensions, but the model's have 24"):
        fitted().rank(Documents(new.X, embeddings=new.embeddings[:, :2], scores=new.scores))


def test_training_documents_are_recognised_without_their_arrays() -> None:
    assert fitted().learned_from(parts()[0].X).all()
    assert not fitted().learned_from(parts()[1]).any()


def test_a_saved_model_predicts_the_same(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    again, new = load(tmp_path / "model"), parts()[1]
    np.testing.assert_array_equal(again.predict_proba(new), fitted().predict_proba(new))
    assert again.held_out_ == fitted().held_out_
    assert again.external_ == fitted().external_


def test_same_bits_for_any_batch_engine_and_number_of_workers(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    model, new = fitted(), parts()[1]
    expected = model.rank(new, 20)
    for how in ({"n_jobs": 1}, {"n_jobs": 3}, {"engine": "processes", "n_jobs": 2}):
        again = load(tmp_path / "model").set_params(**how).rank(new, 20)
        np.testing.assert_array_equal(again.scores, expected.scores)
        np.testing.assert_array_equal(again.labels, expected.labels)
    np.testing.assert_array_equal(model.rank(new[[7]], 20).scores[0], expected.scores[7])


def test_the_parts_of_a_reason_add_up_and_name_the_external_signals() -> None:
    explanation = fitted().explain(parts()[1][[3]], 5)
    assert any("wise" in reason.parts for reason in explanation.reasons)
    assert any("vectors" in reason.parts for reason in explanation.reasons)
    for reason in explanation.reasons:
        assert abs(sum(reason.parts.values()) - reason.score) < 1e-9
        assert not any(name.endswith(" given") for name in reason.parts)


def test_an_update_takes_the_embeddings_of_new_documents(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    model: Any = load(tmp_path / "model")
    train, new = parts()
    more = new[:30]
    with pytest.raises(InputError, match="trained with embeddings and requires them"):
        model.partial_fit(more.X)
    model.partial_fit(Documents(more.X, embeddings=more.embeddings))
    assert model.label_sets_.shape[0] == len(train) + 30
    assert model._embedded.directions.shape == (len(train) + 30, 24)
    assert np.isfinite(model.rank(new[30:]).scores).all()


def test_other_models_do_not_use_arrays() -> None:
    with pytest.raises(InputError, match="embeddings or scores, which FlatLDA does not use"):
        FlatLDA().fit(parts()[0].X).rank(parts()[1])


def test_shards_cannot_be_predicted_by_a_model_that_requires_arrays(tmp_path: Path) -> None:
    from deplda import write_jsonl

    fitted().save(tmp_path / "model")
    (tmp_path / "shards").mkdir()
    write_jsonl(parts()[1].X[:5], tmp_path / "shards" / "a.jsonl")
    with pytest.raises(InputError, match="requires embeddings and scores of 'wise', which shards"):
        predict_shards(tmp_path / "model", tmp_path / "shards", tmp_path / "out")


def _signal(**changed: Any) -> Any:
    return lambda card, arrays: card.learned["external"][0].update(changed)


DAMAGE = {
    "a signal's name": (_signal(name="margin"), "signals"),
    "a name twice": (_signal(name="vectors"), "signals"),
    "no vectors": (lambda card, arrays: arrays.pop("vectors"), "'vectors' is missing"),
    "a vector too short": (
        lambda card, arrays: arrays.update(vectors=arrays["vectors"][:-1]), "no vectors of",
    ),
    "no terms": (
        lambda card, arrays: card.learned["mixture"].update(terms=[], weights=[1.0]),
        "not one weight for each term",
    ),
    "another program's terms": (_signal(name="other"), "other signals than"),
}  # fmt: skip


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_model_is_refused(tmp_path: Path, what: str) -> None:
    assert_refused(fitted(), DAMAGE[what], tmp_path)


# Models of 1.0.0 ----------------------------------------------------------------------------------


def saved_by_1_0(name: str) -> tuple[dict[str, Any], Any]:
    return json.loads((SAVED / f"{name}.json").read_bytes()), load(SAVED / name)


def test_a_model_saved_with_experts_predicts_by_words_alone() -> None:
    with pytest.warns(IgnoredParameterWarning, match="trained with experts, which are left out"):
        expected, model = saved_by_1_0("HybridLDA-experts")
    counts = np.array(expected["counts"])
    assert model.external_ == ()
    same_bits(model.decision_function(counts), expected["scores"])
    same_bits(model.predict_proba(counts), expected["probabilities"])
    assert model.held_out_ == expected["held_out"]


def test_a_model_saved_with_embeddings_predicts_the_same() -> None:
    expected, model = saved_by_1_0("HybridLDA-embeddings")
    documents = Documents(np.array(expected["counts"]), embeddings=np.array(expected["embeddings"]))
    assert model.external_ == ("embeddings",)
    same_bits(model.decision_function(documents), expected["scores"])
    same_bits(model.predict_proba(documents), expected["probabilities"])
    assert model.held_out_ == expected["held_out"]


def test_a_damaged_model_with_experts_is_refused(tmp_path: Path) -> None:
    from deplda import ReadError
    from deplda.models import card as store

    _, card, arrays, _ = store.load(SAVED / "HybridLDA-experts")
    del card.learned["without_experts"]
    store.save(tmp_path / "wrong", card, arrays)
    with pytest.raises(ReadError, match="it has experts, but no mixture without them"):
        load(tmp_path / "wrong")
