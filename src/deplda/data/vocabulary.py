"""Vocabularies: labels as concepts of a thesaurus, with names in languages and addresses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np
from scipy.sparse import csr_array

from deplda.data.corpus import Corpus, check_distinct, map_columns
from deplda.data.wording import counted

ANY = ""
"""The language of names that are given without one."""


class Concept(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """A label of a thesaurus.

    Examples
    --------
    >>> import deplda
    >>> concept = deplda.Concept(uri="http://t.example/7", names={"en": "ox", "de": "Ochse"})
    >>> concept.name("de")
    'Ochse'
    """

    uri: str
    """Its address, or whatever stands for it: "5573"."""
    names: dict[str, str] = {}
    """The preferred name, by language."""
    synonyms: dict[str, tuple[str, ...]] = {}
    notation: str | None = None
    broader: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    notes: dict[str, str] = {}
    """What it is used for, by language."""
    deprecated: bool = False
    replaced_by: str | None = None

    def name(self, language: str | None = None) -> str:
        """Return the name in a language, or else in any, or else the notation or the address."""
        for code in (language, ANY, "en"):
            if code is not None and code in self.names:
                return self.names[code]
        return next(iter(self.names.values()), self.notation or self.uri)


class Matched(NamedTuple):
    """What labels are in a vocabulary."""

    uris: dict[str, str]
    """The concept of each label that has one."""
    unknown: list[str]
    ambiguous: dict[str, tuple[str, ...]]
    """Names of several concepts, and which."""
    deprecated: dict[str, str | None]
    """Labels whose concept is no longer to be used, and the one to use, if there is one."""

    def taken(
        self, *, replace_deprecated: bool = False, except_for: Collection[str] = ()
    ) -> dict[str, str]:
        """Return the concept that each label is taken for; `except_for` are not replaced."""
        if not replace_deprecated:
            return dict(self.uris)
        return self.uris | {
            label: uri
            for label, uri in self.deprecated.items()
            if uri is not None and self.uris[label] not in except_for
        }


class Relatives(NamedTuple):
    """The concepts next to one, by address."""

    broader: tuple[str, ...]
    narrower: tuple[str, ...]
    related: tuple[str, ...]


class Vocabulary:
    """The concepts of a thesaurus, in order, found by URI, notation or name.

    Examples
    --------
    >>> import deplda
    >>> ox = deplda.Concept(uri="http://t.example/7", names={"en": "ox"}, notation="C15")
    >>> vocabulary = deplda.Vocabulary([ox])
    >>> len(vocabulary), vocabulary["http://t.example/7"].name("en")
    (1, 'ox')
    """

    def __init__(self, concepts: Iterable[Concept]) -> None:
        self.concepts = tuple(concepts)
        self._places = {concept.uri: place for place, concept in enumerate(self.concepts)}
        check_distinct([concept.uri for concept in self.concepts], "the vocabulary")

    def __repr__(self) -> str:
        codes = ", ".join(code or "not said" for code in self.languages)
        return f"Vocabulary({counted(len(self), 'concept')}, names: {codes or 'none'})"

    def __len__(self) -> int:
        return len(self.concepts)

    def __iter__(self) -> Iterator[Concept]:
        return iter(self.concepts)

    def __contains__(self, uri: object) -> bool:
        return uri in self._places

    def __getitem__(self, uri: str) -> Concept:
        return self.concepts[self._places[uri]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.concepts == other.concepts

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def languages(self) -> dict[str, int]:
        """The languages of preferred names, and how many concepts have one in it."""
        found: dict[str, int] = {}
        for concept in self.concepts:
            for language in concept.names:
                found[language] = found.get(language, 0) + 1
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def name_language(self, preferred: str | None) -> str | None:
        """Return the language to display names in: the preferred one if it has names.

        Otherwise it is that of names without a language, then English, then the most frequent one.
        """
        codes = (preferred, ANY, "en", *self.languages)
        return next((code for code in codes if code in self.languages), None)

    @cached_property
    def narrower(self) -> dict[str, tuple[str, ...]]:
        """The concepts that name each concept as broader."""
        found: dict[str, list[str]] = {}
        for concept in self.concepts:
            for uri in concept.broader:
                found.setdefault(uri, []).append(concept.uri)
        return {uri: tuple(own) for uri, own in found.items()}

    def relatives(self, uri: str) -> Relatives:
        """Return the concepts of the vocabulary that it has next to one."""
        concept = self[uri]
        every = concept.broader, self.narrower.get(uri, ()), concept.related
        return Relatives(*(tuple(each for each in own if each in self) for own in every))

    @cached_property
    def hierarchy(self) -> csr_array[Any, tuple[int, int]]:
        """Which concepts are broader, concepts × concepts: those of a row are broader than it.

        Concepts that are named as broader but are not in the vocabulary are left out.
        """
        known = [
            sorted({self._places[uri] for uri in concept.broader if uri in self._places})
            for concept in self.concepts
        ]
        starts = np.cumsum([0, *map(len, known)])
        columns = np.array([place for own in known for place in own], dtype=np.int64)
        data, shape = np.ones(len(columns), bool), (len(known), len(known))
        return csr_array((data, columns, starts), shape=shape)

    def find(self, label: str) -> tuple[str, ...]:
        """Return the addresses of the concepts that a label stands for.

        An address (with or without angle brackets) comes before a notation, that before a preferred
        name, that before a synonym; names are found in any language, and without regard to case.
        """
        bare = label.strip()
        bare = bare[1:-1] if bare.startswith("<") and bare.endswith(">") else bare
        if bare in self._places:
            return (bare,)
        for index in self._indexes:
            if found := index.get(bare) or index.get(bare.casefold()):
                return found
        return ()

    @cached_property
    def _indexes(self) -> list[dict[str, tuple[str, ...]]]:
        """The concepts by notation, by name and by synonym."""
        notations: dict[str, dict[str, None]] = {}
        names: dict[str, dict[str, None]] = {}
        synonyms: dict[str, dict[str, None]] = {}
        for concept in self.concepts:
            if concept.notation is not None:
                notations.setdefault(concept.notation, {})[concept.uri] = None
            for name in concept.names.values():
                names.setdefault(name.casefold(), {})[concept.uri] = None
            for several in concept.synonyms.values():
                for name in several:
                    synonyms.setdefault(name.casefold(), {})[concept.uri] = None
        return [
            {key: self._in_use(tuple(uris)) for key, uris in index.items()}
            for index in (notations, names, synonyms)
        ]

    def _in_use(self, uris: tuple[str, ...]) -> tuple[str, ...]:
        """Return those that are not deprecated; all where all are."""
        return tuple(uri for uri in uris if not self[uri].deprecated) or uris

    def replacement(self, uri: str) -> str | None:
        """Return the concept to use in place of a deprecated one, None if there is none."""
        return self._replacements[self[uri].uri]

    @cached_property
    def _replacements(self) -> dict[str, str | None]:
        """The concept to use in place of each concept; it is None for a cycle."""
        replacements: dict[str, str | None] = {c.uri: c.uri for c in self if not c.deprecated}
        for concept in self:
            chain: dict[str, None] = {}
            uri = concept.uri
            while uri in self and uri not in replacements and uri not in chain:
                chain[uri] = None
                uri = self[uri].replaced_by or ""
            replacements |= dict.fromkeys(chain, replacements.get(uri))
        return replacements

    def match(self, labels: Iterable[str]) -> Matched:
        """Return the concepts of labels, and what is to be said of them."""
        found = Matched({}, [], {}, {})
        for label in dict.fromkeys(labels):
            uris = self.find(label)
            if len(uris) == 1:
                found.uris[label] = uris[0]
                if self[uris[0]].deprecated:
                    found.deprecated[label] = self.replacement(uris[0])
            elif uris:
                found.ambiguous[label] = uris
            else:
                found.unknown.append(label)
        return found


def with_concepts(
    corpus: Corpus,
    vocabulary: Vocabulary,
    *,
    replace_deprecated: bool = False,
    except_for: Collection[str] = (),
) -> tuple[Corpus, Matched]:
    """Return the corpus with the addresses of concepts as labels, and what was matched.

    Labels of one concept become one; those that have none stay as they are. Of deprecated concepts
    those of `except_for` are not replaced.
    """
    matched = vocabulary.match(corpus.label_names)
    uris = matched.taken(replace_deprecated=replace_deprecated, except_for=except_for)
    new = [uris.get(label, label) for label in corpus.label_names]
    names = tuple(sorted(set(new)))
    places = {name: place for place, name in enumerate(names)}
    renamed = map_columns(
        corpus.labels, np.array([places[name] for name in new], dtype=np.int64), len(names)
    )
    renamed.sum_duplicates()  # a document may have two labels of one concept
    renamed.data[:] = True
    return Corpus(corpus.counts, renamed, corpus.vocabulary, names, corpus.ids), matched
