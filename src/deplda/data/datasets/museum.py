"""The museum of a small town: records as texts, and the thesaurus that they are labelled with.

Sentences are put together from a hand-written table. A label's name, its plural or a synonym stands
in most texts about it, and in some that only mention it. Some concepts are kept from the records to
learn from: of these only the names can tell.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deplda.data import checks
from deplda.data.atomic import write_whole
from deplda.data.datasets.sentences import pick, plural
from deplda.data.files import StrPath
from deplda.data.readers.writers import write_rows
from deplda.data.vocabulary import Concept, Vocabulary

_ADDRESS = "https://museum.example/thesaurus/"
_FIRST_NUMBER = 1001
_N_NEW = 8
_TEST_SHARE = 0.25
_NEVER_LEARNED = 0.2  # of all concepts, and rare ones by chance
_ABOUT_RARE = 0.3  # of the records that are not learned from
_N_FREQUENT = 60  # concepts that come before all others by frequency
_DECAY, _FLAT = 2.0, 25.0  # of the frequencies of labels, by rank
_EXTRA_LABELS = 1.1
_BY_CHANCE = 0.25  # of labels beside the first
_IS_NAMED = 0.75
_BY_SYNONYM = 0.35
_HAS_ASIDE = 0.15
_OLD_LABEL = 0.4  # of labels to learn from that took the place of a deprecated one


@dataclass(frozen=True, slots=True)
class Record:
    """A text about things of the museum."""

    id: str
    title: str
    body: str
    labels: tuple[str, ...]
    """Addresses of concepts."""

    @property
    def text(self) -> str:
        """The title and what follows it."""
        return f"{self.title}\n\n{self.body}\n"


@dataclass(frozen=True, slots=True)
class Museum:
    """A thesaurus, and records that are labelled with its concepts."""

    thesaurus: Vocabulary
    train: tuple[Record, ...]
    test: tuple[Record, ...]
    new: tuple[Record, ...]
    """A few more, to suggest labels for. The first two are about concepts kept from `train`."""

    def write(self, folder: StrPath) -> None:
        """Write ``thesaurus.ttl``, ``train.jsonl``, ``test.jsonl``, and each new text as a file.

        New texts are ``new/n1.txt`` and so on, without labels. The thesaurus is SKOS as Turtle.
        """
        root = Path(folder)
        (root / "new").mkdir(parents=True, exist_ok=True)
        with write_whole(root / "thesaurus.ttl") as file:
            file.write(_turtle(self.thesaurus).encode())
        for name, records in (("train", self.train), ("test", self.test)):
            rows = ({"id": r.id, "text": r.text, "labels": r.labels} for r in records)
            write_rows(rows, root / f"{name}.jsonl")
        for record in self.new:
            with write_whole(root / "new" / f"{record.id}.txt") as file:
                file.write(record.text.encode())


class _Thing(NamedTuple):
    """A line of the table."""

    names: list[str]
    german: list[str]
    words: list[str]
    related: list[str]
    note: str
    parent: int
    group: int


class _Table(NamedTuple):
    things: list[_Thing]
    places: dict[str, int]
    """Of each name of a thing its number."""
    old: list[tuple[str, str, str]]
    """Deprecated names in English and German, and what replaces them."""
    near: list[list[int]]
    """Of each thing those that are related to it."""
    parents: frozenset[int]
    """Things that have narrower ones."""
    content: dict[str, Any]


def museum(n_documents: int = 800, *, seed: int = 0) -> Museum:
    """Return a thesaurus, `n_documents` records to learn from and to test with, and some new ones.

    A quarter of the records is for testing. With the default number, more than a quarter of the
    concepts is in no record of `train`; three in ten of `test` are about one that is kept from it.
    """
    checks.whole("n_documents", n_documents, least=4)
    table, rng = _table(), np.random.default_rng(seed)
    order = _by_frequency(table, rng)
    n_learned = round(len(table.things) * (1 - _NEVER_LEARNED))
    writer, rare = _Writer(table, rng, order[:n_learned]), order[n_learned:]
    n_test = round(n_documents * _TEST_SHARE)
    train = [writer.record(f"r{k + 1}") for k in range(n_documents - n_test)]
    test = [
        writer.record(f"t{k + 1}", pick(rng, rare) if rng.random() < _ABOUT_RARE else None)
        for k in range(n_test)
    ]
    strange = [place for place in rare if place not in table.parents]
    new = [writer.record(f"n{k + 1}", strange[k] if k < 2 else None) for k in range(_N_NEW)]
    # Some of what is learned from was labelled when older concepts were still in use.
    aged = [_aged(record, table, rng) for record in train]
    return Museum(_thesaurus(table), tuple(aged), tuple(test), tuple(new))


def _by_frequency(table: _Table, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return all but the top concepts, the most frequent first.

    What took the place of another concept is frequent, what has narrower ones is not.
    """
    renewed = {new for _, _, new in table.old}
    leaves = rng.permutation([k for k in range(len(table.things)) if k not in table.parents])
    is_early = np.array([table.things[k].names[0] in renewed for k in leaves])
    is_early[:_N_FREQUENT] = True
    middle = [k for k in table.parents if k >= 0 and table.things[k].parent >= 0]
    rest = np.concatenate([leaves[~is_early], sorted(middle)])
    return np.concatenate([rng.permutation(leaves[is_early]), rng.permutation(rest)])


class _Writer:
    """Puts records together."""

    def __init__(
        self, table: _Table, rng: np.random.Generator, learned: npt.NDArray[np.int64]
    ) -> None:
        self._table, self._rng, self._learned = table, rng, learned
        weights = (np.arange(len(learned)) + _FLAT) ** -_DECAY
        self._shares = weights / weights.sum()
        self._weights = dict(zip(learned.tolist(), self._shares.tolist(), strict=True))
        self._used: set[str] = set()

    def draw(self) -> int:
        """Return a concept that may be learned, the frequent ones more often."""
        return int(self._rng.choice(self._learned, p=self._shares))

    def record(self, id: str, about: int | None = None) -> Record:
        """Return a record about a concept, or about any of those that may be learned."""
        rng, content = self._rng, self._table.content
        about = self.draw() if about is None else int(about)
        labels = [about]
        self._used.clear()
        for _ in range(min(rng.poisson(_EXTRA_LABELS), 3)):
            beside = self._beside(about)
            if beside not in labels:
                labels.append(beside)
        title, sentences = "", []
        for label in labels:
            is_named = rng.random() < _IS_NAMED
            title = title or self._sentence(
                content["titles" if is_named and rng.random() < 0.5 else "titles_by_words"], label
            )
            sentences += self._about(label, is_named)
        if rng.random() < _HAS_ASIDE:
            sentences.append(
                self._sentence(content["asides"], int(rng.integers(len(self._table.things))))
            )
        sentences += [self._sentence(content["neutral"], about) for _ in range(rng.integers(1, 3))]
        body = " ".join(sentences[k] for k in rng.permutation(len(sentences)))
        return Record(id, title, body, tuple(sorted(_uri(label) for label in labels)))

    def _beside(self, about: int) -> int:
        """Return a concept that goes with another: a related one, one of the same kind, or any."""
        things = self._table.things
        siblings = {k for k, thing in enumerate(things) if thing.parent == things[about].parent}
        near = sorted({*self._table.near[about], *siblings} & self._weights.keys() - {about})
        if not near or self._rng.random() < _BY_CHANCE:
            return self.draw()
        weights = np.array([self._weights[place] for place in near])
        return int(self._rng.choice(near, p=weights / weights.sum()))

    def _about(self, label: int, is_named: bool) -> list[str]:
        content, rng = self._table.content, self._rng
        *own_named, own_by_words = content["groups"][self._table.things[label].group]["own"]
        named, by_words = content["named"] + own_named, [*content["by_words"], own_by_words]
        n = int(rng.integers(2, 4))
        first = self._sentence(named if is_named else by_words, label)
        return [first, *(self._sentence(by_words, label) for _ in range(n - 1))]

    def _sentence(self, templates: Sequence[str], label: int) -> str:
        rng, content, thing = self._rng, self._table.content, self._table.things[label]
        name = thing.names[0]
        if len(thing.names) > 1 and rng.random() < _BY_SYNONYM:
            name = pick(rng, thing.names[1:])
        one, many = self._forms(_bare(name), label)
        first, second = rng.permutation(len(thing.words))[:2]
        template: str = pick(rng, [t for t in templates if t not in self._used] or templates)
        self._used.add(template)
        return template.format(
            a=one, A=one[0].upper() + one[1:], s=many, S=many[0].upper() + many[1:],
            w=thing.words[first], v=thing.words[second], year=rng.integers(1780, 1961),
            person=pick(rng, content["people"]), place=pick(rng, content["places"]),
        )  # fmt: skip

    def _forms(self, name: str, label: int) -> tuple[str, str]:
        """Return a name as one thing and as several; what cannot be counted stays as it is."""
        content, group = self._table.content, self._table.things[label].group
        is_many = name.endswith("s") and not name.endswith(("ss", "us"))
        is_mass = name in content["mass"] or content["groups"][group]["kind"] == "mass"
        if is_many or is_mass or label in self._table.parents:
            return name, name
        article = "an" if name[0] in "aeiou" and not name.startswith(("uni", "ewe")) else "a"
        return f"{article} {name}", plural(name)


def _bare(name: str) -> str:
    """Return a name without what tells it from others spelt alike."""
    return name.partition(" (")[0]


def _uri(place: int) -> str:
    return f"{_ADDRESS}{_FIRST_NUMBER + place}"


def _aged(record: Record, table: _Table, rng: np.random.Generator) -> Record:
    """Return a record with deprecated labels in place of some that are in use."""
    first = len(table.things)
    old = {_uri(table.places[new]): _uri(first + k) for k, (*_, new) in enumerate(table.old) if new}
    labels = [old[u] if u in old and rng.random() < _OLD_LABEL else u for u in record.labels]
    return replace(record, labels=tuple(sorted(labels)))


def _thesaurus(table: _Table) -> Vocabulary:
    """Return the concepts of the table, and after them the deprecated ones."""
    counts, concepts = Counter[int](), list[Concept]()
    for place, thing in enumerate(table.things):
        synonyms = {"en": tuple(sorted(thing.names[1:])), "de": tuple(sorted(thing.german[1:]))}
        concept = Concept(
            uri=_uri(place), names={"en": thing.names[0], "de": thing.german[0]},
            synonyms={code: own for code, own in synonyms.items() if own},
            notation=f"{chr(ord('A') + thing.group)}{counts[thing.group]:02}",
            broader=(_uri(thing.parent),) if thing.parent >= 0 else (),
            related=tuple(_uri(other) for other in table.near[place]),
            notes={"en": thing.note} if thing.note else {},
        )  # fmt: skip
        counts[thing.group] += 1
        concepts.append(concept)
    for k, (name, german, new) in enumerate(table.old):
        uri, after = _uri(len(table.things) + k), _uri(table.places[new]) if new else None
        names = {"en": name, "de": german}
        concepts.append(Concept(uri=uri, names=names, deprecated=True, replaced_by=after))
    return Vocabulary(concepts)


def _turtle(vocabulary: Vocabulary) -> str:
    """Return a vocabulary as SKOS in Turtle."""
    lines = [
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .",
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .",
        "@prefix dct: <http://purl.org/dc/terms/> .",
    ]
    for concept in vocabulary:
        said = [("skos:prefLabel", _literal(n, code)) for code, n in concept.names.items()]
        for code, several in concept.synonyms.items():
            said += [("skos:altLabel", _literal(name, code)) for name in several]
        said += [("skos:scopeNote", _literal(n, code)) for code, n in concept.notes.items()]
        if concept.notation is not None:
            said.append(("skos:notation", _literal(concept.notation)))
        said += [("skos:broader", f"<{uri}>") for uri in concept.broader]
        said += [("skos:related", f"<{uri}>") for uri in concept.related]
        if concept.deprecated:
            said.append(("owl:deprecated", "true"))
        if concept.replaced_by is not None:
            said.append(("dct:isReplacedBy", f"<{concept.replaced_by}>"))
        own = "".join(f" ;\n    {predicate} {value}" for predicate, value in said)
        lines.append(f"\n<{concept.uri}> a skos:Concept{own} .")
    return "\n".join(lines) + "\n"


def _literal(text: str, language: str = "") -> str:
    """Return a text as Turtle quotes it, which is as JSON does."""
    return json.dumps(text, ensure_ascii=False) + (f"@{language}" if language else "")


@cache
def _table() -> _Table:
    text = files("deplda.data.datasets").joinpath("museum.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    for key in ("people", "places", "mass"):
        content[key] = content[key].split(", ")
    things: list[_Thing] = []
    for number, group in enumerate(content["groups"]):
        above: list[int] = []
        for line in group["concepts"].strip("\n").split("\n"):
            depth = len(line) - len(line.lstrip())
            names, german, words, related, note, *_ = [*map(str.strip, line.split("|")), "", ""]
            parent = above[depth - 1] if depth else -1
            above[depth:] = [len(things)]
            thing = _Thing(
                names.split("; "), german.split("; "), words.split(", "),
                related.split(", ") if related else [], note, parent, number,
            )  # fmt: skip
            things.append(thing)
    lines = content["deprecated"]["concepts"].strip("\n").split("\n")
    old = [tuple(map(str.strip, line.split("|"))) for line in lines]
    places = {thing.names[0]: place for place, thing in enumerate(things)}
    near: list[set[int]] = [set() for _ in things]
    for place, thing in enumerate(things):
        for other in (places[name] for name in thing.related):
            near[place].add(other)
            near[other].add(place)
    return _Table(
        things, places, [(a, b, c) for a, b, c in old], [sorted(own) for own in near],
        frozenset(thing.parent for thing in things), content,
    )  # fmt: skip
