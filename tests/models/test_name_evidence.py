"""Names as evidence: the index, mentions, and how far a name is to be trusted."""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from deplda import Concept, Vocabulary, WordCounter
from deplda.models.name_evidence import (
    FEATURES,
    Mentions,
    NameIndex,
    NamePairs,
    WordDocuments,
    index_of,
    learn_weights,
    names_by_label,
    places_of,
)

NAMES: list[tuple[int, list[str]]] = [
    (0, ["Bronze Age", "bronze era"]),
    (1, ["bronze"]),
    (2, ["Mercury (planet)"]),
    (3, ["Mercury (metal)", "Mercury"]),
    (4, ["5573"]),
]
TEXTS = [
    "Mercury is the planet nearest to the sun",
    "An age of bronze began; the Bronze Age ended",
    "A vase of an age ago, of bronze",
    "nothing of this",
]


def world() -> tuple[WordCounter, NameIndex, Any]:
    every_name = [name for _, names in NAMES for name in names]
    counter = WordCounter(language=None, names=every_name, token_pattern="words")  # noqa: S106
    counts = counter.fit_transform(TEXTS)
    index = index_of(NAMES, counter.vocabulary_, counter.name_analyzer())
    return counter, index.rarest_first(WordDocuments.of(counts)), counts


def mentions() -> Mentions:
    _, index, counts = world()
    return index.find(counts, np.full(4, 5.0))


def column(found: Mentions, name: str) -> dict[tuple[int, int], float]:
    values = found.features[:, FEATURES.index(name)].tolist()
    return dict(
        zip(zip(found.documents.tolist(), found.labels.tolist(), strict=True), values, strict=True)
    )


def test_labels_are_found_by_names_and_told_how_they_stand() -> None:
    found = mentions()
    assert sorted(column(found, "idf")) == [(0, 2), (0, 3), (1, 0), (1, 1), (2, 0), (2, 1)]
    assert column(found, "in sequence") == {
        (0, 2): 0, (0, 3): 0, (1, 0): 1, (1, 1): 0, (2, 0): 0, (2, 1): 0,
    }  # fmt: skip
    assert column(found, "qualifier")[0, 2] == 1  # the planet
    assert column(found, "qualifier")[0, 3] == 0
    assert column(found, "has qualifier")[0, 3] == 1
    assert column(found, "two words")[1, 0] == 1
    assert column(found, "log count")[1, 0] == pytest.approx(np.log(2))
    assert column(found, "early")[0, 2] == 1


def test_the_heaviest_name_of_a_label_is_taken_and_alike_ones_are_one() -> None:
    counter, index, _ = world()
    # "Mercury" is like "Mercury (metal)".
    told = sorted(zip(index.labels.tolist(), index.is_synonym.tolist(), strict=True))
    assert told == [(0, False), (0, True), (1, False), (2, False), (3, False)]
    both = counter.transform(["bronze era of the bronze age"])
    found = index.find(both, np.ones(1))
    assert found.labels.tolist() == [0, 1]


def test_a_name_with_a_word_that_is_not_counted_is_left_out() -> None:
    index = index_of([(0, ["bronze age"]), (1, ["bronze"])], ("bronze",), str.split)
    assert index.labels.tolist() == [1]


def test_a_name_of_very_many_labels_is_left_out() -> None:
    names = [(label, ["bronze"]) for label in range(17)] + [(17, ["age"]), (18, ["age"])]
    index = index_of(names, ("age", "bronze"), str.split)
    assert index.labels.tolist() == [17, 18]


def test_the_rarest_word_finds_a_name() -> None:
    counter, index, _ = world()
    found = {
        counter.vocabulary_[index.words_of(name)[0]]: int(label)
        for name, label in enumerate(index.labels)
        if len(index.words_of(name)) > 1
    }
    assert found == {"era": 0, "age": 0}


def test_the_idf_of_a_name_is_the_mean_of_its_words() -> None:
    counter, index, counts = world()
    n_documents = dict(
        zip(counter.vocabulary_, (counts.toarray() > 0).sum(axis=0).tolist(), strict=True)
    )
    idf = {word: np.log(5 / (1 + n)) for word, n in n_documents.items()}
    words = [tuple(counter.vocabulary_[w] for w in index.words_of(n)) for n in range(5)]
    bronze_age = next(n for n, own in enumerate(words) if set(own) == {"bronze", "age"})
    assert index.idf[bronze_age] == pytest.approx((idf["bronze"] + idf["age"]) / 2)
    mercury = words.index(("mercury",))
    assert index.with_idf(WordDocuments.of(counts[:2])).idf[mercury] == pytest.approx(np.log(3 / 2))


def test_candidates_find_their_mentions_and_others_come_beside_them() -> None:
    found = mentions()
    candidates = np.array([[3, 1], [4, 0], [-1, 2], [0, 1]], np.int32)
    at = found.at(candidates)
    assert (at >= 0).tolist() == [[True, False], [False, True], [False, False], [False, False]]
    assert found.labels[at[0, 0]] == 3
    assert found.documents[at[1, 1]] == 1
    more = found.labels_at(found.beside(at, 2))
    assert more.tolist() == [[2, -1], [1, -1], [0, 1], [-1, -1]]  # the heaviest first
    assert found.labels_at(found.beside(at, 1)).tolist() == [[2], [1], [0], [-1]]


def test_nothing_is_found_where_there_are_no_names() -> None:
    index = index_of([], ("a", "b"), str.split)
    found = index.find(csr(np.ones((2, 2))), np.ones(2))
    assert found.at(np.zeros((2, 3), np.int32)).tolist() == [[-1] * 3] * 2
    assert (found.beside(found.at(np.zeros((2, 3), np.int32))) == -1).all()


def csr(values: Any) -> Any:
    from scipy.sparse import csr_array

    return csr_array(values)


def drawn(n: int, seed: int = 0) -> tuple[NamePairs, Any]:
    """Return pairs whose truth is drawn by known weights."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, len(FEATURES)))
    weights = np.zeros(len(FEATURES))
    weights[:3] = 1.0, -0.5, 0.3
    often, unseen = rng.normal(-5, 1, n), rng.random(n) < 0.3
    often = np.where(unseen, -8.0, often)
    log_odds = -1 + features @ weights + 0.4 * (often + 5) - 0.7 * unseen
    return NamePairs(features, rng.random(n) < expit(log_odds), often, unseen), weights


def test_weights_are_those_that_truth_was_drawn_by() -> None:
    pairs, weights = drawn(60_000)
    found = learn_weights(pairs)
    assert found is not None
    np.testing.assert_allclose(found.weights, weights, atol=0.05)
    assert found.intercept + 0.4 * (-pairs.log_frequencies.mean() - 5) == pytest.approx(-1, abs=0.1)
    told = expit(found.scores(pairs.features) + found.unseen)[pairs.is_unseen]
    assert told.sum() == pytest.approx(pairs.truth[pairs.is_unseen].sum(), rel=0.05)
    assert found.centre == pytest.approx(found.scores(pairs.features)[~pairs.is_unseen].mean())


@pytest.mark.parametrize("is_true", [True, False])
def test_of_names_that_are_always_right_or_wrong_nothing_is_learned(is_true: bool) -> None:
    pairs, _ = drawn(100)
    assert learn_weights(pairs._replace(truth=np.full(100, is_true))) is None


def test_without_labels_never_seen_their_offset_is_that_of_the_rarest() -> None:
    pairs, _ = drawn(2000)
    seen = pairs._replace(is_unseen=np.zeros(2000, bool))
    found = learn_weights(seen)
    assert found is not None
    assert found.unseen < 0  # rarer labels are less likely


def test_labels_are_called_by_the_vocabulary_or_by_themselves() -> None:
    concepts = Vocabulary([Concept(uri="u", names={"en": "dogs"}, synonyms={"en": ("canines",)})])
    assert names_by_label(["u", "nat-gas", 7], concepts, "en") == [
        (0, ["dogs", "canines"]), (1, ["nat-gas"]),
    ]  # fmt: skip
    assert names_by_label(["u"], None, "en") == [(0, ["u"])]


def test_a_name_is_shown_where_it_stands() -> None:
    counter = WordCounter(language="en", names=["Bronze Age", "dolmens"])
    counter.fit(["The Bronze Age"])
    text = "Dolmens of the Bronze Ages, and an age of bronze."
    places, is_whole = places_of("Bronze Age", text, counter)
    assert is_whole
    assert [text[begin:end] for begin, end in places] == ["Bronze Ages"]
    places, _ = places_of("dolmen (tomb)", text, counter)
    assert [text[begin:end] for begin, end in places] == ["Dolmens"]
    apart = "an age of bronze"
    places, is_whole = places_of("Bronze Age", apart, counter)
    assert not is_whole
    assert [apart[begin:end] for begin, end in places] == ["age", "bronze"]
    assert places_of("Bronze Age", "nothing", counter) == ((), False)
