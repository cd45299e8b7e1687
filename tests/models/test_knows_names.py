"""The hybrid with names: what stands in a text speaks for its label, learned or not."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.special import logit

from deplda import (
    Concept,
    Corpus,
    FlatLDA,
    HybridLDA,
    InputError,
    Vocabulary,
    WordCounter,
    load,
)
from tests.models.hybrids import Damage, assert_refused, quick

CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
N_CONCEPTS, N_NEVER = 60, 15


class World(NamedTuple):
    """Texts that name their concepts, most of the time; the last concepts only new texts have."""

    vocabulary: Vocabulary
    texts: list[str]
    labels: list[list[str]]
    new_texts: list[str]
    new_labels: list[list[str]]


def word(rng: np.random.Generator) -> str:
    return "".join(rng.choice(list(CONSONANTS)) + rng.choice(list(VOWELS)) for _ in range(3))


def text_of(rng: np.random.Generator, concepts: list[int], names: list[str], topics: Any) -> str:
    words = [*rng.choice(topics[-1], 25)]
    for c in concepts:
        words += [*rng.choice(topics[c], 4)]
    rng.shuffle(words)
    for c in concepts:
        if rng.random() < 0.8:
            words.insert(int(rng.integers(len(words))), names[c].split(" (")[0])
    for c in rng.choice(N_CONCEPTS, 2):  # mentioned, but not what it is about
        words.insert(int(rng.integers(20, len(words))), names[c].split(" (")[0].split()[0])
    return " ".join(words)


@cache
def world(seed: int = 0) -> World:
    rng = np.random.default_rng(seed)
    names = [
        word(rng) + (f" {word(rng)}" if c % 4 == 0 else "") + (" (qualified)" if c % 7 == 0 else "")
        for c in range(N_CONCEPTS)
    ]
    concepts = [
        Concept(uri=f"http://x/{c}", names={"en": name}, notation=str(c))
        for c, name in enumerate(names)
    ]
    pool = [word(rng) for _ in range(60)]  # what labels are about is not theirs alone
    topics = [[*rng.choice(pool, 8)] for _ in range(N_CONCEPTS)] + [pool]

    def some(n: int, n_known: int) -> tuple[list[str], list[list[str]]]:
        chosen = [
            sorted({int(n_known * rng.random() ** 2) for _ in range(rng.integers(1, 4))})
            for _ in range(n)
        ]
        texts = [text_of(rng, own, names, topics) for own in chosen]
        return texts, [[f"http://x/{c}" for c in own] for own in chosen]

    texts, labels = some(260, N_CONCEPTS - N_NEVER)
    new_texts, new_labels = some(80, N_CONCEPTS)
    return World(Vocabulary(concepts), texts, labels, new_texts, new_labels)


@cache
def fitted(with_names: bool = True) -> HybridLDA:
    made = world()
    counter = WordCounter(stop_words=None, names=made.vocabulary if with_names else None)
    counts = counter.fit_transform(made.texts)
    known = made.vocabulary if with_names else None
    return quick(candidates=10, n_held_out=200).fit(
        counts, made.labels, counter=counter, vocabulary=known
    )


def hits(model: HybridLDA, k: int, is_wanted: Callable[[str], bool]) -> float:
    """Return the share of wanted labels of new texts among the k best."""
    ranked = model.rank(world().new_texts, k).labels.tolist()
    pairs = [
        label in own
        for own, labels in zip(ranked, world().new_labels, strict=True)
        for label in labels
        if is_wanted(label)
    ]
    return float(np.mean(pairs))


def never() -> set[str]:
    taught = {label for labels in world().labels for label in labels}
    return {concept.uri for concept in world().vocabulary} - taught


def test_labels_that_no_document_has_are_suggested_by_name() -> None:
    model, unseen = fitted(), never()
    assert len(unseen) >= N_NEVER
    assert model.n_learned_labels_ == N_CONCEPTS - len(unseen)
    assert set(model.classes_[model.n_learned_labels_ :]) == unseen
    assert hits(model, 5, unseen.__contains__) > 0.6
    named = model.is_known_[model.n_learned_labels_ :]
    assert named.sum() == model.n_known_by_name_ > 0
    assert model.is_known_[: model.n_learned_labels_].all()


def test_labels_that_were_learned_are_found_no_worse() -> None:
    known = fitted().classes_[: fitted().n_learned_labels_].tolist()
    assert hits(fitted(), 3, known.__contains__) > hits(fitted(False), 3, known.__contains__)


def test_probabilities_of_labels_never_learned_are_as_often_right_as_they_say() -> None:
    model, n = fitted(), fitted().n_learned_labels_
    told = model.predict_proba(world().new_texts)[:, n:].sum()
    classes = model.classes_[n:].tolist()
    true = sum(label in classes for labels in world().new_labels for label in labels)
    # Held-out texts have fewer of them than the new ones, so they are told less often than true.
    assert 0.2 * true < told < 1.2 * true


def test_reasons_add_up_and_tell_the_name_with_its_place() -> None:
    model = fitted()
    n_named = n_never = 0
    for text in world().new_texts[:20]:
        for reason in model.explain(text, 5).reasons:
            assert reason.probability is not None
            assert sum(reason.parts.values()) == pytest.approx(float(logit(reason.probability)))
            assert reason.score == pytest.approx(sum(reason.parts.values()))
            if reason.named is None:
                assert "name" not in reason.parts
                continue
            n_named += 1
            assert reason.named.added == reason.parts["name"]
            bare = reason.named.name.split(" (")[0]
            shown = {text[begin:end] for begin, end in reason.named.places}
            assert shown == {bare} or shown == set(bare.split())
            if reason.uri in never():
                n_never += 1
                assert set(reason.parts) == {"base", "name", "calibration"}
                assert reason.tokens == 0
    assert n_named > 20
    assert n_never > 2


def test_the_best_of_candidates_are_the_best_of_all_scores() -> None:
    model, texts = fitted(), world().new_texts
    scores = model.decision_function(texts)
    assert scores.shape == (80, N_CONCEPTS)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :10]
    ranked = model.rank(texts, 10)
    np.testing.assert_array_equal(ranked.labels, model.classes_[order])
    np.testing.assert_array_equal(ranked.scores, np.take_along_axis(scores, order, axis=1))


def test_a_result_depends_on_neither_neighbours_nor_threads() -> None:
    model, texts = fitted(), world().new_texts
    together = model.decision_function(texts)
    alone = np.concatenate([model.decision_function([text]) for text in texts[:10]])
    np.testing.assert_array_equal(alone, together[:10])
    made, counter = world(), model.counter_
    assert counter is not None
    again = quick(candidates=10, n_held_out=200, n_jobs=1).fit(
        counter.transform(made.texts), made.labels, counter=counter, vocabulary=made.vocabulary
    )
    np.testing.assert_array_equal(again.decision_function(texts), together)


def test_a_loaded_model_gives_the_same_bits(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    again: Any = load(tmp_path / "model")
    texts = world().new_texts
    for method in ("decision_function", "predict_proba"):
        expected = getattr(fitted(), method)(texts)
        np.testing.assert_array_equal(getattr(again, method)(texts), expected)
    assert again.explain(texts[0]) == fitted().explain(texts[0])
    assert again.n_learned_labels_ == fitted().n_learned_labels_
    assert again.n_learned_words_ == fitted().n_learned_words_ == again.weights_.shape[1]


def test_learning_on_teaches_labels_that_were_known_by_name(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    model, made = load(tmp_path / "model"), world()
    assert isinstance(model, HybridLDA)
    n_before = model.n_learned_labels_
    labels = [*made.new_labels[:59], ["http://x/new"]]
    model.partial_fit(made.new_texts[:60], labels)
    taught = {label for own in (*made.labels, *labels) for label in own}
    assert model.n_learned_labels_ == len(taught) > n_before
    assert set(model.classes_[: model.n_learned_labels_]) == taught
    assert len(model.classes_) == N_CONCEPTS + 1
    left = never() - taught
    assert set(model.classes_[model.n_learned_labels_ :]) == left
    assert hits(model, 5, left.__contains__) > 0.5
    model.save(tmp_path / "grown")
    scores = model.decision_function(made.new_texts)
    np.testing.assert_array_equal(
        load(tmp_path / "grown").decision_function(made.new_texts), scores
    )


def test_words_of_labels_serve_where_there_is_no_vocabulary() -> None:
    made = world()
    names = {concept.uri: concept.name("en") for concept in made.vocabulary}
    counter = WordCounter(stop_words=None)
    counts = counter.fit_transform(made.texts)
    labels = [[names[uri] for uri in own] for own in made.labels]
    model = quick(candidates=10, n_held_out=200).fit(counts, labels, counter=counter)
    assert model._names is not None
    assert model.n_learned_labels_ == len(model.classes_)
    assert any(r.named for t in made.new_texts[:5] for r in model.explain(t, 5).reasons)


def test_codes_are_no_names() -> None:
    made = world()
    counter = WordCounter(stop_words=None)
    counts = counter.fit_transform(made.texts)
    codes = [[uri.rpartition("/")[2] for uri in own] for own in made.labels]
    model = quick(candidates=10, n_held_out=200).fit(counts, codes, counter=counter)
    assert model._names is None


def test_one_class_for_each_document_knows_no_other_concepts() -> None:
    made = world()
    counter = WordCounter(stop_words=None, names=made.vocabulary)
    counts = counter.fit_transform(made.texts)
    model = quick(n_held_out=200).fit(
        counts, [own[0] for own in made.labels], counter=counter, vocabulary=made.vocabulary
    )
    assert model.n_learned_labels_ == len(model.classes_)
    np.testing.assert_allclose(model.predict_proba(made.new_texts).sum(axis=1), 1)


def test_tokens_are_those_of_words_alone() -> None:
    model, text = fitted(), world().new_texts[0]
    assert model.counter_ is not None
    n_words = len(model.counter_.name_analyzer()(text))
    found = model.explain(text)
    assert found.n_tokens + found.n_unknown == n_words
    assert model.n_tokens_ == sum(len(model.counter_.name_analyzer()(t)) for t in world().texts)


DAMAGE: Damage = {
    "labels": (lambda card, arrays: arrays["names.labels"].fill(99), "names.labels"),
    "words": (lambda card, arrays: arrays["names.words"].fill(-1), "names.words"),
    "early": (lambda card, arrays: arrays["names.early"].fill(10**6), "names.early"),
    "sequences": (lambda card, arrays: arrays["names.sequences"].fill(10**6), "names.sequences"),
    "fewer": (
        lambda card, arrays: arrays.update({"names.sequences": arrays["names.sequences"][:-1]}),
        "is not of",
    ),
    "starts": (lambda card, arrays: arrays["names.starts"].fill(0), "does not divide"),
    "wordless": (lambda card, arrays: arrays["names.starts"][1:2].fill(0), "without words"),
    "missing": (lambda card, arrays: arrays.pop("names.qualifiers"), "is missing"),
    "weights": (lambda card, arrays: card.learned["names"].update(weights=[1.0]), "14 weights"),
    "learned": (lambda card, arrays: card.learned.update(n_learned=10**6), "learned"),
    "few": (lambda card, arrays: card.learned.update(n_learned=3), "learned"),
    "columns": (lambda card, arrays: card.text.update(names_at=[5, 10**9]), "names_at"),
}  # fmt: skip


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_model_is_refused(tmp_path: Path, what: str) -> None:
    assert_refused(fitted(), DAMAGE[what], tmp_path)


def test_on_a_page_names_are_lit_in_the_colour_of_their_label() -> None:
    for text in world().new_texts[:20]:
        found = fitted().explain(text, 5)
        page = found.to_html()
        for number, reason in enumerate(found.reasons):
            if reason.uri in never() and reason.named is not None and reason.named.places:
                lit = f'--own:var(--c{number});--how:1.00" title="{reason.label}">'
                assert lit + text[slice(*reason.named.places[0])].split()[0] in page
                assert "stands in the text" in page
                return
    raise AssertionError("no name of a label never learned is in these texts")


def test_more_labels_than_the_shortlist_has_are_given_where_names_bring_them_up() -> None:
    model = quick(candidates=1, n_held_out=200)
    made, counter = world(), fitted().counter_
    assert counter is not None
    counts = counter.transform(made.texts)
    model.fit(counts, made.labels, counter=counter, vocabulary=made.vocabulary)
    chances = model.predict_proba(made.new_texts)
    given = model.suggest(made.new_texts, cutoff=0.9)
    for own, row in zip(given, chances, strict=True):
        assert set(own.labels) == set(model.classes_[row >= 0.9])
    assert max(len(own.labels) for own in model.suggest(made.new_texts, cutoff=5)) > 1
    for cutoff in ("validated", "expected-f1", 3):
        assert all(0 < p < 1 for own in model.suggest(made.new_texts, cutoff=cutoff)
                   for p in own.probabilities)  # fmt: skip
    assert len(model.explain(made.new_texts[0], 20).reasons) > 1


def test_concepts_without_a_name_are_no_labels() -> None:
    made = world()
    nameless = Vocabulary([*made.vocabulary, Concept(uri="u"), Concept(uri="v", names={"en": " "})])
    counter = fitted().counter_
    assert counter is not None
    model = quick(candidates=10, n_held_out=200).fit(
        counter.transform(made.texts), made.labels, counter=counter, vocabulary=nameless
    )
    assert {*model.classes_} == {concept.uri for concept in made.vocabulary}
    assert model.n_known_by_name_ == len(never())


def test_labels_of_a_vocabulary_are_addresses() -> None:
    made, counter = world(), fitted().counter_
    assert counter is not None
    counts = counter.transform(made.texts)
    indicator = np.ones((len(made.texts), 2))
    with pytest.raises(InputError, match="give y as lists of these"):
        quick().fit(counts, indicator, counter=counter, vocabulary=made.vocabulary)


@pytest.mark.parametrize("model", [FlatLDA(), HybridLDA()])
def test_what_is_counted_of_names_is_not_learned_as_words(model: Any) -> None:
    made, counter = world(), fitted().counter_
    assert counter is not None
    counts, labels = counter.transform(made.texts), np.ones((len(made.texts), 1))
    corpus = Corpus(counts, labels, counter.vocabulary_)
    with pytest.raises(InputError, match="counted for names"):
        model.fit(corpus)


def test_labels_that_were_never_learned_are_told_as_such() -> None:
    model = fitted()
    assert model.told_label(min(never()))["by_name"]
    assert "by_name" not in model.told_label(model.classes_[0])
    told = [r for text in world().new_texts[:20] for r in model.explain(text, 5).reasons]
    assert {r.uri in never() for r in told if r.by_name} == {True}
    assert not any(r.uri in never() for r in told if not r.by_name)
