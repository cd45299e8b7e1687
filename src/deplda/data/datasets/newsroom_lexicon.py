"""The hand-written lexicon of the newsroom corpus, and what follows from it whatever the seed."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from deplda.data.datasets.sentences import pick

# The paper's story of a label that occurs once, among two frequent ones (its figure 2).
ONE_DOCUMENT_LABEL = "VIDEO GAMES"
ITS_COMPANIONS = ("ANTITRUST ACTIONS AND LAWS", "SUITS AND LITIGATION")

_GROUP_DECAY, _RANK_DECAY = 0.7, 1.4  # of the frequencies of subjects
_WITH_FIRST = 0.85  # how often the first subject of a group goes with another
_N_STORIES = 6  # of a subject
_N_WRITERS = 24
_N_HABITS, _N_SCENES, _N_COMPARISONS = 8, 4, 3  # of a writer


class Words(NamedTuple):
    """What sentences about something are made of."""

    people: list[str]
    things: list[str]
    stuff: list[str]
    verbs: list[str]
    adjectives: list[str]

    @classmethod
    def of_line(cls, line: str) -> Words:
        """Return the words of a line of the file."""
        return cls(*(part.strip().split(", ") for part in line.split("|")))


class Story(NamedTuple):
    """A subject in a place, with those who are in the news because of it."""

    label: str
    place: str
    organization: str
    people: list[str]


class Subject(NamedTuple):
    """A descriptor that an article may be about."""

    label: str
    group: int
    words: Words
    companions: list[tuple[int, float]]
    """Numbers of other subjects that go with it, and how often."""
    stories: list[Story]


class Aspect(NamedTuple):
    """A descriptor of what an article is."""

    label: str
    words: Words


class Writer(NamedTuple):
    """Somebody who writes articles about anything, in the same way."""

    habits: list[str]
    scenes: list[Words]
    comparisons: list[Words]


class Lexicon:
    """Subjects, places, aspects and writers, and the templates of sentences."""

    def __init__(self, content: dict[str, Any]) -> None:
        rng = np.random.default_rng(0)  # stories and writers are as fixed as words
        for key in ("people", "surnames", "organizations", "months", "days"):
            content[key] = content[key].split(", ")
        self.people: list[str] = content["people"]
        self.surnames: list[str] = content["surnames"]
        self.months: list[str] = content["months"]
        self.days: list[str] = content["days"]
        self.places: list[str] = content["places"]
        """The most frequent first."""
        self.titles: list[str] = content["titles"]
        self.sentences: list[str] = content["sentences"]
        self.story_sentences: list[str] = content["story_sentences"]
        self.asides: list[str] = content["asides"]
        groups = content["groups"]
        self.subjects = [
            Subject(label, number, Words.of_line(line), [], _stories(label, content, rng))
            for number, group in enumerate(groups)
            for label, line in group["labels"].items()
        ]
        """Group by group."""
        self._numbers = {subject.label: n for n, subject in enumerate(self.subjects)}
        self._groups = [[self._numbers[label] for label in group["labels"]] for group in groups]
        self._pair(content["goes_with"])
        rare = self._numbers[ONE_DOCUMENT_LABEL]
        self.frequent = [n for n in range(len(self.subjects)) if n != rare]
        """Numbers of the subjects that are drawn."""
        weights = [
            (n != rare) * (1.0 + number) ** -_GROUP_DECAY * (1.0 + rank) ** -_RANK_DECAY
            for number, group in enumerate(self._groups)
            for rank, n in enumerate(group)
        ]
        self.shares = list(accumulate(weights))
        """Running sums of how often each subject is the main one."""
        self.aspects = [
            [Aspect(a["label"], Words.of_line(a["words"])) for a in content["aspects"]
             if group["name"] in a["groups"]]
            for group in groups
        ]  # fmt: skip
        """Of each group."""
        self.writers = [self._writer(content, rng) for _ in range(_N_WRITERS)]

    def subject(self, label: str) -> Subject:
        """Return a subject by its name."""
        return self.subjects[self._numbers[label]]

    def alike(self, number: int) -> list[Words]:
        """Return the words of the subjects of the same group."""
        group = self._groups[self.subjects[number].group]
        return [self.subjects[n].words for n in group if n in self.frequent]

    def _pair(self, pairs: list[tuple[str, str, float]]) -> None:
        for first, *others in self._groups:
            for number in others:
                self.subjects[number].companions.append((first, _WITH_FIRST))
        for one, other, often in pairs:
            self.subject(one).companions.append((self._numbers[other], often))

    def _writer(self, content: dict[str, Any], rng: np.random.Generator) -> Writer:
        def some(items: Sequence[Any], n: int) -> list[Any]:
            return [items[k] for k in rng.choice(len(items), n, replace=False)]

        return Writer(
            some(content["habits"], _N_HABITS),
            [Words.of_line(line) for line in some(content["scenes"], _N_SCENES)],
            [self.subjects[n].words for n in some(self.frequent, _N_COMPARISONS)],
        )


@cache
def read_lexicon() -> Lexicon:
    """Return the lexicon that comes with the package."""
    text = files("deplda.data.datasets").joinpath("newsroom.toml").read_text(encoding="utf-8")
    return Lexicon(tomllib.loads(text))


def any_person(people: list[str], surnames: list[str], rng: np.random.Generator) -> str:
    """Return a first name and a surname."""
    return f"{pick(rng, people)} {pick(rng, surnames)}"


def _stories(label: str, content: dict[str, Any], rng: np.random.Generator) -> list[Story]:
    """Return the running stories of a subject, each in another place."""
    people, surnames, places = content["people"], content["surnames"], content["places"]
    return [
        Story(
            f"{label} IN {places[place].upper()}",
            places[place],
            f"{pick(rng, surnames)} {pick(rng, content['organizations'])}",
            [any_person(people, surnames, rng) for _ in range(2)],
        )
        for place in rng.choice(len(places), _N_STORIES, replace=False)
    ]
