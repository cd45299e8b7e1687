"""The thesaurus of the newsroom corpus."""

from collections import Counter

from deplda import datasets
from deplda.data.datasets.newsroom_thesaurus import newsroom_thesaurus


def test_every_label_is_a_concept_of_one_name_in_both_languages() -> None:
    concepts = newsroom_thesaurus()
    for code in ("en", "de"):
        names = Counter(concept.names[code] for concept in concepts)
        assert {name for name, n in names.items() if n > 1} == set()
    known = {concept.name("en") for concept in concepts}
    assert set(datasets.newsroom(2_000).corpus.label_names) <= known


def test_other_names_belong_to_one_concept() -> None:
    others = Counter(name for c in newsroom_thesaurus() for name in c.synonyms.get("en", ()))
    assert len(others) > 250
    assert set(others.values()) == {1}


def test_stories_are_narrower_than_their_subject_and_place() -> None:
    concepts = newsroom_thesaurus()
    named = {concept.name("en"): concept for concept in concepts}
    story = next(c for c in concepts if c.name("en").startswith("HOUSING IN "))
    subject, place = (concepts[uri] for uri in story.broader)
    assert story.name("en") == f"{subject.name('en')} IN {place.name('en')}"
    assert [concepts[uri].name("de") for uri in subject.broader] == ["Städte und Verkehr"]
    music, opera = named["MUSIC"], named["OPERA"]
    assert music.uri in opera.related
    assert opera.uri in music.related


def test_deprecated_concepts_have_successors() -> None:
    concepts = newsroom_thesaurus()
    old = [concept for concept in concepts if concept.deprecated]
    assert len(old) == 3
    assert not any(concepts[str(concept.replaced_by)].deprecated for concept in old)
