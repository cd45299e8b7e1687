"""The thesaurus of the newsroom corpus: its labels as concepts, in English and German."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from deplda.data.datasets.newsroom_lexicon import Lexicon, read_lexicon
from deplda.data.vocabulary import Concept, Vocabulary

_ADDRESS = "https://newsroom.example/thesaurus/"
_FIRST_NUMBER = 1001


@cache
def newsroom_thesaurus() -> Vocabulary:
    """Return groups, subjects, kinds of articles, places, running stories, and deprecated concepts.

    A story such as ``HOUSING IN BOSTON`` is narrower than its subject and its place.
    """
    path = files("deplda.data.datasets").joinpath("newsroom_thesaurus.toml")
    content: dict[str, dict[str, str]] = tomllib.loads(path.read_text(encoding="utf-8"))
    lexicon = read_lexicon()
    names = _names(lexicon, content)
    uris = {name: f"{_ADDRESS}{_FIRST_NUMBER + place}" for place, name in enumerate(names)}
    broader, related = _broader(lexicon, content), _related(lexicon)
    terms = content["subjects"] | content["aspects"]
    concepts = []
    for name, german in names.items():
        others = terms.get(name, "").partition("|")[0].strip()
        new = content["deprecated"].get(name)
        concepts.append(
            Concept(
                uri=uris[name],
                names={"en": name, "de": german},
                synonyms={"en": tuple(others.split("; "))} if others else {},
                notation=None if new else uris[name].removeprefix(_ADDRESS),
                broader=tuple(uris[other] for other in broader.get(name, ())),
                related=tuple(uris[other] for other in sorted(related.get(name, ()))),
                deprecated=new is not None,
                replaced_by=uris[new] if new else None,
            )
        )
    return Vocabulary(concepts)


def _names(lexicon: Lexicon, content: dict[str, dict[str, str]]) -> dict[str, str]:
    """Return the English and the German name of every concept."""
    terms = content["subjects"] | content["aspects"]
    names = dict(content["groups"])
    names |= {name: line.partition("|")[2].strip() for name, line in terms.items()}
    places = {place: content["places"].get(place, place) for place in lexicon.places}
    names |= {place.upper(): german for place, german in places.items()}
    for subject in lexicon.subjects:
        for story in subject.stories:
            names[story.label] = f"{names[subject.label]}: {places[story.place]}"
    return names | {name: name.capitalize() for name in content["deprecated"]}


def _broader(lexicon: Lexicon, content: dict[str, dict[str, str]]) -> dict[str, tuple[str, ...]]:
    *groups, kinds, places = content["groups"]
    broader: dict[str, tuple[str, ...]] = dict.fromkeys(content["aspects"], (kinds,))
    broader |= {place.upper(): (places,) for place in lexicon.places}
    for subject in lexicon.subjects:
        broader[subject.label] = (groups[subject.group],)
        for story in subject.stories:
            broader[story.label] = (subject.label, story.place.upper())
    return broader


def _related(lexicon: Lexicon) -> dict[str, set[str]]:
    related: dict[str, set[str]] = {}
    for subject in lexicon.subjects:
        for number, _ in subject.companions:
            other = lexicon.subjects[number].label
            related.setdefault(subject.label, set()).add(other)
            related.setdefault(other, set()).add(subject.label)
    return related
