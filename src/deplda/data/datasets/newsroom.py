"""The newsroom corpus: generated articles, with descriptors as a newspaper's indexers give them.

The process is none of the models'. An article has a main subject. Others go with it by a table, and
the first subject of its group mostly does, whether or not the text says a word of them. A running
story is a descriptor too, "HOUSING IN BOSTON": a subject in a place with an organization and
people, whose names others bear as well. Most have one to five articles, some of which are about
something else. The place of an article is a descriptor if it matters, and is named anyway. What an
article is rather than what it is about, such as "REVIEWS", depends on the group.

Sentences are put together from a hand-written lexicon. An article has a few words of each
descriptor and repeats them; some sentences stray to a subject of the same group. Much is of scenes,
habits and comparisons of the writer, for which no descriptor stands. There are misprints; and
indexers forget a label now and then, or give the story and not its subject.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np

from deplda.data import checks
from deplda.data.atomic import write_whole
from deplda.data.corpus import Corpus
from deplda.data.datasets.newsroom_lexicon import (
    ITS_COMPANIONS,
    ONE_DOCUMENT_LABEL,
    Lexicon,
    Story,
    Words,
    any_person,
    read_lexicon,
)
from deplda.data.datasets.newsroom_thesaurus import newsroom_thesaurus
from deplda.data.datasets.sentences import (
    capital,
    drawn,
    falling,
    headline,
    pick,
    plural,
    with_articles,
)
from deplda.data.files import StrPath
from deplda.data.readers import CorpusBuilder, kept_words, write_rows
from deplda.data.readers.vocabularies import write_vocabulary
from deplda.data.text import WordCounter
from deplda.data.vocabulary import Vocabulary

# How often an article has labels beside its main subject.
_OTHER_SUBJECT = 0.4
_ASPECT = 0.35
_OWN_STORY, _OTHER_STORY = 0.3, 0.3
_PLACE_MATTERS = 0.7
_FORGOTTEN = 0.07
_STORY_SAYS_ALL = 0.2
_PLACE_DECAY, _STORY_DECAY = 0.8, 1.0

# What its sentences are, and how many there are.
_HABIT, _COMPARISON, _SCENE = 0.12, 0.1, 0.36
_STRAYS = 0.2
_UNSAID = 0.4
_STORY_WEIGHT = 0.3
_LEAST_LENGTH, _MORE_LENGTH, _LENGTH_SPREAD = 3, 14.0, 0.6
_PARAGRAPH = 4
_MISPRINTS = 0.001
_MIN_COUNT = 2  # most words that occur once are misprints
_PAPER_STORY_LENGTH = 36

_N_NEW, _TEST_SHARE = 8, 0.25  # of the articles that are written to files

_LETTERS = ("pq", "tu", "mn", "vw", "ab")
_N_FEW = (2, 4, 2, 2, 2)  # words of each kind that an article has of a descriptor
_WORD_DECAY = 0.5
_FIELD = re.compile(r"\{(\w+)\}")

_Pools = Mapping[str, Sequence[str]]
"""Of each letter or fact of a template what may stand for it."""


@dataclass(frozen=True, slots=True)
class Newsroom:
    """Generated articles."""

    corpus: Corpus
    """Their words, without English stop words and what occurs once, and the labels given."""
    texts: tuple[str, ...]
    """Headline, place, date and sentences, in the order of the corpus."""

    @property
    def thesaurus(self) -> Vocabulary:
        """All labels that articles can have, and broader ones, as concepts."""
        return newsroom_thesaurus()

    def write(self, folder: StrPath) -> None:
        """Write ``thesaurus.ttl``, ``train.jsonl``, ``test.jsonl``, and new texts as files.

        A quarter of the articles is for testing; labels are the URIs of concepts. The last eight
        articles are ``new/n1.txt`` and so on, without labels.
        """
        root, n = Path(folder), len(self.texts)
        (root / "new").mkdir(parents=True, exist_ok=True)
        write_vocabulary(self.thesaurus, root / "thesaurus.ttl")
        uris = {concept.name("en"): concept.uri for concept in self.thesaurus}
        names, labels = self.corpus.label_names, self.corpus.labels
        rows = [
            {"id": f"a{row}", "text": text, "labels": [uris[names[c]] for c in own]}
            for row, text in enumerate(self.texts)
            for own in [labels[[row]].indices]
        ]
        n_train = round((n - _N_NEW) * (1 - _TEST_SHARE))
        write_rows(rows[:n_train], root / "train.jsonl")
        write_rows(rows[n_train : n - _N_NEW], root / "test.jsonl")
        for number, text in enumerate(self.texts[n - _N_NEW :], start=1):
            with write_whole(root / "new" / f"n{number}.txt") as file:
                file.write(text.encode())


def newsroom(n_documents: int = 2_000, *, seed: int = 0) -> Newsroom:
    """Return `n_documents` generated articles.

    Document 0 tells the paper's story: it alone carries ``VIDEO GAMES``, beside ``ANTITRUST ACTIONS
    AND LAWS`` and ``SUITS AND LITIGATION``, which are frequent. The word *steroids* belongs to
    ``MEDICINE AND HEALTH``, ``BASEBALL`` and ``BLACK MARKETS``. A larger corpus of the same seed
    begins with the articles of a smaller one.
    """
    checks.at_least_one(n_documents=n_documents)
    articles = [_article(read_lexicon(), seed, number) for number in range(n_documents)]
    counter = WordCounter(language=None, token_pattern="words")  # noqa: S106
    count, builder = counter.analyzer().counts, CorpusBuilder()
    for text, labels in articles:
        builder.add(count(text), labels)
    corpus, _ = kept_words(builder.corpus(), _MIN_COUNT)
    return Newsroom(corpus, tuple(text for text, _ in articles))


def _article(lexicon: Lexicon, seed: int, number: int) -> tuple[str, list[str]]:
    """Return a text and its labels; each article has a generator of its own."""
    rng = np.random.default_rng((seed, number))
    if number == 0:
        plan = _paper_story(lexicon)
        return _text(lexicon, plan, _PAPER_STORY_LENGTH, rng), plan.labels
    plan = _plan(lexicon, rng)
    length = _LEAST_LENGTH + round(rng.lognormal(np.log(_MORE_LENGTH), _LENGTH_SPREAD))
    return _misprinted(_text(lexicon, plan, length, rng), rng), _given(plan, rng)


# What an article is about -------------------------------------------------------------------------


class _Part(NamedTuple):
    """What some of the sentences are about, and how many of them."""

    words: Words
    weight: float
    alike: Sequence[Words] = ()
    """Subjects of the same group, to which sentences stray."""
    story: Story | None = None


class _Plan(NamedTuple):
    labels: list[str]
    """The main subject first."""
    parts: list[_Part]
    """That of the main subject first."""
    place: str
    is_story: bool = False
    """Whether a running story of the main subject is told."""
    digression: float = 1.0
    """How much is of no label, beside what other articles have."""


def _paper_story(lexicon: Lexicon) -> _Plan:
    """Return the plan of document 0: rare words are dropped, so it says its own often enough."""
    labels = [ONE_DOCUMENT_LABEL, *ITS_COMPANIONS]
    parts = [_Part(lexicon.subject(label).words, 1.0) for label in labels]
    parts[0] = parts[0]._replace(weight=1.5)
    return _Plan(labels, parts, lexicon.places[0], digression=0.2)


def _plan(lexicon: Lexicon, rng: np.random.Generator) -> _Plan:
    """Return what the next article is about."""
    subjects = lexicon.subjects
    main = drawn(lexicon.shares, rng)
    weights = {main: 1.0}
    for other, often in subjects[main].companions:
        if rng.random() < often:
            weights.setdefault(other, _weight(rng))
    if rng.random() < _OTHER_SUBJECT:
        weights.setdefault(pick(rng, lexicon.frequent), _weight(rng))
    labels = [subjects[number].label for number in weights]
    parts = [
        _Part(subjects[number].words, weight, lexicon.alike(number))
        for number, weight in weights.items()
    ]
    for aspect in lexicon.aspects[subjects[main].group]:
        if rng.random() < _ASPECT:
            labels.append(aspect.label)
            parts.append(_Part(aspect.words, _weight(rng) / 2))
    place = _any_place(lexicon, rng)
    is_story = rng.random() < _OWN_STORY
    if is_story:
        story = _any_story(subjects[main].stories, rng)
        place = story.place
        labels.append(story.label)
        parts.append(_Part(subjects[main].words, _STORY_WEIGHT, story=story))
    if rng.random() < _OTHER_STORY:
        about = subjects[drawn(lexicon.shares, rng)]
        story = _any_story(about.stories, rng)
        labels.append(story.label)
        parts.append(_Part(about.words, _STORY_WEIGHT, story=story))
    if rng.random() < _PLACE_MATTERS:
        labels.append(place.upper())
    return _Plan(list(dict.fromkeys(labels)), parts, place, is_story)


def _weight(rng: np.random.Generator) -> float:
    """Return how much is said of what goes with the main subject, beside 1 of that: often none."""
    return 0.0 if rng.random() < _UNSAID else float(rng.beta(1.5, 2.5))


def _any_place(lexicon: Lexicon, rng: np.random.Generator) -> str:
    return lexicon.places[drawn(falling(len(lexicon.places), _PLACE_DECAY), rng)]


def _any_story(stories: Sequence[Story], rng: np.random.Generator) -> Story:
    return stories[drawn(falling(len(stories), _STORY_DECAY), rng)]


def _given(plan: _Plan, rng: np.random.Generator) -> list[str]:
    """Return the labels that the indexers give, who forget some; one at least is left."""
    is_short = plan.is_story and rng.random() < _STORY_SAYS_ALL
    labels = plan.labels[1:] if is_short else plan.labels
    return [label for label in labels if rng.random() >= _FORGOTTEN] or labels[:1]


# What it says -------------------------------------------------------------------------------------


def _text(lexicon: Lexicon, plan: _Plan, length: int, rng: np.random.Generator) -> str:
    """Return headline, place, date, and sentences in paragraphs."""
    writer, used = pick(rng, lexicon.writers), set[str]()
    facts = _facts(lexicon, rng) | {"place": [plan.place]}
    told = [_pools(part, facts, rng) for part in plan.parts]
    sums = list(accumulate(part.weight for part in plan.parts))
    scenes = [facts | _few(pick(rng, writer.scenes), rng) for _ in range(2)]

    def sentence(templates: Sequence[str], pools: _Pools) -> str:
        template: str = pick(rng, [t for t in templates if t not in used] or templates)
        used.add(template)
        return _filled(template, pools, rng)

    title = headline(sentence(lexicon.titles, told[0][0]))
    sentences = []
    for kind in rng.random(length) / plan.digression:
        if kind < _HABIT:
            sentences.append(sentence(writer.habits, _facts(lexicon, rng)))
        elif kind < _HABIT + _COMPARISON:
            sentences.append(sentence(lexicon.asides, _few(pick(rng, writer.comparisons), rng)))
        elif kind < _HABIT + _COMPARISON + _SCENE:
            sentences.append(sentence(lexicon.sentences, pick(rng, scenes)))
        else:
            part = drawn(sums, rng)
            is_story = plan.parts[part].story is not None
            templates = lexicon.story_sentences if is_story else lexicon.sentences
            sentences.append(sentence(templates, told[part][int(rng.random() < _STRAYS)]))
    starts = range(0, length, _PARAGRAPH)
    body = "\n\n".join(" ".join(sentences[k : k + _PARAGRAPH]) for k in starts)
    date = f"{pick(rng, lexicon.months)} {rng.integers(1, 29)}"
    return f"{title}\n\n{plan.place.upper()}, {date} — {body}\n"


def _facts(lexicon: Lexicon, rng: np.random.Generator) -> dict[str, Sequence[str]]:
    """Return people, places and numbers of no meaning."""
    return {
        "name": [any_person(lexicon.people, lexicon.surnames, rng)],
        "place": [_any_place(lexicon, rng)],
        "day": lexicon.days,
        "month": lexicon.months,
        "number": [str(rng.integers(2, 90))],
    }


def _pools(part: _Part, facts: _Pools, rng: np.random.Generator) -> tuple[_Pools, _Pools]:
    """Return what sentences about a part are made of, and those that stray from it."""
    own = {**facts, **_few(part.words, rng)}
    if part.story is not None:
        story = part.story
        own |= {"org": [story.organization], "name": story.people, "place": [story.place]}
    strayed = {**facts, **_few(pick(rng, part.alike), rng)} if part.alike else own
    return own, strayed


def _few(words: Words, rng: np.random.Generator) -> dict[str, Sequence[str]]:
    """Return the few words of a descriptor that an article has, the first of them likelier."""
    found: dict[str, Sequence[str]] = {}
    for letters, pool, n in zip(_LETTERS, words, _N_FEW, strict=True):
        sums, few = falling(len(pool), _WORD_DECAY), dict[str, None]()
        while len(few) < min(n, len(pool)):
            few[pool[drawn(sums, rng)]] = None
        found |= {key: list(few) for key in letters}
    return found


def _filled(template: str, pools: _Pools, rng: np.random.Generator) -> str:
    """Return a sentence with words in place of the names in braces, no word in place of two."""
    used: dict[str, str] = {}

    def word(field: re.Match[str]) -> str:
        key = field[1].lower()
        if len(key) > 2:
            return str(pick(rng, pools[key]))
        letter = key[0]
        if letter not in used:
            pool = pools[letter]
            used[letter] = pick(rng, [w for w in pool if w not in used.values()] or pool)
        found = used[letter] if key == letter else plural(used[letter])
        return found if field[1] == key else capital(found)

    return with_articles(_FIELD.sub(word, template))


def _misprinted(text: str, rng: np.random.Generator) -> str:
    """Return a text in which some letters inside words have changed places."""
    letters = list(text)
    for k in 1 + np.flatnonzero(rng.random(len(letters) - 2) < _MISPRINTS):
        if "".join(letters[k - 1 : k + 2]).isalpha():
            letters[k], letters[k + 1] = letters[k + 1], letters[k]
    return "".join(letters)
