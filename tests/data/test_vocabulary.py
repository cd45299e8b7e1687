"""Vocabularies: concepts are found by address, notation and name."""

import time

import numpy as np
import pytest

from deplda import Corpus, InputError
from deplda.data.vocabulary import Concept, Vocabulary, with_concepts

THESAURUS = Vocabulary(
    [
        Concept(
            uri="http://x/1", names={"en": "Libraries", "fi": "kirjastot"}, notation="02",
            synonyms={"en": ("Book collections",), "fi": ("kirjakokoelmat",)},
        ),
        Concept(uri="http://x/2", names={"en": "Mercury (planet)"}, broader=("http://x/4",)),
        Concept(uri="http://x/3", names={"en": "Ore", "de": "Metalle"}, synonyms={"en": ("Tin",)}),
        Concept(uri="http://x/4", names={"en": "Planets"}, synonyms={"en": ("Tin",)}),
        Concept(uri="http://x/5", names={"en": "Books"}, deprecated=True, replaced_by="http://x/6"),
        Concept(uri="http://x/6", names={"en": "Papers"}, deprecated=True, replaced_by="http://x/1"),
        Concept(uri="http://x/7", names={"en": "Scrolls"}, deprecated=True, replaced_by="http://x/7"),
        Concept(uri="http://x/8", names={"en": "Libraries"}, deprecated=True),
    ]
)  # fmt: skip


@pytest.mark.parametrize(
    ("label", "places"),
    [
        ("http://x/2", [2]), ("<http://x/2>", [2]), (" <http://x/2> ", [2]), ("02", [1]),
        ("libraries", [1]), ("KIRJASTOT", [1]), ("book collections", [1]), ("metalle", [3]),
        ("tin", [3, 4]), ("Books", [5]), ("unknown", []), ("", []), ("<>", []),
    ],
)  # fmt: skip
def test_concepts_are_found_by_address_notation_and_name(label: str, places: list[int]) -> None:
    assert THESAURUS.find(label) == tuple(f"http://x/{place}" for place in places)


def test_names_are_told_in_the_language_asked_for() -> None:
    concept = THESAURUS["http://x/1"]
    assert [concept.name(code) for code in ("fi", "sv", None)] == [
        "kirjastot", "Libraries", "Libraries",
    ]  # fmt: skip
    assert Concept(uri="u", notation="7").name("fi") == "7"
    assert Concept(uri="u").name() == "u"
    assert Concept(uri="u", names={"": "plain", "en": "english"}).name("fi") == "plain"
    assert THESAURUS.languages == {"en": 8, "de": 1, "fi": 1}


def test_what_replaces_a_concept_is_followed() -> None:
    assert THESAURUS.replacement("http://x/5") == "http://x/1"
    assert THESAURUS.replacement("http://x/7") is None  # itself
    assert THESAURUS.replacement("http://x/8") is None
    assert THESAURUS.replacement("http://x/1") == "http://x/1"


def test_replacements_that_form_a_cycle_are_none_from_every_entry() -> None:
    links = {"a": "b", "b": "c", "c": "b", "d": "gone", "e": "f"}
    concepts = [Concept(uri=u, deprecated=True, replaced_by=after) for u, after in links.items()]
    vocabulary = Vocabulary([*concepts, Concept(uri="f"), Concept(uri="g", deprecated=True)])
    assert [vocabulary.replacement(uri) for uri in "abcdefg"] == [*[None] * 4, "f", "f", None]


def test_lookup_time_is_linear_in_equal_names_and_in_chains() -> None:
    n, begin = 30_000, time.process_time()
    same = Vocabulary([Concept(uri=str(i), names={"en": "same"}) for i in range(n)])
    assert len(same.find("Same")) == n
    chain = [
        Concept(uri=str(i), notation=f"n{i}", deprecated=True, replaced_by=str(i + 1))
        for i in range(n)
    ]
    matched = Vocabulary([*chain, Concept(uri=str(n))]).match(f"n{i}" for i in range(n))
    assert matched.deprecated == {f"n{i}": str(n) for i in range(n)}
    assert time.process_time() - begin < 10


def test_narrower_concepts_are_those_that_name_a_broader_one() -> None:
    assert THESAURUS.narrower == {"http://x/4": ("http://x/2",)}


def test_relatives_are_concepts_of_the_vocabulary_alone() -> None:
    found = Vocabulary(
        [
            Concept(uri="a", broader=("b", "elsewhere"), related=("c", "elsewhere")),
            Concept(uri="b"),
            Concept(uri="c", broader=("a",)),
        ]
    )
    assert found.relatives("a") == (("b",), ("c",), ("c",))
    assert found.relatives("b") == ((), ("a",), ())


def test_the_hierarchy_has_known_concepts_alone_and_each_once() -> None:
    above = {"a": ("b", "c", "b"), "b": ("c", "elsewhere"), "c": ("a",), "d": ()}
    found = Vocabulary(Concept(uri=uri, broader=own) for uri, own in above.items()).hierarchy
    assert found.toarray().tolist() == [
        [False, True, True, False], [False, False, True, False], [True, False, False, False],
        [False] * 4,
    ]  # fmt: skip
    assert Vocabulary([Concept(uri="a")]).hierarchy.nnz == 0


def test_a_concept_twice_is_an_error() -> None:
    with pytest.raises(InputError, match="holds 'u' twice"):
        Vocabulary([Concept(uri="u"), Concept(uri="u")])


def test_a_concept_that_is_not_there_is_named() -> None:
    assert "http://x/9" not in THESAURUS
    with pytest.raises(KeyError, match="http://x/9"):
        THESAURUS["http://x/9"]


def test_labels_become_concepts_and_nothing_is_dropped() -> None:
    labels = ["kirjastot", "<http://x/1>", "Books", "tin", "strange"]
    corpus = Corpus(np.eye(5, dtype=int), np.eye(5) + np.eye(5, k=1), None, labels)
    found, matched = with_concepts(corpus, THESAURUS)
    assert found.label_names == ("http://x/1", "http://x/5", "strange", "tin")
    assert found.labels.toarray().astype(int).tolist() == [
        [1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 1, 0],
    ]  # fmt: skip
    assert matched.unknown == ["strange"]
    assert matched.ambiguous == {"tin": ("http://x/3", "http://x/4")}
    assert matched.deprecated == {"Books": "http://x/1"}
    replaced, _ = with_concepts(corpus, THESAURUS, replace_deprecated=True)
    assert replaced.label_names == ("http://x/1", "strange", "tin")
    assert np.array_equal(found.counts.toarray(), corpus.counts.toarray())
